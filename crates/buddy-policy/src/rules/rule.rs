//! One rule, as it is written in a file: a command pattern, or a table that says more.

use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::path_pattern::PathPattern;
use super::pattern::CommandPattern;

/// The action of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It runs without a prompt.
    Allow,
    /// It asks.
    Ask,
    /// It does not run.
    Deny,
}

/// The subject of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleSubject {
    Command(CommandPattern),
    Read(PathPattern),
    Write(PathPattern),
    Delete(PathPattern),
    /// A host, or `*.` and the hosts below a name.
    Fetch(String),
}

/// A rule without its action: the list it stands in says that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(crate) subject: RuleSubject,
    pub(crate) text: String,
    pub(crate) reason: Option<String>,
    pub(crate) target: Option<String>,
    /// Whether the commands that it allows have direct network access, past the broker.
    pub(crate) network: bool,
}

impl Rule {
    /// A rule about commands.
    pub fn command(pattern: CommandPattern) -> Self {
        Self {
            text: pattern.as_str().to_owned(),
            subject: RuleSubject::Command(pattern),
            reason: None,
            target: None,
            network: false,
        }
    }

    /// The same rule with a reason for people.
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }

    /// The same rule for one target only.
    pub fn on(self, target: impl Into<String>) -> Self {
        Self { target: Some(target.into()), ..self }
    }

    pub(crate) fn is_for(&self, target: &str) -> bool {
        self.target.as_deref().is_none_or(|wanted| wanted == target)
    }

    pub(crate) fn of(kind: &str, text: &str) -> Result<Self, String> {
        let path = || PathPattern::parse(text).ok_or_else(|| format!("`{text}` is not a pattern of paths"));
        let subject = match kind {
            "command" => {
                RuleSubject::Command(CommandPattern::parse(text).map_err(|error| error.to_string())?)
            }
            "read" => RuleSubject::Read(path()?),
            "write" => RuleSubject::Write(path()?),
            "delete" => RuleSubject::Delete(path()?),
            "fetch" if is_host(text) => RuleSubject::Fetch(text.to_ascii_lowercase()),
            "fetch" => return Err(format!("`{text}` is not a host; write `docs.rs` or `*.rust-lang.org`")),
            _ => return Err(format!("a rule has no `{kind}`")),
        };
        Ok(Self { subject, text: text.to_owned(), reason: None, target: None, network: false })
    }
}

/// Whether a text is a host, or `*.` and a name that hosts are below.
pub(crate) fn is_host(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_plain =
        |character: char| character.is_alphanumeric() || matches!(character, '.' | '-' | ':' | '[' | ']');
    !name.is_empty() && name.chars().all(is_plain)
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = Rule;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a command pattern, or a table with one of command, read, write, delete or fetch")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Rule, E> {
        Rule::of("command", text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rule, A::Error> {
        let mut rule: Option<Rule> = None;
        let (mut reason, mut target, mut network) = (None, None, false);
        while let Some(key) = map.next_key::<String>()? {
            if key == "network" {
                network = map.next_value()?;
                continue;
            }
            let value: String = map.next_value()?;
            match key.as_str() {
                "reason" => reason = Some(value),
                "target" => target = Some(value),
                _ if rule.is_some() => {
                    return Err(de::Error::custom("a rule is about one thing; write two rules"));
                }
                kind => rule = Some(Rule::of(kind, &value).map_err(de::Error::custom)?),
            }
        }
        let rule = rule.ok_or_else(|| {
            de::Error::custom("a rule needs one of `command`, `read`, `write`, `delete` or `fetch`")
        })?;
        if network && !matches!(rule.subject, RuleSubject::Command(_)) {
            return Err(de::Error::custom("`network` is for rules about a `command`"));
        }
        Ok(Rule { reason, target, network, ..rule })
    }
}
