//! The result of examining a command line: its simple commands, the files that they touch, and findings.

use std::path::PathBuf;

use super::recall::Recall;
use super::steps::LineSteps;
use super::touch::Touch;
use crate::shell::ShellWord;

/// A command line, examined.
#[derive(Debug, Default)]
pub(crate) struct CommandExamination {
    /// Every simple command, those in wrappers included.
    pub(crate) leaves: Vec<CommandLeaf>,
    /// Every file that is known to be touched.
    pub(crate) touches: Vec<Touch>,
    /// Its changes in their order, with the steps that could bring links.
    pub(crate) steps: LineSteps,
    /// Findings that always need the user.
    pub(crate) concerns: Vec<CommandConcern>,
    /// The words of the commands that these come from.
    pub(crate) risky: Vec<String>,
    /// Variables that programs get and that no table describes.
    pub(crate) given: Vec<GivenVariable>,
    /// Uses of git that read tracked files.
    pub(crate) recalls: Vec<Recall>,
    /// Files that would be run as programs or scripts.
    pub(crate) pins: Vec<PathBuf>,
    /// The words, if it is one simple command with nothing around it.
    pub(crate) plain: Option<Vec<ShellWord>>,
}

/// A simple command.
#[derive(Debug)]
pub(crate) struct CommandLeaf {
    /// The program as rules know it: without the directories of the system.
    pub(crate) program: String,
    pub(crate) words: Vec<ShellWord>,
    pub(crate) effect: CommandEffect,
    /// Whether a table describes the program, or lists it as one that runs the project's own code.
    pub(crate) is_known: bool,
    /// Whether the program is a file that was named by its path, and not one of the system's.
    pub(crate) is_foreign: bool,
    /// Whether it gives variables to its program, or sets them.
    pub(crate) has_assignments: bool,
    /// The directories that it could run in; `None` if they are not known.
    pub(crate) cwds: Option<Vec<PathBuf>>,
    /// The simple command that launches it, as `npx` does: a rule that allows that one allows this
    /// one.
    pub(crate) launcher: Option<usize>,
}

/// The effect of a simple command by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandEffect {
    /// None: the command that it runs is judged apart, or it moves to another directory.
    None,
    /// It only reads.
    Reads,
    /// It only reads if the kernel holds all its processes to reading.
    Held,
    /// Anything.
    Unknown,
}

/// A finding that the user has to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandConcern {
    pub(crate) class: Class,
    pub(crate) reason: String,
}

/// The kind of a concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It is known to be dangerous.
    Danger,
    /// It is dangerous where it can reach processes of others, which a jail keeps from it.
    Signal,
    /// It is not understood.
    Unclear,
}

/// A variable that a program gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenVariable {
    pub(crate) name: String,
    /// The program; none for every command after an `export`.
    pub(crate) program: Option<String>,
}
