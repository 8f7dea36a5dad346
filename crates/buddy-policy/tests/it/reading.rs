//! Commands that only read run by themselves: these are most commands of an agent.

use buddy_policy::{Mode, Now, Verdict, decide, touched};
use buddy_protocol::ApprovalPolicy;

use crate::stage::{ask, check, is_asked, policy, run};

#[test]
fn reading_runs_by_itself_in_every_mode() {
    for line in [
        "ls",
        "ls -la",
        "ls -la src",
        "ls src/*.rs",
        "cat Cargo.toml",
        "head -n 20 x",
        "head -20 x",
        "tail -n5 x",
        "wc -l src/*.rs",
        "grep -rn foo src",
        "grep -rn 'a b' --include='*.rs' .",
        "rg -n foo",
        "rg -tnjs --glob '*.rs' 'x|y' src",
        "find . -name '*.rs'",
        "find src -type f -maxdepth 2",
        "find . \\( -name a -o -name b \\) -print",
        "stat x",
        "pwd",
        "sleep 60",
        "sleep 0.5 && cat x",
        "sleep 2m; ls",
        "echo hello",
        "echo 'a; b' \"c | d\"",
        "echo --- part ---",
        "printf '%s\\n' x",
        "true",
        "test -f x",
        "[ -f x ]",
        "[[ -f x ]] && cat x",
        "which cargo",
        "uname -a",
        "id",
        "date",
        "date -u +%s",
        "date '+%Y-%m-%d'",
        "du -sh .",
        "df -h",
        "sort x",
        "sort -rn -k2 x | uniq -c | head",
        "cut -d: -f1 x",
        "tr a-z A-Z < x",
        "diff -u a b",
        "file x",
        "basename a/b .c",
        "dirname a/b",
        "realpath x",
        "ps aux",
        "ps -ef",
        "cat x | grep y | wc -l",
        "cd src && ls -la && cat main.rs",
        "ls || true",
        "cat x 2>/dev/null",
        "ls > /dev/null 2>&1",
        "ls; pwd",
        "ls\npwd",
        "sed -n '1,20p' x",
        "sed -n 5p x",
        "cat x | sed 's/a/b/g'",
        "jq -r .name package.json",
        "LC_ALL=C sort x",
        "cat <<'E'\nrm -rf /\nE",
        "cat <<E\nplain\nE",
        "grep x <<< 'a b'",
        "echo done # all of it",
        "! grep -q x y",
        "if [ -f x ]; then cat x; else echo no; fi",
        "(cd src; ls)",
        "cat ~/notes.txt",
        "md5sum x",
        "sha256sum -c sums",
        "nl -ba x",
        "tac x",
        "seq 1 5",
        "od -c x",
        "ls -1 | sort | uniq",
        "cat /etc/hosts",
        "cat /proc/cpuinfo",
        "$'ls'",
        "'ls' -l",
        "l\\s",
        "/bin/ls",
        "grep 'foo$' x",
        "grep \"it's\" x",
        "type ls",
        "printenv",
        "find . -name x -exec cat {} \\;",
        "cat a b c",
        "tree -L 2",
        "comm -12 a b",
        "rg --files src",
        "ls -- -x",
    ] {
        for mode in [Mode::Development, Mode::Production, Mode::Plan] {
            check(mode, line, Verdict::Allow);
        }
        assert!(ask(&run(line), &policy(Mode::Development)).is_read_only, "{line}");
    }
}

/// Lines that only read if the kernel holds all their processes to reading.
const HELD: &[&str] = &[
    "git status",
    "git status --short",
    "git log --oneline -5",
    "git log -p",
    "git diff",
    "git diff HEAD~1 -- src",
    "git show HEAD:src/lib.rs",
    "git branch -a",
    "git blame src/lib.rs",
    "git --version",
    "git -C sub log | head -3",
    "git --no-pager diff --stat",
    "cat *.md",
    "wc -l *",
    "ls *",
    "for f in a b; do cat $f; done",
    "for f in *.rs; do echo $f; done",
    "for f in a b; do echo x; done",
    "echo $(pwd)",
    "cat \"$x\"",
    "x=1; echo $x",
    "awk '{print $1}' x",
    "awk -F: '$3 > 100 {print $1}' /etc/passwd",
    "ls -l | awk '{s += $5} END {print s}'",
    "find . -name '*.rs' | xargs wc -l",
    "find . -name '*.rs' -print0 | xargs -0 grep -n foo",
    "find src -name '*.rs' -exec wc -l {} +",
    "sed -n '1,20p;30q' x",
    "python3 -V",
    "python3 --version",
    "node --version",
    "cargo --version && rustc --version",
    "go version",
    "java -version",
];

#[test]
fn commands_that_a_jail_holds_to_reading_run_by_themselves() {
    let mut untrusted = policy(Mode::Development);
    untrusted.places.untrusted = Some("/w".into());
    let mut elsewhere = policy(Mode::Development);
    elsewhere.places.remote = true;
    for line in HELD {
        for mode in [Mode::Development, Mode::Plan] {
            check(mode, line, Verdict::Allow);
            let decision = ask(&run(line), &policy(mode));
            assert!(decision.is_read_only, "{mode:?} {line}");
        }
        assert!(ask(&run(line), &policy(Mode::Development)).stays_inside, "{line} has no network");
        // The files that these read are certain, so they run everywhere.
        if !line.starts_with("sed") && !line.contains("-exec") {
            assert_eq!(ask(&run(line), &untrusted).verdict, Verdict::Ask, "{line} in a folder nobody trusts");
            assert_eq!(ask(&run(line), &elsewhere).verdict, Verdict::Ask, "{line} on another host");
        }
    }
}

#[test]
fn commands_that_only_seem_to_read_ask() {
    for line in [
        "git diff --output=x",
        "git log --output x",
        "git branch topic",
        "git branch -D topic",
        "git branch --edit-description",
        "git branch --unset-upstream",
        "git tag v1",
        "git tag -d v1",
        "git remote add a b",
        "git remote show origin",
        "git stash",
        "git config user.name x",
        "git config --edit",
        "git reflog expire --all",
        "git worktree add x",
        "git -c core.pager=x log",
        "git --exec-path=. status",
        "git log $x",
        "git diff *",
        "git grep -Oless x",
        "git ls-remote",
        "GIT_EXTERNAL_DIFF=x git diff",
        "git notes add",
        "awk '{print > \"x\"}' y",
        "awk '{system($1)}' y",
        "awk -f prog y",
        "sort *",
        "rg x *",
        "sort $x",
        "find . | xargs rm",
        "find . | xargs sort",
        "for f in *; do touch $f; done",
        "python3 -V x",
        "python3 -c 1 --version",
        "./node --version",
        "frobnicate --version",
        "npm --version --help x",
        "X=y ls",
        "PATH=. ls",
        "x=1 > out",
        "sed -n '1p;w out' x",
        "sed -n '1p;e' x",
        "sleep",
        "sleep 301",
        "sleep 10m",
        "sleep 1h",
        "sleep infinity",
        "sleep 60 60",
        "sleep $x",
        "sleep --help",
        "./sleep 60",
    ] {
        is_asked(line);
    }
}

#[test]
fn a_computed_path_opens_no_secret() {
    for line in
        ["cat .env *", "cat $x ~/.npmrc", "head -n $n .env", "git show HEAD:.env", "awk '{print}' .env"]
    {
        check(Mode::Development, line, Verdict::Ask);
        assert_ne!(ask(&run(line), &policy(Mode::Plan)).verdict, Verdict::Allow, "{line}");
    }
}

#[test]
fn reading_what_is_kept_apart_asks() {
    for line in [
        "cat ~/.ssh/id_rsa",
        "cat /home/u/.ssh/id_rsa",
        "head ~/.config/buddy/auth.json",
        "cat ../home/u/.aws/credentials",
        "grep -r key ~",
        "grep -r key /",
        "rg x /home",
        "cat /dev/sda",
        "xxd /proc/self/mem",
        "cat < /etc/shadow",
        "sort ~/.netrc",
        "ls ~/.ssh",
        "cat /*/shadow",
        "cat /proc/*/environ",
        "diff ~/.ssh/id_rsa x",
        "find ~/.ssh",
        "cd ~ && grep -r x",
    ] {
        is_asked(line);
    }
}

#[test]
fn reading_all_that_is_somewhere_in_the_home_asks() {
    for line in [
        "grep -r key ~/other",
        "rg key /home/u/other",
        "diff -r ~/a ~/b",
        "cat ~/*/x",
        "cat /home/u/other/*",
        "head /home/u/*.txt",
        "find ~ -name x -exec cat {} \\;",
        "find /home/u/other -type f -exec grep key {} +",
        "tar c ~",
        "cat /home/*/x",
        "grep -r key /root",
        "grep -rn key /var/..",
    ] {
        is_asked(line);
    }
    for line in [
        "grep -r key .",
        "rg key",
        "cat src/*",
        "find . -type f -exec cat {} +",
        "grep -r key /usr/include",
        "ls ~/other",
        "ls -R ~/other",
        "ls /home/u/other/*",
        "find ~ -name x",
        "cat ~/other/file.txt",
    ] {
        check(Mode::Development, line, Verdict::Allow);
    }
}

#[test]
fn targets_of_links_are_judged_too() {
    let links = [
        ("/w/out".into(), "/etc/cron.d/x".into()),
        ("/w/orders".into(), "/w/.git/hooks/pre-commit".into()),
        ("/w/key".into(), "/home/u/.ssh/id_rsa".into()),
        ("/w/folder".into(), "/srv/data".into()),
        ("/w/near".into(), "/w/src".into()),
    ];
    let judge = |line: &str| {
        let now = Now { links: &links, ..Now::with(ApprovalPolicy::Ask) };
        decide(&run(line), &policy(Mode::Production), &now)
    };
    for line in [
        "echo x > out",
        "cp a orders",
        "rm folder/file",
        "tee out < a",
        "dd if=a of=orders",
        "rm -r folder/",
        "rm -r ./folder//",
        "rm -rf folder/*",
        "rm folder/*.txt",
        "rm f*r/file",
        "find folder/ -type f -delete",
        "find folder/. -delete",
        "find folder/ -exec rm -rf {} +",
        "find -L . -delete",
        "find -L . -type f -exec truncate -s0 {} +",
        "truncate -s0 f*r/f.txt",
        "truncate -s0 ou*",
        "tee ou* < a",
        "sort -o ou[t] a",
        "cp -r d/. .",
        "cp d/x ./",
        "tar xf t.tar",
        "gzip -rf folder",
    ] {
        let decision = judge(line);
        assert_ne!(decision.verdict, Verdict::Allow, "{line}");
    }
    assert_eq!(judge("cat key").verdict, Verdict::Deny);
    for line in ["echo x > plain", "rm out", "rm -r near/", "echo x > near", "cp -r d/. sub", "rm -r sub/*"] {
        let decision = judge(line);
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
    }
    let touched = touched(&run("cp a orders; rm folder/file"), &policy(Mode::Production));
    for path in ["/w/a", "/w/orders", "/w/folder"] {
        assert!(touched.iter().any(|touched| touched == std::path::Path::new(path)), "{path}: {touched:?}");
    }
}
