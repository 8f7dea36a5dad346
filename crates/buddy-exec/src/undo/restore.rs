//! Carrying out a plan: the old states are restored, and the undo is itself recorded.
//!
//! Removals come first, inner before outer; then directories are made, outer before inner; then files and
//! links. When a step fails, those before it are put back. An undo that was cut short can be run again:
//! restored paths are not in the next plan.

use std::io;
use std::path::PathBuf;

use super::blobs::Blobs;
use super::digest;
use super::journal::{Beside, Header};
use super::plan::{Step, UndoPlan};
use super::recorder::Recorder;
use super::state::State;
use super::store::{UndoError, UndoStore};
use super::whole_tree::Everything;
use crate::files::Spot;
use crate::jail::OrderWatch;
use crate::{FileDraft, SweepNote};

impl UndoStore {
    /// Carries out a plan as an entry of its own. A plan with conflicts is refused: to override them, take
    /// the conflicts out of it. Returns what was not left where it was restored, because a command may have planted it.
    pub fn apply(&self, plan: &UndoPlan, header: Header) -> Result<Vec<SweepNote>, UndoError> {
        self.check(plan)?;
        let watch = self.watch(plan)?;
        let running = self.shared.running();
        let blobs = &self.shared.blobs;
        let recorder = self.begin(Header { undoes: Some(plan.header.id.clone()), ..header });
        let beside = Beside { roots: plan.roots.clone(), opened: Vec::new() };
        let is_beside = self.shared.has_any_run(running.as_ref());
        if is_beside {
            recorder.ran_beside(&beside)?;
        }
        let work = Work { blobs, reach: Everything::new()?, recorder: &recorder };
        let moves = moves(&plan.steps);
        for (at, one) in moves.iter().enumerate() {
            fail::fail_point!("undo.step");
            if let Err(error) = work.perform(one) {
                let done = moves.iter().take(at).rev();
                // A path that cannot be put back stays, and the entry of this undo has it.
                done.for_each(|one| drop(work.perform(&one.reversed())));
                if let Some(watch) = watch {
                    watch.sweep();
                }
                return Err(error);
            }
        }
        let swept = watch.map(OrderWatch::sweep).unwrap_or_default();
        if !is_beside && self.shared.has_any_run(running.as_ref()) {
            recorder.ran_beside(&beside)?;
        }
        recorder.undone()?;
        Ok(swept)
    }

    /// Watches what is restored, if commands may have planted it.
    fn watch(&self, plan: &UndoPlan) -> Result<Option<OrderWatch>, UndoError> {
        let Some((guard, beside)) = self.shared.guard().zip(plan.beside.as_ref()) else { return Ok(None) };
        let watch = guard.watch(&beside.roots, &beside.opened);
        watch.map(Some).map_err(|refusal| UndoError::Unwatched(refusal.reason))
    }

    /// Refuses a plan that has conflicts, or needs contents that are no longer kept.
    pub(super) fn check(&self, plan: &UndoPlan) -> Result<(), UndoError> {
        if plan.conflicts() > 0 {
            return Err(UndoError::Conflicts(plan.conflicts()));
        }
        for step in &plan.steps {
            if let State::File { digest, .. } = &step.to
                && !self.shared.blobs.has(digest)
            {
                return Err(UndoError::Gone(step.path.0.clone()));
            }
        }
        Ok(())
    }
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

struct Work<'a> {
    blobs: &'a Blobs,
    reach: Everything,
    recorder: &'a Recorder,
}

impl Work<'_> {
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
