//! The effect of the modes, the approvals and the places on files, fetches and commands.

use buddy_policy::{
    Action, CommandMode, Execution, Intent, Mode, Now, Policy, RuleTier, Tier, Verdict, decide,
};
use buddy_protocol::{ApprovalPolicy, Risk};

use crate::stage::{ask, check, pattern, policy, rules, run, with_grants};

fn file(mode: Mode, action: Action, verdict: Verdict, tier: Tier) {
    let intent = Intent::of(action).in_tier(Tier::Batch);
    let decision = ask(&intent, &policy(mode));
    assert_eq!(
        (decision.verdict, decision.tier),
        (verdict, tier),
        "{mode:?} {intent:?}: {:?}",
        decision.reasons
    );
}

#[test]
fn development_writes_in_the_workspace_and_in_scratch_places_only() {
    file(Mode::Development, Action::Write("/w/a".into()), Verdict::Ask, Tier::Batch);
    file(Mode::Development, Action::Write("/tmp/a".into()), Verdict::Ask, Tier::Batch);
    file(Mode::Development, Action::Write("/w-evil/a".into()), Verdict::Deny, Tier::Batch);
    file(Mode::Development, Action::Write("/w/../opt/a".into()), Verdict::Deny, Tier::Batch);
    file(Mode::Development, Action::Delete("/w/a".into()), Verdict::Ask, Tier::Batch);
    file(Mode::Development, Action::Delete("/opt/a".into()), Verdict::Deny, Tier::Batch);
    let decision = ask(&Intent::of(Action::Write("/opt/a".into())), &policy(Mode::Development));
    assert!(decision.reasons[0].contains("development mode"), "{:?}", decision.reasons);
}

#[test]
fn production_asks_outside_the_workspace() {
    file(Mode::Production, Action::Write("/w/a".into()), Verdict::Allow, Tier::Batch);
    file(Mode::Production, Action::Write("/opt/a".into()), Verdict::Ask, Tier::Individual);
    file(Mode::Production, Action::Delete("/w/a".into()), Verdict::Allow, Tier::Batch);
    file(Mode::Production, Action::Delete("/opt/a".into()), Verdict::Ask, Tier::Individual);
    check(Mode::Production, "cargo build", Verdict::Allow);
    check(Mode::Production, "cargo build > log", Verdict::Allow);
    check(Mode::Production, "cargo build > /opt/log", Verdict::Ask);
    check(Mode::Production, "rm -rf target", Verdict::Allow);
    check(Mode::Production, "./build.sh", Verdict::Allow);
}

#[test]
fn plan_changes_nothing() {
    file(Mode::Plan, Action::Write("/w/a".into()), Verdict::Deny, Tier::Batch);
    file(Mode::Plan, Action::Delete("/w/a".into()), Verdict::Deny, Tier::Batch);
    file(Mode::Plan, Action::Read("/w/a".into()), Verdict::Allow, Tier::Batch);
    check(Mode::Plan, "cargo build", Verdict::Deny);
    let all = decide(&run("cargo build"), &policy(Mode::Plan), &Now::with(ApprovalPolicy::All));
    assert_eq!(all.verdict, Verdict::Deny);
    assert!(all.reasons.iter().any(|reason| reason.contains("plan mode")), "{:?}", all.reasons);
}

#[test]
fn changes_of_guarded_places_are_asked_for_alone() {
    for mode in [Mode::Development, Mode::Production] {
        for path in ["/w/.git/hooks/x", "/w/.GIT/config", "/w/buddy.toml", "/w/.claude/x"] {
            file(mode, Action::Write(path.into()), Verdict::Ask, Tier::Individual);
            file(mode, Action::Delete(path.into()), Verdict::Ask, Tier::Individual);
        }
    }
    file(Mode::Production, Action::Write("/home/u/.bashrc".into()), Verdict::Ask, Tier::Individual);
    file(Mode::Development, Action::Write("/home/u/.bashrc".into()), Verdict::Deny, Tier::Batch);
    file(Mode::Development, Action::Write("/w/AGENTS.md".into()), Verdict::Ask, Tier::Batch);
}

#[test]
fn places_of_keys_and_of_buddy_itself_are_closed_and_no_answer_opens_them() {
    let places = [
        "/home/u/.ssh/id_rsa",
        "/home/u/.aws/credentials",
        "/home/u/.config/gcloud/x",
        "/home/u/.password-store/a.gpg",
        "/home/u/.config/buddy/auth.json",
        "/home/u/.buddy/run/x",
        "/home/v/.ssh/id_rsa",
        "/etc/shadow",
    ];
    for mode in [Mode::Development, Mode::Production] {
        for path in places {
            for action in [Action::Read(path.into()), Action::Write(path.into()), Action::Delete(path.into())]
            {
                let decision =
                    decide(&Intent::of(action.clone()), &policy(mode), &Now::with(ApprovalPolicy::All));
                assert_eq!(decision.verdict, Verdict::Deny, "{mode:?} {action:?}");
            }
            for line in [
                format!("cat {path}"),
                format!("echo x > {path}"),
                format!("rm {path}"),
                format!("cp {path} x"),
            ] {
                let decision = decide(&run(&line), &policy(mode), &Now::with(ApprovalPolicy::All));
                assert_eq!(decision.verdict, Verdict::Deny, "{mode:?} {line}");
                let throwaway = Policy { is_throwaway: true, ..policy(Mode::Production) };
                let decision = decide(&run(&line), &throwaway, &Now::with(ApprovalPolicy::All));
                assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
            }
        }
        // A key that a connection is made with, files of a project and what tools of the day read stay questions.
        for line in ["cat .env", "cat ~/.npmrc", "cat deploy/server.pem"] {
            check(mode, line, Verdict::Ask);
        }
    }
    check(Mode::Production, "ssh -i ~/.ssh/id a.test true", Verdict::Ask);
}

#[test]
fn a_push_by_a_command_is_judged_like_the_tool() {
    let spellings = [
        "git push",
        "git push origin main",
        "git -C sub push",
        "git -C sub push --force",
        "git push --force-with-lease origin HEAD:main",
        "git --no-pager push",
        "git -c push.default=current push",
        "/usr/bin/git push",
        "GIT_TRACE=1 git push",
        "env git push",
        "bash -c 'git push'",
        "cd sub && git push origin --tags",
        "git send-pack origin main",
        "git p",
    ];
    for mode in [Mode::Development, Mode::Production] {
        for approvals in [ApprovalPolicy::Ask, ApprovalPolicy::Auto] {
            for line in spellings {
                let decision = decide(&run(line), &policy(mode), &Now::with(approvals));
                assert_eq!(decision.verdict, Verdict::Ask, "{mode:?} {approvals:?} {line}");
            }
        }
    }
}

#[test]
fn roots_are_never_removed() {
    for path in ["/w", "/w/.", "/", "", "/home/u", "/w/a/.."] {
        file(Mode::Production, Action::Delete(path.into()), Verdict::Deny, Tier::Batch);
    }
}

#[test]
fn a_window_lets_ordinary_things_through_and_nothing_dangerous() {
    let window = |command: &str| {
        decide(&run(command), &policy(Mode::Development), &Now::with(ApprovalPolicy::Window { seconds: 60 }))
            .verdict
    };
    assert_eq!(window("cargo build && npm test"), Verdict::Allow);
    assert_eq!(window("cat .env"), Verdict::Ask);
    assert_eq!(window("cp a /opt/b"), Verdict::Deny);
    assert_eq!(window("sudo cargo build"), Verdict::Deny);
    assert_eq!(window("eval \"$x\""), Verdict::Ask);
    assert_eq!(window("echo x > .envrc"), Verdict::Ask);
    assert_eq!(window("echo x > .git/config"), Verdict::Deny);
    assert_eq!(window("echo 'x"), Verdict::Deny);
    let build = decide(
        &run("cargo build"),
        &policy(Mode::Development),
        &Now::with(ApprovalPolicy::Window { seconds: 60 }),
    );
    assert!(build.stays_inside, "nobody was asked about where its data goes");
    let write = Intent::of(Action::Write("/w/.envrc".into()));
    assert_eq!(
        decide(&write, &policy(Mode::Development), &Now::with(ApprovalPolicy::Window { seconds: 60 }))
            .verdict,
        Verdict::Ask
    );
}

#[test]
fn accepted_edits_are_files_of_the_workspace_and_nothing_else() {
    let edits = |intent: &Intent| {
        decide(intent, &policy(Mode::Development), &Now::with(ApprovalPolicy::Edits)).verdict
    };
    let write = |path: &str| Intent::of(Action::Write(path.into()));
    assert_eq!(edits(&write("/w/src/a.rs").as_edit()), Verdict::Allow);
    for path in [
        "AGENTS.md",
        "web/package.json",
        ".github/workflows/ci.yml",
        "Makefile",
        "Dockerfile",
        ".npmrc",
        "MAKEFILE",
    ] {
        let intent = write(&format!("/w/{path}")).as_edit();
        assert_eq!(edits(&intent), Verdict::Ask, "{path} decides which programs run later");
        let both = Intent {
            actions: vec![Action::Write("/w/src/a.rs".into()), Action::Write(format!("/w/{path}").into())],
            ..Intent::nothing()
        };
        assert_eq!(edits(&both.as_edit()), Verdict::Ask, "{path} with another file");
    }
    assert_eq!(edits(&write("/w/src/a.rs")), Verdict::Ask, "a tool that does more than edit");
    assert_eq!(
        edits(&write("/w/.git/config").as_edit()),
        Verdict::Ask,
        "it decides which programs run later"
    );
    assert_eq!(edits(&write("/tmp/a").as_edit()), Verdict::Ask, "a scratch place is not the workspace");
    assert_eq!(edits(&write("/srv/a").as_edit()), Verdict::Deny);
    assert_eq!(edits(&run("touch a")), Verdict::Ask);
    let removing = Intent {
        actions: vec![Action::Write("/w/b".into()), Action::Delete("/w/a".into())],
        ..Intent::nothing()
    };
    assert_eq!(edits(&removing.as_edit()), Verdict::Ask, "a removal is no edit");
    let plan = decide(&write("/w/a").as_edit(), &policy(Mode::Plan), &Now::with(ApprovalPolicy::Edits));
    assert_eq!(plan.verdict, Verdict::Deny, "plan mode is stronger");
}

#[test]
fn fetches_ask_where_they_are_to_be_confirmed() {
    let fetch = Intent::of(Action::Fetch("https://docs.rs/x".to_owned()));
    let known = |policy: Policy| Policy { known_hosts: vec!["docs.rs".to_owned()], ..policy };
    assert_eq!(ask(&fetch, &known(policy(Mode::Plan))).verdict, Verdict::Allow);
    let mut confirming = known(policy(Mode::Development));
    confirming.fetch_confirm = true;
    let decision = ask(&fetch, &confirming);
    assert_eq!(decision.verdict, Verdict::Ask);
    let [offer] = decision.offers.as_slice() else { panic!("one offer: {:?}", decision.offers) };
    let grants = [offer.grant.clone()];
    assert_eq!(with_grants(&fetch, &confirming, &grants).verdict, Verdict::Allow);
    for other in ["https://docs.rs.evil.test/", "https://docs.rs@evil.test/", "https://evil.test/docs.rs"] {
        let other = Intent::of(Action::Fetch(other.to_owned()));
        assert_eq!(with_grants(&other, &confirming, &grants).verdict, Verdict::Ask, "{other:?}");
    }
}

#[test]
fn a_list_of_commands_runs_words_without_a_shell() {
    let mut listing = policy(Mode::Development);
    listing.commands =
        CommandMode::Allowlist(vec![pattern("head *"), pattern("cargo test *"), pattern("git status")]);
    let verdict = |command: &str| ask(&run(command), &listing);
    let words = |command: &str| match verdict(command).execution {
        Execution::Argv(words) => words,
        Execution::Shell => panic!("{command} would be run by a shell"),
    };
    assert_eq!(words("head *"), ["head", "*"]);
    assert_eq!(words("head $HOME/.config"), ["head", "$HOME/.config"]);
    assert_eq!(words("head 'a b' c\\ d"), ["head", "a b", "c d"]);
    assert_eq!(words("cargo test -p x"), ["cargo", "test", "-p", "x"]);
    assert_eq!(verdict("cargo test").verdict, Verdict::Allow);
    for command in [
        "cargo build",
        "head x; ls",
        "head x | sh",
        "head $(x)",
        "head x > y",
        "X=y head z",
        "bash -c head",
        "head <(x)",
        "git status -x",
        "(head x)",
        "head x &",
    ] {
        assert_eq!(verdict(command).verdict, Verdict::Deny, "{command}");
    }
    assert_eq!(verdict("head ~/x").verdict, Verdict::Allow, "a tilde is not the home without a shell");
    assert_eq!(verdict("head .env").verdict, Verdict::Ask);
    assert_eq!(verdict("head /home/u/.ssh/id").verdict, Verdict::Deny);
}

#[test]
fn files_that_are_run_are_pinned() {
    let pins = |command: &str| ask(&run(command), &policy(Mode::Development)).pins;
    let check = |command: &str, expected: &[&str]| {
        let found: Vec<String> =
            pins(command).iter().map(|path| path.to_string_lossy().into_owned()).collect();
        assert_eq!(found, expected, "{command}");
    };
    check("./x.sh", &["/w/x.sh"]);
    check("bash x.sh a b", &["/w/x.sh"]);
    check("python3 -u tool.py x", &["/w/tool.py"]);
    check("timeout 5 bash ./a/../x.sh", &["/w/x.sh"]);
    check(". ./env.sh && ls", &["/w/env.sh"]);
    check("/usr/bin/python3 /usr/lib/x.py", &[]);
    check("cd sub && ./x", &["/w/x", "/w/sub/x"]);
}

#[test]
fn files_that_a_program_runs_by_itself_are_pinned() {
    let pins = |command: &str| ask(&run(command), &policy(Mode::Development)).pins;
    let holds = |command: &str, path: &str| {
        let pins = pins(command);
        assert!(pins.contains(&path.into()), "{command}: {pins:?}");
    };
    holds("make all", "/w/Makefile");
    holds("make -C sub all", "/w/sub/Makefile");
    holds("make -Csub", "/w/sub/makefile");
    holds("make --directory=sub", "/w/sub/GNUmakefile");
    holds("make -f other.mk", "/w/other.mk");
    holds("cd sub && make", "/w/sub/Makefile");
    holds("timeout 60 npm test", "/w/package.json");
    holds("npm --prefix web run build", "/w/web/package.json");
    holds("yarn", "/w/package.json");
    holds("cargo test", "/w/build.rs");
    holds("cargo build --manifest-path x/Cargo.toml", "/w/x/Cargo.toml");
    holds("python3 -m pytest -q", "/w/conftest.py");
    holds("pytest", "/w/conftest.py");
    holds("./gradlew build", "/w/build.gradle");
    holds("./gradlew build", "/w/gradlew");
    holds("just", "/w/justfile");
    holds("task build", "/w/Taskfile.yml");
    holds("tox", "/w/tox.ini");
    holds("nox", "/w/noxfile.py");
    holds("cmake -S src -B build", "/w/src/CMakeLists.txt");
    holds("mvn test", "/w/pom.xml");
    holds("rake", "/w/Rakefile");
    holds("docker compose up", "/w/docker-compose.yml");
    holds("pushd sub; make", "/w/sub/Makefile");
    holds("npm test -w sub", "/w/sub/package.json");
    holds("npm --workspace=sub test", "/w/sub/package.json");
    holds("awk -f x.awk a", "/w/x.awk");
    holds("sed -f x.sed a", "/w/x.sed");
    holds("bash < x.sh", "/w/x.sh");
    holds("node x", "/w/x.js");
    holds("node .", "/w/package.json");
    holds("node -r ./pre.js x.js", "/w/pre.js");
    holds("python3 -m x.y", "/w/x/y.py");
    holds("python3 sub", "/w/sub/__main__.py");
    assert!(pins("ls").is_empty());
    let many = (0..40).map(|at| format!("make -C d{at}")).collect::<Vec<_>>().join("; ");
    assert!(pins(&many).len() <= 32, "{}", pins(&many).len());
    assert!(
        ask(&run(&many), &policy(Mode::Development)).offers.is_empty(),
        "what is not pinned is not offered"
    );
}

#[test]
fn a_tool_is_asked_for_as_its_registry_says() {
    let intent = Intent::nothing().in_tier(Tier::Individual);
    let decision = ask(&intent, &policy(Mode::Development));
    assert_eq!((decision.verdict, decision.tier, decision.risk), (Verdict::Ask, Tier::Individual, Risk::Low));
    assert_eq!(ask(&intent, &policy(Mode::Plan)).verdict, Verdict::Deny);
    let raised = Intent::of(Action::Run { command: "sudo ls".to_owned(), cwd: "/w".into() });
    assert_eq!(ask(&raised, &policy(Mode::Production)).tier, Tier::Individual);
}

#[test]
fn exposed_production_asks_about_commands_that_do_not_only_read() {
    let exposed = |mode: Mode| Policy { is_exposed: true, ..policy(mode) };
    for command in ["cargo build", "make test", "mkdir a", "git commit -m x"] {
        check(Mode::Production, command, Verdict::Allow);
        let grants =
            [buddy_policy::Grant::command("*", "local"), buddy_policy::Grant::command(command, "local")];
        let grants: Vec<_> = grants.into_iter().filter_map(Result::ok).collect();
        let decision = with_grants(&run(command), &exposed(Mode::Production), &grants);
        assert_eq!((decision.verdict, decision.risk), (Verdict::Ask, Risk::High), "{command}");
        assert!(decision.reasons.iter().any(|reason| reason.contains("install bubblewrap")), "{command}");
        let window = decide(
            &run(command),
            &exposed(Mode::Production),
            &Now::with(ApprovalPolicy::Window { seconds: 60 }),
        );
        assert_eq!(window.verdict, Verdict::Ask, "{command}: a window does not cover it");
        for mode in [Mode::Development, Mode::Plan] {
            let [with, without] = [exposed(mode), policy(mode)].map(|policy| ask(&run(command), &policy));
            assert_eq!(
                (with.verdict, with.risk),
                (without.verdict, without.risk),
                "{mode:?}: it has its own jail"
            );
        }
    }
    for command in ["ls", "cat a", "grep -r x ."] {
        assert_eq!(ask(&run(command), &exposed(Mode::Production)).verdict, Verdict::Allow, "{command}");
    }
    let mut ruled = exposed(Mode::Production);
    let rule = buddy_policy::Rule::command(pattern("make *"));
    ruled
        .rules
        .add(buddy_policy::RuleTier::User, buddy_policy::Rules { allow: vec![rule], ..Default::default() });
    assert_eq!(ask(&run("make test"), &ruled).verdict, Verdict::Allow, "a lasting rule is an answer");
    assert_eq!(ask(&run("mkdir a"), &ruled).verdict, Verdict::Ask);
}

#[test]
fn clients_of_an_engine_are_refused_unless_it_is_elsewhere() {
    let development = policy(Mode::Development);
    for approvals in [ApprovalPolicy::Ask, ApprovalPolicy::Auto, ApprovalPolicy::All] {
        let judge = |command: &str, policy: &Policy| decide(&run(command), policy, &Now::with(approvals));
        let refused = judge("docker ps", &development);
        assert_eq!(refused.verdict, Verdict::Deny, "{approvals:?}");
        assert!(refused.reasons[0].contains("run it yourself with `!`, or use"), "{:?}", refused.reasons);
        for command in ["DOCKER_HOST=tcp://a.test:2375 docker ps", "docker -H tcp://a.test:2375 ps"] {
            assert_ne!(judge(command, &development).verdict, Verdict::Deny, "{approvals:?} {command}");
        }
        let elsewhere = Policy { has_remote_engine: true, ..development.clone() };
        assert_ne!(judge("docker ps", &elsewhere).verdict, Verdict::Deny, "{approvals:?}");
        assert_ne!(judge("docker ps", &policy(Mode::Production)).verdict, Verdict::Deny, "{approvals:?}");
    }
}

#[test]
fn a_place_that_is_thrown_away_runs_commands_that_cannot_be_read() {
    let thrown = Policy { is_throwaway: true, ..policy(Mode::Production) };
    let mut ruled = thrown.clone();
    ruled.rules.add(RuleTier::User, rules(r#"deny = ["curl *"]"#));
    for command in ["exec 3<>/dev/tcp/127.0.0.1/80", "echo 'never closed", &"(".repeat(500)] {
        let judge = |policy: &Policy| decide(&run(command), policy, &Now::with(ApprovalPolicy::All)).verdict;
        assert_eq!(judge(&thrown), Verdict::Allow, "{command}");
        // Nobody could tell whether it breaks the rule.
        assert_eq!(judge(&ruled), Verdict::Deny, "{command}");
        assert_eq!(judge(&policy(Mode::Production)), Verdict::Deny, "{command}");
    }
}
