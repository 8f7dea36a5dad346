//! The pipeline, the same for every call: validate → intent → policy → ask → durable intent → run → clip → record.
//!
//! A call given to the pipeline ends in exactly one recorded result, whatever happens to it on the way.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::undo::{Header, UndoStore};
use buddy_exec::{Bounds, Recorder, Target};
use buddy_policy::{Action, Decision, Intent, Rules, Verdict, decide};
use buddy_protocol::{
    Answer, Approval, Ask, AskId, Clock, Content, DeltaStream, Envelope, EventSink, Fact, Ids, Item,
    ItemChanged, ItemDelta, ItemEnded, ItemId, ItemStatus, Question, SinkClosed, ToolFailure, UnixMillis,
};
use fail::fail_point;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::tools::clip::{TextLimits, clip, clip_text};
use crate::tools::registry;
use crate::tools::tool::{Place, Prepared, TextClass, ToolContext, shown};

/// Live output that may wait for the session's actor before more of it is dropped.
const LIVE_QUEUE: usize = 64;
/// How long a cancelled tool may take to come to its end before it is dropped.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What the pipeline works with.
pub(crate) struct PipelineParts {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) place: Place,
    pub(crate) bounds: Bounds,
    /// Where changes are kept, and for which session; none keeps nothing.
    pub(crate) undo: Option<(UndoStore, String)>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) logs: PathBuf,
    pub(crate) rules: Rules,
    pub(crate) limits: TextLimits,
    pub(crate) tools_off: Vec<String>,
    /// How long a person has to answer; none means for ever.
    pub(crate) ask_within: Option<Duration>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) sink: Arc<dyn EventSink>,
}

/// The pipeline of a session.
pub(crate) struct Pipeline {
    parts: PipelineParts,
}

/// A call that is to go through the pipeline.
pub(crate) struct Call {
    /// The call's item, pending.
    pub(crate) item: Item,
    /// Why it must not run, where that is known already.
    pub(crate) refusal: Option<ToolFailure>,
}

/// A call with all that can be known before it runs.
pub(crate) struct Planned {
    item: Item,
    ready: Result<Ready, ToolFailure>,
    /// Calls that must end before this one runs.
    after: Vec<watch::Receiver<bool>>,
    /// Dropped or set when this call ended.
    ended: watch::Sender<bool>,
}

impl Planned {
    /// The call's item, pending.
    pub(crate) fn item(&self) -> &Item {
        &self.item
    }
}

struct Ready {
    prepared: Box<dyn Prepared>,
    intent: Intent,
    text: TextClass,
}

/// How a call went.
struct Outcome {
    status: ItemStatus,
    result: Result<Value, ToolFailure>,
}

impl Outcome {
    fn failed(failure: ToolFailure) -> Self {
        Self { status: ItemStatus::Failed, result: Err(failure) }
    }

    fn denied(failure: ToolFailure) -> Self {
        Self { status: ItemStatus::Denied, result: Err(failure) }
    }

    fn interrupted() -> Self {
        let failure =
            ToolFailure::new("interrupted", "the person interrupted before the call ran; it was not run");
        Self { status: ItemStatus::Interrupted, result: Err(failure) }
    }
}

impl Pipeline {
    pub(crate) fn new(parts: PipelineParts) -> Arc<Self> {
        Arc::new(Self { parts })
    }

    /// Validates the calls of one model answer and orders those that could get in each other's way.
    pub(crate) fn plan(&self, calls: Vec<Call>) -> Vec<Planned> {
        let mut planned: Vec<Planned> = Vec::with_capacity(calls.len());
        for Call { item, refusal } in calls {
            let ready = refusal.map_or_else(|| self.prepare(&item), Err);
            let conflicts = |earlier: &&Planned| match (&earlier.ready, &ready) {
                (Ok(earlier), Ok(ready)) => earlier.intent.conflicts(&ready.intent),
                _ => false,
            };
            let after = planned.iter().filter(conflicts).map(|earlier| earlier.ended.subscribe()).collect();
            planned.push(Planned { item, ready, after, ended: watch::Sender::new(false) });
        }
        planned
    }

    fn prepare(&self, item: &Item) -> Result<Ready, ToolFailure> {
        let Content::ToolCall(call) = &item.content else {
            return Err(ToolFailure::new("internal", "the item is not a tool call"));
        };
        let entry = registry::find_on(&call.name, &self.parts.tools_off)?;
        let prepared = entry.prepare(call.input.value())?;
        let intent = prepared.intent(&self.parts.place).in_tier(entry.spec.tier);
        Ok(Ready { prepared, intent, text: entry.spec.text })
    }

    /// Takes a call to its end and returns its item as it was recorded.
    pub(crate) async fn run(self: Arc<Self>, planned: Planned, cancel: CancellationToken) -> Item {
        let Planned { mut item, ready, after, ended } = planned;
        let outcome = match ready {
            Ok(ready) => self.judge_and_run(&mut item, ready, after, cancel).await,
            Err(failure) => Ok(Outcome::failed(failure)),
        };
        let outcome = outcome.unwrap_or_else(|SinkClosed| Outcome::interrupted());
        let item = self.record(item, outcome).await;
        ended.send_replace(true);
        item
    }

    async fn judge_and_run(
        &self,
        item: &mut Item,
        ready: Ready,
        after: Vec<watch::Receiver<bool>>,
        cancel: CancellationToken,
    ) -> Result<Outcome, SinkClosed> {
        let decision = decide(&ready.intent, self.parts.rules);
        let refused = match decision.verdict {
            Verdict::Allow => None,
            Verdict::Deny => Some(Outcome::denied(nobody_to_ask(&decision))),
            Verdict::Ask => {
                let ask = self.ask(item, &ready, decision);
                tokio::select! {
                    answer = self.parts.sink.ask(ask) => refusal(answer?),
                    () = cancel.cancelled() => Some(Outcome::interrupted()),
                }
            }
        };
        if let Some(outcome) = refused {
            return Ok(outcome);
        }
        tokio::select! {
            () = all_ended(after) => {}
            () = cancel.cancelled() => return Ok(Outcome::interrupted()),
        }
        item.status = ItemStatus::Running;
        self.parts.sink.commit(vec![Fact::ItemChanged(ItemChanged { item: item.clone() })]).await?;
        fail_point!("tool.intent");
        let outcome = self.execute(item, ready, cancel).await;
        fail_point!("tool.exited");
        Ok(outcome)
    }

    fn ask(&self, item: &Item, ready: &Ready, decision: Decision) -> Ask {
        let UnixMillis(now) = self.parts.clock.now();
        let within =
            self.parts.ask_within.map(|within| u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        let described = self.parts.target.describe();
        let (action, cwd) = action_line(&ready.intent, &self.parts.place);
        Ask {
            id: AskId::new(&*self.parts.ids),
            turn: item.turn.clone(),
            item: Some(item.id.clone()),
            question: Question::Approval(Approval {
                actor: "buddy".to_owned(),
                place: format!("{}@{}", described.user, described.host),
                cwd,
                action,
                why: ready.prepared.why().map(str::to_owned),
                risk: decision.risk,
                reasons: decision.reasons,
            }),
            expires: within.map(|within| UnixMillis(now.saturating_add(within))),
        }
    }

    async fn execute(&self, item: &Item, ready: Ready, cancel: CancellationToken) -> Outcome {
        let (live, output) = mpsc::channel(LIVE_QUEUE);
        let context = ToolContext {
            target: self.parts.target.clone(),
            place: self.parts.place.clone(),
            bounds: self.parts.bounds.clone(),
            recorder: self.recorder(item),
            env: self.parts.env.clone(),
            log: self.parts.logs.join(format!("exec-{}.log", item.id)),
            clock: self.parts.clock.clone(),
            cancel: cancel.clone(),
            live,
        };
        let tool = async {
            let run = ready.prepared.run(&context);
            let result = bounded(run, &cancel).await;
            drop(context);
            result
        };
        let (result, ()) = tokio::join!(tool, self.forward(&item.id, output));
        let status = match &result {
            _ if cancel.is_cancelled() => ItemStatus::Interrupted,
            Ok(_) => ItemStatus::Completed,
            Err(_) => ItemStatus::Failed,
        };
        Outcome { status, result: clipped(result, self.parts.limits.of(ready.text)) }
    }

    /// What keeps the changes of a call, under the id of its item.
    fn recorder(&self, item: &Item) -> Recorder {
        let (Some((store, session)), Content::ToolCall(call)) = (&self.parts.undo, &item.content) else {
            return Recorder::off();
        };
        let UnixMillis(unix_ms) = self.parts.clock.now();
        store.begin(Header {
            id: item.id.to_string(),
            label: call.title.clone(),
            session: session.clone(),
            unix_ms,
            undoes: None,
        })
    }

    async fn forward(&self, item: &ItemId, mut output: mpsc::Receiver<(DeltaStream, String)>) {
        while let Some((stream, text)) = output.recv().await {
            let delta = Fact::ItemDelta(ItemDelta { item: item.clone(), stream, text });
            if self.parts.sink.push(vec![delta]).await.is_err() {
                return;
            }
        }
    }

    async fn record(&self, mut item: Item, outcome: Outcome) -> Item {
        item.status = outcome.status;
        let item = item.with_output(Envelope::new(self.parts.clock.now(), outcome.result));
        // A closed sink means that the session is going down; recovery closes the item when it is taken up again.
        let _ = self.parts.sink.commit(vec![Fact::ItemEnded(ItemEnded { item: item.clone() })]).await;
        fail_point!("tool.recorded");
        item
    }
}

/// The result of a tool, which after a cancellation has a bounded time to come to its end.
async fn bounded(
    run: impl Future<Output = Result<Value, ToolFailure>>,
    cancel: &CancellationToken,
) -> Result<Value, ToolFailure> {
    let mut run = std::pin::pin!(run);
    tokio::select! {
        result = &mut run => result,
        () = cancel.cancelled() => tokio::time::timeout(STOP_WITHIN, run).await.unwrap_or_else(|_| {
            Err(ToolFailure::new("interrupted", "the call did not stop in time and was dropped"))
        }),
    }
}

async fn all_ended(after: Vec<watch::Receiver<bool>>) {
    for mut earlier in after {
        // An error means that the sender is gone, and so the call has ended too.
        let _ = earlier.wait_for(|ended| *ended).await;
    }
}

fn refusal(answer: Answer) -> Option<Outcome> {
    let denied = |message: String| {
        let failure =
            ToolFailure::new("denied", message).hint("do not try to get around it; ask what to do instead");
        Some(Outcome::denied(failure))
    };
    match answer {
        Answer::Allow => None,
        Answer::Deny { reason: Some(reason) } => denied(format!("the person said no: {reason}")),
        Answer::Deny { reason: None } => denied("the person said no".to_owned()),
        Answer::Reply { text } => denied(format!("the person said, instead of allowing it: {text}")),
        Answer::Expired => denied("nobody answered in time".to_owned()),
        Answer::Withdrawn => Some(Outcome::interrupted()),
    }
}

fn nobody_to_ask(decision: &Decision) -> ToolFailure {
    let message =
        format!("this needs a person's approval and nobody is there to ask: {}", decision.reasons.join("; "));
    ToolFailure::new("approval_needed", message).hint("go on without it, or say what you would have done")
}

/// What would be done in one line, and where.
fn action_line(intent: &Intent, place: &Place) -> (String, String) {
    let mut cwd = shown(&place.cwd);
    let line = |action: &Action| match action {
        Action::Run { command, cwd: run_in } => {
            cwd = shown(run_in);
            command.clone()
        }
        Action::Write(path) => format!("write {}", shown(path)),
        Action::Delete(path) => format!("remove {}", shown(path)),
        Action::Fetch(address) => format!("fetch {address}"),
        Action::Read(path) => format!("read {}", shown(path)),
    };
    let lines: Vec<String> = intent.actions.iter().map(line).collect();
    (lines.join("\n"), cwd)
}

fn clipped(result: Result<Value, ToolFailure>, limit: usize) -> Result<Value, ToolFailure> {
    match result {
        Ok(mut value) => {
            if clip(&mut value, limit) && value.get("truncated").is_some() {
                value["truncated"] = Value::Bool(true);
            }
            Ok(value)
        }
        Err(failure) => Err(ToolFailure {
            message: clip_text(&failure.message, limit).unwrap_or(failure.message),
            ..failure
        }),
    }
}
