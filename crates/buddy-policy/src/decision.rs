//! What a judgement says.

use std::path::PathBuf;

use buddy_protocol::Risk;

use crate::{Needs, Offer, Tier};

/// Whether a call may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

/// How a command is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// By a shell.
    Shell,
    /// Without one: these words, exactly.
    Argv(Vec<String>),
}

/// A verdict and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may go on.
    pub verdict: Verdict,
    /// How it is to be asked for.
    pub tier: Tier,
    /// How dangerous it is held to be.
    pub risk: Risk,
    /// Why it asks or is denied, one sentence part each, for people.
    pub reasons: Vec<String>,
    /// Whether it is denied only because nobody can be asked.
    pub is_unasked: bool,
    /// Where it is denied for that reason: how a person allows it beforehand, one way each.
    pub ways: Vec<String>,
    /// Whether it would read a secret.
    pub reads_secret: bool,
    /// Hosts that it would reach and that needed a question, so that an answer is about them.
    pub strangers: Vec<String>,
    /// The simple commands that it is made of, as they were read, where it runs commands. The first of many.
    pub parts: Vec<String>,
    /// Grants that would let this, and what each says, go on without being asked for.
    pub offers: Vec<Offer>,
    /// How a command is to be run.
    pub execution: Execution,
    /// Files that would be run as programs or scripts and that could change before they are: to be held against what
    /// they were when a person saw them.
    pub pins: Vec<PathBuf>,
    /// Whether everything it does is known to only read, so that it can run where nothing can be written.
    pub is_read_only: bool,
    /// Whether something in it needs a person each time, whatever window or grant holds.
    pub is_grave: bool,
    /// What it would use that is closed to calls which nobody was asked about.
    pub needs: Needs,
    /// Whether only `all`, `auto` or a window lets it go on where that covers nothing outside, so that it has no network of its own.
    pub stays_inside: bool,
}
