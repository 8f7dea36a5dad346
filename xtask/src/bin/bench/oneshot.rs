//! `buddy exec` next to the same request from a client that does nothing else.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use buddy_testkit::model::{ModelServer, Script, WhenExhausted, turn};
use tokio::runtime::Runtime;

use crate::programs::{peak, wall};
use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of runs of each, alternating.
const RUNS: usize = 51;
/// The number of runs whose memory is measured.
const WATCHED: usize = 11;

/// Measures wall time and memory of a one-shot run against a scripted model on this machine.
pub(crate) fn measure(buddy: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let mut script = Script::from([turn().text("It is a bench.")]);
    script.when_exhausted = WhenExhausted::RepeatLast;
    let server = runtime.block_on(ModelServer::start(script));
    let home = folder.join("oneshot");
    let (plain, repository) = (folder.join("plain"), folder.join("repository"));
    fs::create_dir_all(&plain)?;
    make_repository(&repository)?;
    let exec = || exec(buddy, &home, &server.url(), &plain);
    // The first run creates the home and records the request.
    let first = wall(&mut exec())?;
    let request = request(&server)?;
    let (mut runs, mut raws, mut in_repository) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        raws.push(raw(&server.url(), &request)?);
        runs.push(wall(&mut exec())?);
        in_repository.push(wall(exec().current_dir(&repository))?);
    }
    let (run, raw, in_repository) = (median(runs), median(raws), median(in_repository));
    let overhead = run.saturating_sub(raw);
    table.add(Row {
        what: "buddy exec, wall (home exists)",
        figure: shown(run),
        beside: format!("raw request {}", shown(raw)),
        ratio: Some(millis(run) / millis(raw)),
        goal: None,
    });
    table.add(Row {
        what: "buddy exec, on top of the server's time",
        figure: shown(overhead),
        beside: format!("first run in a new home {}", shown(first)),
        ratio: None,
        goal: Some(("< 30 ms", overhead < Duration::from_millis(30))),
    });
    table.add(Row {
        what: "buddy exec in a repository, wall",
        figure: shown(in_repository),
        beside: format!("in an empty directory {}", shown(run)),
        ratio: Some(millis(in_repository) / millis(run)),
        goal: None,
    });
    let mut peaks = (0..WATCHED).map(|_| peak(&mut exec())).collect::<Result<Vec<u64>>>()?;
    peaks.sort_unstable();
    let nothing = peak(Command::new("/bin/sleep").arg("0.05"))?;
    table.add(Row {
        what: "buddy exec, peak memory",
        figure: format!("{} kB", peaks[WATCHED / 2]),
        beside: format!("/bin/sleep {nothing} kB"),
        ratio: None,
        goal: Some(("< 30 MB", peaks[WATCHED / 2] < 30_000)),
    });
    Ok(())
}

/// Makes a repository with one commit, whose state the first request tells the model.
fn make_repository(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("notes.txt"), "One line.\n")?;
    let commit =
        ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "Begin"];
    for arguments in [&["init", "--quiet"][..], &["add", "notes.txt"], &commit] {
        let done = Command::new("git").args(arguments).current_dir(directory).status()?;
        ensure!(done.success(), "git {} failed", arguments.join(" "));
    }
    Ok(())
}

fn exec(buddy: &Path, home: &Path, url: &str, cwd: &Path) -> Command {
    let mut command = Command::new(buddy);
    command
        .args(["exec", "what is this?"])
        .current_dir(cwd)
        .env("BUDDY_HOME", home)
        .env("BUDDY_BASE_URL", url)
        .env("BUDDY_MODEL", "scripted")
        .env_remove("BUDDY_API_KEY");
    command
}

/// The request that buddy made, as bytes.
fn request(server: &ModelServer) -> Result<Vec<u8>> {
    let recorded = server.requests().into_iter().next().context("buddy made no request")?;
    let body = recorded.body.to_string();
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        recorded.path,
        body.len()
    );
    Ok([head.into_bytes(), body.into_bytes()].concat())
}

/// Connects, sends the request, and reads up to the end mark.
fn raw(url: &str, request: &[u8]) -> Result<Duration> {
    let address = url.strip_prefix("http://").context("not an address")?;
    let (answer, time) = timed(|| -> Result<Vec<u8>> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(request)?;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while !answer.windows(6).any(|window| window == b"[DONE]") {
            let count = stream.read(&mut piece)?;
            ensure!(count > 0, "the server hung up: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&piece[..count]);
        }
        Ok(answer)
    });
    ensure!(answer?.starts_with(b"HTTP/1.1 200"), "the server refused the raw request");
    Ok(time)
}
