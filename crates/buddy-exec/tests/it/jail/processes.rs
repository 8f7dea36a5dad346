//! Other processes: not to be traced, read, or signalled.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};

use super::cell::{ALL, Cell, WITH_MOUNTS};
use crate::stage::marker;

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process of the same account as the command, with a secret in its environment.
#[expect(clippy::disallowed_methods, reason = "the process that must not be touched is not the target's")]
fn server(cell: &Cell, marker: &str) -> Server {
    let owner = fs::metadata(cell.ws("")).unwrap().uid();
    let mut command = if owner == rustix::process::geteuid().as_raw() {
        Command::new("sleep")
    } else {
        let mut command = Command::new("/usr/bin/setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "sleep"]);
        command
    };
    command.arg(marker).env("SERVER_TOKEN", "a-secret-of-the-server").stdout(Stdio::null());
    Server(command.spawn().unwrap())
}

fn state(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("State:\t")).unwrap().to_owned()
}

#[tokio::test]
async fn a_server_of_the_same_account_is_out_of_reach() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let mut server = server(&cell, &marker());
        let pid = server.0.id();
        let script = format!(
            "kill -STOP {pid}; kill -9 {pid}; \
             cat /proc/{pid}/environ /proc/{pid}/maps /proc/{pid}/root/etc/hostname; ls /proc/{pid}/cwd/; echo x > /proc/{pid}/fd/0; \
             python3 -c 'open(\"/proc/{pid}/mem\", \"r+b\").write(b\"x\"); print(\"written\")'; \
             python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) == 0)'"
        );
        let exit = cell.run(&script).await;
        assert_eq!(exit.stdout.text(), "False\n", "{kind:?}");
        assert!(server.0.try_wait().unwrap().is_none(), "{kind:?}: it was killed");
        assert!(!state(pid).starts_with(['T', 't']), "{kind:?}: {}", state(pid));
    }
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let mut exec = cell.exec(cell.bounds(), "");
        exec.argv = vec!["env".into()];
        exec.env.push(("GIVEN".into(), "yes".into()));
        let mut lines: Vec<String> =
            cell.stage.run(exec).await.stdout.text().lines().map(str::to_owned).collect();
        lines.sort();
        let names: Vec<&str> = lines.iter().filter_map(|line| line.split('=').next()).collect();
        assert_eq!(names, ["GIVEN", "OUT", "PATH", "WS"], "{kind:?}");
    }
}

#[tokio::test]
async fn the_first_process_and_the_parent_show_no_environment() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let script = "cat /proc/1/environ /proc/$PPID/environ | wc -c; cat /proc/self/environ | tr '\\0' '\\n' | sort | cut -d= -f1";
        let exit = cell.run(script).await;
        // The shell adds the directory by itself.
        assert_eq!(exit.stdout.text(), "0\nOUT\nPATH\nPWD\nWS\n", "{kind:?}");
    }
}

#[tokio::test]
async fn only_ones_own_processes_are_there() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        // Should the jail have no processes of its own, the machine's first one is not touched.
        let script = "ls -d /proc/[0-9]* | wc -l; [ $$ -le 5 ] || exit 9; \
                      kill -STOP 1; kill -9 1; kill -TERM 1; echo alive";
        let exit = cell.run(script).await;
        let said = exit.stdout.text();
        let (count, rest) = said.split_once('\n').unwrap();
        assert!(count.parse::<u32>().unwrap() <= 4, "{kind:?}: {count}");
        assert_eq!((rest, exit.code), ("alive\n", Some(0)), "{kind:?}");
    }
}

#[tokio::test]
async fn the_plan_of_a_jail_is_on_no_command_line() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let mut exec = cell.exec(cell.bounds(), "echo ready; sleep 1000");
        let secret = format!("secret-{}-{kind:?}", std::process::id());
        exec.env.push(("SECRET".into(), secret.clone()));
        let mut running = cell.stage.start_ready(exec).await;
        assert_eq!(crate::stage::alive(&secret), [""; 0], "{kind:?}");
        running.stop();
        running.wait().await.unwrap();
    }
}

/// Makes shared memory, semaphores and queues of the same account, prints their ids, and removes them when its stdin ends.
const KEEPER: &str = r#"
import ctypes, os, sys
c = ctypes.CDLL(None, use_errno=True)
c.shmat.restype = ctypes.c_void_p
c.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
memory, locks, queue = c.shmget(0, 4096, 0o1600), c.semget(0, 1, 0o1600), c.msgget(0, 0o1600)
at = c.shmat(memory, None, 0)
ctypes.memmove(at, b"memory-secret\0", 14)
c.msgsnd(queue, (1).to_bytes(8, "little") + b"queue-secret", 12, 0)
name = b"/buddy-test-%d" % os.getpid()
posix = c.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None)
c.mq_send(posix, b"posix-secret", 12, 0)
print(memory, locks, queue, name.decode() if posix >= 0 else posix, flush=True)
sys.stdin.read()
c.semctl.restype = ctypes.c_int
left = ctypes.create_string_buffer(64)
print(ctypes.string_at(at, 13).decode(), c.semctl(locks, 0, 12), c.msgrcv(queue, left, 32, 0, 0o4000), flush=True)
c.shmctl(memory, 0, None); c.semctl(locks, 0, 0); c.msgctl(queue, 0, None); c.mq_unlink(name)
"#;

/// Tries to read and change them, by id and by name.
const MEDDLER: &str = r#"
import ctypes, os, sys
c = ctypes.CDLL(None, use_errno=True)
c.shmat.restype = ctypes.c_void_p
c.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
memory, locks, queue = map(int, sys.argv[1:4])
at = c.shmat(memory, None, 0)
if at != ctypes.c_void_p(-1).value:
    print(ctypes.string_at(at, 13)); ctypes.memmove(at, b"changed", 7)
print(c.semctl(locks, 0, 16, 7), end=" ")
left = ctypes.create_string_buffer(64)
print(c.msgrcv(queue, left, 32, 0, 0o4000), left.raw[8:20].strip(b"\0"), end=" ")
posix = c.mq_open(sys.argv[4].encode(), os.O_RDWR | os.O_NONBLOCK)
read = ctypes.create_string_buffer(65536)
print(posix if posix < 0 else c.mq_receive(posix, read, 65536, None), read.value)
c.shmctl(memory, 0, None); c.msgctl(queue, 0, None); c.mq_unlink(sys.argv[4].encode())
"#;

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the process that must not be touched is not the target's")]
async fn memory_and_queues_of_other_programs_are_out_of_reach() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("meddle.py", MEDDLER);
        let owner = fs::metadata(cell.ws("")).unwrap().uid();
        let mut command = Command::new("/usr/bin/setpriv");
        if owner != rustix::process::geteuid().as_raw() {
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        }
        command.args(["/usr/bin/python3", "-c", KEEPER]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = Server(command.spawn().unwrap());
        let mut told = BufReader::new(keeper.0.stdout.take().unwrap());
        let mut ids = String::new();
        told.read_line(&mut ids).unwrap();
        assert!(ids.split(' ').all(|id| !id.starts_with('-')), "one of them could not be made: {ids}");
        let exit = cell.run(&format!("python3 meddle.py {ids}")).await;
        assert_eq!(exit.stdout.text(), "-1 -1 b'' -1 b''\n", "{kind:?}: {}", exit.stderr.text());
        drop(keeper.0.stdin.take());
        let mut after = String::new();
        told.read_line(&mut after).unwrap();
        assert_eq!(after, "memory-secret 0 12\n", "{kind:?}: memory, semaphore and queue are as they were");
    }
}
