//! The pipeline of a session and the calls that go through it. The steps are in `run.rs` and the files that it names.

use std::sync::{Arc, Mutex, PoisonError};

use buddy_policy::Intent;
use buddy_protocol::{Item, ToolFailure};

use crate::gate::Ground;
use crate::targets::Attached;
use crate::tools::background::Background;
use crate::tools::command_turns::CommandTurns;
use crate::tools::declined::DeclinedCommands;
use crate::tools::edit_check::EditCheckMemory;
use crate::tools::egress::LateAnswers;
use crate::tools::pipeline_parts::PipelineParts;
use crate::tools::secret_watch::SecretWatch;
use crate::tools::session_tools::SessionTools;
use crate::tools::tool::Prepared;
use crate::tools::tool_entry::ToolEntry;
use crate::tools::tool_spec::CommandField;
use crate::tools::turnstile::Ticket;

/// The pipeline of a session.
pub struct Pipeline {
    /// The means of its calls.
    pub parts: Arc<PipelineParts>,
    pub(crate) declined: DeclinedCommands,
    /// The tools of the session.
    pub tools: SessionTools,
    /// Commands that nobody waits for any longer.
    pub background: Arc<Background>,
    /// Answers about hosts that came after their command had given up.
    pub(crate) late_answers: Arc<LateAnswers>,
    /// The names of the tools that the model was last offered. Held for a look or a change only.
    offered: Mutex<Arc<[String]>>,
    /// Whose commands run at this moment.
    pub(crate) turns: CommandTurns,
    /// The results of checks of edited files.
    pub(crate) checked: EditCheckMemory,
    /// Files with secrets that commands in the background are kept from.
    pub(crate) secrets: Arc<SecretWatch>,
}

impl Pipeline {
    /// The pipeline of a session that works with these.
    pub fn new(parts: PipelineParts, tools: SessionTools) -> Arc<Self> {
        let background = Background::new(parts.sink.clone());
        let secrets = Arc::new(SecretWatch::new(parts.gate.clone()));
        Arc::new(Self {
            parts: Arc::new(parts),
            tools,
            declined: DeclinedCommands::default(),
            background,
            late_answers: Arc::default(),
            turns: CommandTurns::default(),
            checked: EditCheckMemory::default(),
            secrets,
            offered: Mutex::new(Arc::from([])),
        })
    }

    /// Notes the tools that the model is offered, so that advice names no others.
    pub fn note_offered(&self, names: Vec<String>) {
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = names.into();
    }

    /// The names of the tools that the model was last offered.
    pub(crate) fn offered(&self) -> Arc<[String]> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A call that is to go through the pipeline.
pub struct Call {
    /// The call's item, pending.
    pub item: Item,
    /// Why it must not run, where that is known already.
    pub refusal: Option<ToolFailure>,
}

/// A call that was understood.
pub(crate) struct Ready {
    pub(crate) prepared: Box<dyn Prepared>,
    pub(crate) intent: Intent,
    /// Where it would happen.
    pub(crate) target: Arc<Attached>,
    /// The name of the client that makes it; none for the agent.
    pub(crate) caller: Option<String>,
    /// The command in its input that a user may change.
    pub(crate) command: Option<CommandField>,
    /// The command that the user put in the place of the one that the model wanted.
    pub(crate) edit: Option<String>,
    /// Whether it runs after another call of the same answer, so that what is there now says little about it.
    pub(crate) waits: bool,
    /// When its question is put.
    pub(crate) ticket: Ticket,
    pub(crate) entry: Arc<ToolEntry>,
}

impl Ready {
    /// The policy that judges it.
    pub(crate) fn ground(&self) -> Ground<'_> {
        self.target.ground()
    }

    /// The name of the tool.
    pub(crate) fn tool_name(&self) -> &str {
        &self.entry.name
    }

    /// Whether the order of the two could matter. What happens on one host is nothing to another.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        self.target.spec.name == other.target.spec.name && self.intent.conflicts(&other.intent)
    }
}
