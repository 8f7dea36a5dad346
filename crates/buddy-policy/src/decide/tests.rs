use super::*;
use crate::{Claims, RuleSet, RuleTier, Rules, Verdict};
use buddy_protocol::ApprovalPolicy;

fn check(intent: &Intent, approvals: ApprovalPolicy, verdict: Verdict, risk: Risk) {
    let decision = decide(intent, &Policy::plain("/w".into()), &Now::with(approvals));
    assert_eq!((decision.verdict, decision.risk), (verdict, risk), "{intent:?}: {:?}", decision.reasons);
    let is_waived = matches!(approvals, ApprovalPolicy::All | ApprovalPolicy::Window { .. });
    assert_eq!(decision.reasons.is_empty(), verdict == Verdict::Allow && !is_waived);
}

fn run(command: &str, claims: Option<Claims>) -> Intent {
    Intent { claims, ..Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() }) }
}

#[test]
fn reads_and_calls_that_touch_nothing_run_by_themselves() {
    check(&Intent::nothing(), ApprovalPolicy::None, Verdict::Allow, Risk::Low);
    check(&Intent::of(Action::Read("/etc/hosts".into())), ApprovalPolicy::Ask, Verdict::Allow, Risk::Low);
}

#[test]
fn writes_and_commands_follow_the_session_policy() {
    let write = Intent::of(Action::Write("/w/a".into()));
    check(&write, ApprovalPolicy::Ask, Verdict::Ask, Risk::Medium);
    check(&write, ApprovalPolicy::None, Verdict::Deny, Risk::Medium);
    check(&run("cargo build", None), ApprovalPolicy::Ask, Verdict::Ask, Risk::Medium);
    check(&run("cargo build", None), ApprovalPolicy::All, Verdict::Allow, Risk::Medium);
    check(&run("cargo build", None), ApprovalPolicy::Window { seconds: 60 }, Verdict::Allow, Risk::Medium);
}

#[test]
fn every_simple_command_of_a_line_is_named() {
    let parts = |command: &str| {
        let decision =
            decide(&run(command, None), &Policy::plain("/w".into()), &Now::with(ApprovalPolicy::Ask));
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
        &Now::with(ApprovalPolicy::Ask),
    );
    assert!(write.parts.is_empty());
}

#[test]
fn claims_raise_the_gate_and_never_lower_it() {
    let harmless = Claims { risk: Risk::Low, mutation: Some(false), privesc: false };
    check(&run("rm -rf $x", Some(harmless)), ApprovalPolicy::Ask, Verdict::Ask, Risk::High);
    check(&run("cargo build", Some(harmless)), ApprovalPolicy::Ask, Verdict::Ask, Risk::Medium);
    check(&run("ls", Some(harmless)), ApprovalPolicy::Ask, Verdict::Allow, Risk::Low);
    let risky = Claims { risk: Risk::High, ..harmless };
    check(&run("cargo build", Some(risky)), ApprovalPolicy::Ask, Verdict::Ask, Risk::High);
    let read = Intent { claims: Some(Claims { privesc: true, ..harmless }), ..Intent::nothing() };
    check(&read, ApprovalPolicy::Ask, Verdict::Ask, Risk::High);
}

#[test]
fn claims_about_what_is_known_to_only_read_count_where_no_kernel_holds_it_to_that() {
    let harmless = Claims { risk: Risk::Low, mutation: Some(false), privesc: false };
    let claims = [Claims { risk: Risk::High, ..harmless }, Claims { mutation: Some(true), ..harmless }];
    for intent in claims.map(|claims| run("ls", Some(claims))) {
        let judge = |mode, remote| {
            let mut policy = Policy { mode, ..Policy::plain("/w".into()) };
            policy.places.remote = remote;
            decide(&intent, &policy, &Now::with(ApprovalPolicy::Ask)).verdict
        };
        assert_eq!(judge(Mode::Development, false), Verdict::Allow, "{intent:?}");
        assert_eq!(judge(Mode::Plan, false), Verdict::Allow, "{intent:?}");
        assert_eq!(judge(Mode::Development, true), Verdict::Ask, "{intent:?}");
        assert_eq!(judge(Mode::Production, false), Verdict::Ask, "{intent:?}");
    }
}

#[test]
fn keys_ask_wherever_commands_have_bounds_and_are_never_known_to_only_read() {
    let lines = |text: &str| Typing::Lines(text.to_owned());
    for typing in [Typing::Nothing, lines("ls\n"), lines("cargo build\n")] {
        check_typing(Mode::Development, ApprovalPolicy::Ask, &typing, Verdict::Ask);
        check_typing(Mode::Production, ApprovalPolicy::Ask, &typing, Verdict::Allow);
    }
    check_typing(Mode::Production, ApprovalPolicy::Ask, &lines("rm -rf /\n"), Verdict::Ask);
    check_typing(Mode::Plan, ApprovalPolicy::Ask, &Typing::Nothing, Verdict::Ask);
    check_typing(Mode::Plan, ApprovalPolicy::Ask, &lines("ls\n"), Verdict::Ask);
    check_typing(Mode::Plan, ApprovalPolicy::Ask, &lines("cargo build\n"), Verdict::Deny);
}

#[test]
fn keys_whose_effect_only_the_program_knows_ask_in_every_mode() {
    for mode in [Mode::Plan, Mode::Development, Mode::Production] {
        check_typing(mode, ApprovalPolicy::Ask, &Typing::Keys, Verdict::Ask);
        check_typing(mode, ApprovalPolicy::Window { seconds: 60 }, &Typing::Keys, Verdict::Ask);
        check_typing(mode, ApprovalPolicy::None, &Typing::Keys, Verdict::Deny);
    }
    for recalled in ["!!\n", "echo !rm\n", "ls\n^ls^rm\n"] {
        let typing = Typing::Lines(recalled.to_owned());
        check_typing(Mode::Production, ApprovalPolicy::Window { seconds: 60 }, &typing, Verdict::Ask);
    }
    let compared = Typing::Lines("[ a != b ]\n".to_owned());
    check_typing(Mode::Production, ApprovalPolicy::Ask, &compared, Verdict::Allow);
}

#[test]
fn typed_lines_are_judged_as_in_an_unknown_directory() {
    for (line, verdict) in [
        ("rm x\n", Verdict::Ask),
        ("echo hello > file\n", Verdict::Ask),
        ("cd src && rm x\n", Verdict::Ask),
        ("rm /w/x\n", Verdict::Allow),
        ("echo hello > /w/file\n", Verdict::Allow),
    ] {
        let typing = Typing::Lines(line.to_owned());
        check_typing(Mode::Production, ApprovalPolicy::Window { seconds: 60 }, &typing, verdict);
        let run = Intent::of(Action::Run { command: line.to_owned(), cwd: "/w".into() });
        let policy = Policy { mode: Mode::Production, ..Policy::plain("/w".into()) };
        let decision = decide(&run, &policy, &Now::with(ApprovalPolicy::Window { seconds: 60 }));
        assert_eq!(decision.verdict, Verdict::Allow, "a command has a directory: {line:?}");
    }
}

fn check_typing(mode: Mode, approvals: ApprovalPolicy, typing: &Typing, verdict: Verdict) {
    let (line, place) = ("keys".to_owned(), "the pane shared".to_owned());
    let intent = Intent::of(Action::Terminal { line, place, typing: typing.clone() });
    let policy = Policy { mode, ..Policy::plain("/w".into()) };
    let decision = decide(&intent, &policy, &Now::with(approvals));
    assert_eq!(decision.verdict, verdict, "{mode:?} {typing:?}: {:?}", decision.reasons);
    assert!(!decision.is_read_only && decision.offers.is_empty(), "{mode:?} {typing:?}");
}

#[test]
fn in_a_folder_that_is_not_trusted_what_would_change_it_is_refused_with_that_reason() {
    let places = crate::Places {
        untrusted: Some("/w".into()),
        scratch: vec!["/tmp".into()],
        target: "local".to_owned(),
        ..crate::Places::default()
    };
    let policy = Policy { places, ..Policy::default() };
    let judge = |intent: &Intent, policy: &Policy| {
        let decision = decide(intent, policy, &Now::with(ApprovalPolicy::All));
        (decision.verdict, decision.reasons.join("; "))
    };
    let changes = [
        Intent::of(Action::Write("/w/a".into())),
        Intent::of(Action::Write("/w/.git/hooks/pre-commit".into())),
        Intent::of(Action::Delete("/w/a".into())),
        run("echo x > a", None),
        run("rm a", None),
    ];
    for intent in &changes {
        let (verdict, reasons) = judge(intent, &policy);
        assert_eq!(verdict, Verdict::Deny, "{intent:?}: {reasons}");
        assert!(reasons.contains("this folder is untrusted") && reasons.contains("/trust"), "{reasons}");
    }
    let make = decide(&run("make", None), &policy, &Now::with(ApprovalPolicy::Ask));
    assert_eq!(make.verdict, Verdict::Ask);
    assert!(
        make.reasons.join("; ").contains("cannot change anything in it; run /trust to allow changes"),
        "{make:?}"
    );
    assert_eq!(judge(&run("echo x > /tmp/a", None), &policy).0, Verdict::Allow, "scratch places stay open");
    assert_eq!(judge(&run("cat a", None), &policy).0, Verdict::Allow);
}

#[test]
fn a_rule_of_a_project_lifts_no_question_at_all() {
    let rules: Rules = toml::from_str(
        "allow = [\"make *\", { read = \"/w/.ssh/id\" }, { write = \"/w/**\" }, { delete = \"/w/**\" }, { fetch = \"docs.rs\" }]\n\
         ask = [\"git push *\"]\ndeny = [\"git tag *\"]",
    )
    .unwrap();
    let judge = |tier, intent: &Intent| {
        let rules = RuleSet::default().with(tier, rules.clone());
        let policy = Policy { rules, fetch_confirm: true, ..Policy::plain("/w".into()) };
        decide(intent, &policy, &Now::with(ApprovalPolicy::Ask)).verdict
    };
    for intent in [
        run("make all", None),
        Intent::of(Action::Read("/w/.ssh/id".into())),
        Intent::of(Action::Write("/w/a".into())),
        Intent::of(Action::Delete("/w/a".into())),
        Intent::of(Action::Fetch("https://docs.rs/x".into())),
    ] {
        assert_eq!(judge(RuleTier::Project, &intent), Verdict::Ask, "{intent:?}");
        assert_eq!(judge(RuleTier::User, &intent), Verdict::Allow, "{intent:?}");
    }
    assert_eq!(judge(RuleTier::Project, &run("git push origin", None)), Verdict::Ask);
    assert_eq!(judge(RuleTier::Project, &run("git tag v1", None)), Verdict::Deny);
}

#[test]
fn a_rule_of_this_run_lifts_no_hard_question() {
    let allowing = |tiers: &[RuleTier]| {
        let allow = |text: &str| toml::from_str::<Rules>(text).unwrap();
        let rules = allow(
            "allow = [\"cat *\", \"cp *\", { read = \"/w/.ssh/id\" }, { read = \"/own/**\" }, { write = \"/elsewhere/**\" }]",
        );
        tiers.iter().fold(RuleSet::default(), |set, tier| set.with(*tier, rules.clone()))
    };
    let judge = |mode, tiers: &[RuleTier], intent: &Intent| {
        let mut policy = Policy { mode, rules: allowing(tiers), ..Policy::plain("/w".into()) };
        policy.places.own = vec!["/own".into()];
        decide(intent, &policy, &Now::with(ApprovalPolicy::Ask)).verdict
    };
    for (mode, intent) in [
        (Mode::Development, Intent::of(Action::Read("/w/.ssh/id".into()))),
        (Mode::Development, run("cat .ssh/id", None)),
        (Mode::Production, Intent::of(Action::Write("/elsewhere/a".into()))),
    ] {
        for (tiers, verdict) in [
            (&[][..], Verdict::Ask),
            (&[RuleTier::Run], Verdict::Ask),
            (&[RuleTier::User], Verdict::Allow),
            (&[RuleTier::Run, RuleTier::User], Verdict::Allow),
        ] {
            assert_eq!(judge(mode, tiers, &intent), verdict, "{intent:?} {tiers:?}");
        }
    }
    // No answer opens what is closed to agents, and in the jail no rule opens it to a command.
    let read = Intent::of(Action::Read("/own/grants.json".into()));
    let command = run("cat /own/grants.json", None);
    for (mode, intent, is_opened) in [
        (Mode::Development, &read, true),
        (Mode::Production, &read, true),
        (Mode::Development, &command, false),
        (Mode::Production, &command, true),
    ] {
        let opened = if is_opened { Verdict::Allow } else { Verdict::Deny };
        assert_eq!(judge(mode, &[RuleTier::Run], intent), Verdict::Deny, "{mode:?} {intent:?}");
        assert_eq!(judge(mode, &[RuleTier::User], intent), opened, "{mode:?} {intent:?}");
    }
}

#[test]
fn a_terminal_or_a_source_of_noise_is_no_secret() {
    for (path, is_secret) in [("/dev/tty", false), ("/dev/urandom", false), ("/dev/sda", true)] {
        let decision = decide(
            &Intent::of(Action::Read(path.into())),
            &Policy::plain("/w".into()),
            &Now::with(ApprovalPolicy::All),
        );
        assert_eq!(
            (decision.reads_secret, decision.verdict == Verdict::Ask),
            (is_secret, is_secret),
            "{path}"
        );
    }
}

#[test]
fn secrets_of_the_workspace_cross_the_boundary_as_all_others_do() {
    let policy = Policy::plain("/w".into());
    for name in [".env", ".env.local", "key.pem", ".ssh/id", "src/main.rs"] {
        let path = std::path::Path::new("/w").join(name);
        let is_secret = crate::guarded::is_secret(&path, &policy.places);
        for intent in [Intent::of(Action::Read(path.clone())), run(&format!("cat {name}"), None)] {
            let decision = decide(&intent, &policy, &Now::with(ApprovalPolicy::All));
            assert_eq!(decision.reads_secret, is_secret, "{intent:?}");
            assert_eq!(decision.verdict, if is_secret { Verdict::Ask } else { Verdict::Allow }, "{intent:?}");
        }
    }
}

#[test]
fn every_change_of_a_file_with_secrets_asks_despite_accepted_edits() {
    let edit = |action: Action| Intent::of(action).as_edit();
    let changes = |path: &str| [edit(Action::Write(path.into())), edit(Action::Delete(path.into()))];
    for mode in [Mode::Development, Mode::Production] {
        let policy = Policy { mode, ..Policy::plain("/w".into()) };
        for path in ["/w/.env", "/w/app/.env.local", "/w/keys/server.pem", "/w/.npmrc"] {
            for approvals in
                [ApprovalPolicy::Ask, ApprovalPolicy::Edits, ApprovalPolicy::Window { seconds: 60 }]
            {
                for intent in changes(path) {
                    let decision = decide(&intent, &policy, &Now::with(approvals));
                    assert_eq!(decision.verdict, Verdict::Ask, "{mode:?} {approvals:?} {intent:?}");
                    assert_eq!(decision.needs.asked, [PathBuf::from(path)], "a yes opens it");
                    assert!(decision.offers.is_empty(), "no grant covers it");
                    assert!(!decision.reads_secret, "the written content is known already");
                }
            }
        }
        for intent in changes("/w/.env.example") {
            let decision = decide(&intent, &policy, &Now::with(ApprovalPolicy::Window { seconds: 60 }));
            assert_eq!(decision.verdict, Verdict::Allow, "{mode:?} {intent:?}");
        }
    }
}

#[test]
fn commands_that_change_a_file_with_secrets_ask_in_an_open_window() {
    for mode in [Mode::Development, Mode::Production] {
        let policy = Policy { mode, ..Policy::plain("/w".into()) };
        for command in ["echo x > .env", "rm .env", "rm -f sub/server.pem", "tee .env", "mv a .env"] {
            let decision =
                decide(&run(command, None), &policy, &Now::with(ApprovalPolicy::Window { seconds: 60 }));
            assert_eq!(decision.verdict, Verdict::Ask, "{mode:?} {command}: {:?}", decision.reasons);
        }
    }
}

#[test]
fn a_rule_that_lasts_opens_a_file_with_secrets_to_changes() {
    let rules: Rules = toml::from_str("allow = [{ write = \"/w/.env\" }, { delete = \"/w/.env\" }]").unwrap();
    for (tier, verdict) in [(RuleTier::User, Verdict::Allow), (RuleTier::Run, Verdict::Ask)] {
        let rules = RuleSet::default().with(tier, rules.clone());
        let policy = Policy { rules, ..Policy::plain("/w".into()) };
        for action in [Action::Write("/w/.env".into()), Action::Delete("/w/.env".into())] {
            let decision = decide(&Intent::of(action.clone()), &policy, &Now::with(ApprovalPolicy::Ask));
            assert_eq!(decision.verdict, verdict, "{tier:?} {action:?}");
        }
    }
}

#[test]
fn a_file_that_a_link_leads_to_is_judged_as_well() {
    let links = [("/w/notes".into(), "/w/.env".into()), ("/w/out".into(), "/srv/x".into())];
    let judge = |action: Action| {
        let now = Now { links: &links, ..Now::with(ApprovalPolicy::Window { seconds: 60 }) };
        decide(&Intent::of(action), &Policy::plain("/w".into()), &now)
    };
    let read = judge(Action::Read("/w/notes".into()));
    assert_eq!((read.verdict, read.reads_secret), (Verdict::Ask, true));
    assert!(read.reasons[0].contains("`/w/.env`"), "{:?}", read.reasons);
    assert_eq!(read.needs.asked, [PathBuf::from("/w/.env")]);
    assert_eq!(judge(Action::Write("/w/notes".into())).verdict, Verdict::Ask);
    assert_eq!(judge(Action::Write("/w/out".into())).verdict, Verdict::Deny, "it is outside the workspace");
    assert_eq!(judge(Action::Read("/w/out".into())).verdict, Verdict::Allow);
}
