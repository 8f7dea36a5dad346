//! The marker: a small process beside a pane that tells stderr from the rest, and the whole `main` of its
//! hidden mode.
//!
//! Commands that a caller waits for write their stderr into a named pipe. The marker reads that pipe and
//! writes each piece to the pane's terminal in one write, between two marks. The kernel lets no other process
//! write to the terminal in the middle of a write. So people see everything in order, and a follower of the
//! pane's stream knows which part is which. The secret in the marks is read from a file that no jail shows.
//!
//! When the shell sends its last word for a command through the pipe, the marker answers in another one once
//! all is on the terminal, so that the prompt comes after the output of the command.
//!
//! It lives as long as the process of the pane, or its terminal.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::marks::{Kind, Marks, Piece};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::{FileLock, LockKind};

/// The first argument under which this program becomes a marker. Then come the file with the secret, the named pipe, the
/// terminal, the process of the pane, and `again` if an earlier marker was killed.
pub const MARK: &str = "__mark";

/// The beginning of the file that has the secret in its first line.
pub(super) const SECRET_PREFIX: &str = "# ";

/// The capacity of a pipe unless it was changed.
const PIECE_BYTES: usize = 64 * 1024;

/// The suffix that makes the name of the pipe that of the pipe with answers.
const ANSWERS: &str = ".done";

/// The answer after a marker was killed: its own answers are unknown.
const AGAIN: &str = "again";

/// Marks the stderr of a pane until the pane ends.
pub fn mark() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(2).collect();
    let [secret, errors, terminal, owner, again @ ..] = words.as_slice() else { return ExitCode::FAILURE };
    let owner = owner.to_str().and_then(|owner| owner.parse().ok()).and_then(Pid::from_raw);
    let Some(owner) = owner else { return ExitCode::FAILURE };
    let pane = Pane::open(secret.into(), Path::new(errors), Path::new(terminal), owner);
    match pane.and_then(|pane| pane.serve(owner, !again.is_empty())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The descriptors of a marker.
struct Pane {
    secret: PathBuf,
    errors: OwnedFd,
    answers: OwnedFd,
    terminal: OwnedFd,
    /// Readable when the process of the pane has ended.
    owner: OwnedFd,
}

impl Pane {
    fn open(secret: PathBuf, errors: &Path, terminal: &Path, owner: Pid) -> io::Result<Self> {
        let owner = pidfd_open(owner, PidfdFlags::empty())?;
        // For writing too, so that it has no end while no command runs.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let pipe = |path: &Path| {
            let pipe = open(path, flags, Mode::empty())?;
            let is_pipe = FileType::from_raw_mode(fstat(&pipe)?.st_mode) == FileType::Fifo;
            if is_pipe { Ok(pipe) } else { Err(io::Error::other("this is no named pipe")) }
        };
        let mut answers = errors.as_os_str().to_owned();
        answers.push(ANSWERS);
        let (errors, answers) = (pipe(errors)?, pipe(Path::new(&answers))?);
        let terminal = open(terminal, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        if !rustix::termios::isatty(&terminal) {
            return Err(io::Error::other("this is no terminal"));
        }
        Ok(Self { secret, errors, answers, terminal, owner })
    }

    /// Marks everything until the pane ends. Another marker that is there already keeps the task.
    fn serve(&self, owner: Pid, is_again: bool) -> io::Result<()> {
        let mut lock = self.secret.clone().into_os_string();
        lock.push(format!(".{}", owner.as_raw_pid()));
        let Some(_lock) = FileLock::try_take(Path::new(&lock), LockKind::Exclusive)? else {
            return self.say("M");
        };
        self.say(if is_again { "L" } else { "M" })?;
        if is_again {
            self.answer(AGAIN)?;
        }
        let (mut piece, mut marks) = (vec![0; PIECE_BYTES], Marks::default());
        loop {
            let (has_ended, is_gone) = self.wait()?;
            if is_gone {
                return Ok(());
            }
            self.drain(&mut piece, &mut marks)?;
            if has_ended {
                return Ok(());
            }
        }
    }

    /// Waits for something to do, and returns whether the process of the pane has ended, and whether the
    /// terminal has.
    fn wait(&self) -> io::Result<(bool, bool)> {
        let mut polled = [
            PollFd::new(&self.errors, PollFlags::IN),
            PollFd::new(&self.owner, PollFlags::IN),
            // Asks for nothing, so that only its end wakes this process.
            PollFd::new(&self.terminal, PollFlags::empty()),
        ];
        while let Err(error) = poll(&mut polled, None) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        let [_, owner, terminal] = &polled;
        Ok((!owner.revents().is_empty(), !terminal.revents().is_empty()))
    }

    /// Marks everything in the pipe.
    fn drain(&self, piece: &mut [u8], marks: &mut Marks) -> io::Result<()> {
        loop {
            match read(&self.errors, &mut *piece) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Ok(length) => self.pass(piece.get(..length).unwrap_or_default(), marks)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn pass(&self, piece: &[u8], marks: &mut Marks) -> io::Result<()> {
        let secret = self.secret()?;
        let (before, after) = (sequence("I", &secret), sequence("O", &secret));
        self.write(&[before.as_bytes(), piece, after.as_bytes()].concat())?;
        for piece in marks.push(piece) {
            match piece {
                // A program that prints such a word gets an answer that nobody waits for.
                Piece::Mark(mark) if mark.kind == Kind::Flushed => self.answer(&mark.nonce)?,
                Piece::Mark(_) | Piece::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Tells the shell how far this has come. Without a reader the pipe is full, and nobody misses the
    /// answer.
    fn answer(&self, word: &str) -> io::Result<()> {
        match write(&self.answers, format!("{word}\n").as_bytes()) {
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn say(&self, kind: &str) -> io::Result<()> {
        self.write(sequence(kind, &self.secret()?).as_bytes())
    }

    /// The secret. It changes when another buddy takes the pane over.
    fn secret(&self) -> io::Result<String> {
        let file = fs::read_to_string(&self.secret)?;
        let secret = file.lines().next().and_then(|line| line.strip_prefix(SECRET_PREFIX));
        secret.map(str::to_owned).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match write(&self.terminal, bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn sequence(kind: &str, secret: &str) -> String {
    format!("\x1b]133;{kind};{secret}\x07")
}
