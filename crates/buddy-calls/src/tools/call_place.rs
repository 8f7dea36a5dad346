//! Where a call works: the directory, the home, and the way to look up links there.

use std::path::{Path, PathBuf};

use buddy_protocol::{ClimbedBy, LinkLook, LinkLookup, climb};
use buddy_web::Endpoints;

use crate::tools::path_text::show_path;

/// Where relative paths start, and where searches go.
#[derive(Debug, Clone)]
pub struct CallPlace {
    /// The session's directory.
    pub cwd: PathBuf,
    /// The directory that `~` stands for.
    pub home: Option<PathBuf>,
    /// Where searches go.
    pub endpoints: Endpoints,
    /// The way to look up links on the host.
    pub links: LinkLookup,
    /// Whether commands are typed into shared panes.
    pub has_panes: bool,
}

impl CallPlace {
    /// The absolute path that a tool opens, without `.` and `..`. It is the one that [`CallPlace::judged`] gave to policy: a link that
    /// is made in between changes nothing, as no `..` is left.
    pub fn resolve(&self, path: &str) -> PathBuf {
        climb(&self.expanded(path), &|_| LinkLook::Plain).path
    }

    /// The absolute path that policy judges. `..` after a link stays in it, which policy refuses.
    pub fn judged(&self, path: &str) -> PathBuf {
        self.settle(self.expanded(path))
    }

    /// The same for an absolute path.
    pub fn settle(&self, path: PathBuf) -> PathBuf {
        let known = [Some(self.cwd.as_path()), self.home.as_deref()];
        let climbed = self.links.climb(&path, known.into_iter().flatten());
        if climbed.by == ClimbedBy::Text { climbed.path } else { path }
    }

    fn expanded(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => self.cwd.join(path),
        }
    }

    /// A path as a question names it: below the session's directory or the home, or as a whole.
    pub fn named(&self, path: &Path) -> String {
        let in_home = || Some(Path::new("~").join(path.strip_prefix(self.home.as_ref()?).ok()?));
        match path.strip_prefix(&self.cwd) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => show_path(rest),
            Err(_) => show_path(&in_home().unwrap_or_else(|| path.to_owned())),
        }
    }
}
