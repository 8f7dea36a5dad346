//! Commands that are talked to while they run, on every target and in every jail.

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Ended, Exec, Running, Stdin, StdinWriter, Stream, TargetError, TerminalSize};
use buddy_testkit::container_host::ContainerHost;
use buddy_testkit::ssh_host::SshHost;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::place::{Place, argv, cache, sh};
use super::{Case, cases, check_all};
use crate::jail::cell::{ALL, Kind};
use crate::stage::{PATIENCE, alive, marker, peak_memory_kib, until_alive, until_gone};

const CASES: &[Case] = cases![
    the_end_of_file_ends_it,
    every_byte_comes_back,
    a_thousand_questions_are_answered,
    a_writer_waits_for_a_command_that_does_not_read,
    a_command_waits_for_a_reader_and_its_stop_does_not,
    a_write_after_the_end_fails_at_once,
    both_streams_are_whole,
    a_timeout_ends_it,
    dropping_it_ends_it,
    a_program_that_is_not_there_is_named,
];

/// Bytes that are sent at once: no divisor of any buffer on the way.
const BLOCK_BYTES: usize = 1_000_003;
const ECHOED_BYTES: usize = 64 * 1024 * 1024;

/// The most bytes that may be on the way to a command: the pipes of each hop, and the window of SSH (2 MiB).
const MOST_ON_THE_WAY: usize = 8 * 1024 * 1024;

/// The time without progress after which a writer counts as waiting.
const STUCK: Duration = Duration::from_millis(700);

impl Place {
    async fn talk(&self, exec: Exec) -> (Running, StdinWriter) {
        let mut running = self.start(self.talked(exec)).await.unwrap();
        let stdin = running.take_stdin().unwrap();
        (running, stdin)
    }

    fn talked(&self, exec: Exec) -> Exec {
        Exec { stdin: Stdin::Piped, timeout: None, bounds: self.bounds.clone(), ..exec }
    }
}

async fn the_end_of_file_ends_it(place: Arc<Place>) {
    let (mut running, mut stdin) = place.talk(argv(&["cat"])).await;
    stdin.write_all(b"hello").await.unwrap();
    assert_eq!(running.next().await.unwrap().bytes, "hello");
    drop(stdin);
    assert_eq!(running.next().await, None);
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.code, exit.ended, exit.stdout.text().as_str()), (Some(0), Ended::Exited, "hello"));
    let (mut running, mut stdin) = place.talk(argv(&["cat"])).await;
    stdin.shutdown().await.unwrap();
    assert_eq!(running.wait().await.unwrap().code, Some(0));
    assert_eq!(stdin.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
}

async fn every_byte_comes_back(place: Arc<Place>) {
    let block: Vec<u8> = (0..BLOCK_BYTES).map(|at| ((at + at / 65_521) % 251).to_le_bytes()[0]).collect();
    let (mut running, mut stdin) = place.talk(argv(&["cat"])).await;
    let write = async {
        let mut left = ECHOED_BYTES;
        while left > 0 {
            let length = left.min(block.len());
            stdin.write_all(&block[..length]).await.unwrap();
            left -= length;
        }
        drop(stdin);
    };
    let read = async {
        let mut total = 0;
        while let Some(chunk) = running.next().await {
            let mut bytes = &chunk.bytes[..];
            while !bytes.is_empty() {
                let expected = &block[total % block.len()..];
                let length = expected.len().min(bytes.len());
                assert!(bytes[..length] == expected[..length], "other bytes after {total}");
                bytes = &bytes[length..];
                total += length;
            }
        }
        total
    };
    let ((), total) = tokio::join!(write, read);
    assert_eq!(total, ECHOED_BYTES);
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.code, exit.stdout.total, exit.chunks_dropped), (Some(0), ECHOED_BYTES as u64, 0));
}

async fn a_thousand_questions_are_answered(place: Arc<Place>) {
    let script = "while read -r line; do printf '%s\\n' \"{\\\"answer\\\":$line}\"; done";
    let (mut running, mut stdin) = place.talk(sh(script)).await;
    let mut heard = Vec::new();
    for number in 0..1_000 {
        stdin.write_all(format!("{{\"id\":{number}}}\n").as_bytes()).await.unwrap();
        while !heard.ends_with(b"\n") {
            heard.extend(running.next().await.unwrap().bytes);
        }
        assert_eq!(String::from_utf8_lossy(&heard), format!("{{\"answer\":{{\"id\":{number}}}}}\n"));
        heard.clear();
    }
    drop(stdin);
    assert_eq!(running.wait().await.unwrap().code, Some(0));
}

/// Writes until nothing is taken any more, and returns how much was.
async fn fill(stdin: &mut StdinWriter) -> usize {
    let block = vec![7; BLOCK_BYTES];
    let mut total = 0;
    while let Ok(written) = timeout(STUCK, stdin.write(&block)).await {
        total += written.unwrap();
        assert!(total <= MOST_ON_THE_WAY, "the writer does not wait");
    }
    total
}

async fn a_writer_waits_for_a_command_that_does_not_read(place: Arc<Place>) {
    let marker = marker();
    let before = peak_memory_kib("self");
    let (mut running, mut stdin) = place.talk(sh(&format!("echo ready; sleep {marker}"))).await;
    assert_eq!(running.next().await.unwrap().bytes, "ready\n");
    assert!(fill(&mut stdin).await > 0);
    assert!(peak_memory_kib("self") - before < 16 * 1024, "bytes are kept here");
    let end = async {
        running.stop();
        running.wait().await.unwrap()
    };
    let block = vec![7; MOST_ON_THE_WAY];
    let (written, exit) =
        timeout(PATIENCE, async { tokio::join!(stdin.write_all(&block), end) }).await.unwrap();
    assert_eq!(written.unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!((exit.ended, exit.survivors), (Ended::Stopped, 0));
    assert_eq!(alive(&marker), Vec::<String>::new());
}

async fn a_command_waits_for_a_reader_and_its_stop_does_not(place: Arc<Place>) {
    let marker = marker();
    let script = format!("while printf '%0999d\\n' 1; do :; done; : {marker}");
    let (mut running, _stdin) = place.talk(sh(&script)).await;
    let before = peak_memory_kib("self");
    let early = timeout(STUCK, running.wait()).await;
    assert!(early.is_err(), "{early:?}");
    assert!(peak_memory_kib("self") - before < 16 * 1024, "output is kept here");
    running.stop();
    let exit = timeout(PATIENCE, running.wait()).await.unwrap().unwrap();
    assert_eq!((exit.ended, exit.survivors), (Ended::Stopped, 0));
    assert_eq!(alive(&marker), Vec::<String>::new());
    let mut came = 0;
    while let Some(chunk) = running.next().await {
        came += chunk.bytes.len() as u64;
    }
    assert!(came == exit.stdout.total || exit.chunks_dropped > 0, "{came} of {}", exit.stdout.total);
}

async fn a_write_after_the_end_fails_at_once(place: Arc<Place>) {
    let (mut running, mut stdin) = place.talk(sh("read -r line; exit 3")).await;
    stdin.write_all(b"go\n").await.unwrap();
    assert_eq!(running.wait().await.unwrap().code, Some(3));
    for _ in 0..2 {
        assert_eq!(stdin.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}

async fn both_streams_are_whole(place: Arc<Place>) {
    let script = "cat; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '%999d\\n' $i; printf '%999d\\n' $i >&2; done";
    let (mut running, stdin) = place.talk(sh(script)).await;
    drop(stdin);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    while let Some(chunk) = running.next().await {
        match chunk.stream {
            Stream::Stdout => stdout.extend(chunk.bytes),
            Stream::Stderr => stderr.extend(chunk.bytes),
        }
    }
    let expected =
        (1..=3_000).map(|number| format!("{number:>999}\n")).collect::<Vec<_>>().concat().into_bytes();
    assert!(stdout == expected && stderr == expected, "{} and {} bytes", stdout.len(), stderr.len());
    assert_eq!(running.wait().await.unwrap().chunks_dropped, 0);
}

async fn a_timeout_ends_it(place: Arc<Place>) {
    let marker = marker();
    let exec = Exec {
        timeout: Some(Duration::from_millis(400)),
        ..place.talked(sh(&format!("sleep {marker} & sleep {marker}")))
    };
    let exit = place.run(exec).await;
    assert_eq!((exit.ended, exit.survivors), (Ended::TimedOut, 0));
    assert_eq!(alive(&marker), Vec::<String>::new());
}

async fn dropping_it_ends_it(place: Arc<Place>) {
    let marker = marker();
    let script = format!("trap '' TERM; sleep {marker} & echo ready; sleep {marker}");
    let (mut running, mut stdin) = place.talk(sh(&script)).await;
    assert_eq!(running.next().await.unwrap().bytes, "ready\n");
    until_alive(&marker, 2).await;
    drop(running);
    until_gone(&marker, PATIENCE).await;
    let block = vec![7; MOST_ON_THE_WAY];
    let written = timeout(PATIENCE, stdin.write_all(&block)).await.unwrap();
    assert_eq!(written.unwrap_err().kind(), ErrorKind::BrokenPipe);
}

async fn a_program_that_is_not_there_is_named(place: Arc<Place>) {
    let error = place.start(place.talked(argv(&["no-such-program-anywhere"]))).await.unwrap_err();
    assert!(
        matches!(&error, TargetError::CommandNotStarted { program, .. } if program == "no-such-program-anywhere"),
        "{error:?}"
    );
    let (mut running, stdin) = place.talk(argv(&["cat"])).await;
    drop(stdin);
    assert_eq!(running.wait().await.unwrap().code, Some(0));
}

#[tokio::test]
async fn this_machine_is_talked_to() {
    check_all(Place::local(), CASES.iter()).await;
}

#[tokio::test]
async fn jails_are_talked_to() {
    for kind in ALL {
        check_all(Place::jailed(kind), CASES.iter()).await;
    }
}

#[tokio::test]
async fn a_host_with_nothing_but_busybox_is_talked_to() {
    check_all(Place::busybox().await, CASES.iter()).await;
}

#[tokio::test]
async fn a_host_over_ssh_is_talked_to() {
    check_all(Place::ssh().await, CASES.iter()).await;
}

#[tokio::test]
async fn a_container_is_talked_to() {
    check_all(Place::container().await, CASES.iter()).await;
}

/// The container is this test's own, so that every shell in it is one of this test.
#[tokio::test]
async fn a_container_keeps_no_shell_of_a_talk() {
    let place = Arc::new(Place::container().await);
    the_end_of_file_ends_it(place.clone()).await;
    a_writer_waits_for_a_command_that_does_not_read(place.clone()).await;
    dropping_it_ends_it(place.clone()).await;
    a_program_that_is_not_there_is_named(place.clone()).await;
    let shells = "grep -ls 're[a]d -r l' /proc/[0-9]*/cmdline | wc -l";
    let end = std::time::Instant::now() + PATIENCE;
    // Three run this command, and the one for the next may be there.
    while place.says(shells).await.trim().parse::<usize>().unwrap() > 4 {
        assert!(std::time::Instant::now() < end, "{}", place.says("cat /proc/[0-9]*/cmdline").await);
    }
}

#[tokio::test]
async fn nobody_is_talked_to_at_a_terminal_or_while_all_wait_for_the_end() {
    let place = Place::local();
    let piped = place.talked(argv(&["cat"]));
    let at_terminal = Exec { pty: Some(TerminalSize::default()), ..piped.clone() };
    assert!(matches!(place.start(at_terminal).await, Err(TargetError::CommandNotStarted { .. })));
    assert!(matches!(place.target.run_leaving(piped).await, Err(TargetError::CommandNotStarted { .. })));
}

/// The place of the second process, and the words that lead there.
const ROLE: &str = "BUDDY_EXEC_TEST_TALKER";

#[tokio::test]
async fn a_killed_parent_takes_a_local_talk_with_it() {
    a_killed_parent_takes_it_along("hosts::talks::a_killed_parent_takes_a_local_talk_with_it", "local").await;
}

#[tokio::test]
async fn a_killed_parent_takes_jailed_talks_with_it() {
    for kind in ["full", "bare"] {
        a_killed_parent_takes_it_along("hosts::talks::a_killed_parent_takes_jailed_talks_with_it", kind)
            .await;
    }
}

#[tokio::test]
async fn a_killed_parent_takes_a_talk_over_ssh_with_it() {
    let host = is_parent().then(|| SshHost::start().unwrap());
    let role = host.as_ref().map(|host| format!("ssh {}", host.config().display())).unwrap_or_default();
    a_killed_parent_takes_it_along("hosts::talks::a_killed_parent_takes_a_talk_over_ssh_with_it", &role)
        .await;
}

#[tokio::test]
async fn a_killed_parent_takes_a_talk_in_a_container_with_it() {
    let host = is_parent().then(|| ContainerHost::start(&cache()).unwrap());
    let words = |host: &ContainerHost| {
        let env: Vec<String> = host.env().iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("container {} {}", host.name(), env.join(" "))
    };
    let role = host.as_ref().map(words).unwrap_or_default();
    let test = "hosts::talks::a_killed_parent_takes_a_talk_in_a_container_with_it";
    a_killed_parent_takes_it_along(test, &role).await;
}

#[expect(clippy::disallowed_methods, reason = "the test plays both processes")]
fn is_parent() -> bool {
    std::env::var(ROLE).is_err()
}

/// Fills the way to a command that does not read, so that nothing but the end of a connection can tell of the death.
#[expect(clippy::disallowed_methods, reason = "the test plays both processes and kills one")]
async fn a_killed_parent_takes_it_along(test: &str, place: &str) {
    if let Ok(role) = std::env::var(ROLE) {
        return play_parent(&role).await;
    }
    let marker = marker();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, format!("{marker} {place}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.into_iter().any(|line| line.contains("the command runs")));
    until_alive(&format!("sleep\0{marker}"), 2).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    until_gone(&format!("sleep\0{marker}"), PATIENCE).await;
}

#[expect(clippy::print_stdout, reason = "the other process reads it")]
async fn play_parent(role: &str) {
    let words: Vec<&str> = role.split(' ').collect();
    let place = match words[1] {
        "full" => Place::jailed(Kind::Full),
        "bare" => Place::jailed(Kind::Bare),
        "ssh" => Place::ssh_of(PathBuf::from(words[2])).await,
        "container" => {
            let pair =
                |word: &&str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            Place::container_of(words[2].to_owned(), words[3..].iter().filter_map(pair).collect()).await
        }
        _ => Place::local(),
    };
    let script = format!("(trap '' TERM HUP; setsid sleep {0} &) ; sleep {0}", words[0]);
    let (_running, mut stdin) = place.talk(sh(&script)).await;
    fill(&mut stdin).await;
    println!("the command runs");
    std::future::pending::<()>().await;
}
