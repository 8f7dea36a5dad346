//! Makes a log of an older session: turns, items and their results, as if buddy had written them then.

use std::collections::HashMap;

use buddy_protocol::{
    Content, Envelope, Event, Fact, Ids, Item, ItemEnded, ItemId, ItemStatus, Native, Notice, NoticeLevel,
    Principal, SessionChanged, SessionId, SessionStarted, ToolCall, ToolFailure, ToolKind, TurnEnded, TurnId,
    TurnOutcome, TurnStarted, UnixMillis,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::read::{Legacy, LegacyCall, LegacyMessage, LegacyRole};

/// The statement about their source in facts that are kept as they came.
const SOURCE: &str = "legacy-session";

/// The code of the notice at its beginning.
const IMPORTED: &str = "imported";

/// Whose session it becomes, and where it works.
pub(crate) struct LegacyPlace {
    pub(crate) owner: Principal,
    pub(crate) agent: String,
    pub(crate) cwd: String,
    /// The file that it is from.
    pub(crate) file: String,
    /// When it was last used, where it does not say.
    pub(crate) changed: UnixMillis,
}

struct Fixed(u128);

impl Ids for Fixed {
    fn next(&self) -> u128 {
        self.0
    }
}

/// The id of the session: when it began, and what it is. A file that grew has the same one.
pub(crate) fn session_id(legacy: &Legacy) -> SessionId {
    SessionId::new(&Fixed(number(legacy, "session")))
}

/// A number for a thing in the session, the same at each import.
fn number(legacy: &Legacy, thing: &str) -> u128 {
    let first = legacy.messages.first().map(|message| message.text.as_str()).unwrap_or_default();
    let mut hasher = Sha256::new();
    for part in [legacy.id.as_str(), first, thing] {
        hasher.update(part.len().to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = hasher.finalize();
    let hash = digest.iter().take(10).fold(0_u128, |hash, byte| hash << 8 | u128::from(*byte));
    let UnixMillis(created) = legacy.created.unwrap_or_default();
    u128::from(created & 0xffff_ffff_ffff) << 80 | hash
}

/// The whole log, and what could not be brought along.
pub(crate) fn events(legacy: Legacy, place: &LegacyPlace) -> (Vec<Event>, Vec<String>) {
    let session = session_id(&legacy);
    let mut log = LegacyLog::new(legacy, place);
    for (at, message) in std::mem::take(&mut log.legacy.messages).into_iter().enumerate() {
        log.message(at, message);
    }
    let (facts, not_understood) = log.finish(place);
    let imported = Principal::imported(&place.file);
    let stamp = |((time, fact), seq): ((UnixMillis, Fact), u64)| {
        // The session is the importer's; the conversation in it is the file's.
        let is_importers =
            matches!(fact, Fact::SessionStarted(_) | Fact::SessionChanged(_) | Fact::Notice(_));
        let by = Some(if is_importers { place.owner.clone() } else { imported.clone() });
        Event { session: session.clone(), seq: Some(seq), time, by, fact }
    };
    (facts.into_iter().zip(1..).map(stamp).collect(), not_understood)
}

struct LegacyLog {
    legacy: Legacy,
    facts: Vec<(UnixMillis, Fact)>,
    now: UnixMillis,
    turn: Option<(TurnId, u32)>,
    turns: u32,
    items: u32,
    /// Calls that have no result yet: where their facts are.
    open: HashMap<String, usize>,
    /// Material that has no place in the log, kept as it came.
    kept: Vec<Value>,
    /// The source of ids, as the messages are taken out one by one.
    seed: Legacy,
}

impl LegacyLog {
    fn new(legacy: Legacy, place: &LegacyPlace) -> Self {
        let now = legacy.created.or(legacy.messages.iter().find_map(|message| message.time));
        let now = now.or(legacy.updated).unwrap_or(place.changed);
        let started = SessionStarted {
            owner: place.owner.clone(),
            agent: place.agent.clone(),
            cwd: place.cwd.clone(),
            // The model of then may be unknown today; a session without one takes the configured one.
            model: None,
            parent: None,
            targets: Vec::new(),
            forked_from: None,
            began_with: None,
            terms: buddy_protocol::SessionTerms::default(),
        };
        let first = legacy
            .messages
            .first()
            .map(|message| LegacyMessage { text: message.text.clone(), ..LegacyMessage::default() });
        let seed = Legacy {
            id: legacy.id.clone(),
            created: legacy.created,
            messages: first.into_iter().collect(),
            ..Legacy::default()
        };
        let mut facts = vec![(now, Fact::SessionStarted(started))];
        if let Some(title) = legacy.title.clone() {
            facts.push((
                now,
                Fact::SessionChanged(SessionChanged { title: Some(title), ..SessionChanged::default() }),
            ));
        }
        let text = format!("Imported from {}: buddy did not witness this conversation", place.file);
        let notice = Notice { level: NoticeLevel::Info, code: IMPORTED.to_owned(), text };
        facts.push((now, Fact::Notice(notice)));
        let (turns, items) = (0, 0);
        Self { legacy, facts, now, turn: None, turns, items, open: HashMap::new(), kept: Vec::new(), seed }
    }

    fn message(&mut self, at: usize, message: LegacyMessage) {
        self.now = message.time.map_or(self.now, |time| time.max(self.now));
        if !message.rest.is_empty() {
            self.kept.push(json!({ "message": at + 1, "fields": message.rest }));
        }
        match message.role {
            LegacyRole::User => self.prompt(message.text),
            LegacyRole::Assistant => self.answer(message),
            LegacyRole::Tool => self.result(at, &message),
        }
    }

    fn prompt(&mut self, text: String) {
        self.end_turn();
        self.begin_turn();
        self.item(ItemStatus::Completed, None, Content::said(text));
    }

    fn answer(&mut self, message: LegacyMessage) {
        if self.turn.is_none() {
            self.begin_turn();
        } else if let Some((_, step)) = &mut self.turn {
            *step += 1;
        }
        let mut place = 0;
        let mut next = || {
            place += 1;
            Some(place)
        };
        if !message.reasoning.trim().is_empty() {
            self.item(ItemStatus::Completed, next(), Content::Reasoning { text: message.reasoning });
        }
        if !message.text.trim().is_empty() {
            self.item(ItemStatus::Completed, next(), Content::AgentMessage { text: message.text });
        }
        for call in message.calls {
            let id = call.id.clone();
            let content = Content::ToolCall(Box::new(tool_call(call, self.now)));
            self.item(ItemStatus::Interrupted, next(), content);
            self.open.insert(id, self.facts.len() - 1);
        }
    }

    fn result(&mut self, at: usize, message: &LegacyMessage) {
        let call = message.call_id.as_ref().and_then(|id| self.open.remove(id));
        let fact = call.and_then(|call| self.facts.get_mut(call));
        let Some(item) = fact.and_then(|(_, fact)| fact.item_mut()) else {
            return self.legacy.not_understood.push(format!("message {} is the result of no call", at + 1));
        };
        let outcome = outcome(&message.text);
        item.status = if outcome.is_ok() { ItemStatus::Completed } else { ItemStatus::Failed };
        if let Content::ToolCall(call) = &mut item.content {
            call.output = Some(Envelope::new(self.now, outcome));
        }
    }

    fn begin_turn(&mut self) {
        self.turns += 1;
        let number = number(&self.seed, &format!("turn {}", self.turns));
        let turn = TurnId::new(&Fixed(number));
        self.push(Fact::TurnStarted(TurnStarted { turn: turn.clone() }));
        self.turn = Some((turn, 1));
    }

    fn end_turn(&mut self) {
        self.open.clear();
        if let Some((turn, _)) = self.turn.take() {
            self.push(Fact::TurnEnded(TurnEnded {
                turn,
                outcome: TurnOutcome::Completed,
                stop_reason: None,
                failure: None,
            }));
        }
    }

    fn item(&mut self, status: ItemStatus, place: Option<u32>, content: Content) {
        self.items += 1;
        let id = ItemId::new(&Fixed(number(&self.seed, &format!("item {}", self.items))));
        let (turn, step) = self.turn.clone().unzip();
        let item = Item { id, turn, step, place, parent: None, status, content, private: None };
        self.push(Fact::ItemEnded(ItemEnded { item }));
    }

    fn push(&mut self, fact: Fact) {
        self.facts.push((self.now, fact));
    }

    fn finish(mut self, place: &LegacyPlace) -> (Vec<(UnixMillis, Fact)>, Vec<String>) {
        self.end_turn();
        self.now = self.legacy.updated.unwrap_or(self.now).max(self.now);
        let data = json!({
            "file": place.file, "id": self.legacy.id, "model": self.legacy.model, "fields": self.legacy.rest,
            "messages": self.kept, "not_understood": self.legacy.not_understood,
        });
        self.push(Fact::Native(Native { source: SOURCE.to_owned(), data }));
        (self.facts, self.legacy.not_understood)
    }
}

fn tool_call(call: LegacyCall, now: UnixMillis) -> ToolCall {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    let title = text("command").or(text("path")).or(text("url")).or(text("query")).unwrap_or_default();
    let unknown = ToolFailure::new("outcome_unknown", "the older session has no result of this call");
    ToolCall {
        kind: kind(&call.name),
        title,
        call_id: call.id,
        name: call.name,
        input: call.arguments.into(),
        output: Some(Envelope::new(now, Err(unknown))),
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    }
}

fn kind(name: &str) -> ToolKind {
    match name {
        "run_shell" | "shell" | "bash" | "exec" => ToolKind::Execute,
        "read_file" | "list_directory" => ToolKind::Read,
        "write_file" | "edit_file" | "apply_patch" | "make_directory" => ToolKind::Edit,
        "delete_path" => ToolKind::Delete,
        "grep" | "glob" => ToolKind::Search,
        "fetch_url" | "web_search" => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

/// The text of a result. Older results may be envelopes of their own.
fn outcome(text: &str) -> Result<Value, ToolFailure> {
    let value = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    let Some(value) = value else { return Ok(json!({ "stdout": text })) };
    if value.get("ok") == Some(&Value::Bool(false)) {
        let error = value.get("error").unwrap_or(&value);
        let part = |name: &str| error.get(name).and_then(Value::as_str);
        let message = part("message").or(error.as_str()).unwrap_or("the call failed").to_owned();
        return Err(ToolFailure::new(part("code").unwrap_or("failed"), message));
    }
    match value.get("result") {
        Some(result) if value.get("ok").is_some() => Ok(result.clone()),
        _ => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Transcript, recovery};
    use proptest::prelude::*;

    use super::*;
    use crate::legacy::read;

    fn place() -> LegacyPlace {
        LegacyPlace {
            owner: Principal::person("ann"),
            agent: "buddy".to_owned(),
            cwd: "/w".to_owned(),
            file: "a.json".to_owned(),
            changed: UnixMillis(5000),
        }
    }

    const SESSION: &str = r#"{"id": "one", "created": 1000, "updated": 9000, "messages": [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": "So.", "tool_calls": [
            {"id": "c1", "function": {"name": "run_shell", "arguments": "{\"command\": \"ls\"}"}},
            {"id": "c2", "function": {"name": "run_shell", "arguments": "{\"command\": \"rm x\"}"}},
            {"id": "c3", "function": {"name": "grep", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c2", "content": "{\"ok\": false, \"error\": {\"code\": \"denied\", \"message\": \"no\"}}"},
        {"role": "tool", "tool_call_id": "c1", "content": "a b"},
        {"role": "tool", "tool_call_id": "c9", "content": "?"},
        {"role": "assistant", "content": "Done.", "odd": 1},
        {"role": "user", "content": "more"}]}"#;

    #[test]
    fn a_conversation_becomes_a_whole_log() {
        let (events, not_understood) = events(read("a", SESSION).unwrap(), &place());
        assert_eq!(not_understood, ["message 5 is the result of no call"]);
        let mut transcript = Transcript::default();
        for event in &events {
            transcript.apply(event).unwrap();
        }
        assert!(recovery(&transcript, UnixMillis(0)).is_empty());
        let told: Vec<String> = transcript.items().iter().map(told).collect();
        assert_eq!(
            told,
            [
                "1 list",
                "2 So.",
                "2 ls Completed {\"stdout\":\"a b\"}",
                "2 rm x Failed no",
                "2  Interrupted the older session has no result of this call",
                "3 Done.",
                "1 more",
            ]
        );
        assert_eq!((transcript.turns(), events[0].time), (2, UnixMillis(1_000_000)));
        assert_eq!(events.last().unwrap().time, UnixMillis(9_000_000));
    }

    fn told(item: &Item) -> String {
        let step = item.step.unwrap();
        match &item.content {
            Content::UserMessage { text, .. } | Content::AgentMessage { text } => format!("{step} {text}"),
            Content::ToolCall(call) => {
                let output = call.output.as_ref().unwrap();
                let result = output.result.as_ref().map(|result| result.text().to_owned());
                let said = result.or(output.error.as_ref().map(|error| error.message.clone())).unwrap();
                format!("{step} {} {:?} {said}", call.title, item.status)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_session_has_the_same_ids_also_when_it_grew() {
        let ids = |text: &str| {
            let (events, _) = events(read("a", text).unwrap(), &place());
            let item = events.iter().find_map(|event| event.fact.item()).unwrap().id.clone();
            (events[0].session.clone(), item)
        };
        let grown =
            SESSION.replace("\"more\"}", "\"more\"}, {\"role\": \"assistant\", \"content\": \"yes\"}");
        assert_eq!(ids(SESSION), ids(&grown));
        assert_ne!(ids(SESSION).0, ids(&SESSION.replace("\"one\"", "\"two\"")).0);
    }

    fn message() -> impl Strategy<Value = Value> {
        let id = prop_oneof![Just("a"), Just("b"), Just("c")];
        let calls = proptest::collection::vec(id.clone(), 0..3).prop_map(|ids| {
            let call = |id: &str| json!({"id": id, "function": {"name": "grep", "arguments": "{}"}});
            Value::Array(ids.into_iter().map(call).collect())
        });
        let role = prop_oneof![Just("user"), Just("assistant"), Just("tool"), Just("system"), Just("?")];
        (role, "[a-z]{0,3}", calls, id, 0_u64..9).prop_map(|(role, text, calls, id, time)| {
            json!({"role": role, "content": text, "tool_calls": calls, "tool_call_id": id, "time": time})
        })
    }

    proptest! {
        #[test]
        fn whatever_was_said_the_log_is_whole(messages in proptest::collection::vec(message(), 0..12)) {
            let text = json!({"id": "x", "messages": messages}).to_string();
            let Ok(legacy) = read("a", &text) else { return Ok(()) };
            let (events, _) = events(legacy, &place());
            let mut transcript = Transcript::default();
            let mut before = UnixMillis(0);
            for event in &events {
                transcript.apply(event).unwrap();
                prop_assert!(event.time >= before, "times go on");
                before = event.time;
            }
            prop_assert!(recovery(&transcript, UnixMillis(0)).is_empty());
            let ids: std::collections::HashSet<_> = transcript.items().iter().map(|item| &item.id).collect();
            prop_assert_eq!(ids.len(), transcript.items().len());
        }
    }
}
