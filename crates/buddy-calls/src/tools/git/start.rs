//! One run of `git` on the target: bounded, cancellable, and read as bytes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, Exit, OutputLimits, ProgramPath, Stdin, Target, quote};
use buddy_protocol::ToolFailure;
use tokio_util::sync::CancellationToken;

use super::shield::{self, Reach};
use crate::tools::failure::{interrupted, target_failure};
use crate::tools::tool::{Sight, ToolContext};

/// How long work on a repository may take.
const LOCAL_WAIT: Duration = Duration::from_mins(1);
/// How long a push may take.
const PUSH_WAIT: Duration = Duration::from_mins(5);
/// Bytes of output that are kept, from the beginning. The pipeline clips what the model sees of them further.
const KEEP: usize = 1024 * 1024;

/// The work for `git`.
pub(super) struct Call<'a> {
    pub(super) work: Work,
    pub(super) cwd: &'a Path,
    pub(super) reach: Reach,
    /// The names of the repository's settings, as far as they are known.
    pub(super) names: &'a BTreeSet<String>,
    pub(super) stdin: Stdin,
}

/// The arguments of a run, or of two.
pub(super) enum Work {
    One(Vec<String>),
    /// The second one starts when the first one succeeded. One jail for both, as its start costs more than git does.
    Pair(Vec<String>, Vec<String>),
}

impl Work {
    /// The words that start it.
    fn argv(self, programs: &ProgramPath) -> Result<Vec<String>, ToolFailure> {
        let find = |name| programs.find(name).map_err(|error| ToolFailure::new("refused", error.to_string()));
        let git = find("git")?;
        Ok(match self {
            Self::One(arguments) => std::iter::once(git).chain(arguments).collect(),
            Self::Pair(first, second) => {
                let line = |arguments: Vec<String>| {
                    let words = std::iter::once(git.clone()).chain(arguments);
                    words.map(|word| quote(&word)).collect::<Vec<_>>().join(" ")
                };
                let script = format!("{} && printf '\\0{BETWEEN}\\0' && {}", line(first), line(second));
                vec![find("sh")?, "-c".to_owned(), script]
            }
        })
    }
}

/// The record between the outputs of a pair.
const BETWEEN: &str = "buddy: the second of two";

/// The output of `git`.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    /// Whether the output went on after what was kept.
    pub(super) is_cut: bool,
}

impl Said {
    pub(super) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The output, split where it has NULs. What was cut off in the middle is left out.
    pub(super) fn records(&self) -> Vec<String> {
        let text = self.text();
        let mut records: Vec<String> = text.split('\0').map(str::to_owned).collect();
        // The part after the last NUL is empty when the output is whole, and a fragment when it is not.
        records.pop();
        records
    }

    /// The outputs of a pair. The first one failed if there is no second; the failure of either is that of the pair.
    pub(super) fn split(mut self) -> (Self, Option<Self>) {
        let between = format!("\0{BETWEEN}\0").into_bytes();
        let Some(at) = self.stdout.windows(between.len()).position(|bytes| bytes == between) else {
            return (self, None);
        };
        let second = self.stdout.split_off(at + between.len());
        self.stdout.truncate(at);
        let first = Self { code: Some(0), stdout: self.stdout, stderr: String::new(), is_cut: false };
        (first, Some(Self { code: self.code, stdout: second, stderr: self.stderr, is_cut: self.is_cut }))
    }

    /// The output of a success, or the failure that it was.
    pub(super) fn or_failure(self) -> Result<Self, ToolFailure> {
        if self.is_success() { Ok(self) } else { Err(failure(&self)) }
    }
}

/// Where git runs: for a call, or for a look before it.
pub(super) trait Surroundings: Send + Sync {
    fn target(&self) -> &Arc<dyn Target>;
    fn bounds(&self) -> &Bounds;
    fn env(&self) -> &[(String, String)];
    fn programs(&self) -> &ProgramPath;
    fn cancel(&self) -> &CancellationToken;

    /// The file in which the end of a command is marked that changes files.
    fn end_mark(&self) -> Option<PathBuf> {
        None
    }
}

impl Surroundings for ToolContext {
    fn end_mark(&self) -> Option<PathBuf> {
        self.recorder.end_mark()
    }

    fn target(&self) -> &Arc<dyn Target> {
        &self.target
    }

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn env(&self) -> &[(String, String)] {
        &self.env
    }

    fn programs(&self) -> &ProgramPath {
        &self.programs
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Surroundings for Sight {
    fn target(&self) -> &Arc<dyn Target> {
        &self.target
    }

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn env(&self) -> &[(String, String)] {
        &self.env
    }

    fn programs(&self) -> &ProgramPath {
        &self.programs
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}

/// The arguments with those in front that every call has.
pub(super) fn arguments(given: &[&str]) -> Vec<String> {
    let whole = ["--no-pager", "--no-optional-locks"].iter().chain(given);
    whole.map(|&argument| argument.to_owned()).collect()
}

/// Runs it: a git that no command could have put there, which finds its own helpers in such places too.
pub(super) async fn run(call: Call<'_>, context: &dyn Surroundings) -> Result<Said, ToolFailure> {
    let programs = context.programs();
    let env = programs.applied_to(context.env());
    let argv = call.work.argv(programs)?;
    let env = shield::environment(&env, call.names, call.reach);
    let timeout = if call.reach == Reach::Connect { PUSH_WAIT } else { LOCAL_WAIT };
    start(Start { argv, cwd: call.cwd, env, stdin: call.stdin, timeout }, context).await
}

/// The marks of a directory by which another one at the same path is known: its number and the time when it was made.
pub(super) async fn directory_marks(path: &Path, context: &dyn Surroundings) -> Option<String> {
    let programs = context.programs();
    let words = ["-L", "-c", "%i %w", "--"].map(str::to_owned);
    let argv = [programs.find("stat").ok()?].into_iter().chain(words).chain([path.to_str()?.to_owned()]);
    let env = programs.applied_to(context.env());
    let start = self::start(
        Start { argv: argv.collect(), cwd: path, env, stdin: Stdin::Null, timeout: LOCAL_WAIT },
        context,
    );
    let said = start.await.ok().filter(Said::is_success)?;
    Some(said.text().trim().to_owned())
}

/// A program that is started.
struct Start<'a> {
    argv: Vec<String>,
    cwd: &'a Path,
    env: Vec<(String, String)>,
    stdin: Stdin,
    timeout: Duration,
}

async fn start(start: Start<'_>, context: &dyn Surroundings) -> Result<Said, ToolFailure> {
    let exec = Exec {
        argv: start.argv,
        cwd: start.cwd.to_path_buf(),
        env: start.env,
        stdin: start.stdin,
        pty: None,
        timeout: Some(start.timeout),
        bounds: context.bounds().clone(),
        output: OutputLimits { keep_head: KEEP, keep_tail: 0, log: None },
        way_out: None,
        end_mark: context.end_mark(),
    };
    let mut running = context.target().start(exec).await.map_err(|error| target_failure(&error))?;
    let stopper = running.stopper();
    let exit = tokio::select! {
        exit = running.wait() => exit,
        () = context.cancel().cancelled() => {
            stopper.stop();
            running.wait().await
        }
    };
    let exit = exit.map_err(|error| target_failure(&error))?;
    match exit.ended {
        Ended::Exited => Ok(read_output(exit)),
        Ended::TimedOut => Err(ToolFailure::new("timed_out", "git did not come to an end in time")),
        Ended::Stopped => Err(interrupted()),
    }
}

fn read_output(exit: Exit) -> Said {
    let is_cut = exit.stdout.omitted() > 0;
    Said { code: exit.code, stderr: exit.stderr.text(), stdout: exit.stdout.head, is_cut }
}

/// The refusal of `git`, with what the model can do about it.
pub(super) fn failure(said: &Said) -> ToolFailure {
    let message = said.stderr.trim();
    let (code, hint) = if message.contains("not a git repository") {
        ("not_found", Some("give the directory of a repository in `path`"))
    } else if message.contains("dubious ownership") {
        let hint = "the repository belongs to another account; the user can trust it with `git config --global --add \
                    safe.directory <directory>`";
        ("refused", Some(hint))
    } else if message.contains("Please tell me who you are") || message.contains("empty ident name") {
        ("no_identity", Some("the user has to set user.name and user.email"))
    } else if message.contains("unknown revision") || message.contains("bad revision") {
        ("not_found", Some("look at the branches with `git_branch` and at the commits with `git_log`"))
    } else {
        ("failed", None)
    };
    let message = if message.is_empty() { "git failed and did not say why" } else { message };
    let failure = ToolFailure::new(code, message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
