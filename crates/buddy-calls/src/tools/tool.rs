//! The parts of a tool: a typed input, an intent, and a run. It never asks, clips, logs or emits; the pipeline does.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use buddy_exec::managed::Owner;
use buddy_exec::{Bounds, Denial, ProgramPath, Recorder, Target};
use buddy_policy::{Execution, Intent};
use buddy_protocol::{Clock, DeltaStream, Image, ToolDefinition, ToolFailure};
use buddy_web::{Redirects, Web};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::tools::background::Background;
use crate::tools::call_place::CallPlace;
use crate::tools::egress::CallEgress;
use crate::tools::foreseen::Foreseen;
use crate::tools::means::Means;
use crate::tools::person::Person;
use crate::tools::tool_spec::{CommandField, ToolSpec};

/// A tool that the model can call.
#[async_trait]
pub(crate) trait Tool: Send + Sync + 'static {
    /// The input from the model. Unknown fields are refused.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// The facts of the registry about this tool.
    const SPEC: ToolSpec;

    /// One line for people.
    fn title(input: &Self::Input) -> String;

    /// The intent of the call.
    fn intent(input: &Self::Input, place: &CallPlace) -> Intent;

    /// The command in the input that a user may change before it runs.
    const COMMAND: Option<CommandField> = None;

    /// The purpose of the call in the model's words, where it states one.
    fn why(_input: &Self::Input) -> Option<&str> {
        None
    }

    /// The text of the question to the user, where its actions do not say it in the words of the tool.
    fn question(_input: &Self::Input, _place: &CallPlace) -> Option<String> {
        None
    }

    /// The changes of the call to files, as a diff, and whether it can work at all, where that can be told before it runs. Nothing
    /// is changed by it, and nothing leaves this machine.
    fn preview(_input: &Self::Input, _sight: Sight) -> Option<Preview> {
        None
    }

    /// The id of the process that the call ends and does nothing else.
    fn stops(_input: &Self::Input) -> Option<&str> {
        None
    }

    /// Changes what the model is told about the tool by what a session has for it.
    fn fit(_definition: &mut ToolDefinition, _means: Means) {}

    /// Does it.
    async fn run(input: Self::Input, context: &ToolContext) -> Result<Value, ToolFailure>;
}

/// A look at what the call would do, under way: what can be told of it, or why the call cannot work.
pub(crate) type Preview = BoxFuture<'static, Result<Option<Foreseen>, ToolFailure>>;

/// The view of the files for a call, within its bounds.
pub struct Sight {
    /// The host it would run on.
    pub target: Arc<dyn Target>,
    /// Where relative paths start.
    pub place: CallPlace,
    /// The reach of the call.
    pub bounds: Bounds,
    /// The web, of which only the rules are looked at.
    pub web: Arc<Web>,
    /// The environment of commands that look.
    pub env: Vec<(String, String)>,
    /// The directories in which buddy looks for the programs that it starts for itself.
    pub programs: ProgramPath,
    /// Cancelled when the call is to stop.
    pub cancel: CancellationToken,
}

/// The means of a running tool.
pub(crate) struct ToolContext {
    /// The host it runs on.
    pub(crate) target: Arc<dyn Target>,
    /// Where relative paths start.
    pub(crate) place: CallPlace,
    /// The web.
    pub(crate) web: Arc<Web>,
    /// Which redirects to other hosts a fetch may follow.
    pub(crate) redirects: Redirects,
    /// Whether a file name is that of a log of this conversation.
    pub(crate) is_own_log: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The reach of the call.
    pub(crate) bounds: Bounds,
    /// The reach that it would have if nobody had been asked, which is no more.
    pub(crate) unasked_bounds: Bounds,
    /// The directories that it may work in, without places for temporary files.
    pub(crate) workspace: Vec<PathBuf>,
    /// Whether a user was asked about exactly this call.
    pub(crate) is_asked: bool,
    /// Files that a command runs and that the user was asked about as they are.
    pub(crate) pins: Vec<PathBuf>,
    /// Whether everything that the call does is known to only read.
    pub(crate) is_read_only: bool,
    /// Who keeps work that its commands send, and what they keep.
    pub(crate) sends: Option<(String, String)>,
    /// The number of simple commands that it is made of.
    pub(crate) parts: usize,
    /// Whether all that it does is to reach servers on this machine.
    pub(crate) reaches_here: bool,
    /// Judges the connections of its commands, where they have no network of their own.
    pub(crate) egress: Option<Arc<CallEgress>>,
    /// Whether a user let this command run outside the jail that stopped it.
    pub(crate) is_outside: bool,
    /// How a command is to be run.
    pub(crate) execution: Execution,
    /// Keeps what the call changes, so that it can be undone.
    pub(crate) recorder: Recorder,
    /// The environment of commands.
    pub(crate) env: Vec<(String, String)>,
    /// The directories in which buddy looks for the programs that it starts for itself.
    pub(crate) programs: ProgramPath,
    /// Commands of the session that run on.
    pub(crate) background: Arc<Background>,
    /// The name of the target in its session.
    pub(crate) target_name: String,
    /// Who managed processes belong to.
    pub(crate) owner: Owner,
    /// Characters of one text that the model is given.
    pub(crate) text_limit: usize,
    /// The file for the whole output of this call.
    pub(crate) log: PathBuf,
    /// Who can be asked.
    pub(crate) person: Person,
    /// Wall-clock time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Cancelled when the call is to stop.
    pub(crate) cancel: CancellationToken,
    /// The images that the model is to see with the result.
    pub(crate) images: Mutex<Vec<Image>>,
    /// The accesses that the jail stopped.
    pub(crate) denials: Mutex<Vec<Denial>>,
    /// Where live output goes.
    pub(crate) live: tokio::sync::mpsc::Sender<(DeltaStream, String)>,
}

impl ToolContext {
    /// The view of the call.
    pub(crate) fn sight(&self) -> Sight {
        Sight {
            target: self.target.clone(),
            place: self.place.clone(),
            bounds: self.bounds.clone(),
            web: self.web.clone(),
            env: self.env.clone(),
            programs: self.programs.clone(),
            cancel: self.cancel.clone(),
        }
    }

    /// Gives an image with the result.
    pub(crate) fn show(&self, image: Image) {
        self.images.lock().unwrap_or_else(PoisonError::into_inner).push(image);
    }

    /// Notes what the jail stopped.
    pub(crate) fn note_denials(&self, denials: Vec<Denial>) {
        self.denials.lock().unwrap_or_else(PoisonError::into_inner).extend(denials);
    }

    /// The outcome of some work, which is dropped when the call is to stop.
    pub(crate) async fn until_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, ToolFailure> {
        tokio::select! {
            done = work => Ok(done),
            () = self.cancel.cancelled() => {
                Err(ToolFailure::new("interrupted", "the user interrupted the call"))
            }
        }
    }
}

/// A call whose input was understood.
#[async_trait]
pub(crate) trait Prepared: Send + Sync {
    fn intent(&self, place: &CallPlace) -> Intent;
    fn why(&self) -> Option<&str>;
    /// Whether the model was to state the risk of the call and did not.
    fn lacks_risk(&self) -> bool;
    fn question(&self, place: &CallPlace) -> Option<String>;
    fn preview(&self, sight: Sight) -> Option<Preview>;
    /// The id of the process that it ends and does nothing else.
    fn stops(&self) -> Option<&str>;
    async fn run(self: Box<Self>, context: &ToolContext) -> Result<Value, ToolFailure>;
}
