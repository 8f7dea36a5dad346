//! The result of a judgement.

use std::path::PathBuf;

use buddy_protocol::Risk;

use crate::{Needs, Offer, Tier};

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user decides.
    Ask,
    /// It does not run.
    Deny,
}

/// The way to run a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// By a shell.
    Shell,
    /// Without one: these words, exactly.
    Argv(Vec<String>),
}

/// Work that a command sends to others, who keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentWork {
    /// Commits, to a remote.
    Commits,
    /// A package, to a registry.
    Package,
}

/// A verdict and its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the call may run.
    pub verdict: Verdict,
    /// The way to ask for it.
    pub tier: Tier,
    /// Its estimated risk.
    pub risk: Risk,
    /// The reasons why it asks or is denied, one sentence part each, for people.
    pub reasons: Vec<String>,
    /// Work that it sends to others, by the words of its commands.
    pub sends: Option<SentWork>,
    /// Whether it is denied only because nobody can be asked.
    pub is_unasked: bool,
    /// Whether it is denied because the approval mode `none` denies what would ask.
    pub is_mode_denial: bool,
    /// If it is denied for that reason: the ways for the user to allow it beforehand.
    pub ways: Vec<String>,
    /// Whether it would read a secret.
    pub reads_secret: bool,
    /// Hosts that it would reach and that needed a question, so that an answer is about them, for this call.
    pub strangers: Vec<String>,
    /// Whether whoever is asked about it is told that it uses the network.
    pub tells_network: bool,
    /// Hosts with their ports that its words name and that need no further question: an answer, a rule, a grant or
    /// the user's own words settle them.
    pub reached: Vec<String>,
    /// Hosts with their ports that its words name and that a rule for the host would settle.
    pub addressed: Vec<String>,
    /// Whether all that it does is to reach servers on this machine, which are not those of its jail.
    pub reaches_here: bool,
    /// The simple commands that it is made of, as they were read, if it runs commands. The first of many.
    pub parts: Vec<String>,
    /// Words of its commands that the reasons are about, as they stand side by side. The first of many.
    pub risky: Vec<String>,
    /// Grants that would allow this without a prompt, and the text of each.
    pub offers: Vec<Offer>,
    /// The way to run a command.
    pub execution: Execution,
    /// Files that would be run as programs or scripts and that could change before they are: to be compared
    /// with their state when the user saw them.
    pub pins: Vec<PathBuf>,
    /// Files that run code later and that a tool of buddy would change: no command that nobody was asked about may replace the
    /// content that the user approved.
    pub changed_orders: Vec<PathBuf>,
    /// Files that can hold secrets and that a tool of buddy would change: a command that is kept from them could read the new ones.
    pub changed_secrets: Vec<PathBuf>,
    /// Whether everything it does is known to only read, so that it can run with nothing writable.
    pub is_read_only: bool,
    /// Whether a part of it needs the user each time, regardless of windows and grants.
    pub is_grave: bool,
    /// The protected places that it would use, which are closed to calls that nobody was asked
    /// about.
    pub needs: Needs,
    /// Whether only `all`, `auto` or a window allows it, where that covers nothing outside, so that it has no
    /// network of its own.
    pub stays_inside: bool,
}
