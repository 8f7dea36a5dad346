//! Rules of users, and their reach.

use buddy_policy::{Action, Intent, Mode, Policy, RuleSet, RuleTier, Rules, Verdict, guards_from_json};

use crate::stage::{ask, pattern, policy, rules, run};

fn ruled(mode: Mode, tiers: &[(RuleTier, &str)]) -> Policy {
    let mut policy = policy(mode);
    for (tier, text) in tiers {
        policy.rules.add(*tier, rules(text));
    }
    policy
}

fn check(policy: &Policy, command: &str, verdict: Verdict) {
    let decision = ask(&run(command), policy);
    assert_eq!(decision.verdict, verdict, "{command}: {:?}", decision.reasons);
}

#[test]
fn an_allowing_rule_needs_every_part_to_be_allowed() {
    let policy = ruled(Mode::Development, &[(RuleTier::User, r#"allow = ["cargo *", "git status"]"#)]);
    for command in [
        "cargo test",
        "cargo build --release | tail -5",
        "cd src && cargo fmt",
        "git status",
        "cargo test > log 2>&1",
        "timeout 60 cargo test",
    ] {
        check(&policy, command, Verdict::Allow);
    }
    for command in [
        "cargo test; npm x",
        "cargo test && ./x",
        "cargo test | sh",
        "cargo test $(x)",
        "cargo test `x`",
        "cargo test > /opt/x",
        "cargo test > .git/config",
        "LD_PRELOAD=x cargo test",
        "RUSTC_WRAPPER=x cargo test",
        "sudo cargo test",
        "./cargo test",
        "evil/cargo test",
        "git commit -x",
        "git -c a=b status",
        "env PATH=x cargo test",
        "cargo uninstall x",
        "cargo test <(x)",
        "cargo test & x",
        "cargo test\nx",
        "bash -c 'cargo test; x'",
        "xargs cargo",
    ] {
        assert_ne!(ask(&run(command), &policy).verdict, Verdict::Allow, "{command}");
    }
}

#[test]
fn a_lower_tier_tightens_and_never_loosens() {
    let policy = ruled(
        Mode::Production,
        &[
            (
                RuleTier::Managed,
                r#"deny = [{ command = "terraform *", reason = "not from here" }]
                                   ask = ["npm publish *"]"#,
            ),
            (RuleTier::User, r#"allow = ["terraform *", "npm publish *", "sudo *", "rm *"]"#),
            (
                RuleTier::Project,
                r#"allow = ["terraform *"]
                                   deny = ["make deploy *"]"#,
            ),
        ],
    );
    check(&policy, "terraform apply", Verdict::Deny);
    check(&policy, "npm publish", Verdict::Ask);
    check(&policy, "make deploy", Verdict::Deny);
    check(&policy, "make build", Verdict::Allow);
    check(&policy, "sudo ls", Verdict::Ask);
    check(&policy, "rm -rf /", Verdict::Ask);
    let denied = ask(&run("terraform apply"), &policy);
    assert!(denied.reasons.iter().any(|reason| reason.contains("not from here")), "{:?}", denied.reasons);
}

#[test]
fn rules_on_paths_hold_in_every_spelling() {
    let policy = ruled(
        Mode::Production,
        &[(RuleTier::User, r#"deny = [{ read = ".env" }, { write = ".env" }, { delete = "/w/keep/**" }]"#)],
    );
    for path in ["/w/.env", "/w/./.env", "/w/sub/../.env", "/w/.ENV", "/w/sub/.env"] {
        assert_eq!(ask(&Intent::of(Action::Read(path.into())), &policy).verdict, Verdict::Deny, "{path}");
        assert_eq!(ask(&Intent::of(Action::Write(path.into())), &policy).verdict, Verdict::Deny, "{path}");
    }
    for command in [
        "cat .env",
        "cat ./.env",
        "cat sub/../.env",
        "cat < .env",
        "echo x > .env",
        "cp x .env",
        "rm -r keep/a",
        "bash -c 'cat .env'",
    ] {
        check(&policy, command, Verdict::Deny);
    }
    assert_eq!(ask(&Intent::of(Action::Read("/w/.envrc".into())), &policy).verdict, Verdict::Allow);
}

#[test]
fn rules_can_be_about_a_host_or_a_target() {
    let text = r#"deny = [{ fetch = "*.evil.test" }, { command = "npm *", target = "other" }]
                  ask = [{ fetch = "docs.rs" }]"#;
    let policy = ruled(Mode::Production, &[(RuleTier::User, text)]);
    let fetch = |address: &str| ask(&Intent::of(Action::Fetch(address.to_owned())), &policy).verdict;
    assert_eq!(fetch("https://a.evil.test/x"), Verdict::Deny);
    assert_eq!(fetch("https://A.EVIL.test./x"), Verdict::Deny);
    assert_eq!(fetch("https://x@a.evil.test:8443/"), Verdict::Deny);
    assert_eq!(fetch("https://evil.test/"), Verdict::Ask, "a host that nobody named");
    assert_eq!(fetch("https://docs.rs/a"), Verdict::Ask);
    check(&policy, "npm test", Verdict::Allow);
}

#[test]
fn a_denylist_is_a_hard_stop() {
    let mut policy = policy(Mode::Production);
    policy.rules.deny_commands(RuleTier::User, vec![pattern("npm publish *")]);
    check(&policy, "npm publish", Verdict::Deny);
    check(&policy, "cd x && timeout 5 npm publish --tag x", Verdict::Deny);
    check(&policy, "npm $x", Verdict::Ask);
    check(&policy, "npm run x", Verdict::Allow);
}

#[test]
fn guards_of_a_user_find_every_leaf() {
    let guards = guards_from_json(
        r#"[{"pattern": "kubectx *", "reason": "clusters", "action": "ask"}, {"pattern": "danger *", "action": "deny"}]"#,
    );
    let mut policy = policy(Mode::Production);
    policy.rules = RuleSet::default().with(RuleTier::User, guards.expect("the guards are well-formed"));
    check(&policy, "ls | xargs kubectx a", Verdict::Ask);
    check(&policy, "find . -exec danger {} \\;", Verdict::Deny);
    check(&policy, "bash -c 'env danger'", Verdict::Deny);
}

#[test]
fn rules_that_are_not_well_formed_are_refused() {
    for text in [
        r#"allow = ["a | b"]"#,
        r#"allow = [""]"#,
        r#"allow = ["*"]"#,
        r#"allow = [{ reason = "x" }]"#,
        r#"allow = [{ command = "a", read = "b" }]"#,
        r#"allow = [{ color = "x" }]"#,
        r#"permit = ["a"]"#,
        r#"deny = [{ read = "a/../b" }]"#,
        r#"deny = [{ fetch = "https://x/" }]"#,
        "allow = [1]",
    ] {
        assert!(toml::from_str::<Rules>(text).is_err(), "{text}");
    }
}
