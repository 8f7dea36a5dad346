//! The state that a conversation has only line by line: sentences to print, and how far its questions are.

mod pages;

use std::collections::HashSet;

use buddy_protocol::{Answer, AskId, SessionId};

pub(super) use pages::Pages;

/// The reason that the agent gets after `deny all`.
const DENIED_ALL: &str = "the user denied everything that waited";
/// Commands that need a screen.
pub(super) const ON_A_SCREEN: [&str; 2] = ["theme", "keymap"];

/// Where lines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineInput {
    /// Somebody at a terminal.
    Terminal {
        /// Whether it may have a clipboard.
        has_clipboard: bool,
        /// Whether it is one of tmux's.
        is_in_tmux: bool,
    },
    /// A pipe or a file.
    Pipe,
}

/// The state that a console has only line by line.
#[derive(Debug)]
pub(super) struct LineFace {
    pub(super) input: LineInput,
    /// Sentences that were not printed yet.
    pub(super) told: Vec<String>,
    /// The question that is put, and how much of it was shown.
    pub(super) pages: Option<Pages>,
    /// Whether it is to be printed, for the first time or again.
    pub(super) is_question_due: bool,
    /// The question that was answered, until the answer is seen.
    pub(super) answered: Option<AskId>,
    /// Asks that were answered all together, and whose answer may not be seen yet.
    pub(super) settled: HashSet<AskId>,
    /// The sessions of the list that was printed last, in its order.
    pub(super) listed: Vec<SessionId>,
    /// Whether the user denied everything that waits. Questions of the same answer of the model that come a moment later are denied too.
    pub(super) is_denying: bool,
    /// Whether the input has ended, so that nobody can answer any more.
    pub(super) has_ended: bool,
}

impl LineFace {
    pub(super) fn new(input: LineInput) -> Self {
        Self {
            input,
            told: Vec::new(),
            pages: None,
            is_question_due: false,
            answered: None,
            settled: HashSet::new(),
            listed: Vec::new(),
            is_denying: false,
            has_ended: false,
        }
    }

    pub(super) fn tell(&mut self, text: &str) {
        self.told.push(text.trim_end().to_owned());
    }

    pub(super) fn is_pipe(&self) -> bool {
        self.input == LineInput::Pipe
    }

    /// The answer that everything gets which waits, if nobody looks at it one by one.
    pub(super) fn common_answer(&self) -> Option<Answer> {
        if self.is_denying {
            return Some(Answer::Deny { reason: Some(DENIED_ALL.to_owned()) });
        }
        self.has_ended.then(|| Answer::Unanswered { reason: "the input has ended".to_owned() })
    }
}
