//! The trail of a session, made from its log: whom the user named, what searches listed, and whether a secret could have been
//! read. Calls are judged anew by their recorded input, so a restart, a fork or a summary forgets nothing.

use std::collections::HashMap;
use std::sync::Arc;

use buddy_policy::{Action, Intent, Now, Policy, Trail, decide, recalled};
use buddy_protocol::{ApprovalPolicy, Content, Item, ItemStatus, Json, Ran, ToolCall, Transcript};
use serde_json::Value;

use crate::gate::follow;
use crate::targets::{Attached, Targets};
use crate::tools::{registry, target_field};

/// Tools whose results are lists of addresses, and where in a result the list is.
const LISTS: &[(&str, &str)] = &[("web_search", "results"), ("search_youtube", "videos")];

/// The trail that a session has left so far. Imported items leave none: a file can say anything.
pub fn retrace(transcript: &Transcript, targets: &Targets) -> Trail {
    let mut retracing = Retracing { targets, policies: HashMap::new(), trail: Trail::default() };
    for item in transcript.items().iter().filter(|item| !transcript.is_imported(item)) {
        retracing.item(item);
    }
    retracing.trail
}

/// Adds to a trail what the result of a call lists.
pub(crate) fn note_result(trail: &mut Trail, call: &ToolCall) {
    let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
    let rows = |name: &str| result.as_ref().and_then(|result| result.get(name)).and_then(Value::as_array);
    let Some(entry) = registry::find(&call.name) else { return };
    let Some((_, list)) = LISTS.iter().find(|(name, _)| *name == entry.name) else { return };
    for row in rows(list).into_iter().flatten() {
        if let Some(address) = row.get("url").and_then(Value::as_str) {
            trail.search_listed(address);
        }
    }
}

struct Retracing<'a> {
    targets: &'a Targets,
    /// The policy of each target, by its name.
    policies: HashMap<String, Option<Arc<Policy>>>,
    trail: Trail,
}

impl Retracing<'_> {
    fn item(&mut self, item: &Item) {
        if matches!(item.content, Content::ToolCall(_) | Content::UserMessage { ran: Some(_), .. }) {
            self.trail.called(item.id.as_str());
        }
        match &item.content {
            // The call that started it was followed when it was made.
            Content::UserMessage { ran: Some(ran), .. } if ran.background.is_some() => {}
            Content::UserMessage { ran: Some(ran), .. } => self.own_command(ran),
            Content::UserMessage { text, typed, .. } => {
                self.trail.person_wrote(typed.as_ref().unwrap_or(text));
            }
            Content::ToolCall(call) => self.call(call, item.status),
            _ => {}
        }
    }

    /// A command that the user ran themselves. They wrote it, and the model was told what it printed.
    fn own_command(&mut self, ran: &Ran) {
        self.trail.person_wrote(&ran.command);
        let Some(target) = self.target(&ran.target) else { return };
        let intent = Intent::of(Action::Run { command: ran.command.clone(), cwd: ran.cwd.clone().into() });
        self.secret(&intent, &target);
    }

    fn call(&mut self, call: &ToolCall, status: ItemStatus) {
        if matches!(status, ItemStatus::Pending | ItemStatus::Denied) {
            return;
        }
        if call.had_secrets {
            self.trail.read_secret();
        }
        for (intent, target) in self.intents(call) {
            // Only a call that came to its end is known to have been allowed; any other may have read something.
            if status == ItemStatus::Completed {
                let Some(policy) = self.policy(&target) else { continue };
                let tracked = target.host.policy.tracked(&recalled(&intent, &policy));
                let now = Now { trail: &self.trail, tracked: &tracked, ..Now::with(ApprovalPolicy::Ask) };
                let decision = decide(&intent, &policy, &now);
                follow(&mut self.trail, &intent, &decision);
            } else {
                self.secret(&intent, &target);
            }
        }
        note_result(&mut self.trail, call);
    }

    fn secret(&mut self, intent: &Intent, target: &Arc<Attached>) {
        let Some(policy) = self.policy(target) else { return };
        let tracked = target.host.policy.tracked(&recalled(intent, &policy));
        let now = Now { tracked: &tracked, ..Now::with(ApprovalPolicy::Ask) };
        if decide(intent, &policy, &now).reads_secret {
            self.trail.read_secret();
        }
    }

    /// The trail of a call: the wish of the model, and the user's change of it.
    fn intents(&self, call: &ToolCall) -> Vec<(Intent, Arc<Attached>)> {
        let Some(entry) = registry::find(&call.name) else { return Vec::new() };
        let Ok((named, input)) = target_field::take(entry, call.input.value(), &self.targets.names()) else {
            return Vec::new();
        };
        let name = named.or_else(|| call.target.clone()).unwrap_or_default();
        let Some(target) = self.target(&name) else { return Vec::new() };
        let mut inputs = vec![input.clone()];
        // The title says what ran where the user changed the command; the input keeps what the model wanted.
        if let Some(field) =
            entry.command.filter(|_| registry::built_in().describe(&call.name, &input).1 != call.title)
        {
            let mut edited = input;
            field.replace(&mut edited, &call.title);
            inputs.push(edited);
        }
        let prepared = inputs.into_iter().filter_map(|input| entry.prepare(input).ok());
        prepared.map(|prepared| (prepared.intent(&target.place), target.clone())).collect()
    }

    /// The target of a name, or any where that one is away: what is a secret does not depend on the host alone.
    fn target(&self, name: &str) -> Option<Arc<Attached>> {
        self.targets.find(name).ok().or_else(|| self.targets.attached().first().cloned())
    }

    fn policy(&mut self, target: &Arc<Attached>) -> Option<Arc<Policy>> {
        let read = || target.policy().ok();
        self.policies.entry(target.spec.name.clone()).or_insert_with(read).clone()
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use buddy_protocol::{
        Event, Fact, ForkKind, ForkPoint, ItemEnded, LogEntry, Principal, PrincipalId, SessionId,
        SessionStarted, TargetHost, TargetWish, ToolKind, Transcript, TurnEnded, TurnId, TurnOutcome,
        TurnStarted, UnixMillis, changes_since, fork, fork_end,
    };
    use buddy_web::Endpoints;
    use serde_json::json;

    use super::*;
    use crate::hosts::{Host, Hosts};

    /// No host at all: only the log speaks.
    struct Nowhere;

    #[async_trait]
    impl Hosts for Nowhere {
        fn wanted(&self) -> Vec<TargetWish> {
            Vec::new()
        }

        fn forbidden(&self, _: &TargetHost) -> Option<String> {
            None
        }

        async fn attach(&self, _: &TargetWish) -> Result<Host, String> {
            Err("there is none".to_owned())
        }
    }

    fn id(number: u32) -> String {
        format!("{number:026}")
    }

    fn session() -> SessionId {
        format!("ses_{}", id(1)).parse().unwrap()
    }

    fn turn(number: u32) -> TurnId {
        format!("trn_{}", id(number)).parse().unwrap()
    }

    fn item(number: u32, status: ItemStatus, content: Content) -> Fact {
        let id = format!("itm_{}", id(number)).parse().unwrap();
        let item = Item {
            id,
            turn: Some(turn(1)),
            step: None,
            place: None,
            parent: None,
            status,
            content,
            private: None,
        };
        Fact::ItemEnded(ItemEnded { item })
    }

    fn call(number: u32, status: ItemStatus, had_secrets: bool) -> Fact {
        let call = ToolCall {
            call_id: format!("call_{number}"),
            name: "run_shell".to_owned(),
            kind: ToolKind::Execute,
            title: "make test".to_owned(),
            input: json!({}).into(),
            output: None,
            images: Vec::new(),
            target: None,
            had_secrets,
            caller: None,
        };
        item(number, status, Content::ToolCall(Box::new(call)))
    }

    /// Two turns: a prompt, and then a prompt with a call and a summary of everything before.
    fn log(call: Fact) -> Vec<LogEntry> {
        let said = |number| item(number, ItemStatus::Completed, Content::said("go"));
        let summary = Content::Compaction { summary: "a test ran".to_owned(), kept_from: None };
        let began = |number| Fact::TurnStarted(TurnStarted { turn: turn(number) });
        let ended = |number| {
            let outcome = TurnOutcome::Completed;
            Fact::TurnEnded(TurnEnded { turn: turn(number), outcome, stop_reason: None, failure: None })
        };
        let begin = Fact::SessionStarted(SessionStarted {
            owner: Principal::person("ann"),
            agent: "buddy".to_owned(),
            cwd: "/w".to_owned(),
            model: None,
            parent: None,
            targets: vec![],
            forked_from: None,
            began_with: None,
            terms: buddy_protocol::SessionTerms::default(),
        });
        stamped(vec![
            begin,
            began(1),
            said(1),
            ended(1),
            began(2),
            said(2),
            call,
            item(4, ItemStatus::Completed, summary),
            ended(2),
        ])
    }

    fn stamped(facts: Vec<Fact>) -> Vec<LogEntry> {
        let stamp =
            |(fact, seq)| Event { session: session(), seq: Some(seq), time: UnixMillis(0), by: None, fact };
        facts.into_iter().zip(1..).map(stamp).map(LogEntry::Event).collect()
    }

    fn forked(mut log: Vec<LogEntry>, point: &ForkPoint) -> Vec<LogEntry> {
        let until = fork_end(&log, point).unwrap();
        let since = changes_since(&log, until, point);
        log.truncate(usize::try_from(until).unwrap());
        let ann = Principal::person("ann");
        let facts = fork(&ann, &session(), log, since, ForkKind::Beside, None, UnixMillis(9)).unwrap();
        stamped(facts.into_iter().map(|authored| authored.fact).collect())
    }

    async fn has_read_secret(log: Vec<LogEntry>) -> bool {
        let mut transcript = Transcript::default();
        for entry in log {
            transcript.settle(entry).unwrap();
        }
        let endpoints = Endpoints::usual().unwrap();
        let (targets, _) =
            Targets::open(PrincipalId::System, Arc::new(Nowhere), endpoints, &[]).await.unwrap();
        retrace(&transcript, &targets).has_read_secret()
    }

    #[tokio::test]
    async fn a_call_that_could_read_secrets_marks_the_session_whatever_became_of_it() {
        for (status, had_secrets, is_marked) in [
            (ItemStatus::Completed, true, true),
            (ItemStatus::Failed, true, true),
            (ItemStatus::Interrupted, true, true),
            (ItemStatus::Denied, true, false),
            (ItemStatus::Completed, false, false),
        ] {
            let marked = has_read_secret(log(call(3, status, had_secrets))).await;
            assert_eq!(marked, is_marked, "{status:?} {had_secrets}");
        }
    }

    #[tokio::test]
    async fn a_fork_keeps_the_mark_where_it_has_the_call() {
        let whole = || log(call(3, ItemStatus::Completed, true));
        assert!(has_read_secret(forked(whole(), &ForkPoint::Now)).await);
        assert!(has_read_secret(forked(forked(whole(), &ForkPoint::Now), &ForkPoint::Now)).await, "twice");
        let before = ForkPoint::Before { prompt: format!("itm_{}", id(2)).parse().unwrap() };
        assert!(!has_read_secret(forked(whole(), &before)).await, "the call is not in it");
    }
}
