//! Approval of calls: what a user is asked, alone or together with others, and what follows from the answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_exec::confirmation_word;
use buddy_policy::{Action, Decision, Grant, Intent, Offer, Tier, Verdict, display_command};
use buddy_protocol::{
    Answer, Approval, Ask, EventSink, GrantWish, Item, Offer as OfferText, Question, SinkClosed, ToolFailure,
    Unfit,
};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared, join_all};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::gate::Judged;
use crate::tools::call_place::CallPlace;
use crate::tools::opens::Seals;
use crate::tools::path_text::show_files;
use crate::tools::path_text::show_path;
use crate::tools::pins::Pins;
use crate::tools::pipeline::{Pipeline, Ready};
use crate::tools::preview::{Known, known};
use crate::tools::tool::{Preview, Sight};
use crate::tools::turnstile::{Ticket, ask_in_turn};

/// How often a user is asked about one call whose scripts keep changing.
const MAX_ASKS: usize = 3;
/// How often a user may change the command of one call, or want to allow for longer what cannot be.
const MAX_CHANGES: usize = 20;
/// A line in the question about a call whose model left out the risk.
const RISK_NOT_STATED: &str = "risk not stated by the model";

/// The answer to a question that several calls wait for.
type SharedAnswer = Shared<BoxFuture<'static, Result<Batched, SinkClosed>>>;

/// The answer to a batch, and where in it each call is. One that cannot work is not asked about.
#[derive(Clone)]
struct Batched {
    answer: Answer,
    places: Vec<Result<usize, ToolFailure>>,
}

/// A call's share in a batch.
#[derive(Clone)]
pub(crate) struct Share {
    answer: SharedAnswer,
    place: usize,
}

impl Share {
    async fn answer(self) -> Result<Put, SinkClosed> {
        let Batched { answer, mut places } = self.answer.await?;
        let place = match places.swap_remove(self.place) {
            Ok(place) => place,
            Err(failure) => return Ok(Put::Useless(failure)),
        };
        let answer = match answer {
            Answer::Each { answers } => answers.into_iter().nth(place),
            other => Some(other),
        };
        let lost = || Answer::Unanswered { reason: "the answer has no part for this call".to_owned() };
        Ok(Put::Answered(answer.unwrap_or_else(lost)))
    }
}

/// The outcome of a question.
enum Put {
    /// It was answered.
    Answered(Answer),
    /// It was not put, as the call cannot work whatever the answer is.
    Useless(ToolFailure),
}

/// Whether a call goes on.
pub(crate) enum Passage {
    /// It runs within these.
    Open(Box<Judged>),
    /// It does not.
    Closed(Refusal),
}

/// Why a call does not run.
pub(crate) enum Refusal {
    /// It was not allowed.
    Denied(ToolFailure),
    /// It cannot work, so nobody was asked.
    Failed(ToolFailure),
    /// The turn was interrupted before it ran.
    Interrupted,
}

impl Pipeline {
    /// Gathers the calls that may be asked for together into one question and gives each its share.
    pub(crate) fn batch(&self, calls: &[(&Item, &Ready)]) -> Vec<Option<Share>> {
        let judge = |(_, ready): &(&Item, &Ready)| {
            let judged = self.parts.gate.judge(&ready.intent, ready.ground()).ok()?;
            // Where git connects to is looked up for one call alone.
            let has_trips = || !self.trips(ready).0.is_empty();
            Some(judged).filter(|judged| is_batch(&judged.decision) && !judged.needs_word && !has_trips())
        };
        let together: Vec<Option<Judged>> = calls.iter().map(judge).collect();
        let mut shares = vec![None; calls.len()];
        if together.iter().flatten().count() < 2 {
            return shares;
        }
        let mut approvals = Vec::new();
        let mut places = Vec::new();
        let mut tickets = Vec::new();
        for (place, ((item, ready), judged)) in calls.iter().zip(together).enumerate() {
            if let Some(judged) = judged {
                let approval = Approval { item: Some(item.id.clone()), ..self.approval(ready, &judged) };
                let seals = self.seals(ready, &judged);
                let preview = self.preview(ready, &judged);
                approvals.push(BatchPart { approval, preview, seals, waits: ready.waits });
                tickets.push(ready.ticket.clone());
                places.push(place);
            }
        }
        let turn = calls.first().and_then(|(item, _)| item.turn.clone());
        let ask =
            Ask { item: None, turn, ..self.person(None).put(Question::Batch { approvals: Vec::new() }) };
        let answer = shared(self.parts.sink.clone(), ask, approvals, tickets);
        for (share, place) in places.into_iter().enumerate() {
            shares[place] = Some(Share { answer: answer.clone(), place: share });
        }
        shares
    }

    /// Takes a call through the gate: by policy, by a grant, or by a user's answer. A command that the user changed
    /// is judged anew: it runs where its risk is not above the one that they were shown and no word is missing, else they are
    /// asked again. So they are when what they wish to allow for longer cannot be.
    pub(crate) async fn pass(
        &self,
        item: &mut Item,
        ready: &mut Ready,
        mut share: Option<Share>,
        cancel: &CancellationToken,
    ) -> Result<Passage, SinkClosed> {
        let (mut asks, mut changed) = (0, 0);
        let (mut shown, mut unfit) = (None, None);
        loop {
            let changes = self.parts.gate.watch();
            let mut judged = match self.judge_whole(ready).await {
                Ok(judged) => judged,
                Err(why) => return Ok(Passage::Closed(Refusal::Denied(no_policy(&why)))),
            };
            match judged.decision.verdict {
                Verdict::Allow => return Ok(Passage::Open(Box::new(judged))),
                Verdict::Deny => {
                    return Ok(Passage::Closed(Refusal::Denied(forbidden(
                        &judged,
                        self.parts.gate.is_attended(),
                    ))));
                }
                Verdict::Ask if asks == MAX_ASKS => {
                    let message = "a script that the command runs, where it connects to, or which secrets it can read changed each time the user was asked";
                    return Ok(Passage::Closed(Refusal::Denied(ToolFailure::new("denied", message))));
                }
                Verdict::Ask => {}
            }
            let seals = self.seals(ready, &judged);
            judged.opens = opened(seals.as_ref()).await;
            if let Some(rival) = self.rival(ready, &judged).await {
                return Ok(Passage::Closed(Refusal::Failed(rival)));
            }
            let target = ready.target.host.target.clone();
            let pins = Arc::new(Pins::take(&judged.decision.pins, &*target).await);
            judged.pins = Some(pins.clone());
            if shown.take().is_some_and(|shown: Judged| shown.covers(&judged)) {
                return Ok(self.opened(judged, ready));
            }
            let share = share.take().filter(|_| !judged.needs_word);
            let question = self.put(item, ready, &judged, share, unfit.take());
            let put = tokio::select! {
                put = question => put?,
                () = cancel.cancelled() => return Ok(Passage::Closed(Refusal::Interrupted)),
                () = self.needless(ready, &judged, changes) => continue,
            };
            let answer = match put {
                Put::Answered(answer) => answer,
                Put::Useless(failure) => return Ok(Passage::Closed(Refusal::Failed(failure))),
            };
            if let Some(refusal) = refusal(&answer) {
                return Ok(Passage::Closed(refusal));
            }
            if changed == MAX_CHANGES {
                let failure = ToolFailure::new("denied", "the user's answer was changed too often");
                return Ok(Passage::Closed(Refusal::Denied(failure)));
            }
            if let Answer::Allow { edit: Some(command), .. } = answer {
                changed += 1;
                shown = Some(judged);
                match self.edited(item, ready, command) {
                    Ok(edited) => *ready = edited,
                    Err(failure) => return Ok(Passage::Closed(Refusal::Denied(failure))),
                }
                continue;
            }
            let wished = match self.wished(ready, &judged.decision.offers, answer) {
                Ok(wished) => wished,
                Err(why) => {
                    changed += 1;
                    unfit = Some(why);
                    continue;
                }
            };
            asks += 1;
            let is_told = opened(seals.as_ref()).await.iter().all(|file| judged.opens.contains(file));
            let is_same = is_told && Pins::take(&judged.decision.pins, &*target).await == *pins;
            if is_same && self.leads_as_before(ready, &judged).await {
                self.parts.keep_grant(ready.ground(), wished).await?;
                return Ok(self.opened(judged, ready));
            }
        }
    }

    /// The passage of a call that a user allowed.
    fn opened(&self, judged: Judged, ready: &Ready) -> Passage {
        match self.parts.gate.allowed(judged, ready.ground()) {
            Ok(judged) => Passage::Open(Box::new(judged)),
            Err(why) => Passage::Closed(Refusal::Denied(no_policy(&why))),
        }
    }

    /// Where to look for files with secrets that a yes to this call opens. A file tool names all that it reads.
    fn seals(&self, ready: &Ready, judged: &Judged) -> Option<Seals> {
        if !judged.decision.needs.runs {
            return None;
        }
        let allowed = self.parts.gate.allowed_bounds(judged, ready.ground()).ok()?;
        let run_in = ready.intent.actions.iter().filter_map(|action| match action {
            Action::Run { cwd, .. } => Some(cwd),
            _ => None,
        });
        let roots = judged.workspace.iter().chain([&ready.target.place.cwd]).chain(run_in).cloned().collect();
        let target = ready.target.host.target.clone();
        Some(Seals { target, roots, unasked: judged.unasked_bounds.clone(), allowed })
    }

    /// The lasting permission that the answer wants. One that cannot hold is asked about again.
    fn wished(
        &self,
        ready: &Ready,
        offers: &[Offer],
        answer: Answer,
    ) -> Result<Option<(Grant, GrantWish)>, Unfit> {
        let Answer::Allow { grant: Some(wish), .. } = answer else { return Ok(None) };
        match self.parts.gate.wished(&wish, offers, &ready.intent, ready.ground()) {
            Ok(grant) => Ok(Some((grant, wish))),
            Err(why) => Err(Unfit { wish, why }),
        }
    }

    /// Puts the question and waits for the answer: that of the batch that the call has a share in, or one of its own.
    async fn put(
        &self,
        item: &Item,
        ready: &Ready,
        judged: &Judged,
        share: Option<Share>,
        unfit: Option<Unfit>,
    ) -> Result<Put, SinkClosed> {
        if let Some(share) = share {
            return share.answer().await;
        }
        let word = match judged.needs_word.then(confirmation_word).transpose() {
            Ok(word) => word,
            Err(error) => {
                let reason = format!("this needs a random word to confirm it, and there is none: {error}");
                return Ok(Put::Answered(Answer::Deny { reason: Some(reason) }));
            }
        };
        let known = match known(self.preview(ready, judged)).await {
            Ok(known) => known,
            Err(_) if ready.waits => Known::default(),
            Err(failure) => return Ok(Put::Useless(failure)),
        };
        let opens = show_files(&judged.opens, &ready.target.place.cwd);
        let approval = Approval { unfit, word, opens, ..self.approval(ready, judged) };
        let approval = foretold(approval, known);
        let question = Question::Approval(approval);
        let ask = self.person(Some(item)).put(question);
        let tickets = std::slice::from_ref(&ready.ticket);
        ask_in_turn(&*self.parts.sink, ask, tickets).await.map(Put::Answered)
    }

    /// The changes of a call, and whether it can work, as far as that can be told within its bounds.
    fn preview(&self, ready: &Ready, judged: &Judged) -> Option<Preview> {
        let (target, place) = (ready.target.host.target.clone(), ready.target.place.clone());
        let (bounds, web) = (judged.bounds.clone(), self.parts.settings.web.clone());
        let (env, cancel) = (ready.target.host.env.clone(), CancellationToken::new());
        let programs = ready.target.host.programs.clone();
        ready.prepared.preview(Sight { target, place, bounds, web, env, programs, cancel })
    }

    /// Waits until somebody has moved the gate so that a call need not be asked for. One that must be asked for all the same
    /// keeps its question as it was put, since a user may be answering it.
    async fn needless(&self, ready: &Ready, judged: &Judged, mut changes: watch::Receiver<u64>) {
        while changes.changed().await.is_ok() {
            let destinations = judged.destinations.clone();
            let now = self.parts.gate.judge_bound(&ready.intent, destinations, ready.ground());
            if !now.is_ok_and(|judged| is_asked(&judged)) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    pub(crate) fn approval(&self, ready: &Ready, judged: &Judged) -> Approval {
        let decision = &judged.decision;
        let described = ready.target.host.target.describe();
        let (action, cwd) = action_line(&ready.intent, &ready.target.place, judged);
        // The line of the action has the end of the link.
        let own = ready.prepared.question(&ready.target.place).filter(|_| judged.links.is_empty());
        let action = own.unwrap_or(action);
        let is_unstated = ready.prepared.lacks_risk() && ready.caller.is_none();
        let unstated = is_unstated.then(|| RISK_NOT_STATED.to_owned());
        let is_one_of_many = self.parts.targets.names().len() > 1;
        let offer =
            |offer: &Offer| OfferText { grant: offer.grant.to_string(), covers: offer.covers.clone() };
        Approval {
            item: None,
            actor: ready.caller.clone().unwrap_or_else(|| "buddy".to_owned()),
            place: format!("{}@{}", described.user, described.host),
            target: is_one_of_many.then(|| ready.target.spec.name.clone()),
            cwd,
            action: action.clone(),
            why: ready.prepared.why().map(str::to_owned),
            risk: decision.risk,
            reasons: decision.reasons.iter().cloned().chain(unstated).collect(),
            parts: if decision.parts.len() > 1 { decision.parts.clone() } else { Vec::new() },
            destinations: connected(&action, judged),
            risky: decision.risky.clone(),
            limits: self.parts.gate.allowed_limits(&ready.intent, judged, ready.ground()),
            opens: Vec::new(),
            diff: None,
            is_editable: ready.command.is_some(),
            offers: decision.offers.iter().map(offer).collect(),
            unfit: None,
            word: None,
        }
    }
}

impl Judged {
    /// Whether a user who was shown this has seen all that there is to see of another command.
    fn covers(&self, other: &Self) -> bool {
        other.decision.risk <= self.decision.risk
            && (self.needs_word || !other.needs_word)
            && other.opens.iter().all(|file| self.opens.contains(file))
            && opened_outside(other).all(|path| opened_outside(self).any(|known| known == path))
            && addresses(other).all(|address| addresses(self).any(|known| known == address))
    }
}

/// The paths outside the workspace that a yes opens.
fn opened_outside(judged: &Judged) -> impl Iterator<Item = &PathBuf> {
    judged.decision.needs.written.iter().chain(&judged.decision.needs.written_alone)
}

/// The addresses that its trips of git end at.
fn addresses(judged: &Judged) -> impl Iterator<Item = &String> {
    judged.destinations.iter().filter_map(|known| known.end.as_ref()).flat_map(|end| &end.addresses)
}

/// The same for people, without those that the action names.
fn connected(action: &str, judged: &Judged) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for address in addresses(judged).map(|address| display_command(address)) {
        if !action.contains(&address) && !shown.contains(&address) {
            shown.push(address);
        }
    }
    shown
}

fn is_batch(decision: &Decision) -> bool {
    decision.verdict == Verdict::Ask && decision.tier == Tier::Batch
}

/// One of the approvals of a batch, with what is yet to be found out about it.
struct BatchPart {
    approval: Approval,
    preview: Option<Preview>,
    seals: Option<Seals>,
    waits: bool,
}

impl BatchPart {
    /// The whole of it, or why nobody is asked about it.
    async fn whole(self) -> Result<Approval, ToolFailure> {
        let known = match known(self.preview).await {
            Ok(known) => known,
            Err(_) if self.waits => Known::default(),
            Err(failure) => return Err(failure),
        };
        let opens = show_files(&opened(self.seals.as_ref()).await, Path::new(&self.approval.cwd));
        Ok(foretold(Approval { opens, ..self.approval }, known))
    }
}

/// One question for all of these that can work, each with what it would change and what a yes opens.
fn shared(sink: Arc<dyn EventSink>, ask: Ask, parts: Vec<BatchPart>, tickets: Vec<Ticket>) -> SharedAnswer {
    let put = async move {
        let mut approvals = Vec::new();
        let mut places = Vec::new();
        for whole in join_all(parts.into_iter().map(BatchPart::whole)).await {
            places.push(whole.map(|approval| {
                approvals.push(approval);
                approvals.len() - 1
            }));
        }
        let answer = match approvals.len() {
            0 => Answer::Withdrawn,
            1 => {
                let approval = approvals.swap_remove(0);
                let (item, question) =
                    (approval.item.clone(), Question::Approval(Approval { item: None, ..approval }));
                ask_in_turn(&*sink, Ask { item, question, ..ask }, &tickets).await?
            }
            _ => {
                let question = Question::Batch { approvals };
                ask_in_turn(&*sink, Ask { question, ..ask }, &tickets).await?
            }
        };
        Ok(Batched { answer, places })
    };
    put.boxed().shared()
}

/// The same question with what is known of the change.
fn foretold(approval: Approval, known: Known) -> Approval {
    let action =
        known.extent.map_or_else(|| approval.action.clone(), |extent| extent.added_to(&approval.action));
    Approval { action, diff: known.diff, ..approval }
}

/// The files with secrets that a yes opens now.
async fn opened(seals: Option<&Seals>) -> Vec<PathBuf> {
    match seals {
        Some(seals) => seals.opened().await,
        None => Vec::new(),
    }
}

fn is_asked(judged: &Judged) -> bool {
    judged.decision.verdict == Verdict::Ask
}

/// The instruction after a user's no.
const AFTER_NO: &str =
    "do not get the same effect another way; go on without it, and say in your answer what it was for";
/// The instruction after a no with words of the user.
const AFTER_WORDS: &str =
    "do what the user said; otherwise go on without it, and say in your answer what it was for";
/// The instruction after a refusal whose message may name a remedy, the same as in the system prompt.
const AFTER_REFUSAL: &str = "do what the message suggests, or go on without it and say so in your answer; do not get the same effect another way";
/// The instruction after a refusal that names an option for the user.
const AFTER_OPTION: &str =
    "go on without it, and name that option in your answer; do not get the same effect another way";

fn refusal(answer: &Answer) -> Option<Refusal> {
    let denied =
        |message: String, hint| Some(Refusal::Denied(ToolFailure::new("denied", message).hint(hint)));
    match answer {
        Answer::Allow { .. } => None,
        Answer::Deny { reason: Some(reason) } => denied(format!("the user said no: {reason}"), AFTER_WORDS),
        Answer::Deny { reason: None } | Answer::Each { .. } => {
            denied("the user said no".to_owned(), AFTER_NO)
        }
        Answer::Reply { text } => {
            denied(format!("the user said, instead of allowing it: {text}"), AFTER_WORDS)
        }
        Answer::Expired => denied("nobody answered in time".to_owned(), AFTER_NO),
        Answer::Unanswered { reason } => {
            let message = format!("this needs a user's approval and nobody answered: {reason}");
            let failure = ToolFailure::new("approval_needed", message).hint(AFTER_NO);
            Some(Refusal::Denied(failure))
        }
        Answer::Withdrawn => Some(Refusal::Interrupted),
    }
}

fn no_policy(why: &str) -> ToolFailure {
    ToolFailure::new("forbidden", format!("nothing runs while there are no rules to judge it by: {why}"))
}

fn forbidden(judged: &Judged, is_attended: bool) -> ToolFailure {
    let reasons = judged.decision.reasons.join("; ");
    if judged.decision.is_unasked {
        // Where nobody is there, each mode denies: the name of one would say nothing.
        let mut message = if judged.decision.is_mode_denial && is_attended {
            format!("the approval mode `none` denies what would need a user's approval: {reasons}")
        } else {
            format!("this needs a user's approval and nobody is there to ask: {reasons}")
        };
        let has_ways = !judged.decision.ways.is_empty();
        if has_ways {
            // On a line of its own, which no face cuts.
            message.push_str("\nThe user can allow it with ");
            message.push_str(&judged.decision.ways.join(", or "));
        }
        let hint = if has_ways { AFTER_OPTION } else { AFTER_REFUSAL };
        return ToolFailure::new("approval_needed", message).hint(hint);
    }
    ToolFailure::new("forbidden", format!("this is not allowed: {reasons}")).hint(AFTER_REFUSAL)
}

/// The action in one line, and where: in which directory, or in which pane, whose shell has a directory of its own. A path
/// that leads elsewhere is followed by where it leads.
fn action_line(intent: &Intent, place: &CallPlace, judged: &Judged) -> (String, String) {
    let mut cwd = show_path(&place.cwd);
    let named = |path: &PathBuf| match judged.links.iter().find(|(from, _)| from == path) {
        Some((_, to)) => format!("{}, which leads to {}", place.named(path), place.named(to)),
        None => place.named(path),
    };
    let outside = |path: &PathBuf| {
        let is_outside = judged.decision.needs.written_alone.contains(path);
        if is_outside { ", outside the workspace" } else { "" }
    };
    let line = |action: &Action| match action {
        Action::Run { command, cwd: run_in } => {
            cwd = show_path(run_in);
            command.clone()
        }
        Action::Terminal { line, place: pane, .. } => {
            cwd.clone_from(pane);
            line.clone()
        }
        Action::Write(path) => format!("Write {}{}", named(path), outside(path)),
        Action::Read(path) => format!("Read {}", named(path)),
        Action::Delete(path) => format!("Delete {}{}", place.named(path), outside(path)),
        Action::Repository { top, .. } => format!("Change the repository {}", named(top)),
        Action::Fetch(address) => format!("Fetch {address}"),
    };
    // A file that is changed is looked at first, which goes without saying.
    let is_said = |action: &&Action| match action {
        Action::Read(path) => {
            let changes = [Action::Write(path.clone()), Action::Delete(path.clone())];
            !changes.iter().any(|change| intent.actions.contains(change))
        }
        _ => true,
    };
    let lines: Vec<String> = intent.actions.iter().filter(is_said).map(line).collect();
    (lines.join("\n"), cwd)
}

/// A result that says that the user changed the command, and to what.
pub(crate) fn told_of_edit(result: Result<Value, ToolFailure>, edit: &str) -> Result<Value, ToolFailure> {
    match result {
        Ok(mut value) => {
            if let Some(fields) = value.as_object_mut() {
                fields.insert("changed_by_person".to_owned(), Value::String(edited_to(edit)));
            }
            Ok(value)
        }
        Err(failure) => Err(with_edit(failure, Some(edit))),
    }
}

pub(crate) fn with_edit(failure: ToolFailure, edit: Option<&str>) -> ToolFailure {
    match edit {
        Some(edit) => ToolFailure { message: format!("{}; {}", failure.message, edited_to(edit)), ..failure },
        None => failure,
    }
}

fn edited_to(edit: &str) -> String {
    format!("the user changed the command to: {edit}")
}
