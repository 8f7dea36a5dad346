//! Production: known programs run; those that reach outside or are unknown ask.
//!
//! Long because it is a table of command lines, each with an effect that it must not have unasked.

use std::path::Path;
use std::process::{Command, Stdio};

use buddy_policy::{EVALUATED_FORMS, EvaluatedForms, Now, ZSH_FORMS};
use buddy_policy::{Mode, Scope, Verdict, decide};
use buddy_protocol::{ApprovalPolicy, Risk};

use crate::stage::{ask, check, is_stopped, pattern, policy, rules, run, with_grants};

#[test]
fn an_ordinary_day_in_production_asks_nothing() {
    for line in ORDINARY {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn settings_of_git_that_run_programs_or_lead_elsewhere_ask_and_a_yes_opens_them() {
    for line in [
        "git config core.pager x",
        "git config --add core.hooksPath x",
        "git config remote.origin.url https://e.example/",
        "git config branch.main.remote up",
        "git config --unset alias.x",
        "git config -e",
        "git config user.name $x",
        "git config user.name 'a;touch x;b'",
        "git config user.email '`x`@example.org'",
        "git remote set-url origin https://e.example/",
        "git remote -v set-url --push origin x",
        "git remote rm origin",
        "git remote rename origin x",
    ] {
        for mode in [Mode::Development, Mode::Production] {
            let decision = ask(&run(line), &policy(mode));
            assert_eq!((decision.verdict, decision.risk), (Verdict::Ask, Risk::High), "{mode:?} {line}");
            assert!(decision.needs.asked.iter().any(|path| path.ends_with(".git/config")), "{line}");
        }
    }
    for line in [
        "git config --global user.name x",
        "git config -f x user.name x",
        "git config user.name x --global",
        "git -c user.name='$(x)' commit -m y",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
}

#[test]
fn a_push_asks_in_every_mode_and_is_a_high_risk() {
    for line in
        ["git push", "git push origin main", "git -C a push", "cd a && git push", "git lfs push origin"]
    {
        for mode in [Mode::Development, Mode::Production] {
            let decision = ask(&run(line), &policy(mode));
            assert_eq!((decision.verdict, decision.risk), (Verdict::Ask, Risk::High), "{mode:?} {line}");
        }
    }
}

#[test]
fn a_program_that_no_table_knows_asks_in_production() {
    for line in [
        "frobnicate x",
        "ls && frobnicate",
        "timeout 5 frobnicate",
        "terraform destroy",
        "aws s3 rm s3://x",
        "bash -c 'frobnicate x'",
        "find . -exec frobnicate {} +",
        "git frobnicate",
        "git log --frobnicate",
        "git status --frob=x",
        "git refs migrate",
        "git cvsimport x",
        "gh pr merge 1",
        "logrotate -f x.conf",
        "/opt/tool/bin/x",
        "../outside.sh",
        "~/bin/x",
        "7z frobnicate x",
        "echo x | frobnicate",
        "FOO=bar frobnicate",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
}

#[test]
fn an_unknown_program_can_be_granted_and_ruled() {
    let decision = ask(&run("frobnicate --all"), &policy(Mode::Production));
    let is_pattern =
        |scope: &Scope| matches!(scope, Scope::Commands(found) if found.as_str() == "frobnicate *");
    let offer = decision.offers.iter().find(|offer| is_pattern(&offer.grant.scope)).expect("an offer");
    let grants = [offer.grant.clone()];
    assert_eq!(with_grants(&run("frobnicate x"), &policy(Mode::Production), &grants).verdict, Verdict::Allow);
    let window = decide(
        &run("frobnicate x"),
        &policy(Mode::Production),
        &Now::with(ApprovalPolicy::Window { seconds: 60 }),
    );
    assert_eq!(window.verdict, Verdict::Allow);
    let mut ruled = policy(Mode::Production);
    let rule = buddy_policy::Rule::command(pattern("frobnicate *"));
    let rules = buddy_policy::Rules { allow: vec![rule], ..buddy_policy::Rules::default() };
    ruled.rules.add(buddy_policy::RuleTier::User, rules);
    assert_eq!(ask(&run("frobnicate x"), &ruled).verdict, Verdict::Allow);
}

#[test]
fn effects_outside_the_workspace_ask_in_production_for_every_program() {
    for line in OUTSIDE {
        check(Mode::Production, line, Verdict::Ask);
    }
}

/// Tables do not list every option of compilers, build tools and programs that print.
#[test]
fn an_option_that_no_table_lists_may_name_a_file_here_and_no_other() {
    for (inside, outside) in [
        ("java -Xlog:gc:gc.log X", "java -Xlog:gc:/home/ann/f.txt X"),
        ("cargo clean --manifest-path sub/Cargo.toml", "cargo clean --manifest-path ~/other/Cargo.toml"),
        ("cloc --report-file=lines .", "cloc --report-file=/home/ann/f.txt ."),
        ("pv -P pid a.txt", "pv -P ~/f.txt a.txt"),
        ("npm ci --logs-dir=logs", "npm ci --logs-dir=$HOME/logs"),
        ("pytest --rootdir sub", "pytest --rootdir \"$PLACE/x\""),
    ] {
        check(Mode::Production, inside, Verdict::Allow);
        check(Mode::Production, outside, Verdict::Ask);
    }
    // A later part of the line could go through the link.
    for line in
        ["ln -s src link", "ln a.txt hard", "cp -s src/a.txt soft", "cp -l a.txt hard", "ln -s /w/src near"]
    {
        check(Mode::Production, line, Verdict::Allow);
    }
    for line in [
        "ln -s ~/other q; echo x > q/f.txt",
        "ln -s ../other q && rm q/f.txt",
        "ln ~/.bashrc b; echo x >> b",
        "cp -s ~/.profile p; echo x >> p",
        "cp --link ~/f.txt p; : > p",
        "ln .git/config c; echo x >> c",
        "ln -s .git/hooks h; cp a.sh h/post-checkout",
        "link ~/f.txt p; : > p",
        "bash -c 'ln -s ~/other q'; : > q/f",
        "ln -s $(cat x) y; : > y/f",
        "ln -st sub ~/other",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    for line in [
        "ptx -G a.txt ~/f.txt",
        "gcc -Xlinker -o -Xlinker ~/f.txt x.c",
        "jar uf ~/f.txt a.txt",
        "cd ~/other && git init",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
}

#[test]
fn places_that_are_guarded_are_not_reached_through_options() {
    for line in [
        "gzip .git/config",
        "tar -C .git --remove-files -cf a.tar config",
        "tar xf a.tar -C .git",
        "unzip a.zip -d .git/hooks",
        "curl --output-dir .git/hooks -O u",
        "wget -P .git/hooks u",
        "gcc -o .git/hooks/pre-commit x.c",
        "split -l 1 x .git/hooks/p",
        "patch -d .git x",
        "rsync -a x/ .git/",
        "zstd --rm .envrc",
        "uniq x .git/config",
        "objcopy x .git/hooks/y",
        "openssl rand -out ~/.bashrc 8",
        "sqlite3 .git/config x",
        "git archive -o .git/hooks/x HEAD",
        "shuf -o .git/config x",
        "truncate -s 0 ~/.config/buddy/buddy.toml",
        "cpio -D .git -id",
        "ln -s x -t .git/hooks",
        "mktemp -p .git/hooks x.XXX",
    ] {
        is_stopped(line);
    }
}

#[test]
fn a_second_output_hides_no_first_one() {
    for line in [
        "patch -r rejected -p0 < p",
        "tar xf a.tar --index-file=/w/list",
        "gcc -aux-info /w/list /w/x.c",
        "gcc -c -MF /w/deps /w/x.c",
        "ld -r -Map /w/map /w/x.o",
        "as --MD /w/deps /w/x.s",
        "yasm -l /w/list /w/x.asm",
    ] {
        check(Mode::Production, line, Verdict::Allow);
        check(Mode::Production, &format!("cd ~/other && {line}"), Verdict::Ask);
    }
}

#[test]
fn programs_in_options_and_text_in_no_file_ask_in_production() {
    for line in [
        "git fetch-pack --exec='rm -rf x #' . HEAD",
        "git send-pack --exec=x . HEAD",
        "python3 -m json.tool x.json ~/.bash_aliases",
        "ss -D x",
        "ss -tDx",
        "ss --diag=x",
        "dmesg -C",
        ". /dev/stdin <<< 'rm -rf x'",
        "source /dev/fd/0 < x",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    for line in ["ss -tlnp", "dmesg -T", "python3 -m json.tool x.json", "git fetch-pack . HEAD"] {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn work_that_nothing_holds_is_not_thrown_away_unseen() {
    for line in [
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git checkout -- .",
        "git checkout .",
        "git checkout -f",
        "git restore .",
        "git clean -fdx",
        "git clean -f",
        "git stash drop",
        "git stash clear",
        "git branch -D x",
        "git branch --delete --force x",
        "git reflog expire --expire=now --all",
        "git gc --prune=now",
        "git update-ref -d refs/heads/x",
        "git worktree remove --force x",
        "git switch --discard-changes x",
        "git rm -r .",
        "git checkout HEAD -- file",
        "git checkout -- src/a.rs",
        "git checkout HEAD~1 src/a.rs",
        "git checkout a.txt",
        "git checkout ./src",
        "git checkout --ours x",
        "git restore src/a.rs",
        "git restore --staged --worktree x",
        "git rm -rf src",
        "git rm --force x",
        "git clean -f src",
        "git reset --merge",
        "git tag -d v1",
        "git notes prune",
        "git repack -ad",
        "git fetch origin +main:main",
        "git fetch -f",
        "git update-ref refs/heads/main x",
        "git symbolic-ref -d HEAD",
        "git checkout-index -fa",
        "git submodule deinit -f x",
        "git fast-import < x",
        "git read-tree x",
        "git push --force-if-includes",
        "git push --receive-pack=git-receive-pack --receive-pack=x",
        "git push --receive=x",
        "git push origin :main",
        "git push -f",
        "git init --template=x",
        "git clone -c core.hooksPath=x ../y",
        "git credential fill",
        "git hook run pre-commit",
        "cargo publish",
        "npm publish",
        "twine upload x",
        "psql -c 'drop table x'",
        "psql db",
        "psql -f x.sql",
        "psql -c 'select 1; drop table x'",
        "mysql -e 'delete from x'",
        "redis-cli flushall",
        "sqlite3 x.db '.shell touch y'",
        "sqlite3 x.db \"attach '/etc/x' as y\"",
        "rename 'system(1)' x",
    ] {
        is_stopped(line);
    }
}

/// Shells in which the forms are tried, with texts that hold a command, and the fewest lines that each evaluates.
const SHELLS: &[(&[&str], &[&str], usize)] = &[
    (&["bash", "--norc", "--noprofile"], &["x[$(touch OUT)]", "x[`touch OUT`]", "x[y=$(touch OUT)]"], 350),
    (&["dash"], &["x[$(touch OUT)]"], 8),
    (&["busybox", "ash"], &["x[$(touch OUT)]"], 8),
    (&["zsh", "-f"], OF_ZSH, 30),
];

/// In zsh the variable has to be there.
const OF_ZSH: &[&str] = &["x[$(touch OUT)]", "path[$(touch OUT)]"];

#[expect(clippy::disallowed_methods, reason = "the test holds the judge against the real shells")]
fn makes_the_file(shell: &[&str], line: &str, directory: &Path) -> bool {
    let out = directory.join("OUT");
    std::fs::write(directory.join("a"), "a\n").expect("a file is written");
    // Some forms wait for a process that ended or for input.
    Command::new("timeout")
        .arg("20")
        .args(shell)
        .args(["-c", line])
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the shells are needed for this test");
    let made = out.exists();
    if made {
        std::fs::remove_file(out).expect("the file is removed");
    }
    made
}

/// The lines of all forms that a shell evaluates.
fn evaluated(shell: &[&str], forms: &[EvaluatedForms], payloads: &[&str], directory: &Path) -> Vec<String> {
    let forms = forms.iter().flat_map(|kind| kind.forms);
    let lines = forms.flat_map(|form| payloads.iter().map(|payload| form.replace("PAYLOAD", payload)));
    let mut lines: Vec<String> = lines.collect();
    lines.dedup();
    lines.into_iter().filter(|line| makes_the_file(shell, line, directory)).collect()
}

/// Whether a line runs in production without a question, and without its command among the parts that were judged.
fn is_missed(line: &str) -> bool {
    let decision = ask(&run(line), &policy(Mode::Production));
    decision.verdict == Verdict::Allow && !decision.parts.iter().any(|part| part == "touch OUT")
}

#[test]
fn text_that_the_shell_evaluates_again_is_seen_in_production() {
    let directory = tempfile::tempdir().expect("a directory");
    for (shell, payloads, fewest) in SHELLS {
        let lines = evaluated(shell, EVALUATED_FORMS, payloads, directory.path());
        assert!(lines.len() >= *fewest, "{shell:?} evaluates enough of them: {}", lines.len());
        // Lines run in bash; another shell gets them as a text.
        let given = |line: &String| format!("{} -c '{}'", shell.join(" "), line.replace('\'', "'\\''"));
        let is_own = shell.first() == Some(&"bash");
        let missed: Vec<&String> =
            lines.iter().filter(|line| is_missed(&given(line)) || (is_own && is_missed(line))).collect();
        assert!(missed.is_empty(), "{shell:?}: {missed:#?}");
    }
}

#[test]
fn a_text_for_a_shell_that_evaluates_more_asks_in_production() {
    let directory = tempfile::tempdir().expect("a directory");
    let lines = evaluated(&["zsh", "-f"], &[ZSH_FORMS], OF_ZSH, directory.path());
    assert!(lines.len() >= ZSH_FORMS.forms.len(), "{lines:#?}");
    for line in lines.iter().map(String::as_str).chain(["echo hi"]) {
        let quoted = line.replace('\'', "'\\''");
        for shell in ["zsh -c", "zsh -fc", "ksh -c", "mksh -c", "/bin/zsh -c", "timeout 5 zsh -c"] {
            let line = format!("{shell} '{quoted}'");
            assert_ne!(ask(&run(&line), &policy(Mode::Production)).verdict, Verdict::Allow, "{line}");
        }
    }
    check(Mode::Production, "echo 'echo hi' | zsh", Verdict::Ask);
    check(Mode::Production, "zsh <<< 'echo hi'", Verdict::Ask);
    check(Mode::Production, "sh -c 'echo hi'", Verdict::Allow);
    check(Mode::Production, "zsh run.zsh", Verdict::Allow);
}

#[test]
fn relative_paths_ask_after_a_file_that_can_change_the_directory() {
    for line in [
        ". ./cd.sh; rm -rf data",
        "source ./cd.sh && : > data/x",
        "builtin . ./cd.sh; rm data",
        "command source cd.sh; cp a b",
        ". ./cd.sh; mv a b",
        ". ./cd.sh; git clean -fd",
        "for i in 1 2; do rm -f data; . ./cd.sh; done",
        "eval '. ./cd.sh'; rm -rf data",
        "cd \"$x\" && rm -rf data",
        "eval 'cd /srv' && rm -rf data",
        "popd; rm -rf data",
        "cd - && rm -rf data",
    ] {
        let decision = ask(&run(line), &policy(Mode::Production));
        assert_eq!(decision.verdict, Verdict::Ask, "{line}: {:?}", decision.reasons);
    }
    let reasons = ask(&run(". ./cd.sh; rm -rf data"), &policy(Mode::Production)).reasons;
    assert!(reasons.iter().any(|reason| reason.contains("can change the directory")), "{reasons:?}");
}

#[test]
fn a_program_that_only_looks_like_another_is_flagged_with_its_true_spelling() {
    for (line, escaped) in [
        ("сargo test", "\\u{441}argo"),
        ("g\u{200b}it status", "g\\u{200b}it"),
        ("ｇit status", "\\u{ff47}it"),
        ("timeout 5 ρython3 x.py", "\\u{3c1}ython3"),
        ("bash -c 'gіt log'", "g\\u{456}t"),
        ("./bu\u{456}ld.sh", "./bu\\u{456}ld.sh"),
        ("find . -exec с\u{430}t {} +", "\\u{441}\\u{430}t"),
        ("/usr/bin/lѕ", "l\\u{455}"),
        ("sсr/x.sh", "s\\u{441}r/x.sh"),
        ("é", "\\u{e9}"),
    ] {
        is_stopped(line);
        let decision = ask(&run(line), &policy(Mode::Production));
        assert!(
            decision.reasons.iter().any(|reason| reason.contains(escaped)),
            "{line}: {:?}",
            decision.reasons
        );
        let mut ruled = policy(Mode::Production);
        let program = line.split(' ').next().unwrap_or(line);
        let rule = buddy_policy::Rule::command(pattern(&format!("'{program}' *")));
        let rules = buddy_policy::Rules { allow: vec![rule], ..buddy_policy::Rules::default() };
        ruled.rules.add(buddy_policy::RuleTier::User, rules);
        assert_eq!(ask(&run(line), &ruled).verdict, Verdict::Ask, "{line}");
    }
    check(Mode::Production, "/w/jörg/build.sh", Verdict::Allow);
    check(Mode::Production, "echo сargo é", Verdict::Allow);
}

/// An ordinary day.
const ORDINARY: &[&str] = &[
    "make; [ $? -eq 0 ] && echo ok",
    "[ \"$x\" = y ] || echo no",
    "test -n \"$CI\" && echo ci",
    "for i in 1 2 3; do [ $i = 2 ] && echo $i; done",
    "sleep 1 & pid=$!; make; wait $pid",
    "sleep 1 & wait $!",
    "printf \"$x\\n\"",
    "printf '%s\\n' \"$x\" y",
    "OPTIND=1; SECONDS=0; make; echo $SECONDS",
    "files=(a b c); echo \"${files[@]}\" ${#files[@]} ${files[0]}",
    "echo ${x:-y} \"${x%.*}\" ${x##*/} ${x//a/b} ${#x} ${x:0:3} ${x^^}",
    "ls {log}>log",
    "source .venv/bin/activate && pytest > out.txt && rm -rf build",
    ". ~/.nvm/nvm.sh && npm ci && rm -r dist",
    ". ./env.sh && make test",
    "rm -rf build && . ./env.sh && ls src",
    "readonly v=$(git rev-parse HEAD); echo $v",
    "declare v=1; typeset w=a",
    "git status",
    "git log --oneline -5",
    "git diff HEAD~1",
    "git add -A && git commit -m 'a b'",
    "git checkout -b feature",
    "git checkout main",
    "git checkout feature/x-1.2",
    "git checkout v1.2",
    "git checkout -b fix origin/main",
    "git branch -a",
    "git remote -v",
    "git config user.name 'A B'",
    "git config --local pull.rebase true",
    "git config branch.main.merge refs/heads/main",
    "git tag -l 'v*'",
    "git -C sub log",
    "git -C sub commit -am x",
    "git --no-pager log --since=yesterday --stat",
    "git commit --amend --no-edit",
    "git rev-parse --show-toplevel",
    "git merge --no-ff topic",
    "git cherry-pick abc",
    "git rebase --continue",
    "git blame src/a.rs",
    "git ls-files --others --exclude-standard",
    "git -C /srv/repo log",
    "as -o x.o x.s",
    "git restore --staged .",
    "git stash && git pull --rebase && git stash pop",
    "git branch -d done",
    "git rm old.rs",
    "git clean -n",
    "git fetch --all",
    "git --version",
    "tar --version",
    "cpio -id --no-absolute-filenames < x",
    "git rebase main",
    "cargo build",
    "cargo test --workspace 2>&1 | tail -20",
    "cargo clippy && cargo fmt",
    "cargo clean",
    "npm ci && npm test",
    "npm run build",
    "npm install left-pad",
    "yarn",
    "pnpm run dev",
    "pytest -q",
    "python3 tool.py",
    "python3 -m venv .venv",
    "node server.js",
    "make all",
    "make -j8 test",
    "cmake -B build && cmake --build build",
    "go test ./...",
    "mvn -q test",
    "./gradlew build",
    "bundle exec rspec",
    "tsc --noEmit",
    "eslint src",
    "ruff check .",
    "black src",
    "uvicorn app:app",
    "mkdir -p out && cp -r assets out/",
    "cp /usr/share/dict/words words",
    "mv a b",
    "rm -rf target",
    "rm -f a.o b.o",
    "touch x",
    "chmod +x run.sh",
    "tar czf out.tgz src",
    "tar xzf vendor.tgz",
    "tar xzf /tmp/vendor.tgz -C vendor",
    "unzip -o a.zip -d vendor",
    "gzip log.txt",
    "zip -r out.zip dist",
    "curl -fsSL http://localhost:8000/x -o x",
    "gcc -O2 -Wall -I/usr/include/x -o prog main.c -lm",
    "sort -u x -o x",
    "rsync -a src/ dst/",
    "patch -p1 < fix.patch",
    "sed -i s/a/b/ f",
    "sleep 1",
    "export X=1",
    "set -euo pipefail",
    "wait",
    "sqlite3 app.db 'select 1'",
    "psql -c 'select 1'",
    "psql -l",
    "gh pr view 1",
    "env X=y cargo b",
    "time cargo b",
    "apt install x",
    "ps aux | grep x",
    "lsof -i :80",
    "target/debug/app --help",
    "go build -o bin/x ./...",
    "cargo build --target-dir /tmp/t",
    "pytest --junitxml=report.xml",
    "nm -C target/x",
    "systemctl status x",
    "journalctl -u x",
    "curl -s -w '%{http_code}' http://localhost:8000",
    "for f in *.c; do gcc -c $f; done",
    "patch -p1 -i fix.patch",
    "node_modules/.bin/eslint .",
    "[ \"$x\" = y ] && echo z",
    "test -f x",
    "diff a b",
];

/// Files outside, through every kind of program.
const OUTSIDE: &[&str] = &[
    "gzip ~/notes",
    "gzip -k /srv/x",
    "xz ../x",
    "zstd --rm /srv/x",
    "bzip2 $f",
    "tar cf /srv/x.tar src",
    "tar -C /srv --remove-files -cf x.tar data",
    "tar --remove-files -cf x.tar /srv/data",
    "tar --remove-f -cf x.tar ../data",
    "tar cf x.tar --remove-files $d",
    "tar xf x.tar -C /srv",
    "tar -Pxf x.tar",
    "tar xf x.tar --absolute-names",
    "tar xf x.tar --transform s,^,/,",
    "unzip x.zip -d /srv",
    "unzip -: x.zip",
    "zip -m x.zip /srv/data",
    "zip -rm x.zip ../data",
    "7z x -o/srv x.7z",
    "cpio -id --absolute-filenames < x",
    "cpio -id < x",
    "git bundle create /srv/x HEAD",
    "git maintenance start",
    "cpio -pd /srv < x",
    "sort -o /srv/x a",
    "sort --outp /srv/x a",
    "shuf -o ../x a",
    "uniq a /srv/x",
    "curl -o /srv/x u",
    "curl --output-dir /srv -O u",
    "curl -sSo/srv/x u",
    "wget -P /srv u",
    "wget -O ../x u",
    "openssl rand -out /srv/x 8",
    "gcc -o /srv/x x.c",
    "gcc -o/srv/x x.c",
    "ffmpeg -i a.mp4 /srv/x.mp4",
    "convert a.png /srv/x.png",
    "pandoc a.md -o /srv/x.html",
    "sqlite3 /srv/x.db 'select 1'",
    "install a /srv/x",
    "ln -s a /srv/x",
    "dd if=a of=/srv/x",
    "split -l 1 a /srv/x",
    "csplit -f /srv/x a 2",
    "echo x | tee /srv/x",
    "truncate -s 0 /srv/x",
    "shred -u /srv/x",
    "patch /srv/x p",
    "patch -d /srv -i p",
    "rename s/a/b/ /srv/x",
    "rsync -a --delete src/ /srv/",
    "rsync -a --remove-source-files /srv/x .",
    "find /srv -delete",
    "find . -fprint /srv/x",
    "unlink /srv/x",
    "rmdir -p /srv/x",
    "mktemp -p /srv x.XXX",
    "git -C /srv/repo clean -f",
    "git -C /srv/repo checkout x",
    "git clone u /srv/x",
    "git checkout-index --prefix=/srv/x/ -a",
    "git checkout-index --prefix /srv/x -a",
    "git --git-dir=/srv/x init",
    "git --git-dir /srv/x/.git add y",
    "git -C /srv init",
    "git -C /srv/repo commit -m x",
    "git -C /srv/repo tag x",
    "git -C /srv/repo branch x",
    "cd /srv/repo && git add x",
    "git --work-tree=/srv checkout-index -a",
    "git --work-tree /srv stash",
    "git init /srv/x",
    "git init --separate-git-dir=/srv/x",
    "git worktree add /srv/x",
    "git format-patch -o /srv/x -1",
    "git format-patch --output-directory=/srv -1",
    "git fast-export --export-marks=/srv/x HEAD",
    "git bugreport -o /srv",
    "git mailinfo /srv/a /srv/b",
    "git merge-file /srv/a b c",
    "git pack-objects /srv/x",
    "git interpret-trailers --in-place /srv/x",
    "git apply --build-fake-ancestor=/srv/x p",
    "git apply --directory=/srv p",
    "git log --output=/srv/x",
    "as -a=/srv/x x.s",
    "as -aln=/srv/x x.s",
    "as --MD /srv/x x.s",
    "ld -Map /srv/x a.o",
    "ld --dependency-file=/srv/x a.o",
    "gcc -Wa,-a=/srv/x x.c",
    "gcc -Wa,-aln=/srv/x x.c",
    "gcc -Xassembler -a=/srv/x x.c",
    "gcc -Wp,-MD,/srv/x x.c",
    "gcc -fdump-tree-all=/srv/x x.c",
    "clang -serialize-diagnostics /srv/x x.c",
    "nasm -l /srv/x x.asm",
    "protoc --python_out=/srv a.proto",
    "rustc --emit=link=/srv/x a.rs",
    "rustc -Clinker=./x a.rs",
    "rustc -C linker=./x a.rs",
    "git worktree add ../x",
    "git archive -o /srv/x HEAD",
    "git diff --output=/srv/x",
    "cargo clean --target-dir /srv/x",
    "cp a b --weird /srv/x",
    "mv /srv/x .",
    "strip /srv/x",
    "touch -r a /srv/x",
    "npm install -g x",
    "ls | xargs rm",
    "ls | xargs gzip",
    "cd .. && gzip x",
    "install -d /srv/x",
    "yq -i .a=1 /srv/x.yml",
    "chmod -R 777 /srv",
    "iconv -o /srv/x a",
    "xxd a /srv/x",
    "dd if=a of=$f",
    "sort --output=$f a",
    "sort -o$f a",
    "sort \"--output=$f\" a",
    "curl --output=/srv/x u",
    "scp h:x /srv/x",
    "go build -o /srv/x ./...",
    "cargo build --target-dir /srv/x",
    "pytest --basetemp=/srv/x",
    "pytest --junitxml=../x.xml",
    "tsc --outDir /srv/x",
    "pip install --target /srv/x y",
    "gcc @options x.c",
    "gcc -Wl,-Map=/srv/x x.c",
    "tar cf x.tar -T list --remove-files",
    "tar xf x.tar --one-top-level -C /srv",
    "ar --output=/srv x lib.a",
    "echo .quit | sqlite3 x.db",
    "nm -o /srv/x",
    "http --download -o /srv/x u",
    "aria2c -d /srv u",
    "patch -p0 -o /srv/x < p",
    "curl -w '%output{/srv/x}' u",
    "java -Xshare:dump -XX:SharedArchiveFile=/srv/x",
    "java -Xlog:gc*=info:file=/srv/x:time -version",
    "java '-Xlog:gc*=info:file=/srv/x:time' -version",
    "black /srv/x.py",
    "black ../x.py",
    "isort ~/x.py",
    "ruff format /srv/x.py",
    "dart format /srv/x",
    "mix format /srv/x.ex",
    "deno fmt /srv/x.ts",
    "zig fmt /srv/x.zig",
    "cargo fmt -- /srv/x.rs",
    "cargo vendor /srv/x",
    "cargo vendor src/../../x",
    "gradle -p /srv/x clean",
    "ant -logfile /srv/x",
    "pytest -o log_file=/srv/x",
    "pytest -o log_file=../x",
    "go build -o=../..",
    "sphinx-build . /srv/x",
    "latexmk -C -outdir=/srv/x",
    "make -C \"$PLACE/x\"",
    "black $(echo /srv/x)",
    "make DESTDIR=//srv/x install",
    "npm --prefix=/srv/x install",
];

#[test]
fn addresses_and_places_in_the_workspace_are_no_paths_outside() {
    for line in [
        "npm install --registry=https://registry.example/npm/",
        "cargo install --git https://code.example/x.git --root target",
        "cargo run -- ./data/x.json",
        "eslint 'src/**/*.ts' --config=./lint.json",
        "pytest tests/a.py::test_b -k 'a/b'",
        "go test ./... -run Test/Sub",
        "DATABASE_URL=postgres://localhost/x alembic upgrade head",
    ] {
        let reasons = ask(&run(line), &policy(Mode::Production)).reasons;
        assert!(!reasons.iter().any(|reason| reason.contains("may change")), "{line}: {reasons:?}");
    }
}

#[test]
fn other_version_control_and_macros_ask_in_production() {
    for line in ["hg archive x", "svn export --force u .", "jj restore", "m4 <<< 'syscmd(x)'", "m4 x.m4"] {
        check(Mode::Production, line, Verdict::Ask);
    }
}

#[test]
fn packages_are_removed_by_a_subcommand_and_not_by_any_word() {
    let reason = "it removes packages";
    let is_removal = |line: &str| {
        let decision = ask(&run(line), &policy(Mode::Production));
        decision.reasons.iter().any(|found| found.contains(reason))
    };
    for line in [
        "cargo test remove",
        "pip download uninstall",
        "apt-get install remove",
        "apk add del",
        "uv remove requests",
        "dotnet remove package x",
        "brew info remove",
    ] {
        assert!(!is_removal(line), "{line}");
    }
    for line in [
        "rustup self uninstall -y",
        "rustup toolchain uninstall stable",
        "pipx uninstall-all",
        "pyenv uninstall -f 3.12",
        "nvm uninstall 20",
        "uv python uninstall 3.12",
        "uv tool uninstall x",
        "asdf uninstall x y",
        "mise uninstall x",
        "nix profile remove x",
        "nix-env -e x",
        "opam remove x",
        "cargo remove x",
        "cargo +nightly remove x",
        "cargo -C dir remove x",
        "apt-get -y remove x",
        "conda env remove x",
    ] {
        assert!(is_removal(line), "{line}");
    }
    for line in ["apt -o A=b purge x", "pip --proxy x uninstall y", "apk del x", "dnf group remove x"] {
        assert!(is_removal(line), "{line}");
    }
}

#[test]
fn code_on_a_command_line_asks_in_production_wherever_it_stands() {
    for line in [
        "python3 -W ignore -c 'import os'",
        "python3 -X dev -c 'import os'",
        "python3 --check-hash-based-pycs always -c x",
        "python3 -W ignore - < x",
        "python3 -m timeit -s x",
        "python3 -m pdb -c x f.py",
        "python3 -m venv --clear x",
        "python3 -m zipfile -c /srv/x y",
        "perl -I lib -e x",
        "node -r fs -e x",
        "node --title x -e y",
        "node --import data:text/javascript,x f.js",
        "node --import=data:text/javascript,x f.js",
        "node --input-type module -e x",
        "make --eval='all:;rm -rf x' all",
        "make -E x all",
        "npx -c 'rm -rf /srv/x'",
        "cmake -E rm -rf /srv/x",
        "git clone -u 'rm -rf x;' . y",
        "git archive --exec='rm -rf x' --remote=. HEAD",
        "git read-tree -u --reset HEAD",
        "git checkout -B main",
        "history -a x",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    for line in
        ["python3 -W ignore tool.py", "python3 -u -X dev tool.py", "node --max-old-space-size=4096 x.js"]
    {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn a_program_behind_the_loader_a_key_and_a_module_are_judged_within_a_window_too() {
    let judged = |line: &str| {
        decide(&run(line), &policy(Mode::Production), &Now::with(ApprovalPolicy::Window { seconds: 60 }))
            .verdict
    };
    for loader in [
        "/lib64/ld-linux-x86-64.so.2",
        "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib/ld-musl-x86_64.so.1",
        "/lib64/ld64.so.2",
        "/lib/x86_64-linux-gnu/ld-2.31.so",
        "/nix/store/x-glibc-2.39/lib/ld-linux-x86-64.so.2",
        "ld.so",
        "./ld-linux.so.2",
        "/lib64/ld-linux-x86-64.so.2 --argv0 ls --inhibit-cache",
        "setpriv --no-new-privs",
        "choom -n 5 --",
        "x86_64",
        "qemu-x86_64",
    ] {
        let line = format!("{loader} /bin/rm -rf /srv/x");
        assert_eq!(judged(&line), Verdict::Ask, "{line}");
    }
    for line in [
        "/lib64/ld-linux-x86-64.so.2 --preload ./x.so /bin/ls",
        "/lib64/ld-linux-x86-64.so.2 --library-path . /bin/ls",
        "/lib64/ld-linux-x86-64.so.2 $x",
        "ssh-keygen -f /srv/key",
        "ssh-keygen -q -N '' -t ed25519 -f/srv/key",
        "ssh-keygen -p -N x -f ../key",
        "ssh-keygen -t ed25519",
        "ssh-keygen -A",
        "ssh-keygen -D ./x.so",
        "ssh-keygen -s ca -I x /srv/key.pub",
        "ssh-keygen -R host -f /srv/known_hosts",
        "python3 -m venv /srv/x",
        "python3 -m venv --clear ../x",
        "python3.12 -u -m venv $x",
        "python3 -m virtualenv /srv/x",
        "python3 -m zipfile -e a.zip /srv",
        "python3 -m zipfile -c /srv/a.zip x",
        "python3 -m tarfile -e a.tar /srv",
        "cd /srv && python3 -m tarfile -e a.tar",
        "python3 -m tarfile --create /srv/a.tar x",
        "python3 -m compileall /srv",
        "python3 -m compileall",
        "python3 -m pip install --target /srv x",
        "python3 -m pip install -t ../x x",
        "python3 -m ensurepip --root /srv",
        "python3 -m json.tool a /srv/b",
        "python3 -m frobnicate",
    ] {
        assert_eq!(judged(line), Verdict::Ask, "{line}");
    }
    for line in [
        "/lib64/ld-linux-x86-64.so.2 /bin/ls",
        "ssh-keygen -l -f /srv/key.pub",
        "ssh-keygen -q -N '' -t ed25519 -f key",
        "python3 -m venv .venv",
        "python3 -m zipfile -l /srv/a.zip",
        "python3 -m tarfile -e a.tar out",
        "python3 -m compileall src",
        "python3 -m pip install -r requirements.txt",
        "python3 -m json.tool /srv/a",
        "python3 -m pytest -q",
    ] {
        assert_eq!(judged(line), Verdict::Allow, "{line}");
    }
}

#[test]
fn arguments_that_a_program_evaluates_ask_in_production() {
    for line in [
        "mix eval 'File.rm(\"/home/u/x\")'",
        "mix do eval 'File.rm(\"/home/u/x\")'",
        "yarn node -e 'require(\"fs\").rmSync(\"/home/u/x\")'",
        "pnpm -c exec 'rm /home/u/x'",
        "pnpm -rc exec 'rm /home/u/x'",
        "pnpm --shell-mode exec 'rm /home/u/x'",
        "pm2 start 'rm /home/u/x'",
        "pm2 start x --interpreter rm",
        "hyperfine -S 'rm /home/u/x' true",
        "hyperfine --shell='rm /home/u/x' true",
        "sbt 'eval 1'",
        "sbt 'compile; eval 1'",
        "sbt 'set name := \"x\"'",
        "brew sh -c 'rm /home/u/x'",
        "brew ruby -e 'File.delete(\"/home/u/x\")'",
        "gem open x -e 'rm /home/u/x'",
        "npm docs --browser='rm /home/u/x'",
        "pylint --init-hook='import os' x",
        "nim --eval:'removeFile \"/home/u/x\"'",
        "flatpak build d rm /home/u/x",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    for line in [
        "mix test",
        "yarn node x.js",
        "pnpm exec jest",
        "hyperfine true",
        "sbt compile",
        "pylint x",
        "gem list",
    ] {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn a_builtin_that_runs_its_words_is_judged_by_them() {
    for line in [
        "jobs -x rm /home/u/x",
        "builtin jobs -x rm /home/u/x",
        "command jobs -lx rm /home/u/x",
        "jobs -x -- rm /home/u/x",
        "x=-x; jobs \"$x\" rm /home/u/x",
        "builtin -f ./lib.so x",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    for line in ["jobs", "jobs -l", "jobs -p %1", "builtin echo hi", "jobs -x true"] {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn words_that_are_links_are_judged_by_their_targets() {
    let links = [("/w/l", "/home/u/d"), ("/w/lf", "/home/u/f")].map(|(from, to)| (from.into(), to.into()));
    let verdict = |line: &str| {
        let now = Now { links: &links, ..Now::with(ApprovalPolicy::Ask) };
        decide(&run(line), &policy(Mode::Production), &now).verdict
    };
    for line in [
        "shred lf",
        "find -H l -delete",
        "find -H l -name f -delete",
        "zip -rm n.zip l",
        "7zz a n.7z l -sdel",
        "tar -h --remove-files -cf n.tar l",
        "make -C l clean",
        "make -Cl clean",
        "make --directory=l clean",
        "black lf",
        "prettier -w lf",
        "ruff format l",
    ] {
        assert_eq!(verdict(line), Verdict::Ask, "{line}");
    }
    for line in [
        "rm lf",
        "unlink lf",
        "mv lf g",
        "find l -delete",
        "make -C m clean",
        "black f",
        "shred f",
        "zip -rm n.zip d",
    ] {
        assert_eq!(verdict(line), Verdict::Allow, "{line}");
    }
}

#[test]
fn packages_of_the_account_and_services_ask_in_production() {
    for line in [
        "yarn global remove x",
        "composer global remove x",
        "pm2 delete all",
        "pm2 kill",
        "npm dist-tag add x y",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
}

#[test]
fn a_denial_where_nobody_is_asked_names_the_option_that_works() {
    let lost = [std::path::PathBuf::from("/w/data")];
    for (mode, line, way) in [
        (Mode::Development, "rm -r data", "`--approve all`; no `--allow` covers it"),
        (Mode::Production, "rm -rf /srv/data", "`--approve all`; no `--allow` covers it"),
        (Mode::Development, "eval $X", "`--permission-mode auto`; no `--allow` covers it"),
    ] {
        let mut ruled = policy(mode);
        ruled.rules.add(buddy_policy::RuleTier::Run, rules(r#"allow = ["rm *", "eval *"]"#));
        let attendance = buddy_policy::Attendance::Nobody;
        let now = Now { attendance, lost: &lost, ..Now::with(ApprovalPolicy::Ask) };
        let decision = decide(&run(line), &ruled, &now);
        assert_eq!((decision.verdict, decision.is_unasked), (Verdict::Deny, true), "{line}");
        assert_eq!(decision.ways, [way], "{line}: {:?}", decision.reasons);
    }
}

#[test]
fn a_removal_that_undo_does_not_cover_says_so() {
    for line in ["rm -rf /home/u/old", "rm -rf /srv/data", "rm -rf /w"] {
        let reasons = ask(&run(line), &policy(Mode::Production)).reasons.join("; ");
        assert!(reasons.contains("undo cannot bring it back"), "{line}: {reasons}");
    }
}

#[test]
fn a_program_that_may_want_a_password_is_left_to_another_terminal() {
    let reason = |line: &str| ask(&run(line), &policy(Mode::Development)).reasons.join("; ");
    assert!(reason("sudo apt install x").contains("in another terminal"), "{}", reason("sudo apt install x"));
    assert!(reason("docker ps").contains("with `!`"), "{}", reason("docker ps"));
}
