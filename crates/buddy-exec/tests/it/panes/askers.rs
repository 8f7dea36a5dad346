//! Programs that wait for a user at the terminal: they end at their timeout, and the pane is as good as
//! before.

use std::time::Duration;

use buddy_exec::{Ended, Reach};

use super::stage::PaneStage;
use crate::stage::alive;

/// Long enough for a program to draw its screen, short enough for a test.
const LIMIT: Duration = Duration::from_secs(1);

/// Programs that wait. `HERE` stands for the directory of the stage, which no other process has in its words.
const ASKERS: &[&str] = &[
    "cat - HERE/none",
    "echo HERE; read answer",
    "vi HERE/file",
    "less -X HERE/long",
    "cd HERE/repository && GIT_EDITOR='vi -N' git commit",
    "python3 -c 'input(\"HERE\")'",
    "ssh-keygen -t ed25519 -f HERE/key",
];

/// Runs a program that asks; it must end at its timeout, and the next command must print exactly its own
/// output.
async fn check(stage: &PaneStage, text: &str) {
    let mut command = stage.command(text);
    command.timeout = Some(LIMIT);
    let mut run = stage.try_start(command).await.unwrap();
    let exit = run.running.wait().await.unwrap();
    assert_eq!(exit.ended, Ended::TimedOut, "{text}: {}", exit.stdout.text());
    assert_eq!(exit.survivors, 0, "{text}");
    let notes = run.notes.await.unwrap().join(" ");
    assert!(!notes.contains("a new one was started"), "{text}: {notes}");
    let after = r"printf 'one\n\ttwo é\n'; stty -a | tr ' ' '\n' | grep -E '^-?(opost|isig|icanon|echo)$'";
    stage.check(after, "one\n\ttwo é\nopost\nisig\nicanon\necho\n", 0).await;
}

fn prepared(stage: &PaneStage) {
    std::fs::write(stage.path("long"), "a line\n".repeat(500)).unwrap();
}

async fn repository(stage: &PaneStage) {
    let make = "mkdir repository && cd repository && git init -q && touch new && git add new && \
                git config user.name someone && git config user.email someone@example.org";
    stage.check(make, "", 0).await;
}

async fn check_all(stage: &PaneStage) {
    prepared(stage);
    repository(stage).await;
    let here = stage.path("");
    let here = here.to_str().unwrap().trim_end_matches('/');
    for asker in ASKERS {
        check(stage, &asker.replace("HERE", here)).await;
        let left: Vec<String> = alive(here).into_iter().filter(|line| is_asker(line)).collect();
        assert_eq!(left, [""; 0], "{asker}");
    }
    assert!(!stage.path("key").exists() && !stage.path("file").exists());
    stage.check("git -C repository log 2>&1 | grep -c 'not have any commits'", "1\n", 0).await;
}

fn is_asker(line: &str) -> bool {
    ["cat\0", "vi\0", "vim\0", "less\0", "git\0", "python3\0", "ssh-keygen\0"]
        .iter()
        .any(|name| line.starts_with(name) || line.contains(&format!("/{name}")))
}

#[tokio::test]
async fn programs_that_wait_for_keys_time_out_and_leave_bash_usable() {
    check_all(&PaneStage::new("/bin/bash")).await;
}

#[tokio::test]
async fn and_in_dash() {
    check_all(&PaneStage::new("/bin/dash")).await;
}

#[tokio::test]
async fn and_in_zsh() {
    check_all(&PaneStage::new("/usr/bin/zsh")).await;
}

#[tokio::test]
async fn and_in_the_shell_of_busybox() {
    check_all(&PaneStage::new("/bin/busybox")).await;
}

#[tokio::test]
async fn and_in_a_jail() {
    let mut stage = PaneStage::jailed("/bin/bash");
    stage.bounds.write = Reach::Beneath(vec![stage.path("")]);
    check_all(&stage).await;
}

/// A program that draws by itself and is killed has no chance to clean up.
#[tokio::test]
async fn a_screen_that_a_killed_program_took_is_given_back() {
    for shell in ["/bin/bash", "/bin/dash"] {
        let stage = PaneStage::new(shell);
        stage.check("echo before", "before\n", 0).await;
        let taker =
            "trap '' INT TERM; stty raw -echo; printf '\\033[?1049h\\033[3;5r\\033[?25l'; sleep 1000; :";
        check(&stage, &format!("sh -c \"{taker}\"")).await;
        let screen = stage.screen().await;
        assert!(screen.contains("\nbefore\n") && screen.contains("two é"), "{shell}: {screen}");
        let state =
            stage.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag} #{scroll_region_lower}"]);
        assert_eq!(state, "0 1 49", "{shell}");
    }
}

/// `sudo` runs with the rights of root, so the account that waits for it cannot signal it.
#[tokio::test]
async fn a_password_prompt_times_out() {
    for prefix in ["", "sh -c 'exec 3>&1; \"$@\"; :' sh "] {
        let stage = PaneStage::ordinary("/bin/bash");
        let mark = stage.path("sudo-was-here");
        check(&stage, &format!("{prefix}sudo -k touch {}", mark.display())).await;
        let screen = stage.screen().await;
        assert!(screen.contains("assword"), "{screen}");
        assert!(!mark.exists());
        assert_eq!(alive(mark.to_str().unwrap()), [""; 0]);
    }
}
