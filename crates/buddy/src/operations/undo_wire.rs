//! Changes and plans of the undo store as the port has them.

use buddy_exec::undo::{Header, NotCovered, PathText, State, Step, UndoPlan};
use buddy_protocol::operations::{ChangeHeader, PathState, UncoveredChange, UndoPreview, UndoStep};

pub(super) fn header_of(header: &Header) -> ChangeHeader {
    let Header { id, label, session, workspace, unix_ms, undoes, target, by } = header.clone();
    ChangeHeader { id, label, session, workspace, unix_ms, undoes, target, by }
}

pub(super) fn preview_of(plan: &UndoPlan) -> UndoPreview {
    let workspace = plan.header.workspace.as_ref();
    let root = workspace
        .map(|workspace| PathText(workspace.0.canonicalize().unwrap_or_else(|_| workspace.0.clone())));
    UndoPreview {
        header: header_of(&plan.header),
        steps: plan.steps.iter().map(step_of).collect(),
        not_covered: plan.not_covered.iter().map(uncovered_of).collect(),
        is_interrupted: plan.is_interrupted,
        is_covered: plan.is_covered,
        root,
    }
}

fn step_of(step: &Step) -> UndoStep {
    let Step { path, now, to, conflict } = step;
    UndoStep { path: path.clone(), now: state_of(now), to: state_of(to), conflict: conflict.clone() }
}

fn uncovered_of(place: &NotCovered) -> UncoveredChange {
    let NotCovered { path, why, is_changed } = place.clone();
    UncoveredChange { path, why, is_changed }
}

fn state_of(state: &State) -> PathState {
    match state.clone() {
        State::Absent => PathState::Absent,
        State::File { digest, size, mode } => PathState::File { digest, size, mode },
        State::Link { target } => PathState::Link { target },
        State::Directory { mode } => PathState::Directory { mode },
        State::NotKept { why } => PathState::NotKept { why },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts read the JSON of `buddy undo`, which had the form of the store's own types before.
    #[test]
    fn a_state_is_written_as_the_store_writes_it() {
        let states = [
            State::Absent,
            State::File { digest: "d".to_owned(), size: 7, mode: 0o644 },
            State::Link { target: PathText("/a%b".into()) },
            State::Directory { mode: 0o755 },
            State::NotKept { why: "w".to_owned() },
        ];
        for state in states {
            let step = Step { path: PathText("/p".into()), now: state.clone(), to: state, conflict: None };
            let wire = serde_json::to_value(step_of(&step)).unwrap();
            assert_eq!(wire, serde_json::to_value(&step).unwrap());
            assert_eq!(serde_json::from_value::<UndoStep>(wire).unwrap(), step_of(&step));
        }
    }
}
