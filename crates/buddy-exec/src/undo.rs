//! Undo: the state of files before a call changed them, kept so that the change can be undone.
//!
//! Before a path is changed its state goes to the store: content as a blob named by its SHA-256, everything
//! else as a record in the journal of the call's *entry*. Both are durable before the change happens. Undoing
//! an entry restores these states, reports paths that were changed since, and is an entry itself.
//!
//! A file tool records the very paths it changes. The changes of a command are not known in advance, so a
//! snapshot of the workspace is taken before it and compared afterwards; a cache of file states makes the
//! next one cheap. Places outside the workspace that the command can write in only have a *fingerprint*: a
//! change there is known, and not restored.
//!
//! Files on another host are read through its target, and restored through it.

mod blobs;
mod cache;
mod cut_short;
mod digest;
mod elsewhere;
mod evict;
mod fingerprint;
mod folder;
mod journal;
mod kept_directories;
mod left_behind;
mod look;
mod loss;
mod not_covered;
mod plan;
mod project;
mod rebuilt;
mod recorder;
mod restore;
mod settings;
mod snapshot;
mod state;
mod step;
mod store;
mod whole_tree;

pub use buddy_protocol::PathText;
pub(crate) use digest::digest_of;
pub use fingerprint::PlaceKind;
pub use journal::Header;
pub(crate) use look::{Look, Seen, Upcoming};
pub use loss::{Remover, lost, lost_without_undo};
pub use not_covered::NotCovered;
pub use plan::UndoPlan;
pub use project::{ProjectLock, project_root};
pub use recorder::{CommandChange, CommandExtent, Kept, OpenPlace, Recorder};
pub use restore::AppliedUndo;
pub use settings::UndoSettings;
pub use state::State;
pub use step::Step;
pub use store::{UndoEntry, UndoError, UndoStore, Which};
