//! Repositories that a command has made, also those that lack a name or two: what makes git run programs, or leads it elsewhere, is moved
//! away.

use std::path::Path;

use super::super::git_config::{ConfigPlace, MAX_CONFIG, without_programs};
use super::super::look::list_beneath;
use super::super::names::GIT;
use super::super::quarantine::{Moved, Spot};
use super::super::stand_in::is_stand_in;
use super::super::walk::is_there;
use super::{GIT_ORDERS, LEADS_AWAY, Watched, is_empty_directory};
use crate::git_marks::is_whole;
use crate::git_orders::clean;

/// Parts that are judged by what is in them.
const JUDGED: &[&str] = &["commondir", "config", "config.worktree", "hooks"];

/// The directory of linked work trees, each of which has a file that says where it is.
const WORK_TREES: &str = "worktrees";

impl Watched {
    /// A repository that the command has made stays, without the settings that make git run
    /// programs.
    pub(super) fn check_new_git(
        &self,
        git: &Path,
        leads_well: impl Fn(&Path) -> bool,
        moved: &mut Vec<Moved>,
    ) {
        let at = ConfigPlace { git, places: &self.places };
        for name in ["config", "config.worktree"] {
            let is_work_tree = |to: &str| self.is_work_tree_of_module(git, to);
            self.filter(&git.join(name), |text| without_programs(&at, text, is_work_tree), moved);
        }
        let hooks = list_beneath(&git.join("hooks"));
        if hooks.unseen.is_some() {
            self.take(&git.join("hooks"), GIT_ORDERS, moved);
        }
        for hook in hooks.files {
            let is_sample = hook.extension().is_some_and(|extension| extension == "sample");
            if !is_sample && is_there(&hook) {
                self.take(&hook, GIT_ORDERS, moved);
            }
        }
        let shared = git.join("commondir");
        if is_there(&shared) && !is_stand_in(&shared) && !leads_well(&shared) {
            self.take(&shared, LEADS_AWAY, moved);
        }
        self.check_further_parts(git, moved);
        self.check_unfinished(git, moved);
    }

    /// Moves away the other parts that git and its tools take orders from, but for those that git writes by itself where it makes a repository.
    fn check_further_parts(&self, git: &Path, moved: &mut Vec<Moved>) {
        let is_whole = is_whole(|name| is_there(&git.join(name)));
        for part in self.orders.git_parts().iter().filter(|part| !JUDGED.contains(&part.as_str())) {
            let at = git.join(part);
            if !is_there(&at) || is_stand_in(&at) || is_empty_directory(&at) || self.is_opened(&at) {
                continue;
            }
            let is_of_git = match part.as_str() {
                // All that it hides is the command's own work.
                "info/sparse-checkout" => true,
                "gitdir" => git.parent().is_some_and(|above| above.ends_with(WORK_TREES)),
                "objects/info/alternates" => self.borrows_here(&at),
                _ => false,
            };
            if !(is_whole && is_of_git) {
                self.take(&at, GIT_ORDERS, moved);
            }
        }
    }

    /// Whether each line names a store of objects that the command could have written too, as `git clone --shared` does within the workspace.
    fn borrows_here(&self, alternates: &Path) -> bool {
        let text = Spot::of(alternates).and_then(|spot| spot.read(MAX_CONFIG)).unwrap_or_default();
        let Ok(text) = String::from_utf8(text) else { return false };
        let objects = alternates.ancestors().nth(2).unwrap_or(alternates);
        let is_here = |line: &str| {
            let store = objects.join(line).canonicalize();
            store.is_ok_and(|store| self.roots.iter().any(|root| store.starts_with(root)))
        };
        text.lines().filter(|line| !line.is_empty()).all(is_here)
    }

    /// Whether a path is one in the workspace from the own directory of a submodule, which says by it where its files are.
    fn is_work_tree_of_module(&self, git: &Path, to: &str) -> bool {
        let is_module = git
            .components()
            .zip(git.components().skip(1))
            .any(|(above, name)| above.as_os_str() == GIT && name.as_os_str() == "modules");
        let at = clean(&git.join(to));
        is_module && Path::new(to).is_relative() && self.roots.iter().any(|root| at.starts_with(root))
    }
}
