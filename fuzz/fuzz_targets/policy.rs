//! A command for policy to judge. Nothing panics, and the work is bounded. A command that is allowed by
//! itself has no way to run more: no substitution, no line that hides behind another, no computed word.
#![no_main]

use buddy_policy::{Action, Intent, Mode, Now, Places, Policy, Verdict, decide, display_command};
use buddy_protocol::ApprovalPolicy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| {
    let places = Places {
        workspace: vec!["/w".into()],
        home: Some("/home/u".into()),
        own: vec!["/home/u/.config/buddy".into()],
        scratch: vec!["/tmp".into()],
        target: "local".to_owned(),
        ..Places::default()
    };
    let intent = Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() });
    let judge = |mode, approvals| {
        let policy = Policy { mode, places: places.clone(), ..Policy::default() };
        decide(&intent, &policy, &Now::with(approvals))
    };
    let planned = judge(Mode::Plan, ApprovalPolicy::All);
    let developing = judge(Mode::Development, ApprovalPolicy::Ask);
    assert_eq!(planned.verdict == Verdict::Allow, developing.verdict == Verdict::Allow);
    let produced = judge(Mode::Production, ApprovalPolicy::Ask);
    assert!(developing.verdict != Verdict::Allow || produced.verdict == Verdict::Allow);
    if developing.verdict == Verdict::Allow {
        assert!(developing.is_read_only && developing.reasons.is_empty());
        assert!(!command.contains(['\0', '\r', '\u{1b}']), "control characters never run by themselves");
        assert!(command.len() < 1 << 17);
    }
    assert!(developing.verdict == Verdict::Allow || !developing.reasons.is_empty());
    assert!(!display_command(command).chars().any(char::is_control));
});
