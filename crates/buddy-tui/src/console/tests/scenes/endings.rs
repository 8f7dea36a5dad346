//! Ends of turns and conversations.

use buddy_protocol::{ApprovalPolicy, Failure, FailureKind, Notice, NoticeLevel};

use super::*;

pub(super) fn turn_done(stage: &mut SceneStage) {
    stage.prompt("fix the overflow in parse_number");
    stage.facts([
        edited(1, "src/parser.rs", HUNK),
        ended(2, message("Fixed. `parse_number` now reads `i64`.")),
    ]);
    stage.used(76_000, 180_000);
    stage.seat.wait(134_000);
    stage.end_turn();
}

#[test]
fn the_end_of_a_turn() {
    check("turn_done", turn_done);
}

#[test]
fn the_end_of_a_turn_tells_only_what_is_true() {
    let last = |play: &dyn Fn(&mut SceneStage)| {
        let mut stage = SceneStage::new(&palette(), (100, 30));
        stage.prompt("go");
        play(&mut stage);
        stage.end_turn();
        stage.finished.last().map(StyledLine::text).unwrap_or_default()
    };
    let short = |stage: &mut SceneStage| stage.fact(ended(1, message("Yes.")));
    assert_eq!(last(&short), "● Yes.", "a short answer needs no sum");
    let long = |stage: &mut SceneStage| stage.seat.wait(64_000);
    assert_eq!(last(&long), "  1m 04s");
    let quick_edit = |stage: &mut SceneStage| stage.fact(edited(1, "a.rs", HUNK));
    assert_eq!(last(&quick_edit), "  1 file +2 −1   /diff review   /undo the last change");
    let no_repository = |stage: &mut SceneStage| {
        stage.seat.take(ConsoleInput::Reply(EffectReply::Surroundings(SessionSurroundings::default())));
        stage.fact(edited(1, "a.rs", HUNK));
    };
    assert_eq!(last(&no_repository), "  1 file +2 −1   /undo the last change");
    let only_shown = |stage: &mut SceneStage| {
        let diff = json!({"diff": format!("--- a\n+++ a\n{HUNK}")});
        stage.fact(done(1, ToolKind::Read, "git diff", diff));
    };
    assert!(!last(&only_shown).contains("/undo"), "a diff that is read changes nothing");
    let twice = |stage: &mut SceneStage| stage.facts([edited(1, "a.rs", HUNK), edited(2, "a.rs", HUNK)]);
    assert!(last(&twice).starts_with("  1 file +4 −2"));
}

#[test]
fn a_narrow_window_says_how_to_undo_before_anything_else() {
    for (columns, ran, expected) in [
        (40, 0, "  1 file +2 −1   /diff review   /undo"),
        (40, 3_725, "  1h 02m   1 file +2 −1   /diff   /undo"),
        (34, 3_725, "  1h 02m   1 file +2 −1   /undo"),
        (26, 3_725, "  /undo the last change"),
    ] {
        let mut stage = SceneStage::new(&palette(), (columns, 15));
        stage.prompt("go");
        stage.fact(edited(1, "a.rs", HUNK));
        stage.seat.wait(ran * 1000);
        stage.end_turn();
        let last = stage.finished.last().map(StyledLine::text).unwrap_or_default();
        assert_eq!(last, expected, "{columns}");
    }
}

#[test]
fn a_turn_whose_commands_changed_files_says_that_undo_reverts_them() {
    let cleaned = |ran: u64| {
        let mut stage = SceneStage::new(&palette(), (100, 30));
        stage.prompt("clean up");
        stage.fact(super::ran(1, "rm -r build", 0, ""));
        stage.seat.wait(ran * 1000);
        let effects = stage.seat.end_turn();
        let calls = vec![item(1, ItemStatus::Completed, message("")).id];
        assert!(effects.contains(&ConsoleEffect::Errand(Errand::CountChanges(turn(), calls))), "{effects:?}");
        assert!(!stage.seat.rows().iter().any(|row| row.contains("12s")), "the line waits for the answer");
        stage
    };
    let reply = |stage: &mut SceneStage, count| {
        stage.seat.console.take_rows();
        stage.seat.take(ConsoleInput::Reply(EffectReply::CountedChanges(turn(), count)));
        stage.seat.rows()
    };
    assert_eq!(reply(&mut cleaned(0), Some(0)), [""; 0]);
    assert_eq!(reply(&mut cleaned(0), Some(1)), ["  1 command changed files   /undo the last change"]);
    assert_eq!(reply(&mut cleaned(12), Some(1)), ["  12s   1 command changed files   /undo the last change"]);
    assert_eq!(reply(&mut cleaned(12), None), ["  12s"]);
    let mut stage = cleaned(0);
    stage.prompt("go on");
    assert_eq!(reply(&mut stage, Some(1)), ["› go on"; 0], "another turn runs");
    stage.fact(edited(2, "a.rs", HUNK));
    let effects = stage.seat.end_turn();
    assert!(
        !effects.iter().any(|effect| matches!(effect, ConsoleEffect::Errand(Errand::CountChanges(..)))),
        "{effects:?}"
    );
}

#[test]
fn the_cost_of_a_turn_is_its_own() {
    let mut stage = SceneStage::new(&palette(), (100, 30));
    stage.prompt("one");
    stage.used(1_000, 500_000);
    stage.end_turn();
    stage.prompt("two");
    stage.used(1_000, 20_000);
    stage.seat.wait(20_000);
    stage.end_turn();
    assert_eq!(stage.finished.last().map(StyledLine::text).unwrap(), "  20s   $0.02");
}

#[test]
fn leaving_sums_up_the_conversation() {
    let mut stage = SceneStage::new(&palette(), (80, 24));
    assert_eq!(stage.seat.console.farewell_rows().len(), 1, "nothing was said");
    turn_done(&mut stage);
    let title = Some("Fix the overflow in parse_number".to_owned());
    stage.fact(Fact::SessionChanged(SessionChanged { title, ..SessionChanged::default() }));
    let commit = json!({"commit": "0123456789abcdef", "subject": "parser: read i64"});
    stage.fact(done(3, ToolKind::Edit, "git commit", commit));
    let rows: Vec<String> = stage.seat.console.farewell_rows().iter().map(StyledLine::text).collect();
    assert_eq!(
        rows,
        [
            "",
            "  Fix the overflow in parse_number",
            "  time      2m 14s",
            "  changes   1 file +2 −1, 1 commit",
            "  cost      $0.18  76.0k tokens in, 0 out",
        ]
    );
}

fn broken(message: &str, hint: Option<&str>) -> TurnEnded {
    let failure = Failure {
        kind: FailureKind::Unavailable,
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
        http_status: None,
    };
    TurnEnded { turn: turn(), outcome: TurnOutcome::Failed, stop_reason: None, failure: Some(failure) }
}

pub(super) fn notices(stage: &mut SceneStage) {
    stage.prompt("explain the scheduler");
    stage.facts([
        started(1, message("")),
        delta(1, "The scheduler has two queues: a local one per worker and a"),
        ended(1, message("The scheduler has two queues: a local one per worker and a")),
    ]);
    let notice = |level, code: &str, text: &str| {
        Fact::Notice(Notice { level, code: code.to_owned(), text: text.to_owned() })
    };
    stage.facts([
        notice(NoticeLevel::Warning, "context_nearly_full", "Context is 82% full. buddy makes room at 85%."),
        ended(2, Content::Compaction { summary: "Rename Token.".to_owned(), kept_from: None }),
    ]);
    stage.used(164_000, 80_000);
    let failed = broken(
        "the model server cannot answer now (529): Overloaded",
        Some("try again in a moment, or choose another model"),
    );
    stage.fact(Fact::TurnEnded(failed));
}

/// The same words come from the model and the agent in `buddy/tests/it/screen/scenes/trouble.rs`.
#[test]
fn each_notice_stands_alone() {
    check("notices", notices);
}

pub(super) fn retrying(stage: &mut SceneStage) {
    stage.prompt("explain the scheduler");
    let text =
        "trying again in 4.0 s, attempt 2: the model server cannot answer now (529): Overloaded".to_owned();
    let code = "model_retry".to_owned();
    stage.used(36_000, 80_000);
    stage.fact(Fact::Notice(Notice { level: NoticeLevel::Info, code, text }));
    stage.seat.wait(1_000);
}

#[test]
fn a_model_that_is_asked_again() {
    check("retry", retrying);
}

#[test]
fn every_mode_has_its_own_rule() {
    let mut shown = String::new();
    let window = ApprovalPolicy::Window { seconds: 600 };
    let all = [
        ApprovalPolicy::Ask,
        ApprovalPolicy::Edits,
        ApprovalPolicy::Auto,
        ApprovalPolicy::None,
        ApprovalPolicy::All,
        window,
    ];
    let plans = [(None, Some(true))];
    let modes = all.into_iter().map(|policy| (Some(policy), None)).chain(plans);
    for (approvals, plan_only) in modes {
        for columns in [80, 40] {
            let mut stage = SceneStage::new(&palette(), (columns, 12));
            stage.fact(Fact::SessionChanged(SessionChanged {
                approvals,
                plan_only,
                ..SessionChanged::default()
            }));
            let rows = stage.texts();
            let _ = writeln!(shown, "{}", rows[rows.len() - 4..rows.len() - 1].join("\n"));
        }
    }
    insta::assert_snapshot!("modes", shown);
}
