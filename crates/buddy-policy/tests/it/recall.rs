//! Secrets that git keeps: commands that print or copy them ask, and mark the session.

use std::path::{Path, PathBuf};

use buddy_policy::{Decision, Mode, Now, Policy, Verdict, decide, recalled};
use buddy_protocol::ApprovalPolicy;

use crate::stage::{policy, rules, run};

fn judge(line: &str, policy: &Policy, approvals: ApprovalPolicy, tracked: &[PathBuf]) -> Decision {
    decide(&run(line), policy, &Now { tracked, ..Now::with(approvals) })
}

fn secrets() -> Vec<PathBuf> {
    vec!["/w/.env".into(), "/w/deploy/.env.production".into()]
}

/// Words that name a tracked secret.
const NAMED: &[&str] = &[
    "git show HEAD:.env",
    "git show HEAD~2:./.env",
    "git show :.env",
    "git show :0:.env",
    "git -C deploy show main:.env",
    "git --git-dir=.git show main:.env",
    "git show main -- .env",
    "git show \"HEAD:.env\"",
    "git blame .env",
    "git blame HEAD -- .env",
    "git annotate deploy/.env.production",
    "git diff A B -- .env",
    "git diff -- .env",
    "git diff HEAD~1 .env",
    "git diff A:.env B:.env",
    "git log -p -- .env",
    "git log -p .env",
    "git cat-file -p HEAD:.env",
    "git cat-file blob main:deploy/.env.production",
    "git grep key HEAD -- .env",
    "git archive HEAD .env",
    "git archive HEAD:deploy .env",
    "git checkout-index --prefix=x .env",
    "git diff --no-index /dev/null .env",
    "git stash show -p -- .env",
    "git log -L1,9:.env",
    "git show ':(top).env'",
    "git hash-object -w .env",
    "git mv .env a",
    "git commit -F .env",
    "cat $(git show HEAD:.env)",
    "x=$(git show HEAD:.env)",
    "npx git show HEAD:.env",
    "git add -f .env",
];

/// Commands that print or copy everything that is there.
const WIDE: &[&str] = &[
    "git show",
    "git show HEAD~3",
    "git show abc123",
    "git log -p",
    "git log -Skey",
    "git log --patch -5",
    "git grep KEY",
    "git grep KEY HEAD",
    "git cat-file -p abc123",
    "git cat-file --batch",
    "git archive HEAD",
    "git archive HEAD | tar x -C x",
    "git format-patch -1",
    "git fast-export HEAD",
    "git diff main topic",
    "git diff main..topic",
    "git diff --cached 4b825dc",
    "git stash show -p",
    "git bundle create x HEAD",
    "git checkout-index -a --prefix=x",
    "git show HEAD -- deploy",
    "git log -p -- 'dep*'",
    "git show \"$x\"",
    "git -C deploy log -p",
    "git diff-tree -p HEAD",
    "git range-diff a b c",
    "timeout 5 git show",
    "git diff HEAD:a.txt 1a2b3c4d",
    "git diff 1a2b3c4d -- src/main.rs",
    "git show --stat 1a2b3c4d",
    "git merge-file -p --object-id 1a2b3c4d 1a2b3c4d 1a2b3c4d",
    "git clone -q . /tmp/c; cat /tmp/c/.e*",
    "git clone -q --bare . /tmp/c",
    "git worktree add -q w1; cat w1/.en*",
    "git unpack-file 1a2b3c4d",
    "git tag s 1a2b3c4d",
    "git replace 1a2b3c4d 5e6f7a8b",
    "bash -c 'git show HEAD'",
    "git blame HEAD -- .en*",
    "git blame HEAD -- .e?v",
    "git blame HEAD -- .[e]nv",
    "f=.en; git blame HEAD -- ${f}v",
    "git blame $(printf .%s env)",
    "git annotate .en* HEAD",
    "git diff HEAD^!",
    "git diff \"HEAD^!\"",
    "git diff HEAD^-",
    "git diff HEAD^-1",
    "git diff @{0}^!",
    "git diff HEAD^@",
    "git diff stash^!",
    "git diff --cc HEAD^@",
    "git diff HEAD",
    "git diff HEAD -- .e*",
    "git diff --cached",
    "git diff --staged",
    "git status -v",
    "git status --verbose",
    "git commit --dry-run -v",
    "git diff a.rs b.rs",
    "git grep KEY a.rs",
    "git show HEAD:src/main.rs --all",
    "echo HEAD | git show --stdin HEAD:src/main.rs",
    "git show --stat tag",
    "git log -p -- '.e\\nv'",
    "git --icase-pathspecs log -p -- DEPLOY",
    "git log -wbRp",
    "git log -p --until -- topic",
    "git log -p -O -- topic",
    "f=-p; git log $f",
    "f='-p -- .env'; git log $f -- src",
    "git log $(echo -p)",
    "git log -*",
    "git stash show --text",
    "git config --blob s -l",
    "git tag -l --format='%(raw)'",
    "git for-each-ref --format='%(raw)'",
];

#[test]
fn a_word_that_names_a_tracked_secret_reads_it() {
    for mode in [Mode::Production, Mode::Development] {
        for line in NAMED {
            let decision = judge(line, &policy(mode), ApprovalPolicy::Ask, &[]);
            assert_eq!(decision.verdict, Verdict::Ask, "{mode:?} {line}");
            assert!(decision.reads_secret, "{mode:?} {line}: {:?}", decision.reasons);
            assert!(
                decision.reasons.iter().any(|reason| reason.contains(".env")),
                "{line}: {:?}",
                decision.reasons
            );
        }
    }
}

#[test]
fn wide_commands_read_every_tracked_secret_and_name_them() {
    for line in WIDE {
        let decision = judge(line, &policy(Mode::Production), ApprovalPolicy::Ask, &secrets());
        assert_eq!(decision.verdict, Verdict::Ask, "{line}: {:?}", decision.reasons);
        assert!(decision.reads_secret, "{line}");
        let told = decision.reasons.join("; ");
        assert!(told.contains("`/w/deploy/.env.production`"), "{line}: {told}");
        assert!(!recalled(&run(line), &policy(Mode::Production)).is_empty(), "{line}");
    }
}

#[test]
fn with_all_in_a_folder_that_is_not_trusted_it_still_asks() {
    let mut untrusted = policy(Mode::Development);
    untrusted.places.untrusted = untrusted.places.workspace.pop();
    for line in ["git show", "git log -p", "git grep KEY", "git cat-file -p abc"] {
        let decision = judge(line, &untrusted, ApprovalPolicy::All, &secrets());
        assert_eq!(decision.verdict, Verdict::Ask, "{line}: {:?}", decision.reasons);
    }
    let decision = judge("git show HEAD:.env", &untrusted, ApprovalPolicy::All, &[]);
    assert_eq!(decision.verdict, Verdict::Ask);
}

#[test]
fn without_tracked_secrets_nothing_changes() {
    for line in WIDE {
        let decision = judge(line, &policy(Mode::Production), ApprovalPolicy::Ask, &[]);
        assert!(!decision.reads_secret, "{line}: {:?}", decision.reasons);
    }
    for line in ["git show", "git log -p", "git grep KEY", "git diff a b", "git archive HEAD"] {
        assert_eq!(
            judge(line, &policy(Mode::Production), ApprovalPolicy::Ask, &[]).verdict,
            Verdict::Allow,
            "{line}"
        );
    }
}

#[test]
fn commands_without_contents_of_other_files_ask_nothing() {
    for line in [
        "git status",
        "git diff",
        "git diff --stat",
        "git diff --stat HEAD~1",
        "git diff HEAD~1 -- src",
        "git diff src/main.rs",
        "git diff --cached -- src",
        "git blame HEAD -- src/main.rs",
        "git commit -m \"$x\"",
        "git commit -qm \"$(cat x)\"",
        "git log",
        "git log --oneline -5",
        "git log --stat",
        "git show --stat HEAD",
        "git show HEAD:src/main.rs",
        "git show HEAD -- src",
        "git diff main topic -- src",
        "git diff --name-only main..topic",
        "git log -p -- src",
        "git blame src/main.rs",
        "git commit -m 'keep .env out'",
        "git add -A",
        "git ls-files .env",
        "git check-ignore .env",
        "git log --oneline -- .env",
        "git status .env",
        "git show HEAD:.env.example",
        "git checkout -b topic",
        "git merge topic",
        "git stash",
        "git worktree list",
        "git tag v1.0",
    ] {
        let decision = judge(line, &policy(Mode::Production), ApprovalPolicy::Ask, &secrets());
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
        assert!(!decision.reads_secret, "{line}");
    }
}

#[test]
fn a_lasting_rule_allows_it_and_the_session_is_marked_all_the_same() {
    let mut ruled = policy(Mode::Production);
    ruled.rules.add(
        buddy_policy::RuleTier::User,
        rules("allow = [{ read = \".env\" }, { read = \".env.production\" }]"),
    );
    let decision = judge("git show", &ruled, ApprovalPolicy::Ask, &secrets());
    assert_eq!(decision.verdict, Verdict::Allow, "{:?}", decision.reasons);
    assert!(decision.reads_secret);
}

#[test]
fn the_repository_is_that_of_the_directory_that_git_is_told() {
    let found = |line: &str| recalled(&run(line), &policy(Mode::Production));
    assert_eq!(found("git show"), [Path::new("/w")]);
    assert_eq!(found("git -C /srv/x show"), [Path::new("/srv/x")]);
    assert_eq!(found("git -C a -C b show"), [Path::new("/w/a/b")]);
    assert_eq!(found("git --git-dir=/srv/x/.git show"), [Path::new("/srv/x")]);
    assert_eq!(found("git -C \"$x\" show"), [Path::new("/w")]);
    assert!(found("cd /srv/x && git log -p").contains(&PathBuf::from("/srv/x")));
    assert_eq!(found("cd $x && git log -p"), [Path::new("/w")], "that of the session where it is not known");
    assert_eq!(found("git clone /srv/x /tmp/c"), [Path::new("/srv/x")]);
    assert_eq!(found("git -C /srv/x clone . /tmp/c"), [Path::new("/srv/x")]);
    assert_eq!(found("git -C /tmp/c fetch /srv/x main"), [Path::new("/srv/x")]);
    assert!(found("git status").is_empty());
}
