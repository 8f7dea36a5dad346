//! Undo on another host: the same plan and the same states, reached through its target.
//!
//! A directory that a call made and that has other files in it by now stays. An undo that breaks off, as when
//! the connection is lost, can be run again: restored paths are not in the next plan.

use std::io;

use super::digest;
use super::journal::{Header, Read};
use super::not_covered::NotCovered;
use super::plan::{UndoPlan, changes, not_covered, step};
use super::recorder::Recorder;
use super::restore::{Move, leave, moves};
use super::state::State;
use super::store::{UndoError, UndoStore, Which, is_covered, is_ended, is_interrupted};
use crate::{Bounds, Deletion, RemoteTarget, Target, TargetError};

impl UndoStore {
    /// The header of an entry.
    pub fn header(&self, which: &Which) -> Result<Header, UndoError> {
        Ok(self.find(which)?.header)
    }

    /// The plan of undoing an entry on its host, by the present state there.
    pub async fn plan_on(&self, which: &Which, host: &RemoteTarget) -> Result<UndoPlan, UndoError> {
        let journal = self.find(which)?;
        let most = self.shared.settings.max_file_bytes;
        let mut steps = Vec::new();
        let mut not_covered = not_covered(&journal);
        for (path, (before, after)) in changes(&journal) {
            if let State::NotKept { why } = before {
                not_covered.push(NotCovered { path, why, is_changed: true });
                continue;
            }
            let now = match host.look(&path.0, most).await {
                Ok(look) => Ok(look.seen.state()),
                Err(error @ (TargetError::Unreachable { .. } | TargetError::ConnectionLost { .. })) => {
                    return Err(error.into());
                }
                Err(error) => Err(error.to_string()),
            };
            steps.extend(step(path, before, &after, now));
        }
        Ok(plan(&journal, steps, not_covered))
    }

    /// Carries out a plan there, as an entry of its own. A plan with conflicts is refused. Returns the paths that stayed
    /// as they are.
    pub async fn apply_on(
        &self,
        plan: &UndoPlan,
        header: Header,
        host: &RemoteTarget,
    ) -> Result<Vec<NotCovered>, UndoError> {
        let (steps, mut left) = self.check(plan)?;
        let recorder = self.begin(Header { undoes: Some(plan.header.id.clone()), ..header });
        for one in moves(&steps) {
            match self.perform(&one, &recorder, host).await {
                Err(error) if plan.is_forced && !is_unreachable(&error) => leave(&mut left, &one, &error),
                done => done?,
            }
        }
        recorder.undone()?;
        Ok(left)
    }

    async fn perform(&self, one: &Move, recorder: &Recorder, host: &RemoteTarget) -> Result<(), UndoError> {
        let (open, path) = (Bounds::open(), one.path.as_path());
        let done = match (&one.from, &one.to) {
            (State::Directory { .. }, State::Absent) => {
                match host.delete(&open, recorder, path, Deletion::Single).await {
                    Err(TargetError::NotEmpty { .. }) => Ok(()),
                    done => done.map(drop),
                }
            }
            (_, State::Absent) => host.delete(&open, recorder, path, Deletion::Single).await.map(drop),
            (State::Directory { .. }, State::Directory { mode }) => host.set_mode(path, *mode).await,
            (_, State::Directory { .. }) => host.make_directory(&open, recorder, path).await.map(drop),
            (_, State::File { digest, mode, .. }) => {
                let content = self
                    .content(digest)
                    .map_err(|source| UndoError::Restore { path: path.to_owned(), source })?;
                match host.write(&open, recorder, path, &content).await {
                    Ok(_) => host.set_mode(path, *mode).await,
                    Err(error) => Err(error),
                }
            }
            (_, link @ State::Link { .. }) => host.make_link(recorder, path, link).await,
            (_, State::NotKept { why }) => {
                let source = io::Error::other(why.clone());
                return Err(UndoError::Restore { path: path.to_owned(), source });
            }
        };
        Ok(done?)
    }

    fn content(&self, wanted: &str) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let copied = digest::copy(&mut self.shared.blobs.open(wanted)?, &mut content, u64::MAX)?;
        if copied.is_none_or(|(found, _)| found != wanted) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the kept content is damaged"));
        }
        Ok(content)
    }
}

/// Whether the host cannot be reached any more, so that no other path can be restored either.
fn is_unreachable(error: &UndoError) -> bool {
    matches!(error, UndoError::Target(TargetError::Unreachable { .. } | TargetError::ConnectionLost { .. }))
}

fn plan(journal: &Read, steps: Vec<super::step::Step>, not_covered: Vec<NotCovered>) -> UndoPlan {
    let is_interrupted = is_interrupted(journal);
    let is_covered = is_covered(journal);
    // No command in a jail of this machine writes there.
    let (roots, beside) = (Vec::new(), None);
    UndoPlan {
        header: journal.header.clone(),
        steps,
        not_covered,
        is_interrupted,
        is_covered,
        is_ended: is_ended(journal),
        is_forced: false,
        roots,
        beside,
    }
}
