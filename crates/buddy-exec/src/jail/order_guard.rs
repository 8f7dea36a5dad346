//! Guards what an undo restores: a command that ran beside a snapshot may have planted files in it.
//!
//! Commands that run alone need no such guard. Their sweep ends before the next snapshot begins.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use buddy_protocol::NameSet;

use super::baselines::{register_changed_at, running_supervisors};
use super::guards::{Scene, watch_alone};
use super::quarantine::SweepNote;
use super::refusal::Refusal;
use super::watched::Watched;
use super::words::Place;
use crate::{Bounds, Reach};

/// The names that programs take orders from, and the place for files that undo must not leave there.
#[derive(Debug, Clone)]
pub struct OrderGuard {
    /// The names.
    pub names: NameSet,
    /// The quarantine that the commands of this account have too.
    pub quarantine: PathBuf,
    /// The home, where git has settings.
    pub home: Option<PathBuf>,
    /// The directory of programs' settings, when that is not in the home.
    pub config_home: Option<PathBuf>,
}

/// The commands that ran at one moment, as far as it is needed to say later whether any has run since.
#[derive(Debug)]
pub(crate) struct RunningCommands {
    is_any: bool,
    register_changed: Option<SystemTime>,
}

/// Places that are compared while an undo restores files.
#[derive(Debug)]
pub(crate) struct OrderWatch(Watched);

impl OrderGuard {
    /// The commands in a jail that run now.
    pub(crate) fn running(&self) -> RunningCommands {
        RunningCommands {
            is_any: !running_supervisors(&self.quarantine).is_empty(),
            register_changed: register_changed_at(&self.quarantine),
        }
    }

    /// Whether a command in a jail was running at any moment since.
    pub(crate) fn has_any_run(&self, since: &RunningCommands) -> bool {
        since.is_any || self.running().register_changed != since.register_changed
    }

    /// Notes what is there now. The command that is undone was allowed to change the `opened` files.
    pub(crate) fn watch(&self, roots: &[PathBuf], opened: &[PathBuf]) -> Result<OrderWatch, Refusal> {
        let bounds = Bounds {
            write: Reach::Beneath(roots.to_vec()),
            guarded_names: self.names.clone(),
            opened: opened.to_vec(),
            ..Bounds::open()
        };
        let scene = Scene {
            cwd: roots.first().map_or(Path::new("/"), PathBuf::as_path),
            home: self.home.as_deref(),
            config_home: self.config_home.as_deref(),
            place: Place::Bare,
            quarantine: Some(self.quarantine.clone()),
        };
        watch_alone(&bounds, &scene).map(OrderWatch)
    }
}

impl OrderWatch {
    /// Moves to quarantine what was restored at names that programs take orders from.
    pub(crate) fn sweep(mut self) -> Vec<SweepNote> {
        self.0.sweep_all()
    }
}
