//! The parts of a command line: simple commands and redirections, at any depth.

use std::ops::Range;

use super::ShellWord;

/// A command line, taken apart. Every simple command and redirection in it is listed, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct ShellScript {
    pub(crate) commands: Vec<Simple>,
    pub(crate) redirects: Vec<Redirect>,
    /// Parts that were not understood, one sentence part each.
    pub(crate) unclear: Vec<String>,
    /// Functions that call themselves in the background or in a pipe.
    pub(crate) bombs: Vec<String>,
    /// Whether it has loops or functions, so that a command can run after one that stands below it.
    pub(crate) repeats: bool,
    /// Whether a part runs beside what stands after it: in the background, or in a process substitution.
    pub(crate) runs_beside: bool,
    /// Parts of pipelines, each with the parts after it that run at the same time, by their places in `commands`.
    pub(crate) overlaps: Vec<(Range<usize>, Range<usize>)>,
    /// Variables that it sets to nothing but plain words and numbers.
    pub(crate) tame: Vec<String>,
    /// Whether it is one simple command with nothing around it.
    pub(crate) is_plain: bool,
}

impl ShellScript {
    pub(crate) fn doubt(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.unclear.contains(&reason) {
            self.unclear.push(reason);
        }
    }

    /// The number of parts to judge.
    pub(crate) fn leaves(&self) -> usize {
        self.commands.len() + self.redirects.len()
    }
}

/// A program, or a builtin, with its words. With assignments alone there are no words.
#[derive(Debug, Default, Clone)]
pub(crate) struct Simple {
    pub(crate) words: Vec<ShellWord>,
    /// The names of variables that it gets or sets.
    pub(crate) assignments: Vec<String>,
    /// The words of a test in brackets, without these.
    pub(crate) test: Vec<ShellWord>,
    /// The certain text of its stdin: that of a here-document or here-string.
    pub(crate) input: Option<String>,
    /// The commands whose output it reads, by their places in [`ShellScript::commands`].
    pub(crate) upstream: Option<Range<usize>>,
}

/// The direction of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// A redirection from or to a file.
#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) direction: Direction,
    pub(crate) file: ShellWord,
    /// The command before which it is opened, by its place in [`ShellScript::commands`].
    pub(crate) before: usize,
}

/// The reason why a command line cannot be judged at all. It must not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnreadableScript {
    #[error("it is longer than {} bytes", super::MAX_BYTES)]
    TooLong,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it has more than {} parts", super::MAX_LEAVES)]
    TooMany,
    #[error("it wraps commands in commands more than {} times", super::MAX_WRAPPERS)]
    TooWrapped,
    #[error("it contains a zero byte")]
    ZeroByte,
    #[error("it cannot be read as shell: look at `{0}`")]
    Syntax(String),
    #[error("the shell grammar could not be used")]
    Grammar,
}
