//! Offers: never more than their text says, and the text says all of it.

use buddy_policy::{Action, Grant, Intent, Mode, Now, Rule, RuleTier, Rules, Scope, Verdict, decide, named};
use buddy_protocol::ApprovalPolicy;

use crate::stage::{ask, pattern, policy, run, run_in, with_grants};

/// The patterns that are offered for a command, and whether the exact command is.
fn offered(command: &str) -> (Vec<String>, bool) {
    let offers = ask(&run(command), &policy(Mode::Development)).offers;
    let patterns = offers.iter().filter_map(|offer| match &offer.grant.scope {
        Scope::Commands(pattern) => Some(pattern.as_str().to_owned()),
        _ => None,
    });
    let is_exact = |scope: &Scope| matches!(scope, Scope::Command { line, .. } if line == command);
    (patterns.collect(), offers.iter().any(|offer| is_exact(&offer.grant.scope)))
}

#[test]
fn an_offer_is_a_program_with_what_it_is_told_to_do() {
    for (command, expected) in [
        ("cargo test -p x", "cargo test *"),
        ("cargo build", "cargo build *"),
        ("git commit -m 'a b'", "git commit *"),
        ("npm run lint", "npm run *"),
        ("pytest -q", "pytest *"),
        ("mkdir -p a/b", "mkdir *"),
        ("cd sub && cargo test", "cargo test *"),
        ("cargo test 2>&1 | tail -20", "cargo test *"),
        ("timeout 60 cargo test", "cargo test *"),
        ("go vet ./...", "go vet *"),
    ] {
        assert_eq!(offered(command), (vec![expected.to_owned()], true), "{command}");
    }
}

#[test]
fn opaque_commands_are_offered_to_the_letter_only() {
    for command in [
        "bash x.sh",
        "python3 tool.py",
        "env X=1 cargo test",
        "xargs cargo",
        "npx x",
        "curl https://x",
        "rm -rf target",
        "./x.sh",
        "cargo +nightly test",
        "cargo build && npm test",
        "node server.js",
        "find . -name x -exec cargo {} ;",
        "git push",
        "make all",
        "cargo",
        "X=y cargo test",
        "npm exec x",
    ] {
        let (patterns, _) = offered(command);
        assert!(patterns.is_empty(), "{command}: {patterns:?}");
    }
    assert!(offered("bash x.sh").1);
    assert!(offered("cargo build && npm test").1);
}

#[test]
fn nothing_is_offered_for_calls_that_the_user_must_see() {
    for command in [
        "sudo cargo test",
        "eval $x",
        "git push --force",
        "echo x > .git/config",
        "cargo test > /opt/x",
        "python3 -c x",
        "$x",
    ] {
        assert_eq!(offered(command), (Vec::new(), false), "{command}");
    }
}

#[test]
fn the_words_say_exactly_what_is_covered() {
    let offers = ask(&run("cargo test -p x"), &policy(Mode::Development)).offers;
    let words: Vec<&str> = offers.iter().map(|offer| offer.covers.as_str()).collect();
    assert_eq!(
        words,
        [
            "every command that starts with `cargo test` and names no file outside the workspace; it can reach the network",
            "exactly `cargo test -p x`, in `/w`, whatever the files it uses contain then; it can reach the network",
        ]
    );
    let write = ask(&Intent::of(Action::Write("/w/a/b".into())), &policy(Mode::Development)).offers;
    assert_eq!(
        write[0].covers,
        "every write of a file beneath `/w`, except places that decide what runs later"
    );
}

#[test]
fn a_grant_covers_what_it_says_and_nothing_else() {
    let grants = [Grant::of(Scope::Commands(pattern("cargo test *")), "local")];
    let policy = policy(Mode::Development);
    for command in [
        "cargo test",
        "cargo test -p x --all",
        "cargo test | tail -5",
        "cargo test > log",
        "cd sub && cargo test",
        "cargo test src/*.rs",
        "/usr/bin/cargo test",
    ] {
        assert_eq!(with_grants(&run(command), &policy, &grants).verdict, Verdict::Allow, "{command}");
    }
    for command in [
        "cargo build",
        "cargo test; x",
        "cargo test && cargo build",
        "cargo test > /opt/x",
        "cargo test > ../x",
        "cargo test $x",
        "cargo test $(x)",
        "cargo test > $x",
        "LD_PRELOAD=x cargo test",
        "RUSTFLAGS=x cargo test",
        "./cargo test",
        "sudo cargo test",
        "cargo test | sh",
        "cd / && cargo test",
        "cargo test > .envrc",
        "bash cargo test",
    ] {
        assert_ne!(with_grants(&run(command), &policy, &grants).verdict, Verdict::Allow, "{command}");
    }
    assert_eq!(with_grants(&run_in("/elsewhere", "cargo test"), &policy, &grants).verdict, Verdict::Ask);
    let elsewhere = [Grant { target: "other".to_owned(), ..grants[0].clone() }];
    assert_eq!(with_grants(&run("cargo test"), &policy, &elsewhere).verdict, Verdict::Ask);
}

#[test]
fn a_grant_of_commands_covers_no_file_outside_the_project() {
    let development = policy(Mode::Development);
    let granted = |text: &str| Grant::of(Scope::Commands(pattern(text)), "local");
    let grants = [granted("cargo build *"), granted("mkdir *"), granted("pytest /opt/suite *")];
    for command in [
        "cargo build --manifest-path ../other/Cargo.toml",
        "cargo build --manifest-path=/home/u/other/Cargo.toml",
        "cargo build -Z../other",
        "cargo build -C/home/u/other",
        "cargo build --config a.b=/x",
        "cargo build --config 'a=~/x'",
        "cargo build --remap-path-prefix a:/x",
        "cargo build --manifest-path file:///home/u/other/Cargo.toml",
        "cd sub && mkdir ../../x",
        "mkdir /x",
        "mkdir a/../../x",
        "pytest /opt/other",
        "pytest /opt/suite /opt/other",
    ] {
        assert_ne!(with_grants(&run(command), &development, &grants).verdict, Verdict::Allow, "{command}");
    }
    for command in [
        "cargo build --manifest-path sub/Cargo.toml",
        "cargo build --manifest-path=/w/sub/Cargo.toml",
        "mkdir a..b ...",
        "mkdir /w/x",
        "pytest /opt/suite -q",
    ] {
        let decision = with_grants(&run(command), &development, &grants);
        assert_eq!(decision.verdict, Verdict::Allow, "{command}: {:?}", decision.reasons);
    }
}

#[test]
fn a_grant_that_is_too_broad_covers_nothing() {
    let policy = policy(Mode::Development);
    for (text, command) in [
        ("bash *", "bash x.sh"),
        ("python3 *", "python3 x.py"),
        ("env *", "env X=y z"),
        ("xargs *", "xargs x"),
        ("rm *", "rm x"),
        ("sudo *", "sudo ls"),
        ("find *", "find . -delete"),
        ("curl *", "curl x"),
    ] {
        let grants = [Grant::of(Scope::Commands(pattern(text)), "local")];
        assert_ne!(
            with_grants(&run(command), &policy, &grants).verdict,
            Verdict::Allow,
            "{text} / {command}"
        );
    }
}

#[test]
fn a_whole_program_can_be_granted() {
    let policy = policy(Mode::Development);
    let grants = [Grant::command("cargo *", "local").unwrap()];
    let verdict = |command: &str| with_grants(&run(command), &policy, &grants).verdict;
    assert_eq!(verdict("cargo test"), Verdict::Allow);
    assert_eq!(verdict("cargo build --release && cargo doc"), Verdict::Allow);
    for more in [
        "cargo test; rm -rf x",
        "cargo test > /opt/x",
        "sudo cargo test",
        "$(touch x) cargo test",
        "cargo test | sh",
    ] {
        assert_ne!(verdict(more), Verdict::Allow, "{more}");
    }
}

#[test]
fn an_exact_grant_is_to_the_letter_and_to_the_directory() {
    let policy = policy(Mode::Development);
    let grants = [Grant::of(Scope::Command { line: "bash x.sh a".to_owned(), cwd: "/w".into() }, "local")];
    assert_eq!(with_grants(&run("bash x.sh a"), &policy, &grants).verdict, Verdict::Allow);
    assert_eq!(with_grants(&run("bash x.sh  a"), &policy, &grants).verdict, Verdict::Ask);
    assert_eq!(with_grants(&run_in("/w/sub", "bash x.sh a"), &policy, &grants).verdict, Verdict::Ask);
    let dangerous = [Grant::of(Scope::Command { line: "sudo ls".to_owned(), cwd: "/w".into() }, "local")];
    assert_eq!(with_grants(&run("sudo ls"), &policy, &dangerous).verdict, Verdict::Deny);
    let production = crate::stage::policy(Mode::Production);
    assert_eq!(with_grants(&run("sudo ls"), &production, &dangerous).verdict, Verdict::Ask);
}

#[test]
fn a_grant_to_write_stays_beneath_its_directory() {
    let policy = policy(Mode::Development);
    let grants = [Grant::of(Scope::Writes("/w/src".into()), "local")];
    let write = |path: &str| with_grants(&Intent::of(Action::Write(path.into())), &policy, &grants).verdict;
    assert_eq!(write("/w/src/a"), Verdict::Allow);
    assert_eq!(write("/w/src/../a"), Verdict::Ask);
    assert_eq!(write("/w/src-evil/a"), Verdict::Ask);
    assert_eq!(write("/w/src/.git/config"), Verdict::Ask);
    assert_eq!(write("/opt/a"), Verdict::Deny);
}

#[test]
fn grants_are_kept_as_text() {
    let grant = Grant::of(Scope::Commands(pattern("cargo test *")), "local");
    let text = serde_json::to_string(&grant).unwrap();
    assert_eq!(text, r#"{"target":"local","scope":{"commands":"cargo test *"}}"#);
    assert_eq!(serde_json::from_str::<Grant>(&text).unwrap(), grant);
    assert!(serde_json::from_str::<Grant>(r#"{"target":"local","scope":{"commands":"a | b"}}"#).is_err());
}

/// Verdicts of production with a grant, where the host found these links.
fn with_links(command: &str, grants: &[Grant], links: &[(&str, &str)]) -> Verdict {
    let links: Vec<_> = links.iter().map(|(from, to)| (from.into(), to.into())).collect();
    let now = Now { grants, named_links: &links, ..Now::with(ApprovalPolicy::Ask) };
    decide(&run(command), &policy(Mode::Production), &now).verdict
}

#[test]
fn a_grant_covers_no_command_that_names_a_file_outside_by_a_link() {
    let grants = [Grant::of(Scope::Commands(pattern("frobnicate create *")), "local")];
    let out = [("/w/lnk/f", "/home/ann/f"), ("/w/lnk/../f", "/home/f"), ("/w/lnk", "/home/ann")];
    for command in [
        "frobnicate create lnk/f",
        "frobnicate create --out=lnk/f",
        "frobnicate create -olnk/f",
        "frobnicate create -qolnk/f",
        "frobnicate create a:lnk/f",
        "frobnicate create lnk/../f",
        "frobnicate create lnk",
        "frobnicate create *",
        "frobnicate create l*/f",
        "frobnicate create ../../home/ann/f",
    ] {
        assert_eq!(with_links(command, &grants, &out), Verdict::Ask, "{command}");
    }
    let inside = [("/w/near", "/w/sub"), ("/w/near/f", "/w/sub/f")];
    for command in ["frobnicate create near/f", "frobnicate create sub/*", "frobnicate create -qf a"] {
        assert_eq!(with_links(command, &grants, &inside), Verdict::Allow, "{command}");
        assert_eq!(with_links(command, &grants, &[("/w/other", "/home/ann")]), Verdict::Allow, "{command}");
    }
}

#[test]
fn the_host_is_asked_about_every_path_that_a_word_could_be() {
    let named = named(
        &run("frobnicate a/b --out=c/d -qoe/f x:g 'h,i' src/*.rs https://x/y"),
        &policy(Mode::Production),
    );
    for path in ["/w/a/b", "/w/c/d", "/w/e/f", "/w/g", "/w/h", "/w/i", "/w/h,i", "/w/src"] {
        assert!(named.paths.contains(&path.into()), "{path}: {named:?}");
    }
    assert_eq!(named.patterns, [std::path::PathBuf::from("/w/src")]);
    assert!(!named.paths.iter().any(|path| path.to_string_lossy().contains("https")), "{named:?}");
}

#[test]
fn a_rule_of_a_run_covers_no_unknown_program_that_names_a_file_outside() {
    let mut policy = policy(Mode::Production);
    let rule = |text: &str| Rule::command(pattern(text));
    let rules =
        Rules { allow: vec![rule("frobnicate create *"), rule("frobnicate /srv/* *")], ..Rules::default() };
    policy.rules.add(RuleTier::Run, rules);
    let links = [("/w/lnk/f".into(), "/home/ann/f".into())];
    let verdict = |command: &str| {
        decide(&run(command), &policy, &Now { named_links: &links, ..Now::with(ApprovalPolicy::Ask) }).verdict
    };
    assert_eq!(verdict("frobnicate create a"), Verdict::Allow);
    assert_eq!(verdict("frobnicate /srv/x a"), Verdict::Allow, "the rule names it");
    for command in ["frobnicate create lnk/f", "frobnicate create /home/ann/f", "frobnicate create ../f"] {
        assert_eq!(verdict(command), Verdict::Ask, "{command}");
    }
}

/// Tools follow no link when they write; the question is put all the same.
#[test]
fn edits_accept_no_write_outside_by_a_link() {
    let links = [("/w/lnk/f".into(), "/home/ann/f".into())];
    let now = Now { links: &links, ..Now::with(ApprovalPolicy::Edits) };
    let write = |path: &str| Intent { is_edit: true, ..Intent::of(Action::Write(path.into())) };
    assert_eq!(decide(&write("/w/f"), &policy(Mode::Development), &now).verdict, Verdict::Allow);
    assert_ne!(decide(&write("/w/lnk/f"), &policy(Mode::Development), &now).verdict, Verdict::Allow);
}
