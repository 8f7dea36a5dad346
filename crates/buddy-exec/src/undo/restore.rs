//! Carrying out a plan: the old states are restored, and the undo is itself recorded.
//!
//! Removals come first, inner before outer; then directories are made, outer before inner; then files and
//! links. A directory that is not empty by then stays. When another step fails, those before it are put back, or, if the
//! user wanted the old states in any case, the path is left as it is. An undo that was cut short can be run again: restored
//! paths are not in the next plan.

use std::io;
use std::path::PathBuf;

use super::blobs::Blobs;
use super::digest;
use super::journal::{Beside, Header};
use super::kept_directories::left_as_it_is;
use super::not_covered::NotCovered;
use super::plan::UndoPlan;
use super::recorder::Recorder;
use super::state::State;
use super::step::Step;
use super::store::{UndoError, UndoStore};
use super::whole_tree::Everything;
use crate::files::Spot;
use crate::jail::OrderWatch;
use crate::{FileDraft, SweepNote};

/// The result of carrying out a plan.
#[derive(Debug, Default)]
pub struct AppliedUndo {
    /// Files that were not left where they were restored, because a command may have planted them.
    pub swept: Vec<SweepNote>,
    /// Paths of the plan that stayed as they are.
    pub left: Vec<NotCovered>,
}

impl UndoStore {
    /// Carries out a plan as an entry of its own. A plan with conflicts is refused: to override them, take
    /// the conflicts out of it.
    pub fn apply(&self, plan: &UndoPlan, header: Header) -> Result<AppliedUndo, UndoError> {
        let (steps, mut left) = self.check(plan)?;
        let watch = self.watch(plan)?;
        let running = self.shared.running();
        let blobs = &self.shared.blobs;
        let recorder = self.begin(Header { undoes: Some(plan.header.id.clone()), ..header });
        let beside = Beside { roots: plan.roots.clone(), opened: Vec::new() };
        let is_beside = self.shared.has_any_run(running.as_ref());
        if is_beside {
            recorder.ran_beside(&beside)?;
        }
        let work = RestoreWork { blobs, reach: Everything::new()?, recorder: &recorder };
        let moves = moves(&steps);
        for (at, one) in moves.iter().enumerate() {
            fail::fail_point!("undo.step");
            match work.perform(one) {
                Ok(()) => {}
                Err(error) if plan.is_forced || is_full(one, &error) => leave(&mut left, one, &error),
                Err(error) => {
                    let done = moves.iter().take(at).rev();
                    // A path that cannot be put back stays, and the entry of this undo has it.
                    let failed = done.filter(|one| work.perform(&one.reversed()).is_err()).count();
                    if let Some(watch) = watch {
                        watch.sweep();
                    }
                    if failed == 0 {
                        recorder.discard();
                    }
                    return Err(error);
                }
            }
        }
        let swept = watch.map(OrderWatch::sweep).unwrap_or_default();
        if !is_beside && self.shared.has_any_run(running.as_ref()) {
            recorder.ran_beside(&beside)?;
        }
        recorder.undone()?;
        Ok(AppliedUndo { swept, left })
    }

    /// Watches what is restored, if commands may have planted it.
    fn watch(&self, plan: &UndoPlan) -> Result<Option<OrderWatch>, UndoError> {
        let Some((guard, beside)) = self.shared.guard().zip(plan.beside.as_ref()) else { return Ok(None) };
        let watch = guard.watch(&beside.roots, &beside.opened);
        watch.map(Some).map_err(|refusal| UndoError::Unwatched(refusal.reason))
    }

    /// The steps of a plan that can be tried, and the paths that stay as they are. Refuses a plan that has conflicts, and one
    /// that needs contents that are no longer kept, unless the user wants everything else restored.
    pub(super) fn check(&self, plan: &UndoPlan) -> Result<(Vec<Step>, Vec<NotCovered>), UndoError> {
        if plan.conflicts() > 0 {
            return Err(UndoError::Conflicts(plan.conflicts()));
        }
        let is_gone =
            |step: &&Step| matches!(&step.to, State::File { digest, .. } if !self.shared.blobs.has(digest));
        let (gone, steps): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(is_gone);
        if let Some(first) = gone.first().filter(|_| !plan.is_forced) {
            return Err(UndoError::Gone(first.path.0.clone()));
        }
        let why = || "its old content is no longer kept".to_owned();
        let left = gone.iter().map(|step| left_as_it_is(&step.path.0, why())).collect();
        Ok((steps.into_iter().cloned().collect(), left))
    }
}

/// Whether a directory was to be removed and something is in it.
fn is_full(one: &Move, error: &UndoError) -> bool {
    let is_removal = matches!(one.from, State::Directory { .. }) && one.to == State::Absent;
    let kind = match error {
        UndoError::Restore { source, .. } => Some(source.kind()),
        _ => None,
    };
    is_removal && kind == Some(io::ErrorKind::DirectoryNotEmpty)
}

/// Notes a path that stays as it is. A path whose kind was to change has two moves and one note.
pub(super) fn leave(left: &mut Vec<NotCovered>, one: &Move, error: &UndoError) {
    if left.iter().any(|other| other.path.0 == one.path) {
        return;
    }
    let why = match error {
        _ if is_full(one, error) => "it is not empty".to_owned(),
        UndoError::Restore { source, .. } => source.to_string(),
        error => error.to_string(),
    };
    left.push(left_as_it_is(&one.path, why));
}

/// One change of one path. A path whose kind changes has two.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub(super) path: PathBuf,
    pub(super) from: State,
    pub(super) to: State,
}

impl Move {
    fn reversed(&self) -> Self {
        Self { path: self.path.clone(), from: self.to.clone(), to: self.from.clone() }
    }
}

/// The changes in an order in which each is possible.
pub(super) fn moves(steps: &[Step]) -> Vec<Move> {
    let (mut removals, mut creations) = (Vec::new(), Vec::new());
    for Step { path, now, to, .. } in steps {
        let one =
            |from: &State, to: &State| Move { path: path.0.clone(), from: from.clone(), to: to.clone() };
        if *now != State::Absent && !now.is_like(to) {
            removals.push(one(now, &State::Absent));
        }
        if *to != State::Absent {
            creations.push(if now.is_like(to) { one(now, to) } else { one(&State::Absent, to) });
        }
    }
    removals.sort_by(|first, second| second.path.cmp(&first.path));
    creations.sort_by(|first, second| first.path.cmp(&second.path));
    // The mode of a directory may forbid later changes in it.
    let (directories, others): (Vec<_>, Vec<_>) =
        creations.into_iter().partition(|one| matches!(one.to, State::Directory { .. }));
    let modes = directories.iter().rev().filter(|one| one.from != State::Absent).cloned().collect::<Vec<_>>();
    let made = directories.into_iter().filter(|one| one.from == State::Absent);
    let made: Vec<Move> = made.collect();
    let closed = made.iter().rev().map(|one| Move { from: one.to.clone(), ..one.clone() });
    let closed: Vec<Move> = closed.collect();
    removals.into_iter().chain(made).chain(others).chain(modes).chain(closed).collect()
}

struct RestoreWork<'a> {
    blobs: &'a Blobs,
    reach: Everything,
    recorder: &'a Recorder,
}

impl RestoreWork<'_> {
    fn perform(&self, one: &Move) -> Result<(), UndoError> {
        let failed = |source: io::Error| UndoError::Restore { path: one.path.clone(), source };
        let spot = self.reach.spot(&one.path)?;
        self.recorder.changing(&spot, || one.to.clone())?;
        match (&one.from, &one.to) {
            (State::Directory { .. }, State::Absent) => spot.remove_directory(),
            (_, State::Absent) => spot.remove_file(),
            (State::Directory { .. }, State::Directory { mode }) => spot.set_directory_mode(*mode),
            (_, State::Directory { .. }) => spot.make_directory(),
            (_, State::File { digest, mode, .. }) => self.restore_file(&spot, digest, *mode),
            (from, State::Link { target }) => {
                let gone = if *from == State::Absent { Ok(()) } else { spot.remove_file() };
                gone.and_then(|()| spot.make_link(&target.0))
            }
            (_, State::NotKept { why }) => Err(io::Error::other(why.clone())),
        }
        .and_then(|()| spot.sync())
        .map_err(failed)
    }

    fn restore_file(&self, spot: &Spot, wanted: &str, mode: u32) -> io::Result<()> {
        let mut draft = FileDraft::beside(spot, 0o600)?;
        let mut blob = self.blobs.open(wanted)?;
        let copied = digest::copy(&mut blob, &mut draft.file, u64::MAX)?;
        if copied.is_none_or(|(found, _)| found != wanted) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the kept content is damaged"));
        }
        if let Some(existing) = spot.stat()? {
            draft.take_over(&existing)?;
        }
        draft.set_mode(mode)?;
        draft.file.sync_all()?;
        draft.keep(spot)
    }
}
