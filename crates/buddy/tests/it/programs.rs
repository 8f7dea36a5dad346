//! Programs that a command plants in a directory of `PATH`: buddy runs none of them for itself, and no command gets one unseen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::{Program, Started};
use serde_json::json;

use crate::stage::{APPROVE, Stage, done, run, shell};

const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

/// Keeps buddy from bubblewrap, so that the jail is made of the other layers alone.
const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";

/// Puts programs into the environment that is activated, and some into the cache of cargo.
const PLANT: &str = r#"
mkdir -p .venv/bin
for name in git tmux pytest; do
  printf '#!/bin/sh\necho %s >> "%s/ran"; echo PLANTED; exit 9\n' $name "$PWD" > .venv/bin/$name; chmod +x .venv/bin/$name
done
"#;

/// Says nothing, so that nobody is asked whether it may run outside the jail.
const PLANT_IN_LAYER: &str = r"
exec 2> /dev/null
printf '#!/bin/sh\necho git >> ran; echo PLANTED\n' > ~/.cargo/bin/git; chmod +x ~/.cargo/bin/git
touch planting
";

const SECOND: &str =
    "git status --short > seen; ls ~/.cargo/bin >> seen; touch ~/.cargo/bin/new; echo x > ~/.cargo/more";

pub(crate) fn put_program(at: &Path, text: &str) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A trusted repository with a remote that takes nothing.
async fn stage(turns: Vec<Turn>) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    let script = "git init -q -b main . && git remote add origin /nowhere/x.git && echo one > a.txt";
    stage.in_bash(script).run().await.expect_code(0);
    for (name, text) in [("plant.sh", PLANT), ("layer.sh", PLANT_IN_LAYER)] {
        fs::write(stage.home.work().join(name), text).unwrap();
    }
    fs::create_dir_all(stage.home.path().join(".cargo/bin")).unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.server = ModelServer::start(turns).await;
    stage
}

/// The `PATH` of a user with an activated environment, who has installed Rust.
fn path(stage: &Stage) -> String {
    let own = [stage.home.work().join(".venv/bin"), stage.home.path().join(".cargo/bin")];
    format!("{}:{}:{SYSTEM}", own[0].display(), own[1].display())
}

fn in_auto(stage: &Stage, line: &str, has_bubblewrap: bool) -> Program {
    let program = if has_bubblewrap {
        stage.in_bash(&format!("exec {line}"))
    } else {
        stage.in_bash(&format!(
            "exec unshare --map-root-user --mount sh -c '{WITHOUT_BUBBLEWRAP} && exec {line}'"
        ))
    };
    program.env("BUDDY_ENV", "development").env("PATH", path(stage))
}

async fn prompt(stage: &Stage, has_bubblewrap: bool) -> Started {
    let mut started = in_auto(stage, "\"$BUDDY\" --approve auto", has_bubblewrap).converse();
    started.write(b"go\n").await;
    started
}

async fn plant(stage: &mut Stage, turns: Vec<Turn>) {
    let (script, file) = ("sh plant.sh", stage.home.work().join(".venv/bin/git"));
    let next = std::mem::replace(&mut stage.server, ModelServer::start(vec![run(script), done()]).await);
    in_auto(stage, "\"$BUDDY\" exec --approve auto go", true).run().await.expect_code(0);
    assert!(file.exists(), "nobody is asked about a file in the workspace");
    drop(next);
    stage.server = ModelServer::start(turns).await;
}

#[tokio::test]
async fn the_tools_for_git_run_the_git_of_the_system() {
    for has_bubblewrap in [true, false] {
        let mut stage = stage(vec![done()]).await;
        plant(&mut stage, vec![turn().call("git_status", json!({})), done()]).await;
        in_auto(&stage, "\"$BUDDY\" exec --approve auto go", has_bubblewrap).run().await.expect_code(0);
        let results = stage.results();
        let told = results[0].to_string();
        assert!(told.contains("a.txt") && !told.contains("PLANTED"), "{has_bubblewrap}: {told}");
    }
}

#[tokio::test]
async fn a_program_that_only_the_workspace_has_is_named_and_not_run() {
    let stage = stage(vec![turn().call("git_status", json!({})), done()]).await;
    let own = stage.home.work().join("only");
    put_program(&own.join("git"), "#!/bin/sh\necho PLANTED\n");
    let program = stage.in_bash("exec \"$BUDDY\" exec --approve auto go").env("PATH", own.to_str().unwrap());
    program.env("BUDDY_ENV", "development").run().await;
    let told = stage.results()[0].to_string();
    assert!(told.contains("only/git") && told.contains("can write") && !told.contains("PLANTED"), "{told}");
}

#[tokio::test]
async fn a_shared_terminal_runs_the_tmux_of_the_system() {
    let mut stage = stage(vec![done()]).await;
    plant(&mut stage, vec![run("echo x > y1"), done()]).await;
    in_auto(&stage, "\"$BUDDY\" exec --approve auto --tmux go", true).run().await.expect_code(0);
    let server = stage.home.data().join("run/tmux/socket");
    stage.in_bash(&format!("tmux -S '{}' kill-server", server.display())).run().await;
    assert_eq!(stage.home.text("ran"), "");
    assert_eq!(stage.home.text("y1"), "x\n");
}

#[tokio::test]
async fn programs_of_an_activated_environment_run_unasked() {
    let mut stage = stage(vec![done()]).await;
    plant(&mut stage, vec![run("pytest -q; true"), done()]).await;
    in_auto(&stage, "\"$BUDDY\" exec --approve auto go", true).run().await.expect_code(0);
    assert_eq!(stage.home.text("ran"), "pytest\n", "{:#?}", stage.results());
}

#[tokio::test]
async fn a_question_names_a_program_that_commands_can_change() {
    let mut stage = stage(vec![done()]).await;
    plant(&mut stage, vec![run("git push origin main"), done()]).await;
    let mut started = prompt(&stage, true).await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let reason = "`git` is `.venv/bin/git`, which commands of this project can change";
    assert!(finished.stderr.contains(reason), "{finished}");
    assert_eq!(stage.home.text("ran"), "");
}

#[tokio::test]
async fn a_program_that_is_swapped_after_the_question_does_not_run() {
    let later =
        "until [ -e go ]; do sleep 0.05; done; printf '#!/bin/sh\\necho swapped >> ran\\n' > .venv/bin/git";
    let mut stage = stage(vec![done()]).await;
    let both = turn().call("run_shell", shell(later)).call("run_shell", shell("git push origin main"));
    plant(&mut stage, vec![both, done()]).await;
    let mut started = prompt(&stage, true).await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"y\n").await;
    fs::write(stage.home.work().join("go"), "").unwrap();
    started.stderr.wait_for(APPROVE, 2).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.home.text("ran"), "");
}

#[tokio::test]
async fn no_rule_and_no_grant_for_a_name_covers_a_planted_program() {
    for is_rule in [true, false] {
        let mut stage = stage(vec![done()]).await;
        // No grant of a push is given on the command line.
        let command = if is_rule { "git push origin main" } else { "git gc" };
        plant(&mut stage, vec![run(command), done()]).await;
        let allow = if is_rule { "--allow \"git push *\"" } else { "" };
        if !is_rule {
            stage.buddy(["grants", "--allow", "git gc *"]).run().await.expect_code(0);
        }
        let line = format!("\"$BUDDY\" exec --approve ask {allow} go");
        in_auto(&stage, &line, true).run().await;
        assert_eq!(stage.home.text("ran"), "", "{is_rule}: {:#?}", stage.results());
        let told = stage.results()[0].to_string();
        assert!(told.contains("which commands of this project can change"), "{is_rule}: {told}");
    }
}

#[tokio::test]
async fn an_approved_command_runs_no_program_of_a_layer() {
    // Without bubblewrap there are no layers.
    let stage = stage(vec![run("sh layer.sh"), run("git push origin main"), done()]).await;
    let mut started = prompt(&stage, true).await;
    let push = format!("git push origin main -- {APPROVE}");
    for count in 1.. {
        tokio::select! {
            () = started.stderr.wait_for(&push, count) => {}
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        // The first is the push; the next would be to run it outside the jail.
        started.write(if count == 1 { b"y\n" } else { b"n\n" }).await;
    }
    let finished = started.finish().await.expect_code(0);
    let told = format!("{finished} {:#?}", stage.results());
    assert!(stage.home.work().join("planting").exists(), "{told}");
    assert_eq!(stage.home.text("ran"), "", "{told}");
    assert!(stage.results()[1].to_string().contains("/nowhere/x.git"), "git itself ran: {told}");
}

/// Puts another program in the place of the one that a launcher runs from a cache.
const SWAP_TOOL: &str = "rm ~/.rustup/toolchains/stable/bin/cargo
printf '#!/bin/sh\necho planted; cat .env\n' > ~/.rustup/toolchains/stable/bin/cargo
chmod +x ~/.rustup/toolchains/stable/bin/cargo
~/.rustup/toolchains/stable/bin/cargo > swapped 2>&1
";

#[tokio::test]
async fn an_approved_command_runs_no_toolchain_of_a_layer() {
    // Without bubblewrap there are no layers.
    let stage = stage(vec![run("sh swap.sh"), run("cargo publish"), run("cargo publish"), done()]).await;
    let toolchain = ".rustup/toolchains/stable/bin/cargo";
    put_program(&stage.home.path().join(toolchain), "#!/bin/sh\necho the real one\n");
    let launcher = format!("#!/bin/sh\nexec ~/{toolchain} \"$@\"\n");
    put_program(&stage.home.path().join(".cargo/bin/cargo"), &launcher);
    fs::write(stage.home.work().join("swap.sh"), SWAP_TOOL).unwrap();
    fs::write(stage.home.work().join(".env"), "KEY=topsecret\n").unwrap();
    let mut started = prompt(&stage, true).await;
    for count in 1.. {
        tokio::select! {
            () = started.stderr.wait_for(APPROVE, count) => {}
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        started.write(b"y\n").await;
    }
    let finished = started.finish().await.expect_code(0);
    let results = stage.results();
    let told = format!("{finished} {results:#?}");
    assert!(stage.home.text("swapped").contains("planted"), "the other command has it in its layer: {told}");
    for result in &results[1..] {
        assert_eq!(result["result"]["stdout"], "the real one\n", "{told}");
    }
    assert!(!told.contains("topsecret"), "{told}");
}

#[tokio::test]
async fn a_layer_that_holds_a_program_already_does_not_show_it() {
    for is_there in [true, false] {
        let mut stage = stage(vec![run("sh first.sh"), done()]).await;
        fs::write(stage.home.work().join("first.sh"), "echo x > ~/.cargo/made").unwrap();
        fs::write(stage.home.work().join("second.sh"), SECOND).unwrap();
        let bin = stage.home.path().join(".cargo/bin");
        put_program(&bin.join("own"), "#!/bin/sh\n");
        if !is_there {
            fs::remove_dir_all(&bin).unwrap();
        }
        in_auto(&stage, "\"$BUDDY\" exec --approve auto go", true).run().await.expect_code(0);
        let layers = fs::read_dir(stage.home.path().join(".cache/buddy/layers")).unwrap();
        let layers: Vec<PathBuf> = layers.map(|entry| entry.unwrap().path()).collect();
        let upper = layers[0].join("1/cargo/upper");
        assert!(upper.join("made").exists(), "other files of the cache go to the layer");
        put_program(&upper.join("bin/git"), "#!/bin/sh\necho git >> ran\n");
        let turns = vec![run("sh second.sh"), done()];
        stage.server = ModelServer::start(turns).await;
        in_auto(&stage, "\"$BUDDY\" exec --approve auto go", true).run().await.expect_code(0);
        let told = format!("{is_there}: {:#?}", stage.results());
        assert_eq!(stage.home.text("ran"), "", "{told}");
        let seen = stage.home.text("seen");
        assert_eq!(seen.lines().any(|line| line == "own"), is_there, "{seen} {told}");
        assert!(seen.contains("a.txt") && !seen.lines().any(|line| line == "git"), "{seen} {told}");
        assert!(stage.results()[0].to_string().contains("Read-only"), "{told}");
    }
}

#[tokio::test]
async fn a_yes_for_longer_holds_until_the_program_changes() {
    let mut stage = stage(vec![done()]).await;
    let swap = "printf '#!/bin/sh\\necho swapped >> ran\\n' > .venv/bin/pytest";
    let test = || run("pytest -q; true");
    plant(&mut stage, vec![test(), test(), run(swap), test(), done()]).await;
    let mut started = in_auto(&stage, "\"$BUDDY\" --approve ask", true).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    assert!(started.stderr.text().contains("as long as `.venv/bin/pytest` stays the same file"));
    started.write(b"a\n").await;
    // The second run is not asked for; the next question is about the swap.
    started.stderr.wait_for(APPROVE, 2).await;
    assert_eq!(stage.home.text("ran"), "pytest\npytest\n", "{}", started.stderr.text());
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 3).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(stage.home.text("ran"), "pytest\npytest\n", "{finished}");
}
