//! The pipeline, the same for every call: validate → intent → policy → ask → durable intent → run → clip → record.
//!
//! A call given to the pipeline ends in exactly one recorded result, whatever happens to it on the way.
//!
//! Long because every call goes through each of these steps, and their order is what keeps it safe.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use buddy_exec::undo::{Header, PathText};
use buddy_exec::{Denial, Kept, Reach, Recorder};
use buddy_policy::{Action, Intent, RepositoryChange, Tier};
use buddy_protocol::{
    Content, DeltaStream, Envelope, Fact, Image, Item, ItemChanged, ItemDelta, ItemEnded, ItemId, ItemStatus,
    SinkClosed, ToolFailure, ToolKind, UnixMillis,
};
use buddy_web::Redirects;
use fail::fail_point;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::absent_user::reword_result;
use crate::gate::{Gate, Judged};
use crate::targets::Attached;
use crate::tools::approve::{Passage, Refusal, Share, told_of_edit, with_edit};
use crate::tools::clip::clipped;
use crate::tools::command_changes::{keep_after_failure, receiver, undecided_parts};
use crate::tools::credentials::without_credentials;
use crate::tools::description::fit_advice;
use crate::tools::egress::{CONNECTIONS, CallEgress, DIRECT_NETWORK, EgressSession, NETWORK, NOT_OBSERVED};
use crate::tools::failure::target_failure;
use crate::tools::opens::Closed;
use crate::tools::outside::{self, JailRules};
use crate::tools::path_text::show_path;
use crate::tools::person::Person;
use crate::tools::pipeline::{Call, Pipeline, Ready};
use crate::tools::plain::plain_texts;
use crate::tools::read_file::LOG_SCHEME;
use crate::tools::registry;
use crate::tools::rivals::PinCheck;
use crate::tools::target_field;
use crate::tools::tool::Prepared;
use crate::tools::tool::ToolContext;
use crate::tools::tool_entry::ToolEntry;
use crate::tools::turnstile::Ticket;
use crate::tools::unseen_files::{UNSEEN_FILES_CHANGED, describe_unseen_changes, notice_unseen_changes};
use crate::tools::withheld::{CommandText, withheld_line};
use crate::trail::note_result;

/// Live output that may wait for the session's actor before more of it is dropped.
const LIVE_QUEUE: usize = 64;
/// How long a cancelled tool may take to come to its end before it is dropped.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// A call with all that can be known before it runs.
pub struct Planned {
    item: Item,
    ready: Result<Ready, ToolFailure>,
    /// Its share in a question that is put for several calls.
    share: Option<Share>,
    /// When its question is put.
    ticket: Ticket,
    /// Calls that must end before this one runs.
    after: Vec<watch::Receiver<bool>>,
    /// Dropped or set when this call ended.
    ended: watch::Sender<bool>,
}

impl Planned {
    /// The call's item, pending.
    pub fn item(&self) -> &Item {
        &self.item
    }
}

/// How a call went.
struct Outcome {
    status: ItemStatus,
    result: Result<Value, ToolFailure>,
    /// The images that the model sees with the result.
    images: Vec<Image>,
    /// The accesses that the jail stopped.
    denials: Vec<Denial>,
    /// The line about files that its commands changed and that take effect later.
    unseen: Option<String>,
}

impl Outcome {
    fn failed(failure: ToolFailure) -> Self {
        Self::without_run(ItemStatus::Failed, failure)
    }

    fn denied(failure: ToolFailure) -> Self {
        Self::without_run(ItemStatus::Denied, failure)
    }

    fn refused(refusal: Refusal, ready: &Ready) -> Self {
        match refusal {
            Refusal::Denied(failure) => Self::denied(with_edit(failure, ready.edit.as_deref())),
            Refusal::Failed(failure) => Self::failed(with_edit(failure, ready.edit.as_deref())),
            Refusal::Interrupted => Self::interrupted(),
        }
    }

    fn interrupted() -> Self {
        let failure =
            ToolFailure::new("interrupted", "the user interrupted before the call ran; it was not run");
        Self::without_run(ItemStatus::Interrupted, failure)
    }

    fn without_run(status: ItemStatus, failure: ToolFailure) -> Self {
        Self { status, result: Err(failure), images: Vec::new(), denials: Vec::new(), unseen: None }
    }
}

/// On which side of the jail a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Within its bounds.
    Usual,
    /// Outside the jail that stopped it, as a user wanted.
    Outside,
}

impl Side {
    /// The name of the file for the output of a call.
    fn log_name(self, item: &Item) -> String {
        match self {
            Self::Usual => format!("exec-{}.log", item.id),
            Self::Outside => format!("exec-{}-outside.log", item.id),
        }
    }

    /// The id of the entry of undo.
    fn entry_id(self, item: &Item) -> String {
        match self {
            Self::Usual => item.id.to_string(),
            // The entry of the try in the jail has the id of the call.
            Self::Outside => format!("{}-outside", item.id),
        }
    }

    /// A result that says on which side it is from, where that is not the usual one.
    fn marked(self, mut result: Value) -> Value {
        if let Some(fields) = result.as_object_mut().filter(|_| self == Self::Outside) {
            let text = "the jail stopped the command, and the user let it run once more outside; this is how that went";
            fields.insert("outside_jail".to_owned(), Value::String(text.to_owned()));
            let undo = "what it changed outside the jail is not kept for undo";
            fields.insert("undo".to_owned(), Value::String(undo.to_owned()));
        }
        result
    }
}

impl Pipeline {
    /// Validates the calls of one model answer and orders those that could get in each other's way.
    pub fn plan(&self, calls: Vec<Call>) -> Vec<Planned> {
        let mut planned: Vec<Planned> = Vec::with_capacity(calls.len());
        for Call { item, refusal } in calls {
            let mut ready = refusal.map_or_else(|| self.prepare(&item), Err);
            let conflicts = |earlier: &&Planned| match (&earlier.ready, &ready) {
                (Ok(earlier), Ok(ready)) => earlier.conflicts(ready),
                _ => false,
            };
            let after: Vec<_> =
                planned.iter().filter(conflicts).map(|earlier| earlier.ended.subscribe()).collect();
            let ended = watch::Sender::new(false);
            let ticket = Ticket::behind(planned.iter().map(|earlier| &earlier.ticket));
            if let Ok(ready) = &mut ready {
                (ready.waits, ready.ticket) = (!after.is_empty(), ticket.clone());
            }
            planned.push(Planned { item, ready, share: None, ticket, after, ended });
        }
        let understood = planned.iter().filter_map(|call| Some((&call.item, call.ready.as_ref().ok()?)));
        let mut shares = self.batch(&understood.collect::<Vec<_>>()).into_iter();
        for call in planned.iter_mut().filter(|call| call.ready.is_ok()) {
            call.share = shares.next().flatten();
        }
        planned
    }

    fn prepare(&self, item: &Item) -> Result<Ready, ToolFailure> {
        let Content::ToolCall(call) = &item.content else {
            return Err(ToolFailure::new("internal", "the item is not a tool call"));
        };
        let targets = &self.parts.targets;
        let off = registry::tools_off(&self.parts.settings, targets);
        let tools = self.tools.current();
        let entry = tools.find_on(&call.name, &off, &self.offered())?;
        let names = targets.names();
        let (named, input) = target_field::take(entry, call.input.value(), &names)?;
        let name = named.or_else(|| call.target.clone()).or_else(|| names.first().cloned());
        let target = match targets.attached().first() {
            // A tool that touches no host needs none in particular.
            Some(any) if !entry.is_on_target() => {
                targets.find(name.as_deref().unwrap_or_default()).unwrap_or_else(|_| any.clone())
            }
            _ => targets.find(name.as_deref().unwrap_or_default())?,
        };
        if let Some(lack) = registry::lack(entry, &*target.host.target) {
            let message = format!("`{}` cannot be used on `{}`: {lack}", entry.name, target.spec.name);
            return Err(ToolFailure::new("unsupported", message).hint("use another target, or do without it"));
        }
        let prepared = entry.prepare(input)?;
        let intent = prepared.intent(&target.place).in_tier(self.tier(entry, &*prepared));
        let host = &*target.host.target;
        if intent.runs_on && host.managed().is_none() && host.panes().is_none() {
            return Err(ToolFailure::new("unsupported", "a command cannot outlive its call here")
                .hint("wait for the command; start a server and test it in one command"));
        }
        let (edit, waits, ticket) = (None, false, Ticket::default());
        let caller = call.caller.as_ref().map(|caller| caller.name.clone());
        let (command, entry) = (entry.command, entry.clone());
        Ok(Ready { prepared, intent, target, caller, command, edit, waits, ticket, entry })
    }

    /// How a call is asked for. The end of a command that the session left in the background itself changes nothing else.
    fn tier(&self, entry: &ToolEntry, prepared: &dyn Prepared) -> Tier {
        let stops_own = prepared.stops().is_some_and(|id| self.background.has_left(id));
        if stops_own { Tier::Auto } else { entry.tier }
    }

    /// The same call with the command that a user wrote in the place of the model's, on the same target. The log keeps
    /// what the model wanted; the title says what is to run.
    pub(crate) fn edited(
        &self,
        item: &mut Item,
        ready: &Ready,
        command: String,
    ) -> Result<Ready, ToolFailure> {
        let (Content::ToolCall(call), Some(field)) = (&mut item.content, ready.command) else {
            return Err(ToolFailure::new("internal", "the call has no command to change"));
        };
        let entry = ready.entry.clone();
        let (_, mut input) = target_field::take(&entry, call.input.value(), &self.parts.targets.names())?;
        field.replace(&mut input, &command);
        call.title = entry.title(&input);
        let prepared = entry.prepare(input)?;
        let intent = prepared.intent(&ready.target.place).in_tier(self.tier(&entry, &*prepared));
        let (target, ticket) = (ready.target.clone(), ready.ticket.clone());
        let caller = ready.caller.clone();
        let (edit, waits, command) = (Some(command), ready.waits, ready.command);
        Ok(Ready { prepared, intent, target, caller, command, edit, waits, ticket, entry })
    }

    /// Takes a call to its end and returns its item as it was recorded.
    pub async fn run(self: Arc<Self>, planned: Planned, cancel: CancellationToken) -> Item {
        let Planned { mut item, ready, share, ticket, after, ended } = planned;
        let outcome = match ready {
            Ok(ready) => Box::pin(self.judge_and_run(&mut item, ready, share, after, cancel)).await,
            Err(failure) => {
                ticket.release();
                Ok(Outcome::failed(failure))
            }
        };
        let outcome = outcome.unwrap_or_else(|SinkClosed| Outcome::interrupted());
        let item = self.record(item, outcome).await;
        ended.send_replace(true);
        item
    }

    async fn judge_and_run(
        self: &Arc<Self>,
        item: &mut Item,
        mut ready: Ready,
        share: Option<Share>,
        after: Vec<watch::Receiver<bool>>,
        cancel: CancellationToken,
    ) -> Result<Outcome, SinkClosed> {
        let passage = self.pass(item, &mut ready, share, &cancel).await;
        ready.ticket.release();
        let mut judged = match passage? {
            Passage::Open(judged) => *judged,
            Passage::Closed(refusal) => return Ok(Outcome::refused(refusal, &ready)),
        };
        tokio::select! {
            () = all_ended(after) => {}
            () = cancel.cancelled() => return Ok(Outcome::interrupted()),
        }
        let turn = loop {
            self.secrets.note_replaced();
            // A call that ran before this one may have read a secret, which is so from then on, or changed a file that it runs.
            if !self.parts.gate.is_outdated(&judged) {
                match self.check_pins(&ready, &judged, &cancel).await {
                    PinCheck::Same(turn) => break turn,
                    PinCheck::Interrupted => return Ok(Outcome::interrupted()),
                    PinCheck::Rival(rival) => return Ok(Outcome::refused(Refusal::Failed(rival), &ready)),
                    PinCheck::Changed => {}
                }
            }
            judged = match self.pass(item, &mut ready, None, &cancel).await? {
                Passage::Open(judged) => *judged,
                Passage::Closed(refusal) => return Ok(Outcome::refused(refusal, &ready)),
            };
        };
        self.parts.gate.passed(&ready.intent, &judged);
        self.parts.gate.trace(|trail| trail.called(item.id.as_str()));
        if let Content::ToolCall(call) = &mut item.content {
            call.had_secrets = judged.has_secrets() || self.secrets.is_replaced();
        }
        item.status = ItemStatus::Running;
        self.parts.sink.commit(vec![Fact::ItemChanged(ItemChanged { item: item.clone() })]).await?;
        fail_point!("tool.intent");
        let again = self.again(item, &ready);
        let checks = self.check_before(&ready, &cancel).await;
        let mut first = self.clone().execute(item, ready, judged.clone(), Side::Usual, cancel.clone()).await;
        fail_point!("tool.exited");
        if let Ok(result) = &mut first.result {
            self.check_after(checks, result, &cancel).await;
        }
        drop(turn);
        let Ok(again) = again else { return Ok(first) };
        let offered = self.offer_outside(item, &again, &judged, &first.denials, &cancel).await;
        let Some(outside) = offered else { return Ok(first) };
        let _turn = match self.check_pins(&again, &outside, &cancel).await {
            PinCheck::Same(turn) => turn,
            PinCheck::Interrupted => return Ok(first),
            PinCheck::Changed | PinCheck::Rival(_) => {
                self.note_changed(&again).await?;
                return Ok(first);
            }
        };
        self.parts.gate.passed(&again.intent, &outside);
        if let Content::ToolCall(call) = &mut item.content {
            call.had_secrets |= outside.has_secrets();
        }
        self.parts.sink.commit(vec![Fact::ItemChanged(ItemChanged { item: item.clone() })]).await?;
        let second = self.clone().execute(item, again, outside, Side::Outside, cancel).await;
        Ok(Outcome { unseen: second.unseen.or(first.unseen), ..second })
    }

    /// The same call once more, with the command that the user put in, if they did.
    fn again(&self, item: &Item, ready: &Ready) -> Result<Ready, ToolFailure> {
        match &ready.edit {
            Some(edit) => self.edited(&mut item.clone(), ready, edit.clone()),
            None => self.prepare(item),
        }
    }

    /// The user that this call belongs to.
    pub(crate) fn person(&self, item: Option<&Item>) -> Person {
        Person {
            sink: self.parts.sink.clone(),
            ids: self.parts.settings.ids.clone(),
            clock: self.parts.settings.clock.clone(),
            turn: item.and_then(|item| item.turn.clone()),
            item: item.map(|item| item.id.clone()),
            within: self.parts.settings.ask_within,
        }
    }

    async fn execute(
        self: Arc<Self>,
        item: &Item,
        ready: Ready,
        judged: Judged,
        side: Side,
        cancel: CancellationToken,
    ) -> Outcome {
        let egress = judged.is_brokered.then(|| self.egress(item, &ready, &judged, &cancel));
        let text = command_text(&ready.intent, &judged);
        let closed = Closed::of(&ready, &judged);
        let (live, output) = mpsc::channel(LIVE_QUEUE);
        let context = ToolContext {
            target: ready.target.host.target.clone(),
            place: ready.target.place.clone(),
            web: self.parts.settings.web.clone(),
            redirects: self.redirects(&ready),
            is_own_log: own_logs(self.parts.gate.clone()),
            bounds: judged.bounds,
            unasked_bounds: judged.unasked_bounds,
            workspace: judged.workspace,
            is_asked: judged.pins.is_some(),
            pins: if judged.pins.is_some() { judged.decision.pins } else { Vec::new() },
            is_read_only: judged.decision.is_read_only,
            sends: judged.decision.sends.filter(|_| !is_pushed_here(&ready.intent)).map(receiver),
            parts: undecided(&ready.intent, &judged.decision.parts),
            reaches_here: judged.decision.reaches_here,
            egress: egress.clone(),
            is_outside: side == Side::Outside,
            execution: judged.decision.execution,
            person: self.person(Some(item)),
            recorder: self.recorder(side.entry_id(item), item, &ready.target),
            env: ready.target.host.env.clone(),
            programs: ready.target.host.programs.clone(),
            background: self.background.clone(),
            target_name: ready.target.spec.name.clone(),
            owner: self.parts.owner.clone(),
            text_limit: self.parts.texts.of(ready.entry.text),
            log: self.parts.settings.logs.join(side.log_name(item)),
            clock: self.parts.settings.clock.clone(),
            cancel: cancel.clone(),
            images: Mutex::default(),
            denials: Mutex::default(),
            live,
        };
        let recorder = context.recorder.clone();
        let leads_to = judged
            .links
            .into_iter()
            .map(|(_, to)| show_path(&to))
            .next()
            .filter(|_| !judged.decision.needs.runs);
        let directories = [context.workspace.clone(), vec![ready.target.place.cwd.clone()]].concat();
        let Ready { prepared, target, entry, edit, .. } = ready;
        let tool = Self::run_tool(context, prepared, &entry, &cancel);
        let ((result, images, denials), ()) = tokio::join!(tool, self.forward(&item.id, output));
        let failures = egress.as_deref().map(CallEgress::failures).unwrap_or_default();
        let denials = outside::without_failed_connections(denials, &failures);
        keep_after_failure(&result, &recorder).await;
        self.watch_seals(closed, &result).await;
        let mut result = result.map(|value| self.placed(value, &entry, &target, &recorder));
        if let (Some(to), Ok(Value::Object(fields))) = (leads_to, &mut result) {
            fields.insert("leads_to".to_owned(), Value::String(to));
        }
        let unseen = tell_unseen_changes(&recorder, &mut result);
        let result = self.explained(result, &denials, egress.as_deref(), &target, text.as_ref()).await;
        let result = result.map(|value| side.marked(value));
        let result = match edit.as_deref() {
            Some(edit) => told_of_edit(result, edit),
            None => result,
        };
        let status = match &result {
            _ if cancel.is_cancelled() => ItemStatus::Interrupted,
            Ok(_) => ItemStatus::Completed,
            Err(_) => ItemStatus::Failed,
        };
        let result = result.map(|value| if entry.prints() { plain_texts(value) } else { value });
        let credentials = target.host.policy.git_credentials(&directories);
        let result = result.map(|value| without_credentials(value, &credentials));
        let result = clipped(result, self.parts.texts.of(entry.text));
        Outcome { status, result, images, denials, unseen }
    }

    /// Runs a tool that is ready. Returns its result, the images that it made and what the jail stopped.
    async fn run_tool(
        context: ToolContext,
        prepared: Box<dyn Prepared>,
        entry: &ToolEntry,
        cancel: &CancellationToken,
    ) -> (Result<Value, ToolFailure>, Vec<Image>, Vec<Denial>) {
        let run = async {
            if entry.is_on_target() {
                context.target.check(&context.bounds).await.map_err(|error| target_failure(&error))?;
            }
            prepared.run(&context).await
        };
        let result = bounded(run, cancel).await;
        let images = context.images.into_inner().unwrap_or_else(PoisonError::into_inner);
        let denials = context.denials.into_inner().unwrap_or_else(PoisonError::into_inner);
        (result, images, denials)
    }

    /// A result with its connections, and with a line about everything that its command was kept from and what opens that.
    async fn explained(
        &self,
        result: Result<Value, ToolFailure>,
        denials: &[Denial],
        egress: Option<&CallEgress>,
        target: &Attached,
        text: Option<&CommandText>,
    ) -> Result<Value, ToolFailure> {
        let project = &target.place.cwd;
        let rules = JailRules::of(target);
        let mut lines: Vec<String> =
            denials.iter().map(|denial| outside::line(denial, project, &rules)).collect();
        let refused = egress.map(CallEgress::refused).unwrap_or_default();
        lines.extend(refused.iter().map(|(host, why)| outside::host_line(host, why, project)));
        lines.extend(egress.and_then(CallEgress::late_line));
        let has_failed =
            result.as_ref().is_ok_and(|value| value.get("exit_code").is_some_and(|code| *code != 0));
        lines.extend(egress.filter(|_| has_failed).and_then(CallEgress::own_localhost_line));
        if let (Ok(value), Some(text)) = (&result, text) {
            let host = &target.host;
            lines.extend(withheld_line(value, text, &host.withheld, &*host.target).await);
        }
        // A failure has no room for them, and they are facts all the same.
        let notice = egress.filter(|_| result.is_err()).and_then(CallEgress::notice);
        if let Some(notice) = notice {
            // A closed sink means that the session is going down.
            let _ = self.parts.sink.push(vec![Fact::Notice(notice)]).await;
        }
        let failures = egress.map(CallEgress::failures).unwrap_or_default();
        let connections = egress.and_then(CallEgress::rows);
        result.map(|value| {
            let value = outside::with_denied_hosts(connected(value, connections), &refused, text);
            let value = with_direct_network(value, egress.is_none() && text.is_some_and(has_direct_network));
            outside::add_lines(outside::add_lines(value, NETWORK, &failures), outside::JAIL, &lines)
        })
    }

    /// Judges the connections of a call's commands.
    fn egress(
        self: &Arc<Self>,
        item: &Item,
        ready: &Ready,
        judged: &Judged,
        cancel: &CancellationToken,
    ) -> Arc<CallEgress> {
        let person = self.person(Some(item));
        let session = EgressSession {
            parts: self.parts.clone(),
            secrets: self.secrets.clone(),
            late_answers: self.late_answers.clone(),
        };
        Arc::new(CallEgress::new(
            session,
            ready.target.clone(),
            person,
            (&ready.intent, judged),
            cancel.clone(),
        ))
    }

    /// Which redirects a fetch of this call may follow to other hosts.
    fn redirects(&self, ready: &Ready) -> Redirects {
        let (gate, target) = (self.parts.gate.clone(), ready.target.clone());
        let fetched = ready.intent.actions.iter().find_map(|action| match action {
            Action::Fetch(address) => Some(address.clone()),
            _ => None,
        });
        Arc::new(move |to| {
            fetched.as_deref().is_some_and(|from| gate.leads_on(from, to.as_str(), target.ground()))
        })
    }

    /// A result that says which target it is of, where there are several, and whether a change on another host can be
    /// taken back.
    fn placed(&self, mut result: Value, entry: &ToolEntry, target: &Attached, recorder: &Recorder) -> Value {
        let Some(fields) = result.as_object_mut() else { return result };
        if entry.is_on_target() && self.parts.targets.names().len() > 1 {
            fields.insert("target".to_owned(), Value::String(target.spec.name.clone()));
        }
        if target.host.is_remote
            && let Some(Value::String(log)) = fields.get_mut("log")
        {
            // It is on this machine, where no path of the other host leads.
            let name = std::path::Path::new(log.as_str())
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            *log = format!("{LOG_SCHEME}{}", name.unwrap_or_default());
        }
        if let Some(undo) = undo_status(entry, recorder).filter(|_| target.host.is_remote) {
            fields.insert("undo".to_owned(), Value::String(undo.to_owned()));
        }
        result
    }

    /// The recorder of the changes of a call, under this id.
    fn recorder(&self, id: String, item: &Item, target: &Attached) -> Recorder {
        let (Some(store), Content::ToolCall(call)) = (&target.host.undo, &item.content) else {
            return Recorder::off();
        };
        let UnixMillis(unix_ms) = self.parts.settings.clock.now();
        store.begin(Header {
            id,
            label: call.title.clone(),
            session: self.parts.owner.session.clone(),
            workspace: target.host.undo_workspace.clone().map(PathText),
            unix_ms,
            undoes: None,
            target: target.host.is_remote.then(|| target.spec.clone()),
            by: call.caller.clone(),
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
        if let Content::ToolCall(call) = &mut item.content {
            call.images = outcome.images;
        }
        let result = reword_result(outcome.result, self.parts.settings.attendance);
        let result = fit_advice(result, &self.offered(), &registry::names());
        let item = item.with_output(Envelope::new(self.parts.settings.clock.now(), result));
        if let Content::ToolCall(call) = &item.content {
            self.parts.gate.trace(|trail| note_result(trail, call));
        }
        // The agent records a client's call: only it knows the call's place in the conversation.
        let is_of_client = matches!(&item.content, Content::ToolCall(call) if call.caller.is_some());
        if !is_of_client {
            // A closed sink means that the session is going down; recovery closes the item when it is taken up again.
            let _ = self.parts.sink.commit(vec![Fact::ItemEnded(ItemEnded { item: item.clone() })]).await;
        }
        // The user reads it below the row of the call that it is about.
        if let Some(line) = outcome.unseen {
            let _ = self.parts.sink.push(vec![notice_unseen_changes(&line)]).await;
        }
        fail_point!("tool.recorded");
        item
    }
}

/// Tells the model which files that take effect later the commands of a call changed. The user is told when the call has ended.
fn tell_unseen_changes(recorder: &Recorder, result: &mut Result<Value, ToolFailure>) -> Option<String> {
    let line = describe_unseen_changes(recorder)?;
    if let Ok(Value::Object(fields)) = result {
        fields.insert(UNSEEN_FILES_CHANGED.to_owned(), Value::String(line.clone()));
    }
    Some(line)
}

/// Tells the logs of this conversation from others by their names.
fn own_logs(gate: Arc<Gate>) -> Arc<dyn Fn(&str) -> bool + Send + Sync> {
    Arc::new(move |name: &str| gate.has_log(name))
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

/// The command of a call, with the scripts that it runs; none for a call that runs no command.
fn command_text(intent: &Intent, judged: &Judged) -> Option<CommandText> {
    intent.actions.iter().find_map(|action| match action {
        Action::Run { command, .. } => Some(CommandText {
            command: command.clone(),
            parts: judged.decision.parts.len(),
            scripts: judged.decision.pins.clone(),
            bounds: judged.bounds.clone(),
        }),
        _ => None,
    })
}

/// How many parts of a call's only command its exit code leaves open.
fn undecided(intent: &Intent, parts: &[String]) -> usize {
    let commands = intent.actions.iter().filter_map(|action| match action {
        Action::Run { command, .. } => Some(command.as_str()),
        _ => None,
    });
    match commands.collect::<Vec<_>>().as_slice() {
        [command] => undecided_parts(command, parts),
        _ => parts.len(),
    }
}

/// Whether a tool pushes to a folder of this host, where a change shows by itself.
fn is_pushed_here(intent: &Intent) -> bool {
    let receives =
        |action: &Action| matches!(action, Action::Repository { change: RepositoryChange::Receive, .. });
    intent.actions.iter().any(receives)
}

/// Whether what a call changed on another host can be taken back; none where it changed nothing.
fn undo_status(entry: &ToolEntry, recorder: &Recorder) -> Option<&'static str> {
    match (entry.kind, recorder.kept()) {
        (ToolKind::Edit | ToolKind::Delete | ToolKind::Move, Kept::All) => Some("kept for undo"),
        (ToolKind::Edit | ToolKind::Delete | ToolKind::Move, Kept::Part) => Some("not kept for undo"),
        (ToolKind::Edit, Kept::Nothing) if entry.name.starts_with("git_") => Some("not kept for undo"),
        (ToolKind::Execute, _) => Some("what a command changes on another host is not kept for undo"),
        _ => None,
    }
}

/// A result that says which hosts its command reached or wanted to.
fn connected(mut result: Value, connections: Option<Value>) -> Value {
    if let (Some(fields), Some(connections)) = (result.as_object_mut(), connections) {
        fields.insert(CONNECTIONS.to_owned(), connections);
    }
    result
}

/// Whether a command that is confined otherwise had the whole network: where it connects, nobody sees.
fn has_direct_network(text: &CommandText) -> bool {
    text.bounds.network && matches!(text.bounds.write, Reach::Beneath(_))
}

/// A result that says so, as every connection is a fact.
fn with_direct_network(mut result: Value, is_direct: bool) -> Value {
    if let Some(fields) = result.as_object_mut().filter(|_| is_direct) {
        fields.insert(DIRECT_NETWORK.to_owned(), Value::String(NOT_OBSERVED.to_owned()));
    }
    result
}

async fn all_ended(after: Vec<watch::Receiver<bool>>) {
    for mut earlier in after {
        // An error means that the sender is gone, and so the call has ended too.
        let _ = earlier.wait_for(|ended| *ended).await;
    }
}
