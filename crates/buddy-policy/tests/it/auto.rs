//! `auto`: the calls that run without a prompt in a trusted workspace, and those that still ask.

use buddy_policy::{Action, Intent, Mode, Now, Policy, RuleTier, Verdict, decide};
use buddy_protocol::{ApprovalPolicy, Risk};

use crate::stage::{policy, rules, run};

fn auto(intent: &Intent, policy: &Policy) -> buddy_policy::Decision {
    decide(intent, policy, &Now::with(ApprovalPolicy::Auto))
}

#[test]
fn a_day_in_the_workspace_asks_nothing() {
    for line in [
        "cargo build",
        "cargo test -p a",
        "npm ci && npm test",
        "make -j4",
        "rm -rf target",
        "rm *.log",
        "mkdir old && mv *.md old",
        "mkdir -p a && touch a/b",
        "sed -i s/a/b/ src/lib.rs",
        "git add -A && git commit -m x",
        "git checkout -b topic",
        "python3 script.py",
        "NODE_ENV=test npm test",
        "export PYTHONPATH=. && pytest",
        "env RUSTFLAGS=-g cargo build",
        "git -c user.name=ann -c user.email=a@b.test commit -m x",
        "cd sub && cp .env.example ../settings && rm -rf ../target",
        "cd sub; mkdir ../x; cd ..; mkdir y",
        "for f in *; do wc -l $f; done",
    ] {
        let decision = auto(&run(line), &policy(Mode::Development));
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
        assert!(decision.stays_inside, "{line} has no network but the broker's");
    }
}

#[test]
fn signals_to_the_commands_own_processes_ask_only_where_no_jail_keeps_them_in() {
    for line in [
        "python3 -m http.server 9000 & sleep 1; curl -s http://127.0.0.1:9000/x; kill $!",
        "server & pid=$!; sleep 1; kill -TERM \"$pid\"; wait",
        "sleep 60 & kill %1; wait",
        "kill -s KILL ${pid}",
        "kill -9 $$",
        "kill 4711",
    ] {
        let decision = auto(&run(line), &policy(Mode::Development));
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
    }
    let mut elsewhere = policy(Mode::Development);
    elsewhere.places.remote = true;
    for line in ["sleep 1 & kill $!", "kill -9 $$", "kill \"$pid\""] {
        for policy in [&elsewhere, &policy(Mode::Production)] {
            let decision = auto(&run(line), policy);
            assert_eq!((decision.verdict, decision.risk), (Verdict::Ask, Risk::High), "{line}");
        }
    }
    for line in ["kill -9 -1", "kill -- -$pid", "kill $(pidof x)", "kill ${pid:-1}", "kill 0"] {
        let decision = auto(&run(line), &policy(Mode::Development));
        assert_eq!(decision.verdict, Verdict::Ask, "{line}: {:?}", decision.reasons);
    }
}

#[test]
fn calls_that_leave_the_workspace_ask() {
    for line in [
        "git push",
        "touch /opt/x",
        "rm -rf /home/u/other",
        "sudo make install",
        "echo x > .git/hooks/pre-commit",
        "cat ~/.ssh/id_rsa",
        "npm publish",
        "curl https://stranger.test/",
        "rm -rf .",
    ] {
        let decision = auto(&run(line), &policy(Mode::Development));
        assert_ne!(decision.verdict, Verdict::Allow, "{line}");
    }
}

#[test]
fn build_files_are_code_and_files_that_take_effect_elsewhere_ask() {
    let verdict = |name: &str| {
        let edit = auto(
            &Intent::of(Action::Write(format!("/w/{name}").into())).as_edit(),
            &policy(Mode::Development),
        );
        let words = auto(&run(&format!("echo x >> {name}")), &policy(Mode::Development));
        assert_eq!(edit.verdict, words.verdict, "{name}: by a tool and by the words of a command");
        edit.verdict
    };
    for name in
        ["Makefile", "web/package.json", "pyproject.toml", "vite.config.ts", "conftest.py", "Dockerfile"]
    {
        assert_eq!(verdict(name), Verdict::Allow, "{name}");
    }
    for name in [
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".github/workflows/ci.yml",
        ".pre-commit-config.yaml",
        ".npmrc",
        ".vimrc",
    ] {
        assert_eq!(verdict(name), Verdict::Ask, "{name}");
    }
}

#[test]
fn auto_without_a_jail_allows_no_more_than_ask() {
    let mut elsewhere = policy(Mode::Development);
    elsewhere.places.remote = true;
    let mut untrusted = policy(Mode::Development);
    untrusted.places.untrusted = Some("/w".into());
    untrusted.places.workspace = Vec::new();
    for policy in [elsewhere, untrusted, policy(Mode::Plan), policy(Mode::Production)] {
        for line in
            ["cargo build", "touch a", "rm -rf target", "ls", "git push", "frobnicate", "touch /tmp/x"]
        {
            let asking = decide(&run(line), &policy, &Now::with(ApprovalPolicy::Ask));
            let auto = auto(&run(line), &policy);
            assert_eq!((auto.verdict, auto.stays_inside), (asking.verdict, asking.stays_inside), "{line}");
        }
    }
}

#[test]
fn a_removal_that_undo_does_not_bring_back_asks() {
    let lost = ["/w/data".into(), "/w".into()];
    let now = Now { lost: &lost, ..Now::with(ApprovalPolicy::Auto) };
    let judge = |intent: &Intent| {
        let decision = decide(intent, &policy(Mode::Development), &now);
        (decision.verdict, decision.risk)
    };
    for line in
        ["rm -rf data", "rm -rf target data", "cd /w && rm -r ./data/", "find data -delete", "rm -rf *"]
    {
        assert_eq!(judge(&run(line)), (Verdict::Ask, Risk::High), "{line}");
    }
    assert_eq!(judge(&Intent::of(Action::Delete("/w/data".into()))), (Verdict::Ask, Risk::High));
    assert_eq!(judge(&run("rm -rf target")), (Verdict::Allow, Risk::Medium));
    assert_eq!(judge(&Intent::of(Action::Delete("/w/target".into()))), (Verdict::Allow, Risk::Medium));
}

/// Uses of git that throw away changes of the work tree, which undo brings back.
const DISCARDING: &[&str] = &[
    "git reset --hard",
    "git reset --hard HEAD~1",
    "git checkout -- a.rs",
    "git checkout a.rs src/b.rs",
    "git checkout .",
    "git checkout -f main",
    "git checkout -B topic",
    "git switch --discard-changes main",
    "git restore a.rs",
    "git restore --staged --worktree .",
    "git clean -fd",
    "git clean -f src",
    "git rm -rf src",
    "git stash",
    "git stash -u && git stash pop",
    "git -C sub reset --hard",
    "cd sub && git checkout -- .",
    "git checkout -- $files",
    "git worktree remove --force tree",
];

#[test]
fn git_throws_away_what_undo_brings_back() {
    for line in DISCARDING {
        let decision = auto(&run(line), &policy(Mode::Development));
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
    }
}

#[test]
fn git_asks_before_it_throws_away_what_undo_does_not_bring_back() {
    let lost = ["/w/data".into(), "/w".into()];
    let now = Now { lost_to_git: &lost, ..Now::with(ApprovalPolicy::Auto) };
    for line in
        ["git reset --hard", "git clean -fd", "git checkout -- data", "git restore data", "git checkout ."]
    {
        let decision = decide(&run(line), &policy(Mode::Development), &now);
        assert_eq!((decision.verdict, decision.risk), (Verdict::Ask, Risk::High), "{line}");
        assert!(decision.reasons[0].contains("undo would not bring back"), "{line}: {:?}", decision.reasons);
    }
    let kept = decide(&run("git checkout -- a.rs"), &policy(Mode::Development), &now);
    assert_eq!(kept.verdict, Verdict::Allow, "{:?}", kept.reasons);
}

#[test]
fn git_asks_about_commits_that_no_log_keeps_and_about_other_repositories() {
    for line in [
        "git stash drop",
        "git stash clear",
        "git branch -D topic",
        "git tag -d v1",
        "git reflog expire --expire=now --all",
        "git gc --prune=now",
        "git update-ref -d refs/heads/x",
        "git -C /srv/repo reset --hard",
        "git -C /srv/repo checkout -- a.rs",
        "git --work-tree=/srv/tree clean -fd",
    ] {
        let decision = auto(&run(line), &policy(Mode::Development));
        assert_ne!(decision.verdict, Verdict::Allow, "{line}");
    }
    let lines = DISCARDING.iter().filter(|line| !line.starts_with("git stash"));
    for line in lines {
        let decision = auto(&run(line), &policy(Mode::Production));
        assert_eq!(decision.verdict, Verdict::Ask, "{line}: production asks as before");
    }
}

#[test]
fn a_background_process_asks_and_a_rule_or_a_grant_allows_it() {
    let serve = run("python3 serve.py").running_on();
    let asked = auto(&serve, &policy(Mode::Development));
    assert_eq!(asked.verdict, Verdict::Ask);
    assert!(!asked.offers.is_empty());
    let grants = [asked.offers[0].grant.clone()];
    let granted = Now { grants: &grants, ..Now::with(ApprovalPolicy::Auto) };
    let granted = decide(&serve, &policy(Mode::Development), &granted);
    assert_eq!((granted.verdict, granted.stays_inside), (Verdict::Allow, false));
    assert_eq!(auto(&run("ls").running_on(), &policy(Mode::Development)).verdict, Verdict::Allow);
}

#[test]
fn a_rule_keeps_the_broker_unless_it_grants_the_network() {
    let judge = |line: &str, tier, text: &str| {
        let mut policy = policy(Mode::Development);
        policy.has_broker = true;
        policy.rules.add(tier, rules(text));
        let decision = auto(&run(line), &policy);
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
        decision.stays_inside
    };
    let networked = "allow = ['npm *', { command = 'npm ci *', network = true }]";
    let pushing = "allow = ['git *', { fetch = 'a.test' }]";
    for tier in [RuleTier::Managed, RuleTier::User, RuleTier::Run] {
        assert!(judge("npm ci", tier, "allow = ['npm *']"), "{tier:?}");
        assert!(judge("npm ci && make", tier, "allow = ['npm *', 'make *']"), "{tier:?}");
        assert!(judge("wget -i list", tier, "allow = ['wget *']"), "nobody knows the host");
        assert!(!judge("npm ci", tier, networked), "{tier:?}");
        assert!(!judge("npm ci && npm ci -g", tier, networked), "{tier:?}");
        assert!(judge("npm test", tier, networked), "the rule is about another command");
        assert!(judge("npm ci && npm test", tier, networked), "one part alone has no network of its own");
        assert!(!judge("git push origin main", tier, pushing), "a push says where it goes");
    }
    assert!(judge("ls", RuleTier::User, networked), "a command that only reads needs none");
}

#[test]
fn network_is_for_rules_about_commands() {
    let parsed = |text: &str| toml::from_str::<buddy_policy::Rules>(text).map_err(|error| error.to_string());
    assert!(parsed("allow = [{ command = 'npm *', network = true }]").is_ok());
    let error = parsed("allow = [{ fetch = 'docs.rs', network = true }]").unwrap_err();
    assert!(error.contains("`network` is for rules about a `command`"), "{error}");
}
