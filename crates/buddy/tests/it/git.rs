//! Git tools: a hostile repository makes none of them start a program, and an honest one is read and changed.

use std::fs;
use std::path::{Path, PathBuf};

use buddy_testkit::model::turn;
use buddy_testkit::program::Program;
use serde_json::{Value, json};

use crate::stage::{Stage, done, run};

/// A repository with a commit, a staged change, one in the work tree, and a file that git does not know.
pub(crate) const HONEST: &str = r"
git init -q -b main . && git config user.name Ann && git config user.email ann@example.org
printf 'one\n' > a.txt && printf 'bin\n' > b.bin && git add . && git commit -q -m 'first commit' -m 'with a body'
printf 'two\n' >> a.txt && printf 'staged\n' > c.txt && git add c.txt && printf 'new\n' > new.txt
";

/// Everything in a repository that names a program, each of which leaves a mark named after it in `$MARKS`.
pub(crate) const HOSTILE: &str = r#"
git init -q -b main inner && (cd inner && git config user.name X && git config user.email x@x && echo i > i.txt &&
  git add . && git commit -q -m inner && git config core.fsmonitor "touch $MARKS/inner-fsmonitor; false" &&
  git config filter.evil.clean "touch $MARKS/inner-clean; cat" && echo '*.txt filter=evil' > .git/info/attributes &&
  echo more >> i.txt)
git -c protocol.file.allow=always submodule --quiet add ./inner inner 2>/dev/null || git add inner
git commit -q -m 'with another repository' 2>/dev/null
# So that git has to look at the contents again.
sleep 0.01; echo two >> a.txt; touch -d '2001-01-01' a.txt b.bin
printf '*.txt filter=evil diff=evil\n*.bin filter=odd=name diff=shown merge=evil\n' > .gitattributes
cp .gitattributes .git/info/attributes
mark() { echo "touch $MARKS/$1"; }
git config core.fsmonitor "$(mark fsmonitor); false"
mkdir -p .hooks && git config core.hooksPath .hooks
for hook in pre-commit prepare-commit-msg commit-msg post-commit post-index-change pre-push reference-transaction pre-auto-gc; do
  for where in .hooks .git/hooks; do printf '#!/bin/sh\ntouch %s/hook-%s\n' "$MARKS" $hook > $where/$hook && chmod +x $where/$hook; done
done
git config core.pager "$(mark pager); cat"; git config pager.log "$(mark pager-log); cat"
git config core.editor "$(mark editor); false"; git config sequence.editor "$(mark sequence-editor)"
git config core.sshCommand "$(mark ssh)"; git config core.askPass "$MARKS/../askpass"
git config core.alternateRefsCommand "$(mark alternates)"
git config diff.external "$(mark external)"; git config diff.evil.textconv "$(mark textconv); cat"
git config diff.shown.command "$(mark shown)"; git config merge.evil.driver "$(mark merge)"
for filter in evil 'odd=name'; do
  git config "filter.$filter.clean" "$(mark clean); cat"; git config "filter.$filter.smudge" "$(mark smudge); cat"
done
git config filter.evil.required true
git config gpg.program "$MARKS/../gpg"; git config commit.gpgSign true; git config log.showSignature true
printf '#!/bin/sh\ntouch %s/gpg\nexit 1\n' "$MARKS" > "$MARKS/../gpg"; chmod +x "$MARKS/../gpg"
git config credential.helper "!$(mark credential)"
printf '[diff "included"]\n\ttextconv = touch %s/included; cat\n[core]\n\tfsmonitor = touch %s/included-fsmonitor; false\n' "$MARKS" "$MARKS" > .git/more
git config include.path more
printf '*.txt filter=evil diff=included\n' >> .git/info/attributes
git config remote.away.url "ext::sh -c touch% $MARKS/ext"; git config remote.away.promisor true
git config extensions.partialClone away; git config core.repositoryFormatVersion 1
git config submodule.inner.update "!$(mark submodule)"
git config alias.status "!$(mark alias)"
"#;

pub(crate) async fn bash(place: &Path, marks: &Path, script: &str) {
    let finished = Program::new("/bin/bash")
        .args(["-c", script])
        .cwd(place)
        .env("HOME", place)
        .env("MARKS", marks)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .run()
        .await;
    finished.expect_code(0);
}

pub(crate) fn marks_in(marks: &Path) -> Vec<String> {
    let names = fs::read_dir(marks).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A stage whose model makes these calls one after the other, and whose repository was made by these scripts.
pub(crate) async fn stage(calls: &[(&str, Value)], scripts: &[&str]) -> (Stage, PathBuf) {
    let turns = calls.iter().map(|(name, input)| turn().call(name, input.clone()));
    let stage = Stage::new(turns.chain([turn().text("Done.")]).collect::<Vec<_>>()).await;
    let marks = stage.home.path().join("marks");
    fs::create_dir(&marks).unwrap();
    for script in scripts {
        bash(&stage.home.work(), &marks, script).await;
    }
    // Making the repository may have run some of it.
    fs::remove_dir_all(&marks).unwrap();
    fs::create_dir(&marks).unwrap();
    (stage, marks)
}

async fn results(stage: &Stage) -> Vec<Value> {
    stage.exec(["go"]).run().await.expect_code(0);
    stage.results()
}

fn reads() -> Vec<(&'static str, Value)> {
    vec![
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_diff", json!({"staged": true})),
        ("git_diff", json!({"revision": "HEAD", "files": ["a.txt", "b.bin"]})),
        ("git_log", json!({"limit": 3})),
        ("git_log", json!({"files": ["a.txt"]})),
        ("git_branch", json!({})),
    ]
}

#[tokio::test]
async fn reading_a_hostile_repository_starts_no_program() {
    let (stage, marks) = stage(&reads(), &[HONEST, HOSTILE]).await;
    for (result, (name, input)) in results(&stage).await.iter().zip(reads()) {
        assert_eq!(result["ok"], json!(true), "{name} {input}: {result:#}");
    }
    assert_eq!(marks_in(&marks), [""; 0]);
    // The same questions to git alone, so that it is known that there was something to start.
    let plain = "git status; git -c core.fsmonitor=false diff --no-ext-diff; git diff; git log -p -2; true";
    bash(&stage.home.work(), &marks, plain).await;
    let started = marks_in(&marks);
    for mark in
        ["clean", "external", "included", "included-fsmonitor", "hook-post-index-change", "inner-fsmonitor"]
    {
        assert!(started.iter().any(|name| name == mark), "`{mark}` is not among {started:?}");
    }
}

/// A commit with a secret file and an ordinary one, both changed since, in the index and in the work tree.
const SECRETS: &str = "git init -q . && git config user.name a && git config user.email a@b
mkdir -p sub && printf 'KEY=old-secret\\n' > .env && cp .env sub/.env && echo one > a.txt && echo one > 'sub/:(b).txt'
git add -f . && git commit -qm one
printf 'KEY=staged-secret\\n' | tee .env > sub/.env && echo two > a.txt && git add -f .
printf 'KEY=new-secret\\n' | tee .env > sub/.env && echo three > a.txt && echo three > 'sub/:(b).txt'";

#[tokio::test]
async fn a_diff_names_secrets_and_shows_everything_else() {
    let inputs = [
        json!({}),
        json!({"staged": true}),
        json!({"revision": "HEAD"}),
        json!({"revision": "HEAD", "files": ["."]}),
        json!({"files": ["."]}),
        json!({"files": ["a.txt", "sub"]}),
        json!({"staged": true, "files": ["a.txt", "sub"]}),
    ];
    let calls: Vec<(&str, Value)> = inputs.iter().map(|input| ("git_diff", input.clone())).collect();
    let (stage, _) = stage(&calls, &[SECRETS]).await;
    stage.usual(["exec", "--trust", "go"]).run().await.expect_code(0);
    let results = stage.results();
    assert_eq!(results.len(), inputs.len());
    for (input, result) in inputs.iter().zip(results) {
        let diff = result["result"]["diff"].as_str().unwrap_or_else(|| panic!("{input}: {result:#}"));
        assert!(diff.contains("a.txt"), "{input}: {diff}");
        assert!(!diff.contains("secret"), "{input}: {diff}");
        let not_shown = result["result"]["not_shown"].as_array().unwrap();
        assert!(not_shown.contains(&json!("sub/.env")), "{input}: {not_shown:?}");
    }
    let odd = [("git_diff", json!({"files": ["sub/:(b).txt"]}))];
    let (stage, _) = self::stage(&odd, &[SECRETS]).await;
    stage.usual(["exec", "--trust", "go"]).run().await.expect_code(0);
    let diff = stage.results()[0]["result"]["diff"].as_str().unwrap().to_owned();
    assert!(diff.contains("+three") && !diff.contains("a.txt"), "names of files have no magic: {diff}");
}

#[tokio::test]
async fn changing_a_hostile_repository_starts_no_program() {
    let calls = [
        ("git_add", json!({"files": ["a.txt"]})),
        ("git_add", json!({"files": ["."]})),
        ("git_add", json!({"files": [".gitattributes"]})),
        ("git_commit", json!({"message": "more"})),
        ("git_push", json!({"remote": "away", "url": "ext::sh -c touch", "branch": "main"})),
    ];
    let (stage, marks) = stage(&calls, &[HONEST, HOSTILE]).await;
    let results = results(&stage).await;
    let codes: Vec<_> =
        results.iter().map(|result| result["error"]["code"].as_str().unwrap_or("ok")).collect();
    assert_eq!(codes, ["filtered", "filtered", "ok", "ok", "refused"], "{results:#?}");
    assert_eq!(marks_in(&marks), [""; 0]);
    bash(&stage.home.work(), &marks, "git add .; git commit -m plain; true").await;
    let started = marks_in(&marks);
    for mark in ["clean", "hook-pre-commit", "gpg"] {
        assert!(started.iter().any(|name| name == mark), "`{mark}` is not among {started:?}");
    }
}

#[tokio::test]
async fn an_honest_repository_is_read() {
    let (stage, _) = stage(&reads(), &[HONEST]).await;
    let results = results(&stage).await;
    let result = |number: usize| &results[number]["result"];
    assert_eq!(result(0)["branch"]["head"], "main");
    let files = json!([
        {"path": "a.txt", "index": "unchanged", "work_tree": "modified"},
        {"path": "c.txt", "index": "added", "work_tree": "unchanged"},
        {"path": "new.txt", "state": "untracked"},
    ]);
    assert_eq!(result(0)["files"], files);
    assert!(result(1)["diff"].as_str().unwrap().contains("+two"), "{}", result(1));
    assert!(result(2)["diff"].as_str().unwrap().contains("+staged"), "{}", result(2));
    let commit = &result(4)["commits"][0];
    assert_eq!((&commit["subject"], &commit["body"]), (&json!("first commit"), &json!("with a body")));
    assert_eq!(commit["author"], "Ann <ann@example.org>");
    let branch = &result(6)["branches"][0];
    assert_eq!((&branch["name"], &branch["is_current"]), (&json!("refs/heads/main"), &json!(true)));
}

#[tokio::test]
async fn work_is_added_committed_and_pushed() {
    let remote = "git init -q --bare ../remote.git && git remote add origin ../remote.git";
    let url = "../remote.git";
    let calls = [
        ("git_add", json!({"files": ["a.txt", "new.txt"]})),
        ("git_commit", json!({"message": "second\n\n# kept out"})),
        ("git_commit", json!({"message": "nothing left"})),
        ("git_push", json!({"remote": "origin", "url": "elsewhere", "branch": "main"})),
        ("git_push", json!({"remote": "origin", "url": url, "branch": "main"})),
        ("git_push", json!({"remote": "--exec=x", "url": url, "branch": "main"})),
        ("git_diff", json!({"revision": "--output=x"})),
        ("git_diff", json!({"revision": "HEAD:a.txt..HEAD:b.bin"})),
        ("git_diff", json!({"revision": "HEAD^{tree}"})),
    ];
    let (stage, marks) = stage(&calls, &[HONEST, remote]).await;
    let results = results(&stage).await;
    let codes: Vec<_> =
        results.iter().map(|result| result["error"]["code"].as_str().unwrap_or("ok")).collect();
    let [ok, refused, invalid] = ["ok", "refused", "invalid_input"];
    let expected = [ok, ok, "nothing_to_commit", refused, ok, invalid, invalid, invalid, invalid];
    assert_eq!(codes, expected, "{results:#?}");
    assert_eq!(results[1]["result"]["subject"], "second");
    let check = "test \"$(git -C ../remote.git log -1 --format=%s main)\" = second && test ! -e x";
    bash(&stage.home.work(), &marks, check).await;
}

#[tokio::test]
async fn a_repository_that_points_elsewhere_is_refused_or_told() {
    let elsewhere = "git init -q -b main ../other && mkdir moved && cd moved && git init -q . && git config core.worktree /";
    let linked =
        "mkdir linked && cd linked && printf 'gitdir: %s/../other/.git\\n' \"$(dirname \"$PWD\")\" > .git";
    let calls = [
        ("git_status", json!({"path": "moved"})),
        ("git_status", json!({"path": "linked"})),
        ("git_commit", json!({"path": "linked", "message": "into another"})),
        ("git_status", json!({"path": "/"})),
    ];
    let (stage, _) = stage(&calls, &[elsewhere, linked]).await;
    let results = results(&stage).await;
    assert_eq!(results[0]["error"]["code"], "refused", "{:#}", results[0]);
    assert!(results[1]["result"]["git_dir"].as_str().unwrap().ends_with("other/.git"), "{:#}", results[1]);
    assert_eq!(results[2]["error"]["code"], "refused", "{:#}", results[2]);
    assert_eq!(results[3]["error"]["code"], "not_found", "{:#}", results[3]);
}

/// A conversation in the default mode whose model pushes to these folders, of which each is made by the script.
async fn pushes(folders: &[&str], script: &str) -> (Stage, Vec<Value>, String) {
    let push = |folder: &&str| {
        turn().call(
            "git_push",
            json!({"remote": folder.trim_matches(['.', '/']), "url": folder, "branch": "main"}),
        )
    };
    let stage =
        Stage::apart(folders.iter().map(push).chain([turn().text("Done.")]).collect::<Vec<_>>()).await;
    let work = stage.home.work();
    bash(&work, &stage.home.path().join("marks"), &format!("{HONEST}\n{script}")).await;
    for folder in folders {
        let name = folder.trim_matches(['.', '/']);
        bash(&work, &work, &format!("git remote add {name} {folder}")).await;
    }
    stage.buddy(["trust"]).run().await.expect_code(0);
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    tokio::select! {
        () = started.stderr.wait_for("approve? [y/n]", 1) => {}
        () = started.stdout.wait_for("Done.", 1) => {}
    }
    started.write(b"y\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let asked = started.finish().await.stderr;
    let results = stage.results();
    (stage, results, asked)
}

#[tokio::test]
async fn a_push_to_a_folder_beside_the_project_happens_once_a_person_allowed_it() {
    let (stage, results, asked) = pushes(&["../backup.git"], "git init -q --bare ../backup.git").await;
    assert_eq!(results[0]["ok"], json!(true), "{results:#?}");
    assert!(asked.contains("push main to backup.git (../backup.git)"), "{asked}");
    assert_eq!(asked.matches("approve? [y/n]").count(), 1, "{asked}");
    let check = "test \"$(git -C ../backup.git rev-parse main)\" = \"$(git rev-parse main)\"";
    bash(&stage.home.work(), &stage.home.work(), check).await;
    // The remote is a folder outside, which undo does not restore.
    let told = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    for expected in ["Undone in part: git push main", "restored", "/backup.git  it is outside the workspace"]
    {
        assert!(told.stderr.contains(expected), "{expected}: {told}");
    }
    bash(&stage.home.work(), &stage.home.work(), check).await;
}

#[tokio::test]
async fn a_push_to_a_folder_opens_no_network_and_no_secret_and_can_be_allowed_for_longer() {
    let push =
        || turn().call("git_push", json!({"remote": "backup.git", "url": "../backup.git", "branch": "main"}));
    let stage = Stage::apart(vec![push(), turn().text("Done."), push(), turn().text("Done again.")]).await;
    let work = stage.home.work();
    let script = format!(
        "{HONEST}\ngit init -q --bare ../backup.git; git remote add backup.git ../backup.git; echo KEY=1 > .env"
    );
    bash(&work, &stage.home.path().join("marks"), &script).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n", 1).await;
    started.write(b"a\n").await;
    started.stdout.wait_for("Done.", 1).await;
    bash(&work, &work, "git commit -q --allow-empty -m more").await;
    started.write(b"again\n").await;
    started.stdout.wait_for("Done again.", 1).await;
    let asked = started.finish().await.stderr;
    assert_eq!(asked.matches("approve? [y/n").count(), 1, "{asked}");
    for absent in ["whole network", "It can read", "High risk"] {
        assert!(!asked.contains(absent), "{absent}: {asked}");
    }
    let check = "test \"$(git -C ../backup.git rev-parse main)\" = \"$(git rev-parse main)\"";
    bash(&work, &work, check).await;
}

#[tokio::test]
async fn a_push_by_a_command_to_a_folder_happens_once_a_person_allowed_it() {
    let command = "git push ../backup.git main";
    let stage = Stage::apart(vec![run(command), turn().text("Done.")]).await;
    let work = stage.home.work();
    let script = format!("{HONEST}\ngit init -q --bare ../backup.git");
    bash(&work, &stage.home.path().join("marks"), &script).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    let asked = started.stderr.text();
    assert!(
        asked.contains("a repository on this machine") && asked.contains("backup.git` to this command"),
        "{asked}"
    );
    started.write(b"y\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await;
    let check = "test \"$(git -C ../backup.git rev-parse main)\" = \"$(git rev-parse main)\"";
    bash(&work, &work, check).await;
    let told = stage.buddy(["undo", "--yes"]).run().await.expect_code(1);
    for expected in ["undo cannot restore this change: git push", "the remote  it keeps what was pushed"] {
        assert!(told.stderr.contains(expected), "{expected}: {told}");
    }
}

/// A conversation in the default mode whose model runs a command beside the folder of the remote `origin`, and whose user says yes.
async fn by_remote(command: &str, folder: &str, script: &str) -> (Stage, Vec<Value>, String) {
    let stage = Stage::apart(vec![run(command), turn().text("Done.")]).await;
    let work = stage.home.work();
    let script = format!("{HONEST}\n{script}\ngit remote add origin {folder}");
    bash(&work, &stage.home.path().join("marks"), &script).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    tokio::select! {
        () = started.stderr.wait_for("approve? [y/n]", 1) => started.write(b"y\n").await,
        () = started.stdout.wait_for("Done.", 1) => {}
    }
    started.stdout.wait_for("Done.", 1).await;
    let asked = started.finish().await.stderr;
    let results = stage.results();
    (stage, results, asked)
}

#[tokio::test]
async fn a_push_by_the_name_of_a_remote_writes_its_folder_once_a_person_allowed_it() {
    for command in ["git push origin main", "git push"] {
        let script = "git init -q --bare ../backup.git && git config push.default current";
        let (stage, results, asked) = by_remote(command, "../backup.git", script).await;
        assert!(
            asked.contains("a repository on this machine") && asked.contains("backup.git` to this command"),
            "{asked}"
        );
        assert_eq!(results[0]["result"]["exit_code"], json!(0), "{command}: {results:#?}");
        let check = "test \"$(git -C ../backup.git rev-parse main)\" = \"$(git rev-parse main)\"";
        bash(&stage.home.work(), &stage.home.work(), check).await;
    }
}

#[tokio::test]
async fn a_push_by_the_name_of_a_remote_that_no_yes_opens_is_refused_at_once() {
    let script = "mkdir ../.ssh && git init -q --bare ../.ssh/a.git";
    let (_stage, results, asked) = by_remote("git push origin main", "../.ssh/a.git", script).await;
    assert_eq!(results[0]["error"]["code"], "forbidden", "{results:#?}");
    assert_eq!(asked.matches("approve? [y/n]").count(), 0, "{asked}");
}

#[tokio::test]
async fn a_fetch_by_the_name_of_a_remote_asks_where_that_tracks_a_secret() {
    let other = "git init -q -b main ../other && cd ../other && echo key > .env && git add -f .env && \
                 git -c user.name=x -c user.email=x@y commit -qm x && cd - > /dev/null";
    let bare = "git init -q --bare ../other";
    for (script, is_asked) in [(other, true), (bare, false)] {
        for command in ["git fetch -q origin", "git fetch -q"] {
            let (_stage, results, asked) = by_remote(command, "../other", script).await;
            assert_eq!(asked.contains(".env` from what git keeps"), is_asked, "{command}: {asked}");
            assert_eq!(results[0]["result"]["exit_code"], json!(0), "{command}: {results:#?}");
        }
    }
}

#[tokio::test]
async fn a_push_that_cannot_work_or_may_not_be_is_refused_before_anybody_is_asked() {
    let script = "git init -q ../tree && mkdir ../empty ../.ssh && git init -q --bare ../.ssh/a.git && \
                  git init -q --bare ../real.git && ln -s real.git ../link";
    let folders = ["../tree", "../empty", "../.ssh/a.git", "../link"];
    for (folder, why) in folders.iter().zip(["work tree", "no repository", "protected", "leads to"]) {
        let (_stage, results, asked) = pushes(&[folder], script).await;
        let message = results[0]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(why), "{folder}: {results:#?}");
        assert_eq!(asked.matches("approve? [y/n]").count(), 0, "{folder}: {asked}");
    }
}

#[tokio::test]
async fn what_the_git_tools_change_in_the_repository_is_undone() {
    let calls =
        [("git_add", json!({"files": ["a.txt", "new.txt"]})), ("git_commit", json!({"message": "second"}))];
    let turns = calls.map(|(name, input)| turn().call(name, input));
    let stage = Stage::apart(turns.into_iter().chain([turn().text("Done.")]).collect::<Vec<_>>()).await;
    let work = stage.home.work();
    bash(&work, &work, HONEST).await;
    let keep =
        "{ git rev-parse HEAD; git for-each-ref; git ls-files -s; git status --porcelain; } > ../$STATE";
    bash(&work, &work, &keep.replace("$STATE", "before")).await;
    stage.usual(["exec", "--trust", "go"]).run().await.expect_code(0);
    bash(&work, &work, "test \"$(git log -1 --format=%s)\" = second").await;
    for _ in 0..2 {
        stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    }
    bash(&work, &work, &keep.replace("$STATE", "after")).await;
    bash(&work, &work, "diff ../before ../after && git fsck --connectivity-only").await;
}

#[tokio::test]
async fn credentials_in_settings_of_git_are_in_no_result() {
    let calls = vec![
        run("git remote -v; cat .git/config"),
        turn().call("read_file", json!({"path": ".git/config"})),
        turn().call("git_branch", json!({})),
        done(),
    ];
    let stage = Stage::apart(calls).await;
    let set_up = "git init -q && git remote add origin https://ann:tokentoken4711@git.invalid/x.git && \
        git config http.https://git.invalid/.extraheader 'AUTHORIZATION: basic headerheader4711'";
    stage.in_bash(set_up).run().await.expect_code(0);
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.usual(["exec", "go"]).run().await;
    let results = stage.results();
    let shown = results.iter().map(ToString::to_string).collect::<String>();
    assert!(!shown.contains("4711"), "{results:#?}");
    assert!(shown.contains("https://***@git.invalid/x.git") && shown.contains("basic ***"), "{results:#?}");
}
