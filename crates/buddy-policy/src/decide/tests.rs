use super::*;
use crate::{Approvals, Claims, Verdict};

fn check(intent: &Intent, approvals: Approvals, verdict: Verdict, risk: Risk) {
    let decision = decide(intent, &Policy::plain("/w".into()), &Now::with(approvals));
    assert_eq!((decision.verdict, decision.risk), (verdict, risk), "{intent:?}: {:?}", decision.reasons);
    let is_waived = matches!(approvals, Approvals::All | Approvals::Window);
    assert_eq!(decision.reasons.is_empty(), verdict == Verdict::Allow && !is_waived);
}

fn run(command: &str, claims: Option<Claims>) -> Intent {
    Intent { claims, ..Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() }) }
}

#[test]
fn reads_and_calls_that_touch_nothing_run_by_themselves() {
    check(&Intent::nothing(), Approvals::None, Verdict::Allow, Risk::Low);
    check(&Intent::of(Action::Read("/etc/hosts".into())), Approvals::Ask, Verdict::Allow, Risk::Low);
}

#[test]
fn writes_and_commands_follow_the_session_policy() {
    let write = Intent::of(Action::Write("/w/a".into()));
    check(&write, Approvals::Ask, Verdict::Ask, Risk::Medium);
    check(&write, Approvals::None, Verdict::Deny, Risk::Medium);
    check(&run("cargo build", None), Approvals::Ask, Verdict::Ask, Risk::Medium);
    check(&run("cargo build", None), Approvals::All, Verdict::Allow, Risk::Medium);
    check(&run("cargo build", None), Approvals::Window, Verdict::Allow, Risk::Medium);
}

#[test]
fn every_simple_command_of_a_line_is_named() {
    let parts = |command: &str| {
        let decision = decide(&run(command, None), &Policy::plain("/w".into()), &Now::with(Approvals::Ask));
        decision.parts
    };
    assert_eq!(
        parts("cd a && make | tee log; sh -c 'rm x'"),
        ["cd a", "make", "tee log", "rm x", "sh -c rm x"]
    );
    assert_eq!(parts(&"true; ".repeat(80)).len(), 50);
    let write = decide(
        &Intent::of(Action::Write("/w/a".into())),
        &Policy::plain("/w".into()),
        &Now::with(Approvals::Ask),
    );
    assert!(write.parts.is_empty());
}

#[test]
fn claims_raise_the_gate_and_never_lower_it() {
    let harmless = Claims { risk: Risk::Low, mutation: false, privesc: false };
    check(&run("rm -rf /", Some(harmless)), Approvals::Ask, Verdict::Ask, Risk::High);
    check(&run("cargo build", Some(harmless)), Approvals::Ask, Verdict::Ask, Risk::Medium);
    check(&run("ls", Some(harmless)), Approvals::Ask, Verdict::Allow, Risk::Low);
    check(
        &run("ls", Some(Claims { risk: Risk::High, ..harmless })),
        Approvals::Ask,
        Verdict::Ask,
        Risk::High,
    );
    check(&run("ls", Some(Claims { mutation: true, ..harmless })), Approvals::Ask, Verdict::Ask, Risk::Low);
    let read = Intent { claims: Some(Claims { privesc: true, ..harmless }), ..Intent::nothing() };
    check(&read, Approvals::Ask, Verdict::Ask, Risk::High);
}

#[test]
fn keys_ask_wherever_commands_have_bounds_and_are_never_known_to_only_read() {
    let typed = |text: Option<&str>| {
        let typed = text.map(str::to_owned);
        Intent::of(Action::Terminal { line: "keys".to_owned(), typed, cwd: "/w".into() })
    };
    let check = |mode: Mode, text: Option<&str>, verdict: Verdict| {
        let policy = Policy { mode, ..Policy::plain("/w".into()) };
        let decision = decide(&typed(text), &policy, &Now::with(Approvals::Ask));
        assert_eq!(decision.verdict, verdict, "{mode:?} {text:?}: {:?}", decision.reasons);
        assert!(!decision.is_read_only && decision.offers.is_empty(), "{mode:?} {text:?}");
    };
    for text in [None, Some("ls\n"), Some("cargo build\n")] {
        check(Mode::Development, text, Verdict::Ask);
        check(Mode::Production, text, Verdict::Allow);
    }
    check(Mode::Production, Some("rm -rf /\n"), Verdict::Ask);
    check(Mode::Plan, None, Verdict::Ask);
    check(Mode::Plan, Some("ls\n"), Verdict::Ask);
    check(Mode::Plan, Some("cargo build\n"), Verdict::Deny);
}
