//! Programs that `PATH` finds where commands of the session can write.

use std::path::PathBuf;

use buddy_policy::{
    ChangeableProgram, Decision, Grant, Mode, Now, Policy, RuleTier, Verdict, decide, program_uses,
};
use buddy_protocol::ApprovalPolicy;

use crate::stage::{policy, rules, run};

/// The decision where the project's environment has each of these programs.
fn planted(command: &str, names: &[&str], approvals: ApprovalPolicy, policy: &Policy) -> Decision {
    let planted = |name: &&str| ChangeableProgram {
        name: (*name).to_owned(),
        file: policy.places.workspace[0].join(".venv/bin").join(name),
        digest: None,
    };
    let uses = program_uses(&run(command), policy);
    let used = |name: &&&str| uses.iter().any(|used| used.name == **name);
    let programs: Vec<ChangeableProgram> = names.iter().filter(used).map(planted).collect();
    decide(&run(command), policy, &Now { programs: &programs, ..Now::with(approvals) })
}

const REASON: &str = "`git` is `.venv/bin/git`, which commands of this project can change";

#[test]
fn every_spelling_of_a_name_is_told_and_pinned() {
    let policy = policy(Mode::Development);
    let file: PathBuf = policy.places.workspace[0].join(".venv/bin/git");
    for command in [
        "git push origin main",
        "g'it' push origin main",
        "\\git push origin main",
        "env git push origin main",
        "command git push origin main",
        "timeout 9 git push origin main",
        "bash -c 'git push origin main'",
        "true && (cd sub; git push origin main)",
        "echo main | xargs git push origin",
        "git status && cargo publish",
    ] {
        let decision = planted(command, &["git"], ApprovalPolicy::Auto, &policy);
        assert_eq!(decision.verdict, Verdict::Ask, "{command}");
        assert!(decision.reasons.iter().any(|reason| reason == REASON), "{command}: {:?}", decision.reasons);
        assert!(decision.pins.contains(&file) && decision.offers.is_empty(), "{command}");
    }
    for command in ["/usr/bin/git push origin main", "cargo publish"] {
        let decision = planted(command, &["git"], ApprovalPolicy::Auto, &policy);
        assert!(!decision.reasons.iter().any(|reason| reason == REASON), "{command}");
    }
}

#[test]
fn an_activated_environment_asks_no_more_in_auto() {
    for command in ["pytest -q", "python x.py && pytest", "git status", "cd sub && pytest > log"] {
        let policy = policy(Mode::Development);
        let decision = planted(command, &["pytest", "python", "git"], ApprovalPolicy::Auto, &policy);
        assert_eq!(decision.verdict, Verdict::Allow, "{command}: {:?}", decision.reasons);
        assert!(decision.stays_inside, "{command}");
    }
}

#[test]
fn rules_for_a_name_do_not_cover_the_file() {
    let mut policy = policy(Mode::Development);
    policy.rules.add(RuleTier::User, rules(r#"allow = ["pytest *", "git log *", "uv run *"]"#));
    let check = |command: &str, names: &[&str], verdict: Verdict, is_ruled: bool| {
        let decision = planted(command, names, ApprovalPolicy::Ask, &policy);
        assert_eq!((decision.verdict, decision.needs.is_ruled), (verdict, is_ruled), "{command} {names:?}");
    };
    check("pytest -q", &[], Verdict::Allow, true);
    check("pytest -q", &["pytest"], Verdict::Ask, false);
    // It only reads, so it runs; but no rule opens secrets to it.
    check("git log -1", &[], Verdict::Allow, true);
    check("git log -1", &["git"], Verdict::Allow, false);
    check("pytest -q; cat x", &["cat"], Verdict::Ask, false);
    // A launcher looks programs up in the project in any case.
    check("uv run pytest", &["pytest"], Verdict::Allow, true);
    check("uv run pytest", &["uv"], Verdict::Ask, false);
}

/// The decision about a command in `ask`, where `pytest` and `git` are those of the environment with this content.
fn with_content(command: &str, content: &str, grants: &[Grant], policy: &Policy) -> Decision {
    let program = |name: &str| ChangeableProgram {
        name: name.to_owned(),
        file: policy.places.workspace[0].join(".venv/bin").join(name),
        digest: Some(content.to_owned()),
    };
    let uses = program_uses(&run(command), policy);
    let used = |program: &ChangeableProgram| uses.iter().any(|used| used.name == program.name);
    let programs: Vec<ChangeableProgram> = ["pytest", "git"].map(program).into_iter().filter(used).collect();
    decide(&run(command), policy, &Now { programs: &programs, grants, ..Now::with(ApprovalPolicy::Ask) })
}

#[test]
fn a_yes_for_longer_holds_for_the_program_as_it_was() {
    let policy = Policy { has_broker: true, ..policy(Mode::Development) };
    let asked = with_content("pytest -q", "old", &[], &policy);
    assert_eq!(asked.verdict, Verdict::Ask);
    for offer in &asked.offers {
        assert!(
            offer.covers.contains("as long as `.venv/bin/pytest` stays the same file"),
            "{}",
            offer.covers
        );
        let grants = [offer.grant.clone()];
        let again = with_content("pytest -q", "old", &grants, &policy);
        assert_eq!(again.verdict, Verdict::Allow, "{}: {:?}", offer.covers, again.reasons);
        // It has no more than a command that nobody was asked about.
        assert!(again.stays_inside && !again.needs.is_ruled, "{}", offer.covers);
        let swapped = with_content("pytest -q", "new", &grants, &policy);
        assert_eq!(swapped.verdict, Verdict::Ask, "{}", offer.covers);
        assert!(swapped.reasons.iter().any(|reason| reason.contains("can change")), "{:?}", swapped.reasons);
        // A second program in the line is not the one that was allowed.
        assert_eq!(with_content("pytest -q && git gc", "old", &grants, &policy).verdict, Verdict::Ask);
    }
    assert_eq!(asked.offers.len(), 2, "{:?}", asked.offers);
    // A grant of the name alone says nothing of the file.
    let name = [Grant::command("pytest *", "local").unwrap()];
    assert_eq!(with_content("pytest -q", "old", &name, &policy).verdict, Verdict::Ask);
}

#[test]
fn what_opens_more_than_the_jail_is_not_remembered_for_such_a_program() {
    let policy = Policy { has_broker: true, ..policy(Mode::Development) };
    assert_eq!(with_content("git push origin main", "old", &[], &policy).offers, []);
    let without = Policy { has_broker: false, ..policy.clone() };
    assert_eq!(with_content("pytest -q", "old", &[], &without).offers, []);
    let granted = with_content("pytest -q", "old", &[], &policy).offers.remove(0).grant;
    assert_eq!(with_content("pytest -q", "old", &[granted], &without).verdict, Verdict::Ask);
}
