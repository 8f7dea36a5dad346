//! Terminals: a command cannot type into the one that its user sits at.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use buddy_exec::Bounds;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::cell::{ALL, Cell, Kind};

/// Names the jail to the second process, and makes it play buddy at a terminal.
const ROLE: &str = "BUDDY_EXEC_TEST_TERMINAL";
const TEST: &str = "jail::terminals::nothing_is_typed_into_the_terminal_of_the_person";

/// Tries to type into the terminal: as its own, by its name, and through the open descriptors of the process
/// at it. Terminals of others are left out, as a broken jail would let this type into them.
const TYPE: &str = "python3 -c 'import fcntl, os
names = [\"/dev/tty\", os.environ[\"TERMINAL\"]] + [\"/proc/%s/fd/%d\" % (os.environ[\"BUDDY\"], n) for n in range(9)]
for name in names:
    for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY):
        try:
            terminal = os.open(name, flags | os.O_NONBLOCK)
        except OSError:
            continue
        print(\"opened\", name)
        os.write(terminal, b\"written\") if flags != os.O_RDONLY else None
        for request in (0x5412, 0x5412 | 0xdeadbeef << 32):
            try:
                fcntl.ioctl(terminal, request & 0xffffffff, b\"y\")
                print(\"typed\", name)
            except OSError:
                pass
for number in (0, 1, 2):
    try:
        fcntl.ioctl(number, 0x5412, b\"y\")
        print(\"typed\", number)
    except OSError:
        pass
print(\"tried\")'";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test plays both processes, one of them at a terminal")]
async fn nothing_is_typed_into_the_terminal_of_the_person() {
    if let Ok(terminal) = std::env::var(ROLE) {
        return play_buddy(&terminal).await;
    }
    let (ours, name) = terminal();
    let theirs = open(name.as_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    // `setsid --ctty` gives the second process the terminal as its own, as a login would.
    let mut buddy = Command::new("/usr/bin/setsid")
        .args(["--ctty", "--wait"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(ROLE, &name)
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut said = String::new();
    buddy.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(buddy.wait().unwrap().success(), "{said}");
    assert!(said.contains("all were tried"), "{said}");
    assert_eq!(waiting(&theirs), 0, "something was typed");
    assert_eq!(waiting(&ours), 0, "something was written on the screen");
}

/// A new terminal and the name of its inner end.
fn terminal() -> (OwnedFd, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    (ours, name)
}

/// Bytes that a reader of the terminal would get. A line that was not ended does not count for a poll, so
/// they are asked for.
fn waiting(terminal: &OwnedFd) -> u64 {
    let mut attributes = rustix::termios::tcgetattr(terminal).unwrap();
    attributes.make_raw();
    rustix::termios::tcsetattr(terminal, rustix::termios::OptionalActions::Now, &attributes).unwrap();
    let mut ready = [PollFd::from_borrowed_fd(terminal.as_fd(), PollFlags::IN)];
    poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
    rustix::io::ioctl_fionread(terminal).unwrap()
}

#[expect(clippy::print_stdout, reason = "the other process reads it")]
async fn play_buddy(terminal: &str) {
    for kind in ALL {
        let cell = Cell::new(kind);
        for (wrap, bounds) in
            [("", cell.bounds()), ("setsid ", cell.bounds()), ("", light()), ("setsid ", light())]
        {
            let mut exec = cell.exec(bounds, &format!("{wrap}{TYPE}"));
            exec.env.push(("TERMINAL".into(), terminal.into()));
            exec.env.push(("BUDDY".into(), std::process::id().to_string()));
            let exit = cell.stage.run(exec).await;
            assert_eq!(exit.stdout.text(), "tried\n", "{kind:?}: {}", exit.stderr.text());
        }
    }
    println!("all were tried");
}

#[tokio::test]
async fn a_terminal_of_ones_own_can_be_made() {
    let full = Cell::new(Kind::Full);
    let full = [(full.bounds(), full)];
    for (bounds, cell) in ALL.map(|kind| (light(), Cell::new(kind))).into_iter().chain(full) {
        let script =
            "python3 -c 'import os, pty; os.ttyname(pty.openpty()[1]); pty.spawn([\"echo\", \"hello\"])'";
        let exit = cell.run_in(bounds, script).await;
        assert_eq!(exit.stdout.text().trim(), "hello", "{:?}: {}", cell.kind, exit.stderr.text());
    }
}

#[tokio::test]
async fn a_command_has_a_terminal_with_any_of_the_layers() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let script = "test -t 0 && test -t 1 && test -t 2 && stty size && ps -o stat= -p $$ | grep -c +";
        for (bounds, before) in [(cell.bounds(), ""), (light(), "exec < /dev/tty && ")] {
            let mut exec = cell.exec(bounds, &format!("{before}{script}"));
            exec.pty = Some(buddy_exec::TerminalSize { columns: 91, rows: 27 });
            let exit = cell.stage.run(exec).await;
            assert_eq!(exit.stdout.text(), "27 91\r\n1\r\n", "{kind:?}: it is in the foreground");
        }
    }
}

/// Everything is allowed but one directory that no program needs.
fn light() -> Bounds {
    Bounds { hidden: vec!["/mnt".into()], ..Bounds::open() }
}

/// Tries to send a word to a listener by its name in the file system, or by its name alone.
const SPEAK: &str = "python3 -c 'import os, socket
for name in os.environ[\"PATHS\"].split() + [\"\\0\" + os.environ[\"ABSTRACT\"]]:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(name)
        line.send(b\"typed\")
    except OSError:
        pass
    line.close()
print(\"tried\")'";

#[tokio::test]
async fn no_listener_of_another_session_hears_a_command() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("directory");
        std::fs::create_dir(&directory).unwrap();
        let [agent, free] = [directory.join("agent"), place.path().join("free")];
        let paths = [place.path().join("socket"), directory.join("socket"), agent.clone(), free];
        let mut listeners: Vec<UnixListener> =
            paths.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
        let name = format!("buddy-test-{}-{kind:?}", std::process::id());
        listeners.push(UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap());
        for path in paths.iter().map(std::path::PathBuf::as_path).chain([place.path(), &directory]) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        let (hidden, ways) = (vec![directory], vec![paths[0].clone(), place.path().join("gone")]);
        let bounds = Bounds { hidden, ways, shown: vec![agent], ..Bounds::open() };
        let mut exec = cell.exec(bounds, SPEAK);
        let names: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        exec.env.push(("PATHS".into(), names.join(" ")));
        exec.env.push(("ABSTRACT".into(), name));
        let exit = cell.stage.run(exec).await;
        assert_eq!(exit.stdout.text(), "tried\n", "{kind:?}: {}", exit.stderr.text());
        let heard: Vec<bool> = listeners
            .iter()
            .map(|listener| {
                listener.set_nonblocking(true).unwrap();
                listener.accept().is_ok()
            })
            .collect();
        assert_eq!(heard, [false, false, true, true, false], "{kind:?}: only shown and free sockets answer");
    }
}

/// Tries to type through a tmux server that is not buddy's: by its socket, and as a program in one of its panes does.
fn type_through(socket: &std::path::Path) -> String {
    let socket = socket.display();
    format!(
        "tmux -S {socket} send-keys -t mine typed-by-a-command Enter; \
         TMUX={socket},1,0 TMUX_PANE=%0 tmux send-keys typed-by-a-command Enter; \
         for device in /dev/uinput /dev/input/event0 /dev/ptmx /dev/vcs1; do echo typed > $device; done 2>/dev/null; \
         echo tried"
    )
}

#[expect(clippy::disallowed_methods, reason = "the test plays a user with a tmux of their own")]
fn own_tmux(socket: &std::path::Path, words: &[&str]) {
    let run = Command::new("tmux").arg("-S").arg(socket).args(words).env_remove("TMUX").status().unwrap();
    assert!(run.success(), "{words:?}");
}

#[tokio::test]
async fn nothing_is_typed_through_the_tmux_that_buddy_itself_runs_in() {
    let place = tempfile::tempdir().unwrap();
    let (socket, typed) = (place.path().join("socket"), place.path().join("typed"));
    let keep = format!("exec cat > {}", typed.display());
    own_tmux(&socket, &["-f", "/dev/null", "new-session", "-d", "-s", "mine", &keep]);
    for kind in ALL {
        let cell = Cell::new(kind);
        let hidden = Bounds { hidden: vec![socket.clone()], ..Bounds::open() };
        let confined = [false, true].map(|network| Bounds { network, ..cell.bounds() });
        for bounds in confined.into_iter().chain([hidden]) {
            let exit = cell.run_in(bounds, &type_through(&socket)).await;
            assert_eq!(exit.stdout.text(), "tried\n", "{kind:?}: {}", exit.stderr.text());
        }
    }
    own_tmux(&socket, &["send-keys", "-t", "mine", "end-of-test", "Enter"]);
    let end = std::time::Instant::now() + crate::stage::PATIENCE;
    let text = loop {
        let text = std::fs::read_to_string(&typed).unwrap_or_default();
        if text.ends_with("end-of-test\n") {
            break text;
        }
        assert!(std::time::Instant::now() < end, "nothing can be typed there at all: {text:?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    own_tmux(&socket, &["kill-server"]);
    assert_eq!(text, "end-of-test\n");
}
