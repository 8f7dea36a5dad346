//! The rules of all tiers, and their verdict on one thing.

use std::path::Path;

use serde::Deserialize;

use super::pattern::{CommandPattern, Match};
use super::rule::{Action, Rule, RuleSubject};
use crate::Places;
use crate::shell::ShellWord;

/// The author of a rule. The built-in guards stand above all of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleTier {
    /// The administrator of the machine.
    Managed,
    /// The user.
    User,
    /// The project that is worked on, once it is trusted.
    Project,
    /// The caller that started this run, for as long as it lasts.
    Run,
}

/// The author of denials that nobody wrote as a rule.
const DENYLISTED: &str = "`tools.shell_denylist`";

impl RuleTier {
    fn named(self) -> &'static str {
        match self {
            Self::Managed => "a managed rule",
            Self::User => "a rule of yours",
            Self::Project => "a rule of this project",
            Self::Run => "a rule of this run",
        }
    }
}

/// The rules of one tier, as they are written in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Rules for calls that run without a prompt.
    pub allow: Vec<Rule>,
    /// Rules for calls that ask.
    pub ask: Vec<Rule>,
    /// Rules for calls that do not run.
    pub deny: Vec<Rule>,
}

/// The rules of all tiers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    tiers: Vec<(RuleTier, Rules)>,
}

/// The verdict of the rules on one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleFinding {
    pub(crate) action: Action,
    /// The author of the rule.
    pub(crate) tier: RuleTier,
    pub(crate) reason: String,
}

/// One thing that rules are compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Thing<'a> {
    /// A simple command. A foreign program is called by its path, so that a bare name in an allow rule is not
    /// it.
    Command {
        program: &'a str,
        words: &'a [ShellWord],
        is_foreign: bool,
    },
    Read(&'a Path),
    Write(&'a Path),
    Delete(&'a Path),
    Fetch(&'a str),
}

impl RuleSet {
    /// Adds rules of a tier. A project has no allow rules: its files come from its authors, and a question
    /// that no other tier lifts is for the user to answer.
    pub fn add(&mut self, tier: RuleTier, mut rules: Rules) {
        if tier == RuleTier::Project {
            rules.allow.clear();
        }
        self.tiers.push((tier, rules));
    }

    /// The same rules with this tier added.
    pub fn with(mut self, tier: RuleTier, rules: Rules) -> Self {
        self.add(tier, rules);
        self
    }

    /// Commands that never run, as `[tools].shell_denylist` lists them.
    pub fn deny_commands(&mut self, tier: RuleTier, patterns: Vec<CommandPattern>) {
        let deny = patterns.into_iter().map(|pattern| Rule::command(pattern).because(DENYLISTED));
        self.add(tier, Rules { deny: deny.collect(), ..Rules::default() });
    }

    /// Whether an allow rule for this thing grants direct network access.
    pub(crate) fn allows_network(&self, thing: Thing<'_>, places: &Places) -> bool {
        let allows = |(tier, rules): &(RuleTier, Rules)| {
            let granting = rules.allow.iter().filter(|rule| rule.network);
            granting.clone().any(|rule| judge(rule, Action::Allow, *tier, thing, places).is_some())
        };
        self.tiers.iter().any(allows)
    }

    /// Whether an allow rule of this run names a word of a command.
    /// Whether a rule denies anything, or asks for it.
    pub(crate) fn restricts(&self) -> bool {
        self.tiers.iter().any(|(_, rules)| !rules.deny.is_empty() || !rules.ask.is_empty())
    }

    pub(crate) fn run_names(&self, word: &str) -> bool {
        let run = self.tiers.iter().filter(|(tier, _)| *tier == RuleTier::Run);
        run.flat_map(|(_, rules)| &rules.allow)
            .any(|rule| matches!(&rule.subject, RuleSubject::Command(pattern) if pattern.names_word(word)))
    }

    /// The strictest verdict of any rule.
    pub(crate) fn find(&self, thing: Thing<'_>, places: &Places) -> Option<RuleFinding> {
        let findings = self.tiers.iter().flat_map(|(tier, rules)| {
            let lists =
                [(Action::Deny, &rules.deny), (Action::Ask, &rules.ask), (Action::Allow, &rules.allow)];
            lists.into_iter().flat_map(move |(action, list)| {
                list.iter().filter_map(move |rule| judge(rule, action, *tier, thing, places))
            })
        });
        // The first of the strictest; an allow rule of a run counts for less than one that was written down
        // to last.
        let rank = |finding: &RuleFinding| (finding.action, finding.tier != RuleTier::Run);
        findings.fold(None, |strictest: Option<RuleFinding>, finding| match strictest {
            Some(known) if rank(&known) >= rank(&finding) => Some(known),
            _ => Some(finding),
        })
    }
}

fn judge(
    rule: &Rule,
    action: Action,
    tier: RuleTier,
    thing: Thing<'_>,
    places: &Places,
) -> Option<RuleFinding> {
    if !rule.is_for(&places.target) {
        return None;
    }
    let certain = |matches: bool| if matches { Match::Yes } else { Match::No };
    let found = match (&rule.subject, thing) {
        (RuleSubject::Command(pattern), Thing::Command { program, words, is_foreign }) => {
            if is_foreign && action == Action::Allow && !pattern.program().contains('/') {
                return None;
            }
            pattern.matches(program, words)
        }
        (RuleSubject::Read(pattern), Thing::Read(path))
        | (RuleSubject::Write(pattern), Thing::Write(path))
        | (RuleSubject::Delete(pattern), Thing::Delete(path)) => certain(pattern.matches(path, places)),
        (RuleSubject::Fetch(host), Thing::Fetch(address)) => certain(is_from(host, address)),
        _ => return None,
    };
    let action = match (found, action) {
        (Match::No, _) | (Match::Maybe, Action::Allow) => return None,
        (Match::Maybe, Action::Ask | Action::Deny) => Action::Ask,
        (Match::Yes, action) => action,
    };
    let verb = match action {
        Action::Allow => "allows",
        Action::Ask => "asks about",
        Action::Deny => "denies",
    };
    let author = if rule.reason.as_deref() == Some(DENYLISTED) { DENYLISTED } else { tier.named() };
    let mut reason = format!("{author} {verb} `{}`", crate::display_command(&rule.text));
    if let Some(why) = rule.reason.as_ref().filter(|why| *why != DENYLISTED) {
        reason.push_str(": ");
        reason.push_str(&crate::display_command(why));
    }
    Some(RuleFinding { action, tier, reason })
}

/// Whether the host of an address is the one of a rule.
pub(crate) fn is_from(rule: &str, host: &str) -> bool {
    match rule.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|sub| sub.ends_with('.') && sub.len() > 1),
        None => rule == host,
    }
}
