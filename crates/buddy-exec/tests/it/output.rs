//! Output of any size and content, in bounded memory and on a bounded disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use buddy_exec::{CHUNK_BYTES, LogFile, MAX_CHUNKS, OutputLimits, QUEUED_CHUNKS, Stream};
use rustix::fs::Mode;

use crate::stage::{Stage, peak_memory_kib, sh};

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn live_output_comes_while_the_command_runs() {
    let stage = Stage::new();
    let mut running = stage.start(sh("echo first; sleep 100")).await.unwrap();
    let chunk = running.next().await.unwrap();
    assert_eq!((chunk.stream, &chunk.bytes[..]), (Stream::Stdout, &b"first\n"[..]));
    running.stop();
    assert_eq!(running.next().await, None);
}

#[tokio::test]
async fn live_output_is_whole_for_a_reader_that_keeps_up() {
    let stage = Stage::new();
    let mut running = stage.start(sh("seq 1 20000; seq 1 100 >&2")).await.unwrap();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    while let Some(chunk) = running.next().await {
        assert!(chunk.bytes.len() <= CHUNK_BYTES);
        match chunk.stream {
            Stream::Stdout => stdout.extend(chunk.bytes),
            Stream::Stderr => stderr.extend(chunk.bytes),
        }
    }
    let exit = running.wait().await.unwrap();
    assert_eq!(exit.chunks_dropped, 0);
    assert_eq!(String::from_utf8(stdout).unwrap(), exit.stdout.text());
    assert_eq!(String::from_utf8(stderr).unwrap(), exit.stderr.text());
}

#[tokio::test]
async fn a_reader_that_never_reads_loses_chunks_and_holds_nothing_up() {
    let stage = Stage::new();
    let mut running = stage.start(sh("head -c 100000000 /dev/zero")).await.unwrap();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.code, exit.stdout.total), (Some(0), 100_000_000));
    let mut queued = 0;
    while running.next().await.is_some() {
        queued += 1;
    }
    assert_eq!(queued, QUEUED_CHUNKS);
    assert!(exit.chunks_dropped >= (100_000_000 - 2 * MIB) / CHUNK_BYTES as u64);
}

#[tokio::test]
async fn live_output_has_an_end_even_for_a_fast_reader() {
    let stage = Stage::new();
    let mut running = stage.start(sh("head -c 200000000 /dev/zero")).await.unwrap();
    let mut read = 0;
    while running.next().await.is_some() {
        read += 1;
    }
    let exit = running.wait().await.unwrap();
    assert!(read <= MAX_CHUNKS, "{read}");
    assert_eq!(exit.stdout.total, 200_000_000);
    assert!(exit.chunks_dropped > 0);
}

#[tokio::test]
async fn huge_output_keeps_its_ends_and_little_else() {
    let stage = Stage::new();
    let mut exec = sh("printf BEGIN; head -c 400000000 /dev/zero; printf 'the real end'");
    let path = stage.path("logs/exec-huge.log");
    let log = LogFile { path: path.clone(), cap_bytes: 4 * MIB };
    exec.output = OutputLimits { keep_head: 1000, keep_tail: 2000, log: Some(log) };
    let exit = stage.run(exec).await;
    assert_eq!((exit.stdout.head.len(), exit.stdout.tail.len()), (1000, 2000));
    assert_eq!(exit.stdout.total, 400_000_017);
    assert_eq!(exit.stdout.omitted(), 400_000_017 - 3000);
    assert!(exit.stdout.head.starts_with(b"BEGIN") && exit.stdout.tail.ends_with(b"the real end"));
    let (info, content) = (exit.log.unwrap(), fs::read(&path).unwrap());
    assert_eq!((info.bytes_written, content.len() as u64), (4 * MIB, 4 * MIB));
    assert!(content.starts_with(b"BEGIN") && content.ends_with(b"the real end"));
    let gap = format!("\n… {} bytes left out …\n", info.bytes_dropped);
    assert!(content.windows(gap.len()).any(|window| window == gap.as_bytes()));
    let peak = peak_memory_kib("self");
    assert!(peak < 150_000, "{peak} KiB");
}

#[tokio::test]
async fn the_log_has_both_streams_and_only_its_owner_reads_it() {
    rustix::process::umask(Mode::empty());
    let stage = Stage::new();
    let mut exec = sh("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three");
    let path = stage.path("new/logs/exec-1.log");
    exec.output.log = Some(LogFile { path: path.clone(), cap_bytes: MIB });
    let info = stage.run(exec).await.log.unwrap();
    assert_eq!((info.path.as_path(), info.bytes_written, info.bytes_dropped), (path.as_path(), 14, 0));
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&stage.path("new"))), (0o600, 0o700, 0o700));
}

#[tokio::test]
async fn a_command_without_output_has_an_empty_log() {
    let stage = Stage::new();
    let mut exec = sh("true");
    exec.output.log = Some(LogFile { path: stage.path("exec-1.log"), cap_bytes: MIB });
    assert_eq!(stage.run(exec).await.log.unwrap().error, None);
    assert_eq!(fs::read(stage.path("exec-1.log")).unwrap(), b"");
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_told_and_the_command_goes_on() {
    let stage = Stage::new();
    fs::write(stage.path("taken"), "").unwrap();
    let mut exec = sh("seq 1 1000");
    exec.output.log = Some(LogFile { path: stage.path("taken/exec-1.log"), cap_bytes: MIB });
    let exit = stage.run(exec).await;
    assert_eq!((exit.code, exit.stdout.text().lines().count()), (Some(0), 1000));
    let info = exit.log.unwrap();
    assert_eq!((info.error.is_some(), info.bytes_dropped), (true, exit.stdout.total));
}

#[tokio::test]
async fn no_character_is_split_where_output_is_cut() {
    let stage = Stage::new();
    for keep in 997..1001 {
        let mut exec = sh("i=0; while [ $i -lt 500 ]; do printf '€é😀'; i=$((i+1)); done");
        exec.output = OutputLimits { keep_head: keep, keep_tail: keep, log: None };
        let captured = stage.run(exec).await.stdout;
        assert!(captured.omitted() > 0 && !captured.text().contains('\u{FFFD}'), "{keep}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_do_no_harm() {
    let exit =
        Stage::new().run(sh(r"printf 'a\377\376'; printf '\342\202'; sleep 0.1; printf '\254z\0'")).await;
    assert_eq!(exit.stdout.text(), "a\u{FFFD}\u{FFFD}€z\0");
}
