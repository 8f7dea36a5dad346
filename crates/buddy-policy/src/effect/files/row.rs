//! One row of the table: a program, or one use of it, and its effect on the files that its words name.

use crate::effect::flags::Flags;
use crate::effect::touch::TouchAccess;
use crate::shell::ShellWord;

/// A program, or one use of it, and its effect on files.
#[derive(Debug)]
pub(crate) struct FileRow {
    pub(crate) names: &'static [&'static str],
    pub(crate) when: RowCondition,
    pub(super) form: OperandForm,
    /// Options that only steer.
    pub(super) flags: Flags,
    pub(crate) operands: RowOperands,
    /// Options with an effect on files: a letter or a long name, without dashes.
    pub(super) options: &'static [(&'static [&'static str], Does)],
    /// Whether options that are not listed only steer, as for compilers, which have hundreds.
    pub(super) is_lenient: bool,
    /// A danger in the words that no option shows.
    pub(super) check: Option<Check>,
    /// Whether git throws away changes of the work tree, where no commit holds them.
    pub(super) discards: Option<Discards>,
    /// Whether it removes a link itself and not what the link leads to. A program of which nobody knows that follows links.
    pub(super) keeps_targets: bool,
    /// Whether the files that it writes can be links whose targets no word tells.
    pub(super) brings_links: bool,
    /// Whether it does not change the repository that git works in.
    pub(super) leaves_store: bool,
    /// Lines that change the scratch tree of the tests.
    pub(crate) changes: &'static [&'static str],
    /// Lines that change nothing.
    pub(crate) reads: &'static [&'static str],
    /// Lines for people alone: the programs that they need are not on every machine that runs the
    /// tests.
    pub(crate) untried: &'static [&'static str],
}

pub(super) const fn row(names: &'static [&'static str], operands: RowOperands) -> FileRow {
    FileRow {
        names,
        when: RowCondition::Always,
        form: OperandForm::Gnu,
        flags: Flags::NONE,
        operands,
        options: &[],
        is_lenient: false,
        check: None,
        discards: None,
        keeps_targets: false,
        brings_links: false,
        leaves_store: false,
        changes: &[],
        reads: &[],
        untried: &[],
    }
}

impl FileRow {
    pub(super) const fn when(self, when: RowCondition) -> Self {
        Self { when, ..self }
    }

    pub(super) const fn form(self, form: OperandForm) -> Self {
        Self { form, ..self }
    }

    pub(super) const fn flags(self, flags: Flags) -> Self {
        Self { flags, ..self }
    }

    pub(super) const fn with(self, options: &'static [(&'static [&'static str], Does)]) -> Self {
        Self { options, ..self }
    }

    pub(super) const fn lenient(self) -> Self {
        Self { is_lenient: true, ..self }
    }

    pub(super) const fn check(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }

    pub(super) const fn discards(self, discards: Discards) -> Self {
        Self { discards: Some(discards), ..self }
    }

    pub(super) const fn keeps_targets(self) -> Self {
        Self { keeps_targets: true, ..self }
    }

    pub(super) const fn brings_links(self) -> Self {
        Self { brings_links: true, ..self }
    }

    pub(super) const fn leaves_store(self) -> Self {
        Self { leaves_store: true, ..self }
    }

    pub(super) const fn changes(self, changes: &'static [&'static str]) -> Self {
        Self { changes, ..self }
    }

    pub(super) const fn reads(self, reads: &'static [&'static str]) -> Self {
        Self { reads, ..self }
    }

    pub(super) const fn untried(self, untried: &'static [&'static str]) -> Self {
        Self { untried, ..self }
    }
}

/// Finds a danger in operands and in the names of options that are given.
pub(super) type Check = fn(&[ShellWord], &[String]) -> Option<&'static str>;

/// Whether operands and the names of options throw away changes of the work tree.
pub(super) type Discards = fn(&[ShellWord], &[String]) -> bool;

/// The use of its program that a row is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowCondition {
    Always,
    /// One of these options is given.
    Option(&'static [&'static str]),
    /// The first operand is one of these words; it is no file.
    Word(&'static [&'static str]),
    /// The first operand is this word and the second one of these; they are no files.
    Pair(&'static str, &'static [&'static str]),
    /// The first operand, with or without a dash, contains one of these letters; it is no file.
    Letters(&'static str),
}

/// The syntax of a program's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandForm {
    /// `-ab`, `-n 3`, `--long=x`, and long names may be abbreviated.
    Gnu,
    /// As for `tar`: the first word is a cluster even without a dash.
    Bundled,
    /// `-name value`, and single letters with a joined value.
    Single,
    /// As for `dd`: `name=value`.
    Assigned,
}

/// The meaning of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOperands {
    /// No files.
    Text,
    /// Each is touched in this way.
    Each(TouchAccess),
    /// As before, after the first one.
    AfterFirst(TouchAccess),
    /// The first is touched in this way, and the rest is read.
    First(TouchAccess),
    /// The last is written; those before it are read.
    CopyTo,
    /// As before, and the last becomes a link to those before it.
    LinkTo,
    /// The last is written; those before it are removed.
    MoveTo,
    /// The first is read and the second is written.
    InOut,
    /// Each is removed, and a file beside it is written.
    Replaced,
    /// Each is read, and files beside it are written.
    Beside,
    /// The first is an archive that is written; the rest is read.
    Pack,
    /// Names in an archive; files are written here, or in the directory of an option.
    Members,
    /// The first is an archive that is read; its members are written here, or in the directory of
    /// an option.
    Unpack,
    /// The first is an archive that is read; its members are written in the second, or here.
    UnpackTo,
    /// Each is read, and files are written here, or in the directory of an option.
    Here,
    /// The first is read; files are written whose names begin with the second, or here.
    Prefix,
    /// The first is a repository that is read, or its address; the second is written, or a directory here with
    /// the name of the first.
    CloneTo,
    /// Text; these files here are touched in this way.
    Fixed(TouchAccess, &'static [&'static str]),
    /// Patterns of names in this directory: files are removed and made.
    Patterns,
    /// Text; the store of the repository here is changed.
    Store,
    /// As before, and so is the repository that the first one names by its path.
    StoreAndFirst,
    /// As before, if there are any.
    StoreOf,
}

/// The effect of an option on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// Its value is written.
    Writes,
    /// Its value is written besides what is written without it.
    AlsoWrites,
    /// Files beneath its value are written.
    WritesWithin,
    /// Its value is written, which has to be joined to it by `=`.
    WritesJoined,
    /// Files whose names begin with its value are written.
    WritesBeside,
    /// Its value is removed.
    Removes,
    /// Its value is the directory that the operands are in.
    Base,
    /// Its value is the directory that all operands go to.
    Into,
    /// The operands are only read.
    OnlyReads,
    /// The operands stay.
    Keeps,
    /// The operands that are read are removed too.
    Takes,
    /// The operands are written.
    InPlace,
    /// The outputs become links to the inputs.
    Links,
    /// Files beside the outputs are written.
    Backs,
    /// The directories above the operands are removed too.
    Parents,
    /// Entries of the last operand are removed.
    Prunes,
    /// Files are written in this directory.
    Here,
    /// Files in this directory are removed, unless operands name them.
    Discards,
    /// Names come from elsewhere, so any file can be written or removed.
    Anywhere,
    /// A program is run.
    Runs,
}

impl Does {
    pub(super) fn takes_value(self) -> bool {
        matches!(
            self,
            Self::Writes
                | Self::AlsoWrites
                | Self::WritesWithin
                | Self::WritesBeside
                | Self::Removes
                | Self::Base
                | Self::Into
        )
    }
}
