//! A conversation on a terminal: the time to the prompt, and the cost of a streaming answer.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use buddy_testkit::model::{ModelServer, Script, turn};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::runtime::Runtime;

use crate::sample::{median, millis, shown};
use crate::table::{Row, Table};

/// The number of starts of each, alternating.
const STARTS: usize = 21;
/// The size of the terminal.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// The number of streamed words, at fifty per second.
const WORDS: usize = 500;
const PAUSE: Duration = Duration::from_millis(20);
/// The number of tokens in a very long answer.
const FLOOD: usize = 100_000;
/// The number of paragraphs in it.
const PARAGRAPHS: usize = FLOOD / 20;
/// Ticks of the kernel's clock per second.
const TICKS: f64 = 100.0;
/// The words in the empty input of a conversation.
const PROMPT: &str = "Ask buddy anything";
/// The prompt of the shell beside it.
const SHELL_PROMPT: &str = "> ";
/// The timeout for a prompt.
const PATIENCE: Duration = Duration::from_mins(2);
/// A terminal without changes for this long has nothing more to show: the time of a turn is painted each
/// second.
const QUIET: Duration = Duration::from_secs(10);

/// Measures the time to the prompt, and the cost of a word.
pub(crate) fn measure(buddy: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let words: Vec<String> = (0..WORDS).map(|number| format!("word{number:03}")).collect();
    let slow = turn().text(words.join(" ")).chunk_chars(8).chunk_delay(PAUSE);
    let script = Script::from([slow, turn().text(long()).chunk_chars(6)]);
    let server = runtime.block_on(ModelServer::start(script));
    let home = folder.join("screen");
    let start = || Seat::start(conversation(buddy, &home, &server.url()));
    // The first start creates the home.
    start()?.time_to(PROMPT)?;
    let (mut prompts, mut shells) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        prompts.push(start()?.time_to(PROMPT)?);
        shells.push(Seat::start(shell())?.time_to(SHELL_PROMPT)?);
    }
    let (prompt, shell) = (median(prompts), median(shells));
    table.add(Row {
        what: "buddy, start to prompt",
        figure: shown(prompt),
        beside: format!("bash --norc -i {}", shown(shell)),
        ratio: Some(millis(prompt) / millis(shell)),
        goal: Some(("< 50 ms", prompt < Duration::from_millis(50))),
    });
    let mut seat = start()?;
    stream(&mut seat, table)?;
    flood(&mut seat, table)
}

/// Measures an answer that streams for an hour.
pub(crate) fn hour(buddy: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let pause = Duration::from_hours(1) / u32::try_from(FLOOD)?;
    let text = long();
    let chunk = text.len() / FLOOD;
    let script = Script::from([turn().text(&text).chunk_chars(chunk).chunk_delay(pause)]);
    let server = runtime.block_on(ModelServer::start(script));
    let mut seat = Seat::start(conversation(buddy, &folder.join("hour"), &server.url()))?;
    seat.until(PROMPT)?;
    seat.write("go\r")?;
    // The first minute, after which everything that a stream needs is allocated.
    seat.listen(Some(Duration::from_mins(1)))?;
    let (before, began, memory) = (seat.ticks()?, Instant::now(), seat.memory()?);
    let bytes = seat.listen(None)?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(seconds > 3_500.0, "the answer broke off after {seconds:.0} s");
    let share = (seat.ticks()? - before) / TICKS / seconds * 100.0;
    let growth = seat.memory()?.saturating_sub(memory);
    table.add(Row {
        what: "an hour of 100,000 tokens, more memory after the first minute",
        figure: format!("{growth} kB"),
        beside: format!("its text has {} kB; {:.0} s", text.len() / 1024, seconds),
        ratio: None,
        goal: Some(("< 16 MB", growth < 16 * 1024)),
    });
    table.add(Row {
        what: "the same, share of a core",
        figure: format!("{share:.1} %"),
        beside: format!("{} bytes on the screen for each token", bytes / FLOOD),
        ratio: None,
        goal: Some(("< 3 %", share < 3.0)),
    });
    Ok(())
}

/// Many short paragraphs, with a unique word at the end.
fn long() -> String {
    let paragraphs = (0..PARAGRAPHS).map(|number| format!("Paragraph {number} has some **weight** and `code` in it, and then it ends in a few words more, as they do.\n\n"));
    paragraphs.chain(["THE-END".to_owned()]).collect()
}

/// Measures a very long answer at full speed.
fn flood(seat: &mut Seat, table: &mut Table) -> Result<()> {
    // Unchanged rows are not written again, so no text marks the end.
    seat.listen(None)?;
    let before = seat.memory()?;
    let began = Instant::now();
    seat.write("more\r")?;
    let bytes = seat.listen(None)?;
    let (time, growth) = (began.elapsed().saturating_sub(QUIET), seat.memory()?.saturating_sub(before));
    let text = long();
    ensure!(bytes > text.len(), "{bytes} bytes were shown of {}", text.len());
    let text = text.len() / 1024;
    table.add(Row {
        what: "an answer of 100,000 tokens, more memory",
        figure: format!("{growth} kB"),
        beside: format!("its text has {text} kB; {:.1} s", time.as_secs_f64()),
        ratio: None,
        goal: Some(("< 16 MB", growth < 16 * 1024)),
    });
    Ok(())
}

/// Measures a streaming answer.
fn stream(seat: &mut Seat, table: &mut Table) -> Result<()> {
    seat.until(PROMPT)?;
    seat.write("go\r")?;
    seat.until("word000")?;
    let (before, began, memory) = (seat.ticks()?, Instant::now(), seat.memory()?);
    let bytes = seat.until(&format!("word{:03}", WORDS - 2))?;
    let share = (seat.ticks()? - before) / TICKS / began.elapsed().as_secs_f64() * 100.0;
    let growth = seat.memory()?.saturating_sub(memory);
    let each = bytes / WORDS;
    let repaint = usize::from(COLUMNS) * usize::from(ROWS);
    table.add(Row {
        what: "a streamed word on the screen",
        figure: format!("{each} bytes"),
        beside: format!("a whole repaint {repaint} bytes, {} times as many", repaint / each.max(1)),
        ratio: None,
        goal: Some(("< 10 % of it", each * 10 < repaint)),
    });
    table.add(Row {
        what: "50 words a second, share of a core",
        figure: format!("{share:.1} %"),
        beside: format!("{growth} kB more memory in {:.0} s", began.elapsed().as_secs_f64()),
        ratio: None,
        goal: Some(("< 3 %", share < 3.0)),
    });
    Ok(())
}

fn conversation(buddy: &Path, home: &Path, url: &str) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", &buddy.to_string_lossy(), "--trust", "-c", "tmux.enabled=false"])
        .env("BUDDY_HOME", home)
        .env("BUDDY_BASE_URL", url)
        .env("BUDDY_MODEL", "scripted")
        .env_remove("BUDDY_API_KEY");
    command
}

fn shell() -> Command {
    let mut command = Command::new("setsid");
    command.args(["--ctty", "bash", "--norc", "-i"]).env("PS1", "> ");
    command
}

/// A program at a terminal.
struct Seat {
    child: Child,
    terminal: File,
    began: Instant,
    seen: Vec<u8>,
}

impl Seat {
    fn start(mut command: Command) -> Result<Self> {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&terminal)?;
        unlockpt(&terminal)?;
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size)?;
        let name = ptsname(&terminal, Vec::new())?;
        let other = File::options().read(true).write(true).open(name.to_str()?)?;
        let streams: [OwnedFd; 2] = [other.try_clone()?.into(), other.try_clone()?.into()];
        let [stdin, stdout] = streams;
        command
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .stdin(stdin)
            .stdout(stdout)
            .stderr(other);
        let began = Instant::now();
        Ok(Self { child: command.spawn()?, terminal: terminal.into(), began, seen: Vec::new() })
    }

    /// The time from the start until a text appears.
    fn time_to(&mut self, text: &str) -> Result<Duration> {
        self.until(text)?;
        Ok(self.began.elapsed())
    }

    fn write(&mut self, text: &str) -> Result<()> {
        Ok(std::io::Write::write_all(&mut self.terminal, text.as_bytes())?)
    }

    /// Reads until a text appears, and returns the number of bytes.
    fn until(&mut self, text: &str) -> Result<usize> {
        let (until, mut count) = (Instant::now() + PATIENCE, 0);
        let mut piece = [0; 16 * 1024];
        loop {
            if let Some(at) = self.seen.windows(text.len()).position(|window| window == text.as_bytes()) {
                self.seen.drain(..at + text.len());
                return Ok(count);
            }
            let rest = Timespec::try_from(until.saturating_duration_since(Instant::now()))?;
            let is_ready = poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&rest))? > 0;
            ensure!(is_ready, "`{text}` never came: {}", String::from_utf8_lossy(&self.seen));
            let length = self.terminal.read(&mut piece)?;
            count += length;
            self.seen.extend(piece.get(..length).unwrap_or_default());
        }
    }

    /// Reads for this long, or until nothing more comes, and returns the number of bytes.
    fn listen(&mut self, limit: Option<Duration>) -> Result<usize> {
        let until = limit.map(|limit| Instant::now() + limit);
        let quiet = Timespec::try_from(QUIET)?;
        let (mut piece, mut count) = ([0; 16 * 1024], 0);
        while until.is_none_or(|until| Instant::now() < until)
            && poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&quiet))? > 0
        {
            count += self.terminal.read(&mut piece)?;
        }
        self.seen.clear();
        Ok(count)
    }

    /// The processor time that it has used.
    fn ticks(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(") ").next().context("no fields")?.split(' ').collect();
        let number = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok());
        Ok(number(11).context("no user time")? + number(12).context("no system time")?)
    }

    /// Its memory, in kilobytes.
    fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no memory")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
