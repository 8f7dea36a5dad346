//! Panes whose shell is in a jail: it works as in any terminal, and reaches nothing beyond its bounds.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use buddy_exec::{Bounds, Ended, Exit, Keys, PaneError, PaneSelector, Panes, Reach, TargetError};
use buddy_protocol::NameSet;

use super::stage::PaneStage;
use crate::jail::cell::{ALL, Kind};
use crate::stage::{PATIENCE, alive, marker, until_alive, until_gone};

const SHELLS: [&str; 4] = ["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"];

impl PaneStage {
    /// Leaves a command running in the pane.
    async fn dispatch(&self, text: &str) {
        self.target.dispatch(&PaneSelector::default(), self.command(text)).await.unwrap();
    }

    async fn presses(&self, name: &str) {
        let keys = Keys { keys: vec![name.parse().unwrap()], ..Keys::default() };
        self.target.send_keys(&self.bounds, &PaneSelector::default(), &keys).await.unwrap();
    }

    /// Waits until the command that was left running has ended, as its prompt is back.
    async fn until_free(&self) {
        let end = std::time::Instant::now() + PATIENCE;
        while let Err(error) = self.try_start(self.command("true")).await {
            assert!(std::time::Instant::now() < end, "never free: {error}\n{}", self.screen().await);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn a_command_writes_in_the_workspace_and_not_outside() {
    for kind in ALL {
        for shell in SHELLS {
            let stage = PaneStage::jailed_as(kind, shell);
            stage.check("echo hello; (exit 3)", "hello\n", 3).await;
            stage.check("kept=1; echo in > work/file && cat work/file", "in\n", 0).await;
            let refused = "1\nrefused\nrefused\n";
            let outside = "(echo out > outside) 2>/dev/null || echo refused";
            let in_temporary = "(echo out > /tmp/buddy-outside) 2>/dev/null || echo refused";
            stage.check(&format!("echo $kept; {outside}; {in_temporary}"), refused, 0).await;
            assert!(!stage.path("outside").exists(), "{kind:?} {shell}");
            assert_eq!(fs::read_to_string(stage.path("work/file")).unwrap(), "in\n");
        }
    }
}

#[tokio::test]
async fn a_shell_stays_when_ways_to_other_sessions_come_and_go() {
    for kind in ALL {
        let mut stage = PaneStage::jailed_as(kind, "/bin/bash");
        let first = stage.path("first");
        let _listener = UnixListener::bind(&first).unwrap();
        let ways = vec![first.clone()];
        stage.bounds = Bounds { hidden: vec![stage.path("hidden")], ways, ..Bounds::open() };
        let is_socket = format!("test -S {} || echo covered", first.display());
        stage.check(&format!("kept=1; {is_socket}"), "covered\n", 0).await;
        stage.bounds.ways = vec![stage.path("second")];
        stage
            .check(&format!("echo $kept; {is_socket}; stty size < /dev/tty > /dev/null"), "1\ncovered\n", 0)
            .await;
    }
}

#[tokio::test]
async fn commands_have_their_own_outputs_and_codes() {
    for shell in SHELLS {
        let stage = PaneStage::jailed(shell);
        for number in 0..25 {
            let code = number % 7;
            stage.check(&format!("echo {number}; (exit {code})"), &format!("{number}\n"), code).await;
        }
        stage.check("grep SigBlk /proc/self/status", "SigBlk:\t0000000000000000\n", 0).await;
        stage.check("seq 20000 | tail -n 1; seq 20000 | wc -l | tr -d ' '", "20000\n20000\n", 0).await;
    }
}

#[tokio::test]
async fn jobs_are_controlled_as_in_any_terminal() {
    for kind in ALL {
        for shell in SHELLS {
            let stage = PaneStage::jailed_as(kind, shell);
            let marker = marker();
            stage.check("echo ready", "ready\n", 0).await;
            stage.dispatch(&format!("sleep {marker}")).await;
            until_alive(&marker, 1).await;
            stage.presses("C-z").await;
            stage.until_free().await;
            let (exit, _) = stage.run("jobs").await;
            let listed = exit.stdout.text().to_lowercase();
            assert!(listed.contains("stopped") || listed.contains("suspended"), "{kind:?} {shell}: {listed}");
            stage.dispatch("fg").await;
            stage.presses("C-c").await;
            stage.until_free().await;
            until_gone(&marker, PATIENCE).await;
            stage.check("echo after", "after\n", 0).await;
        }
    }
}

#[tokio::test]
async fn a_command_that_is_stopped_is_dead_with_all_that_it_started() {
    for shell in SHELLS {
        for stage in [PaneStage::jailed(shell), PaneStage::new(shell)] {
            let (earlier, marker) = (marker(), marker());
            stage.run(&format!("setsid sleep {earlier} & sleep {earlier} & sh -c 'sleep {earlier} &'")).await;
            until_alive(&earlier, 3).await;
            let text = format!(
                "sleep {marker} & (setsid sh -c 'sleep {marker} & sleep {marker}; :' &); \
                 sh -c \"trap '' INT TERM; sleep {marker}; sleep {marker}\""
            );
            let mut running = stage.start(&text).await;
            until_alive(&marker, 4).await;
            running.stop();
            assert_eq!(running.wait().await.unwrap().ended, Ended::Stopped, "{shell}");
            assert_eq!(alive(&marker), [""; 0], "{shell}: nothing is left when the end is told");
            assert!(alive(&earlier).len() >= 3, "{shell}: background processes of an earlier command stay");
            stage.check("echo after", "after\n", 0).await;
            stage.run(&format!("pkill -f 'sleep {earlier}'")).await;
            until_gone(&earlier, PATIENCE).await;
        }
    }
}

/// Tries everything that leads to the server, and prints what worked.
const REACH: &str = r#"/usr/bin/python3 - "$SOCKET" <<'END'
import fcntl, os, socket, sys
def tries(name, what):
    try:
        what()
        print("reached by", name)
    except OSError:
        pass
def connect(address):
    socket.socket(socket.AF_UNIX).connect(address)
def listed(directory):
    if not os.listdir(directory):
        raise OSError("nothing is there")
tries("the socket", lambda: connect(sys.argv[1]))
tries("an abstract socket", lambda: connect("\0" + os.environ["ABSTRACT"]))
tries("its directory", lambda: listed(os.path.dirname(sys.argv[1])))
for request in (0x5412, 0x541c):
    for terminal in ("/dev/tty", 1):
        fd = os.open(terminal, os.O_RDWR) if isinstance(terminal, str) else terminal
        assert os.isatty(fd)
        tries("typing", lambda: fcntl.ioctl(fd, request, b"x"))
for name in ("TMUX", "TMUX_PANE"):
    if name in os.environ:
        print("told by", name)
print("tried")
END
tmux -S "$SOCKET" list-sessions >/dev/null 2>&1 && echo reached by tmux
cat "$(dirname "$SOCKET")"/*.spool.*/[0-9]* >/dev/null 2>&1 && echo reached spool
for name in task told mark lock; do cat "$(dirname "$SOCKET")"/*."$name" >/dev/null 2>&1 && echo reached $name; done
(exit 0)"#;

#[tokio::test]
async fn neither_the_server_nor_what_belongs_to_it_is_reached() {
    for kind in ALL {
        let stage = PaneStage::jailed_as(kind, "/bin/bash");
        let name = format!("buddy-{}", marker());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        let set = format!("SOCKET='{}' ABSTRACT='{name}'; export ABSTRACT", stage.socket().display());
        stage.check(&set, "", 0).await;
        stage.check(REACH, "tried\n", 0).await;
    }
}

#[tokio::test]
async fn a_shell_sees_only_its_own_files_of_the_directory() {
    let stage = PaneStage::jailed("/bin/bash");
    stage.check("ls -1A /run/buddy", "command\nsetup\n", 0).await;
    for name in ["command", "setup", "new"] {
        let text = format!("(echo x > /run/buddy/{name}) 2>/dev/null || echo refused");
        stage.check(&text, "refused\n", 0).await;
    }
    stage.check("(rm /run/buddy/setup) 2>/dev/null || echo refused", "refused\n", 0).await;
    let directory = stage.path("run");
    stage.check(&format!("ls -A '{}' | wc -l | tr -d ' '", directory.display()), "0\n", 0).await;
}

#[tokio::test]
async fn an_editor_and_an_interpreter_are_driven_by_keys() {
    let stage = PaneStage::jailed("/bin/bash");
    stage.dispatch("/usr/bin/python3 -q -i").await;
    stage.until_shown(">>>").await;
    stage.keys("print('the answer', 6 * 7); open('work/python', 'w').write('w')").await;
    stage.until_shown("the answer 42").await;
    stage.keys("open('python', 'w')").await;
    let screen = stage.until_shown("Error").await;
    assert!(screen.contains("Permission") || screen.contains("Read-only"), "{screen}");
    stage.presses("C-d").await;
    stage.until_free().await;
    stage.dispatch("vim -u NONE -n work/text").await;
    stage.until_shown("~").await;
    stage.presses("i").await;
    stage.keys("by vim").await;
    stage.presses("Escape").await;
    stage.keys(":wq").await;
    stage.until_free().await;
    assert_eq!(fs::read_to_string(stage.path("work/text")).unwrap(), "by vim\n\n");
    assert!(stage.path("work/python").exists() && !stage.path("python").exists());
}

#[tokio::test]
async fn a_call_with_other_bounds_gets_another_shell() {
    let mut stage = PaneStage::jailed("/bin/bash");
    let wide = stage.bounds.clone();
    stage.check("kept=1; echo wide > work/file", "", 0).await;
    stage.bounds = Bounds { write: Reach::Nothing, ..wide.clone() };
    let text = "echo \"[$kept]\"; (echo narrow > work/file) 2>/dev/null || echo refused";
    let (exit, notes) = stage.run(text).await;
    assert_eq!(exit.stdout.text(), "[]\nrefused\n", "nothing of the wider shell is left");
    assert!(notes.contains("other bounds"), "{notes}");
    stage.keys("echo typed > work/file; echo do''ne").await;
    stage.until_shown("done").await;
    assert_eq!(fs::read_to_string(stage.path("work/file")).unwrap(), "wide\n");
    stage.bounds = wide;
    stage.check("echo again > work/file; cat work/file", "again\n", 0).await;
    stage.bounds = Bounds::open();
    stage.check("echo open > outside; cat outside", "open\n", 0).await;
}

#[tokio::test]
async fn a_program_with_wider_bounds_gets_no_keys_of_a_narrower_call() {
    let mut stage = PaneStage::jailed("/bin/bash");
    stage.dispatch("{ echo rea''dy >/dev/tty; cat; } > work/typed").await;
    stage.until_shown("ready").await;
    stage.bounds = Bounds { write: Reach::Nothing, ..stage.bounds.clone() };
    let selector = PaneSelector::default();
    let keys = Keys { literal_text: Some("no".to_owned()), enter: true, ..Keys::default() };
    let error = stage.target.send_keys(&stage.bounds, &selector, &keys).await.unwrap_err();
    let is_busy = |error: &TargetError| {
        matches!(error, TargetError::Pane(PaneError::OtherBounds { .. } | PaneError::Busy { .. }))
    };
    assert!(is_busy(&error), "{error}");
    let error = stage.try_start(stage.command("echo no")).await.unwrap_err();
    assert!(is_busy(&error), "{error}");
    assert!(stage.target.create_pane(&stage.bounds, &selector).await.is_err());
    assert_eq!(fs::read_to_string(stage.path("work/typed")).unwrap(), "");
    let other = PaneSelector { pane: Some("other".to_owned()), session: None };
    assert!(stage.target.create_pane(&stage.bounds, &other).await.unwrap(), "another pane serves them");
    let command = stage.command("(echo x > work/file) 2>/dev/null || echo refused");
    let mut run = Panes::start(&*stage.target, &other, command).await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "refused\n");
}

#[tokio::test]
async fn a_shell_that_ends_is_told_and_replaced() {
    for kind in [Kind::Full, Kind::Bare] {
        let stage = PaneStage::jailed_as(kind, "/bin/bash");
        let (exit, notes) = stage.run("exit 5").await;
        assert_eq!(exit.code, Some(5), "{kind:?} {notes}");
        stage.check("echo new", "new\n", 0).await;
        let (exit, notes) = stage.run("kill -9 $$").await;
        assert_eq!((exit.code, exit.signal), (None, Some(9)), "{kind:?} {notes}");
        let (exit, notes) = stage.run("exec /bin/dash").await;
        assert_eq!(exit.code, None, "{kind:?} {notes}");
        stage.check("(echo x > outside) 2>/dev/null || echo refused", "refused\n", 0).await;
    }
}

#[tokio::test]
async fn programs_in_a_pane_end_with_it() {
    for kind in ALL {
        let mut stage = PaneStage::jailed_as(kind, "/bin/bash");
        stage.bounds.guarded = vec![stage.path("work/.hooks")];
        let marker = marker();
        stage.run(&format!("setsid sleep {marker} & sleep {marker} &")).await;
        until_alive(&marker, 2).await;
        stage.tmux(&["kill-server"]);
        until_gone(&marker, PATIENCE).await;
        let end = std::time::Instant::now() + PATIENCE;
        while stage.path("work/.hooks").exists() {
            assert!(std::time::Instant::now() < end, "{kind:?}: the placeholder stays");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        stage.check("echo new", "new\n", 0).await;
    }
}

#[tokio::test]
async fn the_next_buddy_takes_up_a_jailed_pane() {
    let stage = PaneStage::jailed("/bin/bash");
    stage.check("kept=42", "", 0).await;
    let second = stage.again();
    let stage = stage.without_target();
    let selector = PaneSelector::default();
    let mut run = Panes::start(&second, &selector, stage.command("echo $kept")).await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "42\n");
    let mut command = stage.command("echo [$kept]; (echo x > work/file) 2>/dev/null || echo refused");
    command.bounds.write = Reach::Nothing;
    let mut run = Panes::start(&second, &selector, command).await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "[]\nrefused\n");
}

#[tokio::test]
async fn a_shell_that_cannot_be_jailed_is_not_started() {
    // An untrusted one is refused, even if the other layers work.
    let folder = tempfile::tempdir().unwrap();
    let planted = folder.path().join("bwrap");
    fs::write(&planted, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o777)).unwrap();
    let stage = PaneStage::jailed_by(planted.to_str().unwrap());
    let names_it = |error: &TargetError| match error {
        TargetError::NotJailed { layer, .. } => layer == "bubblewrap",
        _ => false,
    };
    assert!(names_it(&stage.target.try_jail().await.unwrap_err()));
    assert!(!stage.socket().exists(), "nothing was started by trying");
    for _ in 0..2 {
        let error = stage.try_start(stage.command("touch work/ran")).await.unwrap_err();
        assert!(names_it(&error), "{error}");
        let end = std::time::Instant::now() + PATIENCE;
        while stage.tmux(&["list-panes", "-a", "-F", "#{pane_dead}"]) != "1" {
            assert!(std::time::Instant::now() < end, "no shell is there, so the pane is dead");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    let keys = Keys { literal_text: Some("touch work/ran".into()), enter: true, ..Keys::default() };
    let typed = stage.target.send_keys(&stage.bounds, &PaneSelector::default(), &keys).await;
    assert!(names_it(&typed.unwrap_err()));
    assert!(!stage.path("work/ran").exists());
}

#[tokio::test]
async fn a_run_tells_what_was_moved_to_quarantine() {
    for kind in ALL {
        let mut stage = PaneStage::jailed_as(kind, "/bin/bash");
        stage.bounds.guarded_names = NameSet::trees([".envrc"]);
        let run = async |text: &str| {
            let mut run = stage.try_start(stage.command(text)).await.unwrap();
            run.running.wait().await.unwrap()
        };
        let moved =
            |exit: Exit| exit.swept.iter().map(|note| note.moved().unwrap().from.clone()).collect::<Vec<_>>();
        assert_eq!(moved(run("echo plain > work/plain").await), Vec::<std::path::PathBuf>::new(), "{kind:?}");
        let envrc = stage.path("work/.envrc").canonicalize().unwrap_or_else(|_| stage.path("work/.envrc"));
        assert_eq!(moved(run("echo bad > work/.envrc").await), std::slice::from_ref(&envrc), "{kind:?}");
        assert!(!envrc.exists() && stage.path("work/plain").exists(), "{kind:?}");
        assert_eq!(moved(run("true").await), Vec::<std::path::PathBuf>::new(), "{kind:?}: it is told once");
        assert_eq!(
            moved(run("echo bad > work/.envrc; exit 5").await),
            [envrc],
            "{kind:?}: also with the shell's end"
        );
    }
}
