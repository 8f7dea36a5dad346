//! A pane has one stream: both of a command's are the terminal, and the result says so.

use super::stage::PaneStage;

/// The shells that a pane can have.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"];

/// Open panes and jailed ones.
fn stages() -> impl Iterator<Item = PaneStage> {
    SHELLS
        .iter()
        .flat_map(|shell| [PaneStage::new as fn(&str) -> _, PaneStage::jailed].map(|stage| stage(shell)))
}

#[tokio::test]
async fn both_streams_come_in_order_as_one() {
    for stage in stages() {
        stage.check("sh -c 'echo a; echo b >&2; echo c; echo d >&2'; (exit 3)", "a\nb\nc\nd\n", 3).await;
        stage.check("printf err >&2", "err", 0).await;
    }
}

#[tokio::test]
async fn a_command_has_the_terminal_on_each_stream() {
    for stage in stages() {
        stage.check("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal", "terminal\n", 0).await;
    }
    let stage = PaneStage::new("/bin/bash");
    stage.check("bash --norc -i -c 'case $- in *i*) echo interactive;; esac'", "interactive\n", 0).await;
}

#[tokio::test]
async fn a_note_says_that_the_streams_are_one_where_something_was_printed() {
    let stage = PaneStage::new("/bin/bash");
    let (exit, notes) = stage.run("echo err >&2").await;
    assert_eq!((exit.stdout.text().as_str(), exit.stderr.total), ("err\n", 0));
    assert_eq!(notes, "stdout and stderr came as one stream, which is `stdout`");
    assert_eq!(stage.run(":").await.1, "");
}

#[tokio::test]
async fn a_command_that_ends_its_shell_has_all_output() {
    for stage in stages() {
        for text in ["echo out; echo err >&2; exit 7", "set -e; echo out; echo err >&2; (exit 7); echo never"]
        {
            let (exit, notes) = stage.run(text).await;
            assert!(exit.stdout.text().starts_with("out\nerr\n"), "{text}: {:?} {notes}", exit.stdout.text());
            assert_eq!(exit.code, Some(7), "{text}");
        }
        stage.check("echo err >&2", "err\n", 0).await;
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_come_as_they_were_written() {
    let stage = PaneStage::new("/bin/bash");
    let (exit, _) = stage.run(r"printf '\377\376a\0b\303' >&2").await;
    assert_eq!(exit.stdout.head, b"\xff\xfea\0b\xc3");
}
