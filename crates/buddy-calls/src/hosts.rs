//! The port to hosts: what a session needs of one, and who reaches it.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use buddy_exec::undo::UndoStore;
use buddy_exec::{ProgramPath, Target};
use buddy_protocol::{SessionTarget, TargetHost, TargetWish};

use crate::gate::PolicySource;

/// Reaches hosts.
#[async_trait]
pub trait Hosts: Send + Sync {
    /// The targets that this run wants in every session that it opens, the default first.
    fn wanted(&self) -> Vec<TargetWish>;

    /// Why no tool may touch a host, where that is so.
    fn forbidden(&self, host: &TargetHost) -> Option<String>;

    /// Why this run cannot go on with a session on these hosts, where that is so.
    fn unfit(&self, _hosts: &[TargetHost]) -> Option<String> {
        None
    }

    /// Reaches a host. The error says why it cannot be used.
    async fn attach(&self, wish: &TargetWish) -> Result<Host, String>;
}

/// A host that was reached.
#[derive(Clone)]
pub struct Host {
    /// The target that runs commands and reaches files there.
    pub target: Arc<dyn Target>,
    /// Whether it is another host than this machine.
    pub is_remote: bool,
    /// The environment of commands there.
    pub env: Vec<(String, String)>,
    /// The directories in which buddy looks for the programs that it starts there for itself.
    pub programs: ProgramPath,
    /// Variables of the user that commands there do not get, as they look like secrets.
    pub withheld: Vec<WithheldVariable>,
    /// The directory that sessions work in which reached it by the same wish.
    pub cwd: PathBuf,
    /// Further directories that the user opened to be worked in.
    pub added: Vec<PathBuf>,
    /// The directory that `~` stands for there.
    pub home: Option<PathBuf>,
    /// Rules, lasting grants and bounds that hold there.
    pub policy: Arc<dyn PolicySource>,
    /// Instructions of the project in the directory, from its root down.
    pub project: Vec<ProjectFile>,
    /// Where what calls change there is kept, so that it can be undone; none keeps nothing.
    pub undo: Option<UndoStore>,
    /// The directory on this machine that changes belong to; none for a host that was reached from no directory.
    pub undo_workspace: Option<PathBuf>,
    /// Notices for every session on this host, about something that the user may expect and that is missing.
    pub note: Option<String>,
}

/// A file with instructions of a project that the user trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Where it is, relative to the project's root.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A variable that commands do not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldVariable {
    /// Its name; nobody is told its value.
    pub name: String,
    /// The reason in a few words.
    pub reason: &'static str,
}

impl Host {
    /// The entry in a log of a target on this host, which was reached by a wish.
    pub fn session_target(&self, wish: &TargetWish) -> SessionTarget {
        let described = self.target.describe();
        SessionTarget {
            name: wish.host.to_string(),
            host: wish.host.clone(),
            cwd: self.cwd.to_string_lossy().into_owned(),
            place: Some(format!("{}@{}", described.user, described.host)),
        }
    }
}
