//! Every state of the machine against every input, and every order in which results can come.

mod authors;
mod environment;
mod finishing;
mod room;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use buddy_model::{Arguments, Delta, PromptItem, Reply, ReplyItem, StopReason};
use buddy_protocol::{
    AuthoredFact, Envelope, EnvironmentFact, Ids, ItemStatus, ToolFailure, Transcript, UnixMillis, Usage,
};
use serde_json::Value;

struct Counter(Mutex<u128>);

impl Ids for Counter {
    fn next(&self) -> u128 {
        let mut number = self.0.lock().unwrap();
        *number += 1;
        *number
    }
}

/// A machine with a log of what it did.
struct Bench {
    machine: Machine,
    facts: Vec<Fact>,
    calls: Vec<Item>,
    /// Calls that the machine lets run.
    allowed: usize,
    history: Vec<PromptItem>,
    done: Vec<&'static str>,
    /// The facts about the environment that a look finds.
    surroundings: Vec<EnvironmentFact>,
    /// The kinds of the facts that somebody caused, and who.
    authors: Vec<(String, String)>,
}

impl Bench {
    fn new(max_steps: u32) -> Self {
        let ids = Arc::new(Counter(Mutex::new(0)));
        let machine = Machine::new(ids, vec!["local".to_owned()], max_steps, Vec::new());
        Self {
            machine,
            facts: vec![],
            calls: vec![],
            allowed: 0,
            history: vec![],
            done: vec![],
            surroundings: vec![],
            authors: vec![],
        }
    }

    fn take(&mut self, facts: Vec<AuthoredFact>) {
        for AuthoredFact { by, fact } in facts {
            self.authors.extend(by.map(|by| (fact.kind().to_owned(), by.name)));
            self.facts.push(fact);
        }
    }

    fn feed(&mut self, input: Input) -> &mut Self {
        for effect in self.machine.step(input) {
            match effect {
                Effect::LookAround => {
                    let seen = self.surroundings.clone();
                    self.feed(Input::LookedAround(seen));
                }
                Effect::Emit(facts) => self.take(facts),
                Effect::CallModel(ModelCall { history, is_text_only, .. }) => {
                    check_history(&history);
                    self.history = history;
                    self.done.push(if is_text_only { "report" } else { "call" });
                }
                Effect::DropModel { .. } => self.done.push("drop"),
                Effect::RunCalls(calls) => {
                    self.done.push("run");
                    self.allowed += calls.iter().filter(|call| call.refusal.is_none()).count();
                    self.calls.extend(calls.into_iter().map(|call| call.item));
                }
                Effect::StopCalls => self.done.push("stop"),
                Effect::ForgetCount => self.done.push("clear"),
                Effect::Summarise(old) => {
                    self.history = old;
                    self.done.push("summarise");
                }
                Effect::AskForFunds { .. } => self.done.push("ask"),
                Effect::DropAside => self.done.push("drop aside"),
            }
        }
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.feed(Input::Prompted { by: Principal::person("ann"), said: Content::said(text) })
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.feed(Input::Streamed(Delta::Text(text.to_owned())))
    }

    fn reply(&mut self, text: &str, calls: &[&str]) -> &mut Self {
        self.feed(Input::Answered(answered(reply(text, calls))))
    }

    /// Ends the call with this id.
    fn end_call(&mut self, call_id: &str, status: ItemStatus) -> &mut Self {
        let place = self.calls.iter().position(|item| id_of(item) == call_id).unwrap();
        let item = self.calls.remove(place);
        let outcome = match status {
            ItemStatus::Completed => Ok(Value::Null),
            _ => Err(ToolFailure::new("failed", "it did not work")),
        };
        let item = Item { status, ..item }.with_output(Envelope::new(UnixMillis(1), outcome));
        self.facts.push(Fact::ItemEnded(ItemEnded { item: item.clone() }));
        self.feed(Input::CallEnded(item))
    }

    fn interrupt(&mut self) -> &mut Self {
        self.feed(Input::Interrupted(Principal::person("bob")))
    }

    fn outcome(&self) -> Option<TurnOutcome> {
        match self.facts.last() {
            Some(Fact::TurnEnded(ended)) => Some(ended.outcome),
            _ => None,
        }
    }

    /// The history as a machine sees it that takes the session up from its log.
    fn resumed(&self) -> Vec<PromptItem> {
        let mut transcript = Transcript::default();
        for (place, fact) in self.facts.iter().filter(|fact| fact.is_durable()).enumerate() {
            let session = "ses_00000000000000000000000001".parse().unwrap();
            let seq = Some(place as u64 + 1);
            let event =
                buddy_protocol::Event { session, seq, time: UnixMillis(0), by: None, fact: fact.clone() };
            transcript.apply(&event).unwrap();
        }
        history(transcript.items())
    }
}

fn reply(text: &str, calls: &[&str]) -> Reply {
    let said = (!text.is_empty()).then(|| ReplyItem::Text { text: text.to_owned(), private: None });
    let called = calls.iter().map(|id| ReplyItem::ToolCall {
        id: (*id).to_owned(),
        name: "time".to_owned(),
        arguments: Arguments::Object { value: serde_json::Map::new(), repaired: false },
        private: None,
    });
    let stop = if calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
    Reply { items: said.into_iter().chain(called).collect(), stop, usage: None, model: None }
}

fn answered(reply: Reply) -> Answered {
    let charge = Charge { model: "m".to_owned(), usage: Usage::default(), cost: None };
    Answered { reply, charge }
}

fn id_of(item: &Item) -> &str {
    match &item.content {
        Content::ToolCall(call) => &call.call_id,
        _ => "",
    }
}

/// The demand of every model API: each call has exactly one result, after it and before anything else is said.
fn check_history(history: &[PromptItem]) {
    let mut open: Vec<&str> = Vec::new();
    for item in history {
        match item {
            PromptItem::ToolCall { id, .. } => open.push(id),
            PromptItem::ToolResult { id, .. } => {
                let place =
                    open.iter().position(|call| call == id).expect("a result belongs to an open call");
                open.remove(place);
            }
            _ => assert!(open.is_empty(), "{open:?} have no result in {history:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?} have no result in {history:?}");
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").text("hel").text("lo").reply("hello", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    assert_eq!(bench.done, ["call"]);
}

#[test]
fn parts_of_an_answer_end_under_the_items_that_they_streamed_under() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").text("o").text("ne").feed(Input::Streamed(Delta::Apart)).text("two");
    let text = |text: &str| ReplyItem::Text { text: text.to_owned(), private: None };
    let items = vec![text("one"), ReplyItem::Reasoning { text: String::new(), private: None }, text("two")];
    bench.feed(Input::Answered(answered(Reply { items, ..reply("", &[]) })));
    let (mut started, mut ended) = (Vec::new(), Vec::new());
    for fact in &bench.facts {
        match fact {
            Fact::ItemStarted(begun) => started.push(&begun.item.id),
            Fact::ItemEnded(end) => match &end.item.content {
                Content::AgentMessage { text } => ended.push((&end.item.id, text.as_str())),
                _ => assert!(!started.contains(&&end.item.id), "what has no words did not stream"),
            },
            _ => {}
        }
    }
    assert_eq!(ended, [(started[0], "one"), (started[1], "two")]);
    assert_eq!(started.len(), 2);
}

#[test]
fn calls_run_and_the_model_is_called_again_when_all_have_ended() {
    for order in [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]] {
        let mut bench = Bench::new(9);
        bench.prompt("hi").reply("I look", &["a", "b", "c"]);
        for call in order {
            assert_eq!(bench.done, ["call", "run"]);
            bench.end_call(call, ItemStatus::Completed);
        }
        assert_eq!(bench.done, ["call", "run", "call"]);
        let ids = bench.history.iter().filter_map(|item| match item {
            PromptItem::ToolResult { id, .. } => Some(id.as_str()),
            _ => None,
        });
        assert_eq!(ids.collect::<Vec<_>>(), ["a", "b", "c"], "results keep the order of the calls");
        bench.reply("done", &[]);
        assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    }
}

#[test]
fn two_steps_with_calls_and_no_text_stay_two_messages() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").reply("", &["a"]).end_call("a", ItemStatus::Completed);
    bench.reply("", &["b"]).end_call("b", ItemStatus::Completed);
    let kinds: Vec<&str> = bench.history.iter().map(kind).collect();
    assert_eq!(kinds, ["user", "call", "result", "call", "result"]);
}

fn paused(text: &str) -> Input {
    Input::Answered(answered(Reply { stop: StopReason::Paused, ..reply(text, &[]) }))
}

#[test]
fn a_pause_in_the_middle_of_an_answer_is_asked_to_go_on() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").feed(paused("one")).feed(paused("two"));
    assert_eq!(bench.done, ["call", "call", "call"]);
    let kinds: Vec<&str> = bench.history.iter().map(kind).collect();
    assert_eq!(kinds, ["user", "assistant", "assistant"], "what was said goes back");
    bench.reply("three", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    assert!(!bench.facts.iter().any(|fact| matches!(fact, Fact::Notice(_))));
}

#[test]
fn a_provider_that_only_pauses_is_not_asked_for_ever() {
    let mut bench = Bench::new(99);
    bench.prompt("hi");
    let mut pauses = 0;
    while bench.outcome().is_none() {
        bench.feed(paused(""));
        pauses += 1;
        assert!(pauses < 99, "asked for ever");
    }
    assert_eq!((pauses, bench.outcome()), (9, Some(TurnOutcome::Completed)));
    let notices = bench.facts.iter().filter(|fact| matches!(fact, Fact::Notice(_))).count();
    assert_eq!(notices, 1, "it is told once");
}

#[test]
fn a_pause_counts_as_a_model_call() {
    let mut bench = Bench::new(2);
    bench.prompt("hi").feed(paused("one")).feed(paused("two"));
    assert_eq!(bench.done, ["call", "call", "report"]);
    bench.reply("half of it", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::TurnLimit));
}

fn kind(item: &PromptItem) -> &'static str {
    match item {
        PromptItem::User { .. } => "user",
        PromptItem::Assistant { .. } => "assistant",
        PromptItem::Reasoning { .. } => "reasoning",
        PromptItem::ToolCall { .. } => "call",
        PromptItem::ToolResult { .. } => "result",
    }
}

#[test]
fn each_history_begins_with_the_one_before_and_is_the_same_after_a_restart() {
    let mut bench = Bench::new(9);
    let mut before: Vec<PromptItem> = Vec::new();
    bench.prompt("one").reply("look", &["a", "b"]);
    bench.end_call("b", ItemStatus::Completed).prompt("steer").end_call("a", ItemStatus::Failed);
    for round in 0..3 {
        assert_eq!(bench.history[..before.len()], before, "round {round}");
        assert_eq!(bench.history, bench.resumed(), "round {round}");
        before.clone_from(&bench.history);
        bench.reply("answer", &[]).prompt("next");
    }
}

#[test]
fn an_interrupt_at_any_moment_leaves_a_history_that_the_api_accepts() {
    type Moment = fn(&mut Bench);
    let moments: [(&str, Moment); 7] = [
        ("before the first byte", |_| {}),
        ("in the middle of text", |bench| _ = bench.text("hal")),
        ("in the middle of arguments", |bench| {
            let delta = Delta::ToolArguments { index: 0, name: None, text: "{\"co".to_owned() };
            bench.feed(Input::Streamed(delta));
        }),
        ("when calls run", |bench| _ = bench.reply("look", &["a", "b"])),
        ("when one call has ended", |bench| {
            bench.reply("look", &["a", "b"]).end_call("b", ItemStatus::Completed);
        }),
        ("in the second step", |bench| {
            bench.reply("look", &["a"]).end_call("a", ItemStatus::Completed).text("so");
        }),
        ("after a steer", |bench| _ = bench.reply("look", &["a"]).prompt("wait")),
    ];
    for (name, moment) in moments {
        let mut bench = Bench::new(9);
        bench.prompt("go");
        moment(&mut bench);
        bench.interrupt().interrupt();
        while let Some(item) = bench.calls.first() {
            let id = id_of(item).to_owned();
            assert_eq!(bench.outcome(), None, "{name}: the turn waits for its calls");
            bench.end_call(&id, ItemStatus::Interrupted);
        }
        assert_eq!(bench.outcome(), Some(TurnOutcome::Interrupted), "{name}");
        check_history(&bench.resumed());
        bench.prompt("go on");
        assert_eq!(bench.history, bench.resumed(), "{name}");
        bench.reply("fine", &[]);
        assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "{name}");
    }
}

#[test]
fn a_steer_is_seen_by_the_next_step_and_keeps_the_turn_going() {
    let mut bench = Bench::new(9);
    bench.prompt("go").text("ans").prompt("also this").reply("answer", &[]);
    assert_eq!(bench.outcome(), None);
    let kinds: Vec<&str> = bench.history.iter().map(kind).collect();
    assert_eq!(kinds, ["user", "assistant", "user"]);
    bench.reply("both", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
}

#[test]
fn a_restart_voids_what_was_streamed() {
    let mut bench = Bench::new(9);
    let restarted = Delta::Restarted { attempt: 1, delay: Duration::ZERO, error: "cut".to_owned() };
    bench.prompt("go").text("wrong").feed(Input::Streamed(restarted)).text("right").reply("right", &[]);
    let answers: Vec<String> = bench
        .resumed()
        .iter()
        .filter_map(|item| match item {
            PromptItem::Assistant { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["right"]);
}

#[test]
fn the_cap_on_steps_ends_the_turn() {
    let mut bench = Bench::new(2);
    bench.prompt("go").reply("", &["a"]).end_call("a", ItemStatus::Completed);
    bench.reply("", &["b"]).end_call("b", ItemStatus::Completed);
    assert_eq!(
        (bench.outcome(), bench.done.as_slice()),
        (None, &["call", "run", "call", "run", "report"][..])
    );
    bench.reply("half is done", &["c"]);
    assert_eq!((bench.outcome(), bench.calls.len()), (Some(TurnOutcome::TurnLimit), 0), "a call is not run");
}

#[test]
fn a_failed_model_call_ends_the_turn_with_what_was_said() {
    let mut bench = Bench::new(9);
    let failure =
        Failure { http_status: None, kind: FailureKind::Auth, message: "no".to_owned(), hint: None };
    bench.prompt("go").text("par").feed(Input::ModelFailed(failure));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed));
    assert!(
        matches!(bench.resumed().last(), Some(PromptItem::Assistant { text, .. }) if text.starts_with("par"))
    );
}

#[test]
fn the_third_identical_failure_in_a_row_is_not_run() {
    let mut bench = Bench::new(9);
    bench.prompt("go");
    for call in ["a", "b"] {
        bench.reply("", &[call]).end_call(call, ItemStatus::Failed);
    }
    let effects = bench.machine.step(Input::Answered(answered(reply("", &["c"]))));
    let refusal = effects.into_iter().find_map(|effect| match effect {
        Effect::RunCalls(calls) => calls.into_iter().next()?.refusal,
        _ => None,
    });
    assert_eq!(refusal.unwrap().code, "repeated_failure");
}

#[test]
fn mended_arguments_run_for_reading_alone() {
    let call = |name: &str| {
        let mut value = serde_json::Map::new();
        value.insert("path".to_owned(), "a".into());
        value.insert("content".to_owned(), "b".into());
        let arguments = Arguments::Object { value, repaired: true };
        let items =
            vec![ReplyItem::ToolCall { id: "a".to_owned(), name: name.to_owned(), arguments, private: None }];
        let reply = Reply { items, stop: StopReason::ToolUse, usage: None, model: None };
        let mut bench = Bench::new(9);
        bench.prompt("go");
        let effects = bench.machine.step(Input::Answered(answered(reply)));
        effects.into_iter().find_map(|effect| match effect {
            Effect::RunCalls(calls) => Some(calls.into_iter().next()?.refusal.is_some()),
            _ => None,
        })
    };
    assert_eq!(call("read_file"), Some(false));
    assert_eq!(call("write_file"), Some(true));
    assert_eq!(call("run_shell"), Some(true));
}

#[test]
fn echoes_of_a_turn_that_is_over_change_nothing() {
    let mut bench = Bench::new(9);
    bench.prompt("go").interrupt();
    let facts = bench.facts.len();
    bench.text("late").reply("late", &["x"]).interrupt();
    assert_eq!(bench.facts.len(), facts);
    assert_eq!(bench.done, ["call", "drop"]);
}

/// A session with three turns behind it, of which each has a call with a long title.
fn long_session() -> Bench {
    let mut bench = Bench::new(9);
    for (prompt, call) in [("one", "a"), ("two", "b"), ("three", "c")] {
        bench.prompt(&format!("{prompt} {}", "word ".repeat(200))).reply("look", &[call]);
        bench.end_call(call, ItemStatus::Failed).reply("done", &[]);
    }
    bench
}

fn summarised(text: &str) -> Input {
    Input::Summarised { summary: Some(text.to_owned()), bills: vec![] }
}

#[test]
fn a_full_window_is_made_room_in_once_and_the_call_is_made_again() {
    let mut bench = long_session();
    bench.done.clear();
    bench.prompt("four").feed(Input::ContextFull { window: 1_200, used: 4_000 });
    assert_eq!(bench.done, ["call", "summarise"]);
    assert!(bench.history.len() > 3, "the old part is what is summed up: {:?}", bench.history);
    bench.feed(summarised("SUMMARY"));
    assert_eq!(bench.done, ["call", "summarise", "call"]);
    let Some(PromptItem::User { text, .. }) = bench.history.first() else { panic!("{:?}", bench.history) };
    assert!(text.contains("SUMMARY") && text.contains("Calls that did not work"), "{text}");
    assert!(matches!(bench.history.last(), Some(PromptItem::User { text, .. }) if text == "four"));
    assert!(bench.history.len() < bench.resumed().len() + 1);
    assert_eq!(bench.history, bench.resumed(), "it is the same after a restart");
    bench.feed(Input::ContextFull { window: 1_200, used: 4_000 });
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed), "a second time would not help");
}

#[test]
fn an_overflow_told_by_the_provider_is_made_room_for_once() {
    let overflow = || Failure {
        http_status: None,
        kind: FailureKind::ContextOverflow,
        message: "too long".to_owned(),
        hint: None,
    };
    let mut bench = long_session();
    bench.prompt("four").text("par").feed(Input::ModelFailed(overflow()));
    bench.feed(Input::Summarised { summary: None, bills: vec![] });
    let Some(PromptItem::User { text, .. }) = bench.history.first() else { panic!("{:?}", bench.history) };
    assert!(text.contains("the user said: one"), "without a model it is summed up by rule: {text}");
    bench.feed(Input::ModelFailed(overflow()));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed));
    bench.prompt("five").reply("fine", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "the session is not wedged");
}

#[test]
fn a_long_turn_is_summed_up_in_its_middle_and_keeps_the_words_of_its_request() {
    let mut bench = Bench::new(99);
    bench.prompt("count the beans, all of them");
    for number in 0..20 {
        let name = format!("call-{number}");
        bench.reply(&"word ".repeat(100), &[&name]).end_call(&name, ItemStatus::Completed);
    }
    bench.done.clear();
    bench.feed(Input::ContextFull { window: 2_000, used: 2_400 }).feed(summarised("SUMMARY"));
    assert_eq!(bench.done, ["summarise", "call"]);
    let Some(PromptItem::User { text, .. }) = bench.history.first() else { panic!("{:?}", bench.history) };
    assert!(text.contains("SUMMARY") && text.contains("count the beans, all of them"), "{text}");
    let is_result = matches!(bench.history.last(), Some(PromptItem::ToolResult { .. }));
    assert!(is_result && bench.history.len() < 20, "the newest steps stay: {:?}", bench.history);
    check_history(&bench.history);
}

#[test]
fn a_call_that_only_seems_too_long_is_made_when_nothing_is_left_to_sum_up() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").feed(Input::ContextFull { window: 1_000, used: 1_100 });
    assert_eq!(bench.done, ["call", "call"], "the provider knows better");
    bench.reply("hello", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    let mut bench = Bench::new(9);
    bench.prompt("hi").feed(Input::ContextFull { window: 10, used: 1_100 });
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed), "this is no matter of estimates");
}

#[test]
fn compaction_keeps_calls_and_results_together_wherever_it_cuts() {
    for window in (0..6_000).step_by(250) {
        let mut bench = long_session();
        let by = Principal::person("ann");
        bench.feed(Input::CompactRequested { by, window }).feed(summarised("S"));
        assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "window {window}");
        bench.prompt("go on");
        check_history(&bench.history);
        assert_eq!(bench.history, bench.resumed(), "window {window}");
    }
}

#[test]
fn room_can_be_made_again_and_again() {
    let mut bench = long_session();
    for round in 0..3 {
        let by = Principal::person("ann");
        bench.feed(Input::CompactRequested { by, window: 100 }).feed(summarised(&format!("S{round}")));
        bench.prompt("more").reply("done", &[]);
    }
    let summaries = bench
        .resumed()
        .iter()
        .filter(|item| matches!(item, PromptItem::User { text, .. } if text.contains("<summary")))
        .count();
    assert_eq!(summaries, 1, "the last summary stands for those before");
}

#[test]
fn what_is_said_while_room_is_made_is_answered() {
    let mut bench = long_session();
    let by = Principal::person("ann");
    bench.feed(Input::CompactRequested { by, window: 100 }).prompt("and now?").feed(summarised("S"));
    assert!(matches!(bench.history.last(), Some(PromptItem::User { text, .. }) if text == "and now?"));
    bench.reply("this", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    bench.feed(Input::CompactRequested { by: Principal::person("ann"), window: 100 }).interrupt();
    assert_eq!(bench.outcome(), Some(TurnOutcome::Interrupted));
    assert_eq!(bench.done.last(), Some(&"drop aside"));
}

#[test]
fn a_used_up_budget_asks_and_an_allowance_holds_for_the_turn() {
    let mut bench = Bench::new(1);
    bench.prompt("go").feed(Input::BudgetReached("all spent".to_owned()));
    assert_eq!(bench.done, ["call", "ask"]);
    bench.feed(Input::BudgetAnswered(true));
    assert_eq!(bench.done, ["call", "ask", "call"], "the call that was not made does not count");
    bench.reply("done", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    bench
        .prompt("more")
        .feed(Input::BudgetReached("all spent".to_owned()))
        .feed(Input::BudgetAnswered(false));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed));
    bench.prompt("more").feed(Input::BudgetReached("all spent".to_owned())).interrupt();
    assert_eq!(bench.outcome(), Some(TurnOutcome::Interrupted));
}

/// A command of the user's own that has ended, under a number.
fn own_command(number: u32) -> Item {
    let ran = buddy_protocol::Ran {
        background: None,
        command: format!("echo {number}"),
        target: "local".to_owned(),
        cwd: "/w".to_owned(),
        is_withheld: false,
        outcome: Some(buddy_protocol::RanOutcome { exit_code: Some(0), ..Default::default() }),
    };
    let content = Content::UserMessage {
        text: format!("! echo {number}"),
        images: Vec::new(),
        ran: Some(Box::new(ran)),
        typed: None,
    };
    Item {
        id: format!("itm_{:026}", 900 + number).parse().unwrap(),
        turn: None,
        step: None,
        place: None,
        parent: None,
        status: ItemStatus::Completed,
        content,
        private: None,
    }
}

/// The first words to the model in each thing that it is told.
fn heads(history: &[PromptItem]) -> Vec<String> {
    let head = |item: &PromptItem| match item {
        PromptItem::User { text, .. } => {
            text.lines().nth(1).or_else(|| text.lines().next()).map(str::to_owned)
        }
        PromptItem::Assistant { text, .. } => Some(text.clone()),
        PromptItem::ToolCall { id, .. } => Some(format!("call {id}")),
        PromptItem::ToolResult { id, .. } => Some(format!("result {id}")),
        PromptItem::Reasoning { .. } => None,
    };
    history.iter().filter_map(head).collect()
}

#[test]
fn what_a_person_ran_stands_where_the_model_first_sees_it() {
    let mut bench = Bench::new(9);
    bench.feed(Input::PersonRan { by: Some(Principal::person("ann")), item: own_command(1) });
    assert!(bench.done.is_empty(), "a command of the user's own starts no turn");
    bench.prompt("first").reply("", &["a"]);
    bench.feed(Input::PersonRan { by: Some(Principal::person("ann")), item: own_command(2) });
    bench.end_call("a", ItemStatus::Completed);
    let so_far = ["$ echo 1", "first", "call a", "result a", "$ echo 2"];
    assert_eq!(heads(&bench.history), so_far);
    bench
        .feed(Input::PersonRan { by: Some(Principal::person("ann")), item: own_command(3) })
        .reply("done", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "it does not prolong the turn either");
    bench
        .feed(Input::PersonRan { by: Some(Principal::person("ann")), item: own_command(4) })
        .prompt("second");
    let more = ["done", "$ echo 3", "$ echo 4", "second"];
    assert_eq!(heads(&bench.history), [&so_far[..], &more[..]].concat());
    assert_eq!(bench.resumed(), bench.history);
}

fn cut_answer(stop: StopReason, calls: &[&str]) -> Input {
    Input::Answered(answered(Reply { stop, ..reply("I do", calls) }))
}

#[test]
fn the_calls_of_an_answer_that_was_cut_do_not_run_and_the_model_is_asked_again() {
    for stop in [
        StopReason::Length,
        StopReason::Refusal,
        StopReason::Filter,
        StopReason::Paused,
        StopReason::Other("nobody_knows".to_owned()),
    ] {
        let mut bench = Bench::new(9);
        bench.prompt("hi").feed(cut_answer(stop.clone(), &["a", "b"]));
        assert_eq!((bench.allowed, bench.calls.len()), (0, 2), "{stop:?}");
        bench.end_call("b", ItemStatus::Failed).end_call("a", ItemStatus::Failed);
        assert_eq!(bench.done, ["call", "run", "call"], "{stop:?}");
        let results = bench.history.iter().filter(|item| matches!(item, PromptItem::ToolResult { .. }));
        assert_eq!(results.count(), 2, "{stop:?}");
        bench.reply("so be it", &["c"]);
        assert_eq!(bench.allowed, 1, "{stop:?}: a whole answer runs again");
        bench.end_call("c", ItemStatus::Completed).reply("done", &[]);
        assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "{stop:?}");
    }
}

#[test]
fn a_model_that_only_gives_answers_that_are_cut_is_given_up() {
    let mut bench = Bench::new(99);
    bench.prompt("hi");
    for call in ["a", "b", "c"] {
        assert_eq!(bench.outcome(), None);
        bench.feed(cut_answer(StopReason::Length, &[call])).end_call(call, ItemStatus::Failed);
    }
    assert_eq!((bench.outcome(), bench.allowed), (Some(TurnOutcome::Failed), 0));
    assert_eq!(bench.done.iter().filter(|done| **done == "call").count(), 3);
    assert!(bench.machine.is_idle());
    bench.prompt("again").feed(cut_answer(StopReason::Length, &["d"])).end_call("d", ItemStatus::Failed);
    assert_eq!(bench.outcome(), None, "the next turn counts anew");
}
