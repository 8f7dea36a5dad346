//! `LINK/..` is the directory above the link's target, for the question, the tools and the kernel alike.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use buddy_protocol::{Fact, Question};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, done, run};

/// Keeps buddy from bubblewrap.
const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";

/// A home with files of its own, and a trusted folder in it with links that lead there.
async fn stage(calls: Vec<Turn>) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    let (home, work) = (stage.home.path().to_owned(), stage.home.work());
    for name in ["vic/sub/inner", "vic/f", "vic/d/g", ".bashrc", ".ssh/id_ed25519", "notes/n"] {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), format!("kept {name}\n")).unwrap();
    }
    fs::create_dir_all(work.join("sub/deep")).unwrap();
    for name in ["plain.txt", "f", ".bashrc"] {
        fs::write(work.join(name), "of the project\n").unwrap();
    }
    // Inside the project too, so that only `..` leads out.
    symlink("../vic/sub", work.join("lnk")).unwrap();
    symlink("lnk", work.join("twice")).unwrap();
    symlink(home.join("vic/sub"), work.join("abs")).unwrap();
    symlink("../vic", work.join("up")).unwrap();
    symlink("sub/deep", work.join("near")).unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.server = ModelServer::start(calls.into_iter().chain([done()]).collect::<Vec<_>>()).await;
    stage
}

/// buddy in a mode, with and without bubblewrap.
fn in_mode(stage: &Stage, mode: &str, has_bubblewrap: bool, words: &str) -> buddy_testkit::program::Program {
    let words = format!("{words} -c agent.max_iterations=200");
    let program = if has_bubblewrap {
        stage.in_bash(&format!("exec \"$BUDDY\" {words}"))
    } else {
        let line = format!("{WITHOUT_BUBBLEWRAP} && exec \"$BUDDY\" {words}");
        stage.in_bash(&format!("exec unshare --map-root-user --mount sh -c '{line}'"))
    };
    program.env("BUDDY_ENV", mode)
}

/// Says yes to every question, with its word if it has one; the questions, and the results.
async fn approved(stage: &Stage, mode: &str, has_bubblewrap: bool) -> (Vec<String>, Vec<Value>) {
    let mut started = in_mode(stage, mode, has_bubblewrap, "--approve ask").converse();
    started.write(b"go\n").await;
    for count in 1.. {
        tokio::select! {
            () = started.stderr.wait_for("/n] ", count) => {}
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        let said = started.stderr.text();
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{yes}\n").as_bytes()).await;
    }
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    let asked = log.events.iter().filter_map(|event| match &event.fact {
        Fact::Asked(asked) => match &asked.ask.question {
            Question::Approval(approval) => Some(approval.reasons.join("; ")),
            _ => None,
        },
        _ => None,
    });
    (asked.collect(), stage.results())
}

/// Whether everything outside the project is as it was.
#[track_caller]
fn is_kept(home: &Path, told: &str) {
    for name in ["vic/sub/inner", "vic/f", "vic/d/g", ".bashrc", ".ssh/id_ed25519", "notes/n"] {
        let kept = fs::read_to_string(home.join(name)).unwrap_or_default();
        assert_eq!(kept, format!("kept {name}\n"), "{told}");
    }
    let names = |place: &str| fs::read_dir(home.join(place)).unwrap().count();
    assert_eq!((names("vic"), names("vic/sub"), names("notes")), (3, 1, 1), "{told}");
}

/// Changes outside the project that are named through it.
const CLIMBS: &[&str] = &[
    "rm lnk/../f",
    "rm -f ./lnk/../f",
    "rm -f lnk/./../f",
    "rm -f sub/../lnk/../f",
    "rm -f twice/../f",
    "rm -f abs/../f",
    "rm -f lnk/../sub/../f",
    "rm -rf lnk/../d",
    "rm -rf up/../notes",
    "rm -rf lnk/../../notes",
    "unlink lnk/../f",
    "rmdir lnk/../d; rm -r lnk/../d",
    "shred -u lnk/../f",
    "truncate -s0 lnk/../f",
    ": > lnk/../f",
    "echo x >> lnk/../f",
    "echo x > lnk/../new",
    "echo x | tee lnk/../f",
    "cp plain.txt lnk/../f",
    "cp plain.txt lnk/..",
    "cp plain.txt lnk/../",
    "cp -t lnk/.. plain.txt",
    "install plain.txt lnk/../f",
    "mv lnk/../f moved",
    "mv plain.txt lnk/../f",
    "ln -f plain.txt lnk/../f",
    "rsync -a --delete sub/ lnk/../d/",
    "sed -i s/kept/x/ lnk/../f",
    "dd if=plain.txt of=lnk/../f",
    "touch lnk/../new",
    "mkdir lnk/../new",
    "chmod 600 lnk/../f",
    "find lnk/.. -type f -delete",
    "git init -q lnk/../new",
    "tar cf lnk/../new.tar plain.txt",
    "tar cf t.tar plain.txt; tar xf t.tar -C lnk/..",
    "cd lnk && rm ../f",
    "cd lnk; echo x > ../f",
    "cd twice && rm -rf ../d",
    "cd -P lnk/.. && rm f",
    "(cd lnk && cp ../../work/plain.txt ../f)",
    "bash -c 'rm lnk/../f'",
    "env rm lnk/../f",
    "ln -s ../vic/sub made && rm made/../f",
    "ln -s ../vic/sub made; echo x > made/../f",
    "echo x >> up/../.bashrc",
];

#[tokio::test]
async fn no_climb_over_a_link_changes_anything_outside_unasked() {
    for has_bubblewrap in [true, false] {
        let stage = stage(CLIMBS.iter().map(|line| run(line)).collect()).await;
        in_mode(&stage, "production", has_bubblewrap, "exec go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), CLIMBS.len());
        for (line, result) in CLIMBS.iter().zip(&results) {
            let code = result["error"]["code"].as_str().unwrap_or_default();
            assert!(matches!(code, "approval_needed" | "forbidden"), "{line}: {result}");
        }
        is_kept(stage.home.path(), "production");
    }
}

#[tokio::test]
async fn in_the_jail_they_change_nothing_outside_either() {
    for has_bubblewrap in [true, false] {
        let stage = stage(CLIMBS.iter().map(|line| run(line)).collect()).await;
        in_mode(&stage, "development", has_bubblewrap, "exec --approve auto go").run().await;
        assert_eq!(stage.results().len(), CLIMBS.len());
        is_kept(stage.home.path(), "development");
    }
}

#[tokio::test]
async fn a_question_names_the_file_that_is_changed() {
    for (mode, has_bubblewrap) in
        [("production", true), ("production", false), ("development", true), ("development", false)]
    {
        let stage = stage(vec![
            run("echo more >> lnk/../f"),
            run("cat up/../.ssh/id_ed25519"),
            run("echo planted >> up/../.bashrc"),
        ])
        .await;
        let (asked, results) = approved(&stage, mode, has_bubblewrap).await;
        let home = stage.home.path();
        let told = format!("{mode} {has_bubblewrap}: {asked:#?} {results:#?}");
        let named = |name: &str| {
            let name = format!("`{}`", home.join(name).display());
            asked.iter().any(|asked| asked.contains(&name))
        };
        assert!(named("vic/f"), "{told}");
        assert_eq!(fs::read_to_string(home.join("vic/f")).unwrap(), "kept vic/f\nmore\n", "{told}");
        assert!(!results[1].to_string().contains("kept .ssh"), "{told}");
        // In the jail no answer opens it; elsewhere the question says which file it is.
        let is_planted = fs::read_to_string(home.join(".bashrc")).unwrap().contains("planted");
        assert_eq!(is_planted, mode == "production", "{told}");
        assert_eq!(named(".bashrc"), mode == "production", "{told}");
        assert_eq!(fs::read_to_string(stage.home.work().join("f")).unwrap(), "of the project\n", "{told}");
    }
}

#[tokio::test]
async fn tools_refuse_to_climb_over_a_link_and_name_the_path_behind_it() {
    for mode in ["production", "development"] {
        let calls = vec![
            turn().call("write_file", json!({"path": "lnk/../f", "content": "x"})),
            turn().call("edit_file", json!({"path": "lnk/../f", "old": "kept", "new": "x"})),
            turn().call("delete_path", json!({"path": "lnk/../f"})),
            turn().call("make_directory", json!({"path": "lnk/../new"})),
            turn().call("read_file", json!({"path": "up/../.ssh/id_ed25519"})),
            turn().call("list_directory", json!({"path": "up/../.ssh"})),
            turn().call("grep", json!({"path": "up/../.ssh", "pattern": "kept"})),
            turn().call("run_shell", {
                let mut call = crate::stage::shell("rm f");
                call["cwd"] = json!("lnk/..");
                call
            }),
        ];
        let stage = stage(calls).await;
        in_mode(&stage, mode, true, "exec --approve all go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), 8);
        for result in &results {
            assert_eq!(result["ok"], false, "{mode}: {result}");
            assert!(!result.to_string().contains("kept .ssh"), "{mode}: {result}");
        }
        let f = format!("`{}`", stage.home.path().join("vic/f").display());
        assert!(results[0].to_string().contains(&f), "{mode}: {}", results[0]);
        is_kept(stage.home.path(), mode);
        assert_eq!(fs::read_to_string(stage.home.work().join("f")).unwrap(), "of the project\n");
    }
}

#[tokio::test]
async fn ordinary_climbs_ask_nothing() {
    let plain =
        ["cp sub/../plain.txt copy.txt", "echo x > near/../beside", "echo x > sub/none/../never; true"];
    // Elsewhere than in the jail they ask, as nobody knows whether `cd` works.
    let moving = [
        "cd sub && touch ../made",
        "cd sub/deep; echo x > ../../deep.txt; cat ../../sub/../plain.txt",
        "mkdir -p build && cd build && cp ../plain.txt .",
    ];
    for (mode, moving) in [("production", &[][..]), ("development", &moving[..])] {
        let lines = plain.iter().chain(moving);
        let mut calls: Vec<Turn> = lines.map(|line| run(line)).collect();
        calls.push(turn().call("read_file", json!({"path": "sub/../plain.txt"})));
        let stage = stage(calls).await;
        in_mode(&stage, mode, true, "exec --approve auto go").run().await.expect_code(0);
        let results = stage.results();
        let (work, told) = (stage.home.work(), format!("{mode}: {results:#?}"));
        let made = ["copy.txt", "sub/beside", "made", "deep.txt", "build/plain.txt"];
        for name in made.iter().take(if moving.is_empty() { 2 } else { made.len() }) {
            assert!(work.join(name).exists(), "{name}: {told}");
        }
        assert!(results.last().unwrap().to_string().contains("of the project"), "{told}");
    }
}
