//! Execution targets: running commands and reaching files on a host.
//!
//! A [`Target`] starts commands and reads, writes and lists files. [`LocalTarget`] is the machine that this
//! process runs on, [`RemoteTarget`] another host over any [`Transport`]: a container or SSH. File access
//! keeps to the bounds of the call, and [`undo`] keeps the state from before each change. Each command runs
//! under a small supervisor process (see [`supervise`]) that owns its whole process tree, so that stopping a
//! command, reaching its timeout, and losing this process all kill every descendant. [`TmuxTarget`] lies over
//! any of them and adds terminals that the agent shares with people.
//!
//! The crate never knows about models, agents or policy, and it reads neither environment nor home: paths,
//! variables and limits come in as values.

mod attended;
mod bounds;
pub mod cache_layers;
mod captured;
mod cgroup;
mod control;
mod descriptors;
mod drain;
mod end_mark;
pub mod env;
mod error;
mod exec;
mod file_draft;
mod file_lock;
mod file_opens;
mod files;
mod git_marks;
mod git_orders;
mod git_remotes;
mod git_state;
mod git_store;
mod given;
pub mod jail;
mod link_look;
mod local;
pub mod logs;
pub mod managed;
mod mark;
mod open;
mod processes;
mod programs;
mod random;
mod remote;
mod rlimits;
mod room_sign;
mod running;
mod seal_watch;
mod search;
mod stdin_writer;
pub mod supervise;
mod tail;
mod target;
mod terminal;
mod tmux;
mod transport;
pub mod undo;
pub mod warden;
mod way_out;

pub use attended::run_attended;
pub use bounds::{Bounds, CacheLayers, CachePlace, Reach};
pub use captured::Captured;
pub use cgroup::{Limits, LimitsHit};
pub use error::{NotFile, TargetError};
pub use exec::{Chunk, Ended, Exec, Exit, LogFile, LogInfo, OutputLimits, Stdin, Stream};
pub use file_draft::{FileDraft, FileMode, FileSync, create_file, replace_file};
pub use file_lock::{FileLock, LockKind};
pub use file_opens::FileOpens;
pub use files::{
    BEFORE_CAP, Deleted, Deletion, Entry, EntryKind, FileContent, LineRange, Lines, ListOptions, Listing,
    Written,
};
pub use git_marks::adds_to_repository;
pub use git_orders::{GitHome, git_credentials, git_order_names};
pub use git_remotes::remote_lookup;
pub use git_state::{GitIndex, IndexEntry};
pub use git_store::{GitStore, git_store};
pub use jail::{
    Denial, DenialKind, Layer, LayerState, Moved, OrderGuard, SweepNote, Unseen, UnseenReason, git_orders,
    layers, places_of_remotes,
};
pub use link_look::{BehindLink, FollowedPath, follow_links, link_lookup, look_behind_link};
pub use local::{DEFAULT_GRACE, LocalSettings, LocalTarget, SupervisorCommand};
pub use open::open_page;
pub use programs::{ChangeableOnly, ProgramPath};
pub use random::confirmation_word;
pub use remote::{RemoteSettings, RemoteTarget, quote};
pub use running::{CHUNK_BYTES, MAX_CHUNKS, QUEUED_CHUNKS, Running, Stop, Stopper};
pub use seal_watch::SealWatch;
pub use search::{FileMatches, GlobQuery, GlobResult, GrepQuery, GrepResult, MatchedLine};
pub use stdin_writer::StdinWriter;
pub use target::{Description, HostMeans, TOLD_PROGRAMS, Target};
pub use terminal::TerminalSize;
pub use tmux::{
    BadKey, CaptureOptions, Key, Keys, PANE_VARIABLE, PaneCommand, PaneError, PaneRunning, PaneSelector,
    PaneText, Panes, RECONNECT_WITHIN, Remaining, Screen, TmuxSettings, TmuxTarget, is_inside,
    is_session_name, pane_directory, session_name,
};
pub use transport::{
    Client, ContainerSettings, ContainerTransport, SshSettings, SshTransport, Transport, Way,
};
pub use undo::{Kept, Recorder};
pub use way_out::{Outlet, WAY_OUT_PORT, WayOut};
