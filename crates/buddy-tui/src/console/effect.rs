//! The inputs of a console and the effects that it wants.

use std::sync::Arc;

use buddy_protocol::{Command, Event, Found, ItemId, SessionId, SessionSummary, TurnId, UnixMillis};

use super::branch::{Branch, Branched};
use super::desk::{DeskCommand, ModelOption, SessionSurroundings};
use crate::branches::Another;
use crate::editor::EditorKey;
use crate::exit::Exit;
use crate::text::Theme;

/// An input.
#[derive(Debug)]
pub(super) enum ConsoleInput {
    Key(EditorKey),
    Paste(String),
    /// The user said this before there was a screen.
    Said(String),
    /// The terminal has another size.
    Resized,
    Event(SessionId, Arc<Event>),
    /// Some of what streamed in a session was missed.
    Missed(SessionId),
    /// The terminal said what its ground is like.
    Ground(Theme),
    /// The user looks at the terminal again, or elsewhere.
    Focus(Focus),
    /// Some time went by.
    Tick,
    /// A signal asks to stop.
    Stop,
    Reply(EffectReply),
    /// A line, where lines are read instead of keys.
    Line(String),
    /// A signal asks to interrupt what runs.
    Interrupt,
    /// No more lines come.
    InputEnded,
}

/// Where the user looks, as far as the terminal tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    /// Many terminals do not tell.
    Unknown,
    Here,
    Elsewhere,
}

/// An effect. Nothing here waits: the result comes as an input.
#[derive(Debug, PartialEq)]
pub(super) enum ConsoleEffect {
    /// Send a command to a session.
    Send(SessionId, Command),
    /// Do something that takes its time and ends in a reply.
    Errand(Errand),
    /// Leave a session, which goes on by itself.
    Leave(SessionId),
    /// Keep what was sent.
    Remember(String),
    /// Let the user edit this in an editor of theirs.
    Edit(String),
    /// Let the user log in, to this profile where one is named.
    LogIn(Option<String>),
    /// Put this on the clipboard.
    Copy(String),
    /// Stop until the shell brings buddy back.
    Suspend,
    /// Paint everything anew.
    Redraw,
    /// Tell the user who looks elsewhere.
    Ring(String),
    Quit(Exit),
}

/// An effect that ends in a reply.
#[derive(Debug, PartialEq)]
pub(super) enum Errand {
    /// Start a task beside this conversation, which knows what was said in it, on this prompt.
    Begin(SessionId, String),
    /// Go on in a fork.
    Fork(Branch),
    /// Start another conversation and go to it.
    New(Another),
    /// Go to another session.
    Open(SessionId),
    /// Go to the session that was used last beside the one that is shown.
    OpenLast,
    /// See whether the process that works on this session still lives.
    LookAfterOwner(SessionId),
    /// Bring sessions to pick from.
    ListSessions,
    /// Bring sessions in which these words were said.
    Search(String),
    /// Bring models to pick from.
    ListModels,
    /// Find the model that is meant.
    FindModel(String),
    /// Bring paths to complete.
    ListPaths,
    /// Look at the surroundings again.
    LookAround,
    /// Ask the user's own command for a status line, with these facts.
    AskStatus(String),
    /// Have one of buddy's own commands carried out beside the conversation.
    Run(DeskCommand),
    /// Count the calls of this turn that changed files.
    CountChanges(TurnId, Vec<ItemId>),
    /// Bring the image that is on the clipboard.
    PasteImage,
}

/// The result of an effect.
#[derive(Debug)]
pub(super) enum EffectReply {
    /// A session accepted a command.
    Sent(SessionId),
    /// A command was refused.
    Refused(String),
    /// A prompt was refused.
    Unsent {
        session: SessionId,
        text: String,
        reason: String,
    },
    /// The image that was on the clipboard is in this file.
    PastedImage(String),
    /// A task of its own runs in this session.
    Begun {
        session: SessionId,
        head: u64,
        prompt: String,
    },
    /// A fork is there.
    Forked(Branched),
    /// This session is the one that is shown from now on; its last event so far.
    Opened {
        session: SessionId,
        head: u64,
        /// The text that says who works on it, if another process does.
        in_use: Option<String>,
    },
    /// The process that worked on this session has ended and left its work open.
    OwnerGone {
        session: SessionId,
        /// Its last event.
        head: u64,
    },
    OwnerWorks,
    Sessions {
        sessions: Vec<SessionSummary>,
        now: UnixMillis,
    },
    Found(Vec<Found>),
    Models(Vec<ModelOption>),
    /// The model that was meant.
    ModelFound(String),
    Paths(Vec<String>),
    Surroundings(SessionSurroundings),
    /// The output of the user's own command for the status line.
    Status(Result<String, String>),
    /// The output of one of buddy's own commands.
    Said(String),
    /// The changes in the repository.
    Changes(String),
    /// An undo or a redo ended, and said this.
    Undone(Result<String, String>),
    /// How many calls of a turn changed files, as far as that is known.
    CountedChanges(TurnId, Option<usize>),
    /// A text that the user edited.
    Edited(String),
    /// The user connected a model: the one to go on with, where there is another one now.
    LoggedIn(Option<String>),
    /// Something that was wanted did not work.
    Failed(String),
}
