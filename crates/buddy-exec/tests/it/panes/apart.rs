//! stdout and stderr of a command in a pane are apart, and people see both.

use std::fs;

use buddy_exec::{PaneSelector, Panes};
use rustix::process::{Pid, Signal, kill_process};

use super::stage::PaneStage;

/// The shells that a pane can have.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"];

/// Open panes and jailed ones.
fn stages() -> impl Iterator<Item = PaneStage> {
    SHELLS
        .iter()
        .flat_map(|shell| [PaneStage::new as fn(&str) -> _, PaneStage::jailed].map(|stage| stage(shell)))
}

/// Runs a command that must print exactly this on both streams.
async fn check(stage: &PaneStage, text: &str, stdout: &str, stderr: &str, code: i32) {
    let (exit, notes) = stage.run(text).await;
    let found = (exit.stdout.text(), exit.stderr.text(), exit.code);
    assert_eq!(found, (stdout.to_owned(), stderr.to_owned(), Some(code)), "{text:?} {notes}");
}

/// The processes of this mode that serve a stage.
fn markers(stage: &PaneStage) -> Vec<Pid> {
    let place = stage.path("run").to_string_lossy().into_owned();
    let is_marker = |line: &str| line.contains("\0__mark\0") && line.contains(&place);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let found = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        is_marker(&String::from_utf8_lossy(&line)).then(|| process.file_name().to_str()?.parse().ok())?
    });
    found.filter_map(Pid::from_raw).collect()
}

#[tokio::test]
async fn each_stream_has_what_was_written_to_it() {
    for stage in stages() {
        check(&stage, "echo out; echo err >&2; (exit 3)", "out\n", "err\n", 3).await;
        check(&stage, "echo out", "out\n", "", 0).await;
        check(&stage, "printf err >&2", "", "err", 0).await;
        check(&stage, "sh -c 'echo a; echo b >&2; echo c; echo d >&2'", "a\nc\n", "b\nd\n", 0).await;
        check(&stage, "{ echo err >&2; } 2>&1", "err\n", "", 0).await;
        check(&stage, "echo err >&2; echo tty >/dev/tty", "tty\n", "err\n", 0).await;
    }
}

#[tokio::test]
async fn stderr_is_shown_before_the_prompt() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/bin/busybox"] {
        let stage = PaneStage::new(shell);
        for number in 0..10 {
            check(&stage, &format!("echo err{number} >&2"), "", &format!("err{number}\n"), 0).await;
        }
        let screen = stage.screen().await;
        let shown = |number: &i32| screen.lines().any(|line| line == format!("err{number}"));
        assert_eq!((0..10).filter(shown).count(), 10, "{shell}: {screen}");
    }
}

#[tokio::test]
async fn a_command_that_ends_its_shell_has_both_streams() {
    for stage in stages() {
        for text in ["echo out; echo err >&2; exit 7", "set -e; echo out; echo err >&2; (exit 7); echo never"]
        {
            let (exit, notes) = stage.run(text).await;
            assert!(exit.stdout.text().starts_with("out\n"), "{text}: {:?}", exit.stdout.text());
            assert!(exit.stderr.text().starts_with("err\n"), "{text}: {} {notes}", exit.stderr.text());
            assert_eq!(exit.code, Some(7), "{text}");
        }
        check(&stage, "echo err >&2", "", "err\n", 0).await;
    }
}

#[tokio::test]
async fn much_on_both_streams_comes_whole_and_in_order() {
    for stage in [PaneStage::new("/bin/bash"), PaneStage::jailed("/bin/dash")] {
        let lines: Vec<String> = (1..=100_000).map(|number| number.to_string()).collect();
        let expected = format!("{}\n", lines.join("\n"));
        let (exit, notes) = stage.run("sh -c 'seq 100000 & seq 100000 >&2; wait'; (exit 3)").await;
        assert_eq!(exit.code, Some(3), "{notes}");
        assert!(exit.stderr.text() == expected, "{notes} {}", exit.stderr.total);
        assert!(exit.stdout.text() == expected, "{notes} {}", exit.stdout.total);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_come_as_they_were_written() {
    let stage = PaneStage::new("/bin/bash");
    let (exit, _) = stage.run(r"printf '\377\376a\0b\303' >&2; printf '\300\n'").await;
    assert_eq!(exit.stderr.head, b"\xff\xfea\0b\xc3");
    assert_eq!(exit.stdout.head, b"\xc0\n");
}

#[tokio::test]
async fn a_forged_mark_of_the_marker_is_not_believed() {
    for shell in SHELLS {
        let stage = PaneStage::new(shell);
        let guess = "0123456789abcdef0123456789abcdef";
        let fake = format!(r"printf '\033]133;I;{guess}\007a\033]133;O;{guess}\007\033]133;F;{guess}\007b'");
        let printed = format!("\x1b]133;I;{guess}\x07a\x1b]133;O;{guess}\x07\x1b]133;F;{guess}\x07b");
        check(&stage, &fake, &printed, "", 0).await;
        check(&stage, &format!("{fake} >&2; echo out"), "out\n", &printed, 0).await;
    }
}

#[tokio::test]
async fn a_question_without_a_line_end_is_seen_at_once_and_answered() {
    let stage = PaneStage::new("/bin/bash");
    let mut running = stage.start("printf 'Sure? ' >&2; read answer; echo \"said $answer\"").await;
    stage.until_shown("Sure? ").await;
    stage.keys("yes").await;
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.stdout.text().as_str(), exit.stderr.text().as_str()), ("yes\nsaid yes\n", "Sure? "));
}

#[tokio::test]
async fn a_marker_that_is_killed_costs_neither_the_command_nor_the_streams() {
    for stage in [PaneStage::new("/bin/bash"), PaneStage::jailed("/usr/bin/zsh")] {
        let text =
            "echo one >&2; while [ ! -e work/go ]; do sleep 0.05; done; seq 50000 >&2; echo out; (exit 4)";
        fs::create_dir_all(stage.path("work")).unwrap();
        let mut run = stage.try_start(stage.command(text)).await.unwrap();
        run.running.next().await.unwrap();
        let [marker] = markers(&stage)[..] else { panic!("there is one marker") };
        kill_process(marker, Signal::KILL).unwrap();
        fs::write(stage.path("work/go"), "").unwrap();
        let exit = run.running.wait().await.unwrap();
        assert_eq!((exit.code, exit.stdout.text().as_str()), (Some(4), "out\n"));
        assert!(exit.stderr.text().starts_with("one\n1\n2\n") && exit.stderr.text().ends_with("\n50000\n"));
        let notes = run.notes.await.unwrap().join(" ");
        assert!(notes.contains("started again"), "{notes}");
        check(&stage, "echo err >&2", "", "err\n", 0).await;
    }
}

#[tokio::test]
async fn the_command_after_one_without_a_marker_has_one() {
    let stage = PaneStage::new("/bin/bash");
    check(&stage, "echo err >&2", "", "err\n", 0).await;
    // The guard of the marker first, so that it does not restart the marker.
    let [marker] = markers(&stage)[..] else { panic!("there is one marker") };
    let stat = fs::read_to_string(format!("/proc/{}/stat", marker.as_raw_pid())).unwrap();
    let guard = stat.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
    kill_process(marker, Signal::KILL).unwrap();
    let (exit, notes) = stage.run("echo out").await;
    assert_eq!((exit.code, exit.stdout.text().as_str()), (Some(0), "out\n"));
    assert!(notes.contains("did not answer"), "{notes}");
    check(&stage, "echo err >&2", "", "err\n", 0).await;
}

#[tokio::test]
async fn exec_and_dispatched_commands_have_the_terminal() {
    let stage = PaneStage::new("/bin/bash");
    let (exit, notes) = stage.run("exec 2>&1; echo err >&2").await;
    assert_eq!(exit.stdout.text(), "err\n");
    assert!(notes.contains("one stream"), "{notes}");
    let command = stage.command("[ -t 2 ] && echo termi''nal >&2");
    stage.target.dispatch(&PaneSelector::default(), command).await.unwrap();
    stage.until_shown("terminal").await;
}

#[tokio::test]
async fn background_processes_of_earlier_commands_do_not_delay_an_end() {
    let stage = PaneStage::new("/bin/bash");
    let (exit, notes) = stage.run("sleep 100 & echo err >&2").await;
    assert!(exit.stderr.text().ends_with("err\n"), "{}", exit.stderr.text());
    assert_eq!(notes, "");
    stage.run("kill $!").await;
}
