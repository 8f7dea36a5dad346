//! The fold: the state that the facts of a session add up to. Every face draws this and nothing else.

use std::collections::{HashMap, HashSet};

use crate::{
    Answer, Answered, ApprovalPolicy, Ask, AskId, Bill, Content, DeltaStream, Event, Fact, Item, ItemDelta,
    ItemId, ItemStatus, Principal, PrincipalKind, SessionChanged, SessionStarted, SessionTarget,
    SessionTerms, TurnEnded, TurnId, TurnStarted, Usage, UsageReported,
};

/// The amount of live output kept for one running tool call. Its result and its log have the whole output.
const LIVE_OUTPUT_KEPT: usize = 64 * 1024;

/// The state of a session after the applied events.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    head: u64,
    started: Option<SessionStarted>,
    title: Option<String>,
    model: Option<String>,
    plan_only: bool,
    approvals: Option<ApprovalPolicy>,
    targets: Vec<SessionTarget>,
    items: Vec<Item>,
    index: HashMap<ItemId, usize>,
    open_items: Vec<ItemId>,
    live_output: HashMap<ItemId, String>,
    asks: Vec<Ask>,
    decided: HashMap<ItemId, Decision>,
    turn: Option<TurnId>,
    last_turn: Option<TurnEnded>,
    turns: u64,
    /// Turns that were imported.
    imported: HashSet<TurnId>,
    bill: Bill,
    last_usage: Option<Usage>,
    ended: bool,
}

/// A decision about an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The principal that answered.
    pub by: Principal,
    /// The command that was to run instead of the proposed one.
    pub edit: Option<String>,
    /// The reason of a denial.
    pub reason: Option<String>,
}

impl Decision {
    fn new(by: &Principal, answer: Option<&Answer>, before: Option<String>) -> Self {
        let (edit, reason) = match answer {
            Some(Answer::Allow { edit, .. }) => (edit.clone().or(before), None),
            Some(Answer::Deny { reason }) => (before, reason.clone()),
            _ => (before, None),
        };
        Self { by: by.clone(), edit, reason }
    }
}

/// An entry of a log for a reader that only needs the final state, not the history.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "entries are short-lived, and a box for each costs more than it saves"
)]
pub enum LogEntry {
    /// An event.
    Event(Event),
    /// An event about an item whose whole value comes later in the same read. Only its place counts.
    Superseded {
        /// The number of the event.
        seq: u64,
        /// The item.
        item: ItemId,
    },
}

/// An event that does not follow the last folded one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {found} does not follow on event {head}")]
pub struct FoldError {
    /// The last event that was folded.
    pub head: u64,
    /// The event that came instead.
    pub found: u64,
}

impl Transcript {
    /// Folds one more event. Durable events must come in order and without a gap.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        self.advance(event.seq)?;
        self.take_fact(event.by.clone(), event.fact.clone());
        Ok(())
    }

    /// Folds one more event that the caller no longer needs. Reading a long log this way copies nothing.
    pub fn take(&mut self, event: Event) -> Result<(), FoldError> {
        self.advance(event.seq)?;
        self.take_fact(event.by, event.fact);
        Ok(())
    }

    /// Folds one more entry of a settled log.
    pub fn settle(&mut self, entry: LogEntry) -> Result<(), FoldError> {
        match entry {
            LogEntry::Event(event) => self.take(event),
            LogEntry::Superseded { seq, item } => {
                self.advance(Some(seq))?;
                self.reserve(item);
                Ok(())
            }
        }
    }

    /// Reserves the place of an item whose whole value is still to come.
    fn reserve(&mut self, id: ItemId) {
        if !self.index.contains_key(&id) {
            let content = Content::said("");
            let status = ItemStatus::Pending;
            self.put(Item {
                id,
                turn: None,
                step: None,
                place: None,
                parent: None,
                status,
                content,
                private: None,
            });
        }
    }

    fn advance(&mut self, seq: Option<u64>) -> Result<(), FoldError> {
        match seq {
            Some(found) if found != self.head + 1 => Err(FoldError { head: self.head, found }),
            Some(found) => {
                self.head = found;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(crate) fn take_fact(&mut self, by: Option<Principal>, fact: Fact) {
        match fact {
            Fact::SessionStarted(started) => self.start(started),
            Fact::SessionChanged(changed) => self.change(changed),
            Fact::SessionEnded(_) => self.ended = true,
            Fact::TurnStarted(started) => self.start_turn(by.as_ref(), started),
            Fact::TurnEnded(ended) => self.end_turn(ended),
            Fact::ItemStarted(started) => self.put(started.item),
            Fact::ItemChanged(changed) => self.put(changed.item),
            Fact::ItemEnded(ended) => self.put(ended.item),
            Fact::ItemDelta(delta) => self.grow(&delta),
            Fact::Asked(asked) => self.asks.push(asked.ask),
            Fact::Answered(answered) => self.answer(by, &answered),
            Fact::UsageReported(report) => self.add_usage(&report),
            Fact::Notice(_) | Fact::Native(_) | Fact::Unknown(_) => {}
        }
    }

    fn start(&mut self, started: SessionStarted) {
        self.model.clone_from(&started.model);
        self.targets.clone_from(&started.targets);
        self.plan_only = started.terms.plan_only;
        self.started = Some(started);
    }

    fn change(&mut self, changed: SessionChanged) {
        self.title = changed.title.or(self.title.take());
        self.model = changed.model.or(self.model.take());
        self.plan_only = changed.plan_only.unwrap_or(self.plan_only);
        self.approvals = changed.approvals.or(self.approvals);
        if let Some(targets) = changed.targets {
            self.targets = targets;
        }
    }

    fn start_turn(&mut self, by: Option<&Principal>, TurnStarted { turn }: TurnStarted) {
        if by.is_some_and(|by| by.kind() == PrincipalKind::Imported) {
            self.imported.insert(turn.clone());
        }
        self.turn = Some(turn);
        self.turns += 1;
    }

    fn end_turn(&mut self, ended: TurnEnded) {
        self.turn = None;
        self.last_turn = Some(ended);
    }

    fn put(&mut self, item: Item) {
        self.open_items.retain(|open| *open != item.id);
        if item.status.is_final() {
            self.live_output.remove(&item.id);
        } else {
            self.open_items.push(item.id.clone());
        }
        if let Some(&place) = self.index.get(&item.id) {
            self.items[place] = item;
        } else {
            self.index.insert(item.id.clone(), self.items.len());
            self.items.push(item);
        }
    }

    fn grow(&mut self, delta: &ItemDelta) {
        let Some(&place) = self.index.get(&delta.item) else { return };
        let item = &mut self.items[place];
        if item.status.is_final() {
            return;
        }
        if let (Content::AgentMessage { text } | Content::Reasoning { text }, DeltaStream::Text) =
            (&mut item.content, delta.stream)
        {
            text.push_str(&delta.text);
            return;
        }
        let output = self.live_output.entry(delta.item.clone()).or_default();
        output.push_str(&delta.text);
        keep_tail(output, LIVE_OUTPUT_KEPT);
    }

    fn answer(&mut self, by: Option<Principal>, answered: &Answered) {
        // Only buddy itself answers in nobody's name.
        let by = by.unwrap_or_else(Principal::system);
        if let Some(ask) = self.asks.iter().find(|ask| ask.id == answered.ask) {
            let items: Vec<ItemId> = ask.items().cloned().collect();
            for (place, item) in items.into_iter().enumerate() {
                let answer = match &answered.answer {
                    Answer::Each { answers } => answers.get(place),
                    answer => Some(answer),
                };
                // A changed command may be asked about again; the change stays known.
                let before = self.decided.remove(&item).and_then(|before| before.edit);
                self.decided.insert(item, Decision::new(&by, answer, before));
            }
        }
        self.asks.retain(|ask| ask.id != answered.ask);
    }

    fn add_usage(&mut self, report: &UsageReported) {
        self.bill.add(report.usage, report.cost);
        self.last_usage = Some(report.usage);
    }

    /// The number of the last folded durable event; 0 before the first.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The principal that answered the last ask about an item; `None` if buddy did not ask.
    pub fn decided_by(&self, item: &ItemId) -> Option<&Principal> {
        self.decision(item).map(|decision| &decision.by)
    }

    /// The answer to the last ask about an item; `None` if buddy did not ask.
    pub fn decision(&self, item: &ItemId) -> Option<&Decision> {
        self.decided.get(item)
    }

    /// The settings at the start of the session.
    pub fn started(&self) -> Option<&SessionStarted> {
        self.started.as_ref()
    }

    /// The title, if one was set.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Whether the agent only reads and plans.
    pub fn is_plan_only(&self) -> bool {
        self.plan_only
    }

    /// The last approval policy that was set; `None` if none was.
    pub fn approvals(&self) -> Option<ApprovalPolicy> {
        self.approvals
    }

    /// The terms that hold now, for a session below this one.
    pub fn terms(&self) -> SessionTerms {
        let began_with = self.started().and_then(|started| started.began_with.as_ref());
        let terms = self.started().map(|started| started.terms.clone()).unwrap_or_default();
        let approvals = self.approvals().or_else(|| began_with.map(|with| with.approvals));
        // A fork does not say what it began with, and has the terms of its original.
        SessionTerms { approvals: approvals.or(terms.approvals), plan_only: self.is_plan_only(), ..terms }
    }

    /// The model in use.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The hosts that the session works on, the default first; empty if the log names none, which means this
    /// machine only.
    pub fn targets(&self) -> &[SessionTarget] {
        &self.targets
    }

    /// All items in order of appearance.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// All items, for a caller that needs nothing else.
    pub fn into_items(self) -> Vec<Item> {
        self.items
    }

    /// One item.
    pub fn item(&self, id: &ItemId) -> Option<&Item> {
        self.index.get(id).map(|&place| &self.items[place])
    }

    /// The items that have not ended, in order of their last change.
    pub fn open_items(&self) -> impl Iterator<Item = &Item> {
        self.open_items.iter().filter_map(|id| self.item(id))
    }

    /// The end of the output of a running tool call.
    pub fn live_output(&self, id: &ItemId) -> &str {
        self.live_output.get(id).map_or("", String::as_str)
    }

    /// The pending asks, oldest first.
    pub fn asks(&self) -> &[Ask] {
        &self.asks
    }

    /// Whether an ask is still pending.
    pub fn is_waiting(&self, id: &AskId) -> bool {
        self.asks.iter().any(|ask| ask.id == *id)
    }

    /// Whether an item was imported: buddy did not see it happen.
    pub fn is_imported(&self, item: &Item) -> bool {
        item.turn.as_ref().is_some_and(|turn| self.imported.contains(turn))
    }

    /// The running turn.
    pub fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref()
    }

    /// The end of the last finished turn.
    pub fn last_turn(&self) -> Option<&TurnEnded> {
        self.last_turn.as_ref()
    }

    /// The number of turns that were started.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The tokens and the cost of all model calls.
    pub fn bill(&self) -> &Bill {
        &self.bill
    }

    /// The tokens of the last model call.
    pub fn last_usage(&self) -> Option<Usage> {
        self.last_usage
    }

    /// Whether the session ended for good.
    pub fn is_ended(&self) -> bool {
        self.ended
    }
}

fn keep_tail(text: &mut String, limit: usize) {
    // Cut only at twice the limit, to spread the cost of cutting over many deltas.
    if text.len() > 2 * limit {
        let cut = (text.len() - limit..=text.len()).find(|&cut| text.is_char_boundary(cut)).unwrap_or(0);
        text.drain(..cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Asked, AuthoredFact, ItemEnded, ItemStarted, Question, ToolCall, ToolKind, TurnOutcome, TurnStarted,
        UnixMillis, recovery,
    };

    fn id(number: u32) -> String {
        format!("{number:026}")
    }

    fn turn() -> TurnId {
        format!("trn_{}", id(1)).parse().unwrap()
    }

    fn item(number: u32, status: ItemStatus, content: Content) -> Item {
        let id = format!("itm_{}", id(number)).parse().unwrap();
        Item {
            id,
            turn: Some(turn()),
            step: Some(1),
            place: None,
            parent: None,
            status,
            content,
            private: None,
        }
    }

    fn message(text: &str) -> Content {
        Content::AgentMessage { text: text.to_owned() }
    }

    fn call() -> Content {
        Content::ToolCall(Box::new(ToolCall {
            call_id: "call_1".to_owned(),
            name: "run_shell".to_owned(),
            kind: ToolKind::Execute,
            title: "ls".to_owned(),
            input: serde_json::json!({}).into(),
            output: None,
            images: Vec::new(),
            target: None,
            had_secrets: false,
            caller: None,
        }))
    }

    fn delta(number: u32, text: &str) -> Fact {
        let item = format!("itm_{}", id(number)).parse().unwrap();
        Fact::ItemDelta(ItemDelta { item, stream: DeltaStream::Text, text: text.to_owned() })
    }

    fn fold(facts: impl IntoIterator<Item = Fact>) -> Transcript {
        fold_authored(facts.into_iter().map(AuthoredFact::from))
    }

    fn fold_authored(facts: impl IntoIterator<Item = AuthoredFact>) -> Transcript {
        let mut transcript = Transcript::default();
        for AuthoredFact { by, fact } in facts {
            let seq = fact.is_durable().then(|| transcript.head() + 1);
            let session = format!("ses_{}", id(1)).parse().unwrap();
            transcript.apply(&Event { session, seq, time: UnixMillis(0), by, fact }).unwrap();
        }
        transcript
    }

    fn started(item: Item) -> Fact {
        Fact::ItemStarted(ItemStarted { item })
    }

    fn text(transcript: &Transcript) -> &str {
        match &transcript.items()[0].content {
            Content::AgentMessage { text } => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn deltas_grow_an_open_item_and_the_end_replaces_it() {
        let open = started(item(1, ItemStatus::Running, message("")));
        let ended = Fact::ItemEnded(ItemEnded { item: item(1, ItemStatus::Completed, message("whole")) });
        assert_eq!(text(&fold([open.clone(), delta(1, "a"), delta(1, "b")])), "ab");
        assert_eq!(text(&fold([open, delta(1, "a"), ended, delta(1, "late")])), "whole");
    }

    #[test]
    fn a_gap_and_a_repetition_are_refused() {
        let mut transcript = fold([Fact::TurnStarted(TurnStarted { turn: turn() })]);
        for seq in [1, 3] {
            let session = format!("ses_{}", id(1)).parse().unwrap();
            let fact = started(item(1, ItemStatus::Running, message("")));
            let refused =
                transcript.apply(&Event { session, seq: Some(seq), time: UnixMillis(0), by: None, fact });
            assert_eq!(refused, Err(FoldError { head: 1, found: seq }));
            assert!(transcript.items().is_empty());
        }
    }

    #[test]
    fn recovery_closes_everything_that_was_open_and_then_nothing() {
        let ask = Ask {
            id: format!("ask_{}", id(1)).parse().unwrap(),
            turn: Some(turn()),
            item: None,
            question: Question::Text { text: "?".to_owned(), options: vec![] },
            expires: None,
        };
        let mut facts = vec![
            Fact::TurnStarted(TurnStarted { turn: turn() }),
            started(item(1, ItemStatus::Running, message("par"))),
            started(item(2, ItemStatus::Pending, call())),
            started(item(3, ItemStatus::Running, call())),
            Fact::Asked(Asked { ask }),
        ];
        let closing = recovery(&fold(facts.clone()), UnixMillis(5));
        facts.extend(closing.into_iter().map(|closed| closed.fact));
        let whole = fold(facts);
        assert!(recovery(&whole, UnixMillis(6)).is_empty());
        assert_eq!(whole.last_turn().unwrap().outcome, TurnOutcome::Interrupted);
        let codes: Vec<String> = whole.items().iter().filter_map(code).collect();
        assert_eq!(codes, ["not_run", "outcome_unknown"]);
        assert!(whole.items().iter().all(|item| item.status == ItemStatus::Interrupted));
    }

    fn code(item: &Item) -> Option<String> {
        match &item.content {
            Content::ToolCall(call) => Some(call.output.clone()?.error?.code),
            _ => None,
        }
    }

    #[test]
    fn an_answer_closes_its_ask_alone() {
        let ask = |number| Ask {
            id: format!("ask_{}", id(number)).parse().unwrap(),
            turn: None,
            item: None,
            question: Question::Text { text: "?".to_owned(), options: vec![] },
            expires: None,
        };
        let answered = Answered { ask: ask(1).id, answer: Answer::allow() };
        let transcript = fold([
            Fact::Asked(Asked { ask: ask(1) }),
            Fact::Asked(Asked { ask: ask(2) }),
            Fact::Answered(answered),
        ]);
        assert_eq!(transcript.asks(), [ask(2)]);
    }
}
