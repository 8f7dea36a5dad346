//! The recorder of one call: file access and commands report to it before they change a path.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use buddy_protocol::PathText;
use tokio::task::spawn_blocking;

use super::blobs::{create_private, make_private};
use super::fingerprint::{PlaceKind, fingerprint_of};
use super::folder::Shared;
use super::journal::{Beside, Header, Journal, Record};
use super::left_behind::left_behind;
use super::look::{Seen, Upcoming};
use super::project::ProjectLock;
use super::snapshot::Snapshot;
use super::state::State;
use crate::files::Spot;
use crate::{FileLock, FileSync, LockKind, TargetError};

/// Why undo has nothing of the changes of a command on another host.
const ON_ANOTHER_HOST: &str = "undo does not cover commands on other hosts";

/// Records the changes of a call, or nothing when it is off. Clones record to the same entry.
#[derive(Clone, Default)]
pub struct Recorder {
    entry: Option<Arc<Entry>>,
}

/// The part of the changes that a recorder kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Nothing: no change was reported.
    Nothing,
    /// Some of them.
    Part,
    /// All of them.
    All,
}

/// A path that a command changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandChange {
    /// The directory that a snapshot was taken of, without links.
    pub root: PathBuf,
    /// The path in it.
    pub below: PathBuf,
}

/// The places in which a command can change files.
#[derive(Debug, Clone, Default)]
pub struct CommandExtent {
    /// Directories that a snapshot is taken of.
    pub roots: Vec<PathBuf>,
    /// Directories for temporary files, which are not covered.
    pub elsewhere: Vec<PathBuf>,
    /// Other places that are not covered: a change there is known, and not restored.
    pub places: Vec<OpenPlace>,
    /// Paths in those places that it cannot change.
    pub closed: Vec<PathBuf>,
    /// Who would keep work that it sends, and what they would keep.
    pub sends: Option<(String, String)>,
    /// Files in the roots that the user or a rule opened to it although programs take orders from them.
    pub opened: Vec<PathBuf>,
}

/// A place outside of the covered directories that a command can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPlace {
    /// The path.
    pub path: PathBuf,
    /// The kind.
    pub kind: PlaceKind,
}

/// An entry that is being written. Its files are made with the first record.
struct Entry {
    shared: Arc<Shared>,
    header: Header,
    /// Set when a path was changed that could not be kept, on another host.
    is_partial: AtomicBool,
    /// The paths that commands of the call changed, in what a snapshot covers. Held for a look or a change only.
    changed: Mutex<Vec<CommandChange>>,
    open: Mutex<Option<Open>>,
}

struct Open {
    journal: Journal,
    /// Locked so that nothing is evicted while a call needs it.
    _lock: FileLock,
    /// Held so that no undo restores files while a call changes them.
    project: Option<ProjectLock>,
    /// The workspace before the running command.
    pending: Option<Pending>,
    is_empty: bool,
    /// The state before the last command was announced.
    announced: Option<Announced>,
}

/// The entry as it was before a command was announced that may not start.
#[derive(Clone, Copy)]
struct Announced {
    bytes: u64,
    is_empty: bool,
    is_partial: bool,
}

struct Pending {
    roots: Vec<(PathBuf, Snapshot)>,
    at_nanos: i64,
    /// Records of places and of work that is sent, which are compared when the command ended.
    outside: Vec<Record>,
}

impl Recorder {
    /// A recorder that keeps nothing.
    pub fn off() -> Self {
        Self::default()
    }

    pub(super) fn new(shared: Arc<Shared>, header: Header) -> Self {
        Self {
            entry: Some(Arc::new(Entry {
                shared,
                header,
                is_partial: AtomicBool::new(false),
                changed: Mutex::default(),
                open: Mutex::new(None),
            })),
        }
    }

    /// Whether it keeps anything.
    pub fn is_on(&self) -> bool {
        self.entry.is_some()
    }

    /// The name of the entry that it writes.
    pub fn id(&self) -> Option<&str> {
        self.entry.as_ref().map(|entry| entry.header.id.as_str())
    }

    /// Keeps the object at a spot that is about to change.
    pub(crate) fn changing(&self, spot: &Spot, after: impl FnOnce() -> State) -> Result<(), TargetError> {
        let Some(entry) = &self.entry else { return Ok(()) };
        let recorded = State::keep(spot, &entry.shared.blobs, FileSync::Now).and_then(|before| {
            let after = after();
            if before == after {
                return Ok(());
            }
            entry.append(&[Record::Change { path: PathText(spot.real()), before, after }])
        });
        recorded.map_err(|source| TargetError::NotKept { path: spot.named().to_owned(), source })
    }

    /// Records empty directories that were just made.
    pub(crate) fn directories_made(&self, made: &[Spot]) -> Result<(), TargetError> {
        let Some(entry) = &self.entry else { return Ok(()) };
        let record = |spot: &Spot| -> io::Result<Record> {
            let path = PathText(spot.real());
            Ok(Record::Change { path, before: State::Absent, after: State::at(spot)? })
        };
        let records = made.iter().map(record).collect::<io::Result<Vec<_>>>();
        let recorded = records.and_then(|records| entry.append(&records));
        let path = made.last().map(Spot::real).unwrap_or_default();
        recorded.map_err(|source| TargetError::NotKept { path, source })
    }

    /// Keeps a directory that is about to be removed with all these paths in it, outer before inner.
    pub(crate) fn removing_tree<'p>(
        &self,
        top: &Spot,
        inner: impl Iterator<Item = &'p Path>,
    ) -> Result<(), TargetError> {
        let Some(entry) = &self.entry else { return Ok(()) };
        let running = entry.shared.running();
        let recorded = entry.tree(top, inner).and_then(|mut records| {
            entry.shared.blobs.sync()?;
            if entry.shared.has_any_run(running.as_ref()) {
                records.push(entry.beside_removal(&top.real()));
            }
            entry.append(&records)
        });
        recorded.map_err(|source| TargetError::NotKept { path: top.named().to_owned(), source })
    }

    /// Takes a snapshot before a command that may change files.
    pub async fn before_command(&self, extent: CommandExtent) -> Result<(), TargetError> {
        self.blocking(move |entry| entry.before_command(&extent)).await
    }

    /// Compares with the snapshot and records the changes of the command. Without a snapshot nothing happens.
    pub async fn after_command(&self) -> Result<(), TargetError> {
        self.blocking(Entry::after_command).await
    }

    async fn blocking(
        &self,
        work: impl FnOnce(&Entry) -> io::Result<()> + Send + 'static,
    ) -> Result<(), TargetError> {
        let Some(entry) = self.entry.clone() else { return Ok(()) };
        let path = entry.shared.folder.clone();
        let done = spawn_blocking(move || work(&entry)).await.unwrap_or_else(|error| Err(error.into()));
        done.map_err(|source| TargetError::NotKept { path, source })
    }

    /// Takes back the announcement of a command that did not start: it changed nothing.
    pub async fn withdraw_command(&self) {
        let withdrawn = self.blocking(Entry::withdraw).await;
        if let Err(error) = withdrawn {
            // The entry stays, and says that the command may have changed something.
            tracing::warn!(%error, "a command that did not start stays in the undo store");
        }
    }

    /// The file in which a supervisor marks the end of the command that a snapshot was taken for.
    pub fn end_mark(&self) -> Option<PathBuf> {
        let open = self.entry.as_ref()?.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().filter(|open| open.pending.is_some()).map(|open| open.journal.end_mark_path())
    }

    /// Notes that the command sent nothing, as it failed.
    pub async fn sent_nothing(&self) {
        let noted = self.blocking(|entry| {
            let mut open = entry.open.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(pending) = open.as_mut().and_then(|open| open.pending.as_mut()) {
                pending.outside.retain(|record| !matches!(record, Record::Sending { .. }));
            }
            Ok(())
        });
        // Nothing here fails.
        let _ = noted.await;
    }

    /// The paths that the commands of the call were found to have changed, as far as a snapshot covers them.
    pub fn changed_by_commands(&self) -> Vec<CommandChange> {
        let changed = self.entry.as_ref().map(|entry| &entry.changed);
        changed
            .map(|changed| changed.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .unwrap_or_default()
    }

    /// The largest file that is kept; `None` when nothing is.
    pub(crate) fn most_bytes(&self) -> Option<u64> {
        self.entry.as_ref().map(|entry| entry.shared.settings.max_file_bytes)
    }

    /// The part of the changes that is kept.
    pub fn kept(&self) -> Kept {
        let Some(entry) = &self.entry else { return Kept::Nothing };
        let is_partial = entry.is_partial.load(Ordering::Relaxed);
        let open = entry.open.lock().unwrap_or_else(PoisonError::into_inner);
        match open.as_ref() {
            Some(_) if is_partial => Kept::Part,
            Some(open) if !open.is_empty => Kept::All,
            _ => Kept::Nothing,
        }
    }

    /// Keeps the objects at paths of another host that are about to change.
    pub(crate) async fn changing_elsewhere(&self, changes: Vec<Upcoming>) -> Result<(), TargetError> {
        self.blocking(move |entry| entry.elsewhere(changes)).await
    }

    /// Records the removal of a directory of another host with everything in it, which is not kept.
    pub(crate) async fn not_covered_elsewhere(&self, path: PathBuf) -> Result<(), TargetError> {
        self.not_covered(path, "what is in a directory of another host is not kept when it is removed").await
    }

    /// Records that a command changes files in a directory of which nothing is kept.
    pub async fn not_covered(&self, path: PathBuf, why: &str) -> Result<(), TargetError> {
        let why = why.to_owned();
        self.blocking(move |entry| {
            entry.announce()?;
            entry.is_partial.store(true, Ordering::Relaxed);
            entry.append(&[Record::NotCovered { path: PathText(path), why, is_changed: false }])
        })
        .await
    }

    /// Lets undos go on although the call still records: its command moved to the background, where it can run
    /// for hours.
    pub fn leave_project(&self) {
        let Some(entry) = &self.entry else { return };
        let mut open = entry.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            open.project = None;
        }
    }

    /// Records that commands ran while this undo kept the states that it replaces.
    pub(super) fn ran_beside(&self, beside: &Beside) -> io::Result<()> {
        let texts = |paths: &[PathBuf]| paths.iter().cloned().map(PathText).collect();
        let record = Record::Beside { roots: texts(&beside.roots), opened: texts(&beside.opened) };
        self.entry.as_ref().map_or(Ok(()), |entry| entry.append(&[record]))
    }

    /// Drops the entry of an undo that put back everything that it had changed.
    pub(super) fn discard(&self) {
        let Some(entry) = &self.entry else { return };
        let mut open = entry.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            open.is_empty = true;
        }
    }

    /// Ends the entry of an undo.
    pub(super) fn undone(&self) -> io::Result<()> {
        self.entry.as_ref().map_or(Ok(()), |entry| entry.append(&[Record::Undone]))
    }
}

impl Entry {
    fn append(&self, records: &[Record]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        self.with(|open| {
            open.is_empty = false;
            open.journal.append(records)
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Open) -> io::Result<T>) -> io::Result<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            let lock = FileLock::take(&self.shared.lock_file()?, LockKind::Shared)?;
            let project = self.enter_project()?;
            let journal = Journal::create(&self.shared.entries(), &self.header)?;
            *open =
                Some(Open { journal, _lock: lock, project, pending: None, is_empty: true, announced: None });
        }
        match open.as_mut() {
            Some(open) => work(open),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The right to change files of the project. An undo has its own, and another host is not this machine's.
    fn enter_project(&self) -> io::Result<Option<ProjectLock>> {
        let Header { undoes, target, workspace, .. } = &self.header;
        if undoes.is_some() || target.is_some() {
            return Ok(None);
        }
        workspace.as_ref().map(|workspace| self.shared.enter(&workspace.0)).transpose()
    }

    fn tree<'p>(&self, top: &Spot, inner: impl Iterator<Item = &'p Path>) -> io::Result<Vec<Record>> {
        let limits = self.shared.settings.limits();
        let mut bytes = 0;
        let record = |path: PathBuf, before: State| Record::Change {
            path: PathText(path),
            before,
            after: State::Absent,
        };
        let mut records = vec![record(top.real(), State::at(top)?)];
        for path in inner {
            let spot = top.below(path)?;
            let size = spot.stat()?.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
            if records.len() >= limits.files || bytes + size > limits.bytes {
                let why = "more was removed at once than is kept".to_owned();
                records.push(Record::NotCovered { path: PathText(spot.real()), why, is_changed: false });
                break;
            }
            let before = State::keep(&spot, &self.shared.blobs, FileSync::Later)?;
            if matches!(before, State::File { .. }) {
                bytes += size;
            }
            records.push(record(spot.real(), before));
        }
        Ok(records)
    }

    /// The record that commands ran while a directory was kept, so that files in it may be planted ones.
    fn beside_removal(&self, top: &Path) -> Record {
        let workspace = self.header.workspace.as_ref().and_then(|workspace| workspace.0.canonicalize().ok());
        let above = workspace.filter(|workspace| top.starts_with(workspace));
        let root = above.or_else(|| top.parent().map(Path::to_path_buf)).unwrap_or_else(|| top.to_owned());
        Record::Beside { roots: vec![PathText(root)], opened: Vec::new() }
    }

    fn elsewhere(&self, changes: Vec<Upcoming>) -> io::Result<()> {
        let mut records = Vec::new();
        for Upcoming { path, before: seen, after } in changes {
            let before = seen.state();
            if let Seen::File { content, .. } = &seen {
                self.shared.blobs.put(content.as_slice(), FileSync::Now)?;
            }
            if matches!(before, State::NotKept { .. }) {
                self.is_partial.store(true, Ordering::Relaxed);
            }
            if before != after {
                records.push(Record::Change { path: PathText(path), before, after });
            }
        }
        self.append(&records)
    }

    fn before_command(&self, extent: &CommandExtent) -> io::Result<()> {
        let CommandExtent { roots, elsewhere, opened, .. } = extent;
        self.announce()?;
        if self.header.target.is_some() {
            // At the same path this machine has something else.
            self.is_partial.store(true, Ordering::Relaxed);
            let path = PathText(roots.first().cloned().unwrap_or_default());
            return self.append(&[Record::NotCovered {
                path,
                why: ON_ANOTHER_HOST.to_owned(),
                is_changed: false,
            }]);
        }
        let at_nanos = self.shared.now_nanos();
        let taking = self.shared.taking(at_nanos);
        let running = self.shared.running();
        let mut taken = Vec::new();
        for root in roots {
            let real = root.canonicalize()?;
            let snapshot = self.shared.with_cache(&real, |cache| taking.before(&real, cache))?;
            taken.push((real, snapshot));
        }
        self.shared.blobs.sync()?;
        let names: Vec<PathText> = taken.iter().map(|(root, _)| PathText(root.clone())).collect();
        let mut records = vec![Record::Command { roots: names.clone() }];
        if self.shared.has_any_run(running.as_ref()) {
            let opened = opened.iter().cloned().map(PathText).collect();
            records.push(Record::Beside { roots: names.clone(), opened });
        }
        for (path, why) in taken.iter().flat_map(|(_, snapshot)| &snapshot.not_covered) {
            records.push(Record::NotCovered {
                path: PathText(path.clone()),
                why: why.clone(),
                is_changed: false,
            });
        }
        for path in elsewhere {
            let why = "it is outside the workspace".to_owned();
            records.push(Record::NotCovered { path: PathText(path.clone()), why, is_changed: false });
        }
        let outside = self.outside(extent, &names);
        records.extend(outside.iter().cloned());
        self.with(|open| {
            save_snapshot(&open.journal.snapshot_path(), &taken)?;
            // The mark of an earlier command of the same call would be taken for that of this one.
            let _ = std::fs::remove_file(open.journal.end_mark_path());
            open.journal.append(&records)?;
            open.pending = Some(Pending { roots: taken, at_nanos, outside });
            Ok(())
        })
    }

    /// The fingerprints of the places outside, and the work that is sent.
    fn outside(&self, extent: &CommandExtent, roots: &[PathText]) -> Vec<Record> {
        let own = [PathText(self.shared.folder.clone())];
        let closed: Vec<PathText> = extent.closed.iter().cloned().map(PathText).collect();
        let mut records = Vec::new();
        for OpenPlace { path, kind } in &extent.places {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            let inner = roots.iter().chain(&own).chain(&closed).filter(|other| other.0.starts_with(&real));
            let skipped: Vec<PathText> = inner.cloned().collect();
            let is_store = *kind == PlaceKind::GitStore;
            let paths: Vec<PathBuf> = skipped.iter().map(|path| path.0.clone()).collect();
            let found = fingerprint_of(&real, is_store, &paths);
            records.push(Record::Place {
                path: PathText(real),
                why: kind.why().to_owned(),
                digest: found.digest,
                is_unsure: found.is_cut && *kind == PlaceKind::Opened,
                is_store,
                skipped,
            });
        }
        records.extend(extent.sends.clone().map(|(to, why)| Record::Sending { to, why }));
        records
    }

    /// Remembers the entry as it is before a command is announced.
    fn announce(&self) -> io::Result<()> {
        let is_partial = self.is_partial.load(Ordering::Relaxed);
        self.with(|open| {
            let (bytes, is_empty) = (open.journal.bytes(), open.is_empty);
            open.announced = Some(Announced { bytes, is_empty, is_partial });
            Ok(())
        })
    }

    fn withdraw(&self) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = open.as_mut() else { return Ok(()) };
        let Some(Announced { bytes, is_empty, is_partial }) = open.announced.take() else { return Ok(()) };
        open.journal.cut(bytes)?;
        if open.pending.take().is_some() {
            // One that stays is read only with a record that is gone.
            let _ = std::fs::remove_file(open.journal.snapshot_path());
            let _ = std::fs::remove_file(open.journal.end_mark_path());
        }
        open.is_empty = is_empty;
        self.is_partial.store(is_partial, Ordering::Relaxed);
        Ok(())
    }

    fn after_command(&self) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = open.as_mut() else { return Ok(()) };
        let Some(pending) = &open.pending else { return Ok(()) };
        let taking = self.shared.taking(self.shared.now_nanos());
        let mut records = Vec::new();
        for (root, before) in &pending.roots {
            let after = taking.after(root, before, pending.at_nanos)?;
            let changes = before.changes(&after);
            let below = changes.iter().filter_map(|(PathText(path), ..)| path.strip_prefix(root).ok());
            let found = below.map(|below| CommandChange { root: root.clone(), below: below.to_owned() });
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
            let changes = changes.into_iter();
            records.extend(changes.map(|(path, before, after)| Record::Change { path, before, after }));
        }
        records.extend(pending.outside.iter().filter_map(left_behind));
        open.is_empty &= records.is_empty();
        records.push(Record::CommandEnded);
        open.journal.append(&records)?;
        open.pending = None;
        // A mark that stays is read only beside a snapshot.
        let _ = std::fs::remove_file(open.journal.end_mark_path());
        std::fs::remove_file(open.journal.snapshot_path())
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut open) = open else { return };
        // A command that changed nothing leaves nothing to undo. One that is still running keeps its
        // snapshot.
        match (open.is_empty, open.pending.is_some()) {
            (true, false) => open.journal.remove(),
            (false, false) => {
                // Without it the entry is one that was cut short, and what it changed is looked up.
                let _ = open.journal.append(&[Record::Ended]);
            }
            (_, true) => {}
        }
        drop(open);
        self.shared.evict();
    }
}

/// Writes the snapshot that undoes a command after a crash.
fn save_snapshot(path: &Path, taken: &[(PathBuf, Snapshot)]) -> io::Result<()> {
    use std::io::Write as _;
    make_private(path.parent().unwrap_or(Path::new(".")))?;
    let mut lines = Vec::new();
    for (path, seen) in taken.iter().flat_map(|(_, snapshot)| &snapshot.seen) {
        serde_json::to_writer(&mut lines, &(PathText(path.clone()), &seen.state))?;
        lines.push(b'\n');
    }
    // The snapshot of an earlier command of the same call is of no use any more.
    let _ = std::fs::remove_file(path);
    let mut file = create_private(path)?;
    file.write_all(&lines)?;
    file.sync_all()
}
