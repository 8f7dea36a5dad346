//! Exit codes: what a script can branch on. `docs/how-to/headless.md` lists them; they only grow.

use buddy_protocol::{FailureKind, SessionId};

/// How a run of buddy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Ok,
    /// The task or the model's API failed.
    Failed,
    /// The command line makes no sense.
    Usage,
    /// The cap on model calls was reached.
    TurnLimit,
    /// The user's own limit on money or tokens was reached.
    Budget,
    /// Something was not done because it needed an approval that nobody could give.
    ApprovalNeeded,
    /// The provider does not accept the key.
    Auth,
    /// The conversation no longer fits the model.
    ContextOverflow,
    /// A command was refused because nothing could keep it to its bounds.
    NotJailed,
    /// The time limit was reached.
    Timeout,
    /// A signal stopped it.
    Interrupted,
    /// The reader of the output went away.
    OutputClosed,
}

/// How a conversation was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftConversation {
    /// How it ended.
    pub exit: Exit,
    /// The session that was talked in last.
    pub session: SessionId,
    /// Whether nothing was said in it.
    pub is_empty: bool,
    /// Sessions of tasks that ran beside it and were stopped.
    pub stopped: Vec<SessionId>,
}

/// The request of a signal to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalled {
    /// To stop what runs, and to end only where nothing does: somebody at the terminal pressed a key.
    Interrupt,
    /// To end: whoever started it wants that, or the terminal is gone.
    End,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::TurnLimit => 3,
            Self::Budget => 4,
            Self::ApprovalNeeded => 5,
            Self::Auth => 6,
            Self::ContextOverflow => 7,
            Self::NotJailed => 8,
            Self::Timeout => 124,
            Self::Interrupted => 130,
            Self::OutputClosed => 141,
        }
    }

    pub(crate) fn of(failure: FailureKind) -> Self {
        match failure {
            FailureKind::Auth => Self::Auth,
            FailureKind::ContextOverflow => Self::ContextOverflow,
            FailureKind::TurnLimit | FailureKind::Stuck => Self::TurnLimit,
            FailureKind::Budget => Self::Budget,
            _ => Self::Failed,
        }
    }
}
