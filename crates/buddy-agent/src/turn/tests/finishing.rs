//! The gates at the end of a round and of a turn.

use buddy_protocol::ReminderCause;
use serde_json::json;

use super::*;

/// Makes one call and ends it with this result.
fn round(bench: &mut Bench, name: &str, input: Value, result: Value) {
    let Value::Object(value) = input else { panic!("{input}") };
    let id = format!("c{}", bench.facts.len());
    let arguments = Arguments::Object { value, repaired: false };
    let call = ReplyItem::ToolCall { id: id.clone(), name: name.to_owned(), arguments, private: None };
    let reply = Reply { items: vec![call], stop: StopReason::ToolUse, usage: None, model: None };
    bench.feed(Input::Answered(answered(reply)));
    let item = bench.calls.pop().expect("a call");
    let item =
        Item { status: ItemStatus::Completed, ..item }.with_output(Envelope::new(UnixMillis(1), Ok(result)));
    bench.facts.push(Fact::ItemEnded(ItemEnded { item: item.clone() }));
    bench.feed(Input::CallEnded(item));
}

fn edit(bench: &mut Bench, path: &str) {
    round(bench, "write_file", json!({"path": path, "content": "x"}), json!({"bytes": 1}));
}

fn shell(bench: &mut Bench, command: &str, exit_code: u64) {
    round(bench, "run_shell", json!({ "command": command }), json!({ "exit_code": exit_code, "stdout": "" }));
}

/// The reminders that the model was given, in order.
fn reminders(bench: &Bench) -> Vec<ReminderCause> {
    let items = bench.facts.iter().filter_map(Fact::item);
    items
        .filter_map(|item| match item.content {
            Content::Reminder { cause, .. } => Some(cause),
            _ => None,
        })
        .collect()
}

fn last_said(bench: &Bench) -> String {
    match bench.history.last() {
        Some(PromptItem::User { text, .. }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn gated(max_steps: u32) -> Bench {
    let mut bench = Bench::new(max_steps);
    bench.machine.set_gates(LoopGates { finish: true, ..LoopGates::default() });
    bench
}

#[test]
fn an_unchecked_change_is_asked_about_once_with_the_request() {
    let mut bench = gated(99);
    bench.prompt("make it so");
    edit(&mut bench, "a");
    bench.reply("done", &[]);
    assert_eq!((bench.outcome(), reminders(&bench)), (None, vec![ReminderCause::Unverified]));
    let text = last_said(&bench);
    assert!(text.starts_with("<reminder from=\"buddy\">") && text.contains("make it so"), "{text}");
    assert_eq!(bench.resumed(), bench.history, "a session that is taken up has the same history");
    bench.reply("checked", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "once a turn");
}

#[test]
fn a_checked_change_and_a_turn_without_one_are_not_asked_about() {
    let mut bench = gated(99);
    bench.prompt("make it so");
    edit(&mut bench, "a");
    shell(&mut bench, "make", 0);
    bench.reply("done", &[]);
    assert_eq!((bench.outcome(), reminders(&bench)), (Some(TurnOutcome::Completed), vec![]));
    bench.prompt("and?").reply("nothing", &[]);
    assert_eq!((bench.outcome(), reminders(&bench)), (Some(TurnOutcome::Completed), vec![]));
    bench.prompt("again");
    edit(&mut bench, "a");
    shell(&mut bench, "make", 2);
    bench.reply("done", &[]);
    assert_eq!(reminders(&bench), [ReminderCause::Unverified], "a command that failed checks nothing");
}

#[test]
fn a_commit_of_checked_files_is_no_change() {
    let mut bench = gated(99);
    bench.prompt("make it so and commit it");
    edit(&mut bench, "a");
    shell(&mut bench, "make", 0);
    round(&mut bench, "git_add", json!({"files": ["a"]}), json!({}));
    round(&mut bench, "git_commit", json!({"message": "so"}), json!({}));
    bench.reply("done", &[]);
    assert_eq!((bench.outcome(), reminders(&bench)), (Some(TurnOutcome::Completed), vec![]));
}

#[test]
fn the_finish_gate_is_off_unless_switched_on() {
    let mut bench = Bench::new(99);
    bench.prompt("make it so");
    edit(&mut bench, "a");
    bench.reply("done", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
}

#[test]
fn identical_rounds_are_told_and_then_reported() {
    let mut bench = Bench::new(99);
    bench.prompt("go");
    for _ in 0..5 {
        shell(&mut bench, "make", 1);
    }
    assert_eq!(reminders(&bench), [ReminderCause::Repeating, ReminderCause::Limit]);
    assert_eq!(bench.done.last(), Some(&"report"));
    bench.reply("it does not build", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed));
    let Some(Fact::TurnEnded(ended)) = bench.facts.last() else { panic!("no end") };
    assert_eq!(ended.failure.as_ref().map(|failure| failure.kind), Some(FailureKind::Stuck));
}

#[test]
fn a_user_who_says_something_breaks_the_cycle() {
    let mut bench = Bench::new(99);
    bench.prompt("go");
    shell(&mut bench, "make", 1);
    shell(&mut bench, "make", 1);
    let reply = reply("", &["x"]);
    bench.feed(Input::Answered(answered(reply))).prompt("try clang");
    bench.end_call("x", ItemStatus::Completed);
    assert_eq!(reminders(&bench), []);
}

#[test]
fn an_empty_answer_is_asked_about_once() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").reply("", &[]);
    assert_eq!((bench.outcome(), reminders(&bench)), (None, vec![ReminderCause::Incomplete]));
    assert!(last_said(&bench).contains("empty"), "{}", last_said(&bench));
    bench.reply("", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "not for ever");
}

#[test]
fn an_answer_that_was_cut_is_asked_for_again_once() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").feed(cut_answer(StopReason::Length, &[]));
    assert_eq!((bench.outcome(), reminders(&bench)), (None, vec![ReminderCause::Incomplete]));
    assert!(last_said(&bench).contains("cut off"), "{}", last_said(&bench));
    bench.feed(cut_answer(StopReason::Length, &[]));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed));
    bench.prompt("hi").feed(cut_answer(StopReason::Refusal, &[]));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Completed), "a refusal is an answer");
}

#[test]
fn a_report_that_fails_does_not_hide_the_limit() {
    let mut bench = Bench::new(1);
    bench.prompt("go").reply("", &["a"]).end_call("a", ItemStatus::Completed);
    assert_eq!(bench.done.last(), Some(&"report"));
    let failure =
        Failure { http_status: None, kind: FailureKind::Auth, message: "no".to_owned(), hint: None };
    bench.feed(Input::ModelFailed(failure));
    assert_eq!(bench.outcome(), Some(TurnOutcome::TurnLimit));
}

#[test]
fn a_used_up_budget_is_reported_where_nobody_is_asked() {
    let mut bench = Bench::new(9);
    bench.prompt("go").reply("", &["a"]).end_call("a", ItemStatus::Completed);
    bench.feed(Input::BudgetReached("1 of 1".to_owned())).feed(Input::BudgetUnattended);
    assert_eq!(bench.done.last(), Some(&"report"));
    bench.reply("half is done", &[]);
    assert_eq!(bench.outcome(), Some(TurnOutcome::Failed));
    let mut asked = Bench::new(9);
    asked.prompt("go").reply("", &["a"]).end_call("a", ItemStatus::Completed);
    asked.feed(Input::BudgetReached("1 of 1".to_owned())).feed(Input::BudgetAnswered(false));
    assert_eq!(asked.outcome(), Some(TurnOutcome::Failed), "someone who says no pays for no report");
    let mut fresh = Bench::new(9);
    fresh.prompt("go").feed(Input::BudgetReached("1 of 1".to_owned())).feed(Input::BudgetUnattended);
    assert_eq!(fresh.outcome(), Some(TurnOutcome::Failed), "a turn without an answer has nothing to report");
}

#[test]
fn a_turn_that_is_wound_up_stops_its_calls_and_reports() {
    let near = || Input::WoundUp { by: Principal::person("ann"), reason: "the time is nearly up".to_owned() };
    let mut running = Bench::new(9);
    running.prompt("go").reply("", &["a", "b"]).feed(near()).feed(near());
    assert_eq!(running.done, ["call", "run", "stop"], "once");
    running.end_call("a", ItemStatus::Completed).end_call("b", ItemStatus::Interrupted);
    assert_eq!(running.done.last(), Some(&"report"));
    assert!(
        last_said(&running).contains("The run is about to end: the time is nearly up."),
        "{}",
        last_said(&running)
    );
    running.reply("half is done", &["c"]);
    assert_eq!(running.outcome(), Some(TurnOutcome::Interrupted), "no call runs any more");
    let mut calling = Bench::new(9);
    calling.prompt("go").feed(near()).reply("", &["a"]).end_call("a", ItemStatus::Completed);
    assert_eq!(calling.done, ["call", "run", "call"], "the first answer may be the last");
    calling.text("Now I").feed(near()).feed(near());
    assert_eq!(calling.done[3..], ["drop", "report"]);
    calling.interrupt();
    assert_eq!(calling.outcome(), Some(TurnOutcome::Interrupted));
}

#[test]
fn the_model_is_told_with_the_next_prompt_that_plan_mode_began_or_ended() {
    let mut bench = Bench::new(9);
    bench.prompt("hi").reply("Hello.", &[]);
    bench.machine.set_planning(true);
    assert_eq!(reminders(&bench), [], "not before there is something to answer");
    bench.prompt("what would you do?").reply("This.", &[]).prompt("and then?").reply("That.", &[]);
    assert_eq!(reminders(&bench), [ReminderCause::PlanBegan], "once");
    bench.machine.set_planning(false);
    bench.machine.set_planning(true);
    bench.prompt("more").reply("No.", &[]);
    assert_eq!(reminders(&bench).len(), 1, "nothing changed for the model");
    bench.machine.set_planning(false);
    bench.prompt("do it").prompt("now").reply("", &[]);
    assert_eq!(reminders(&bench)[1], ReminderCause::PlanEnded);
    let begins = bench.resumed();
    assert_eq!(begins, bench.history, "a resumed session has the same history");
}

#[test]
fn an_open_plan_is_repeated_after_many_rounds_where_the_gate_is_on() {
    let rounds = |is_on: bool, state: &str| {
        let mut bench = Bench::new(99);
        bench.machine.set_gates(LoopGates { recite: is_on, stuck: false, ..LoopGates::default() });
        bench.prompt("go");
        round(&mut bench, "update_plan", json!({"steps": [{"text": "mend it", "state": state}]}), json!({}));
        for number in 0..16 {
            let id = format!("r{number}");
            bench.reply("", &[&id]).end_call(&id, ItemStatus::Completed);
        }
        reminders(&bench)
    };
    assert_eq!(rounds(true, "active"), [ReminderCause::PlanRecited], "once in 15 rounds");
    assert_eq!(rounds(true, "done"), []);
    assert_eq!(rounds(false, "active"), []);
}
