//! The variables of your environment that a command gets: all but those that hold secrets, give orders to
//! programs, or lead to other sessions.
//!
//! Pure: names and values come in, and the reason to withhold one comes out. The page for people is made from
//! the same tables.

mod credential;
mod page;
mod table;
mod withheld;

use crate::other_sessions::{OTHER_SESSIONS, Reached};
use credential::has_credential;
pub use page::variables_page;
use table::{KEPT, WITHHELD};
pub use withheld::Withheld;

/// The user's rules about variables: patterns of names, in any case, with `*` for any characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableRules {
    /// Passed on although they look like secrets, or give orders.
    pub pass: Vec<String>,
    /// Never passed on, even if `pass` has them.
    pub hide: Vec<String>,
}

impl VariableRules {
    /// The reason why a command does not get this variable; `None` when it does.
    pub fn withheld(&self, name: &str, value: &str) -> Option<Withheld> {
        let is_any = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
        if is_any(&self.hide) {
            return Some(Withheld::Hidden);
        }
        let withheld = built_in(name, value)?;
        (!withheld.can_be_passed() || !is_any(&self.pass)).then_some(withheld)
    }
}

fn built_in(name: &str, value: &str) -> Option<Withheld> {
    if !is_shell_name(name) {
        return Some(Withheld::Name);
    }
    if let Some((_, why)) = session_variables().find(|(variable, _)| *variable == name) {
        return Some(why);
    }
    let is_kept = KEPT.iter().any(|pattern| fits(pattern, name));
    let row = WITHHELD.iter().filter(|_| !is_kept).find(|row| fits(row.pattern, name));
    row.map(|row| row.why).or_else(|| has_credential(value).then_some(Withheld::SecretValue))
}

/// The variables that name sockets of other sessions and services.
fn session_variables() -> impl Iterator<Item = (&'static str, Withheld)> {
    OTHER_SESSIONS.iter().flat_map(|row| {
        let why = match row.reached {
            Reached::Never => Withheld::Session,
            Reached::OnceAllowed => Withheld::Service,
        };
        let names = row.places.iter().filter_map(|place| place.strip_prefix('$')?.split('/').next());
        names.map(move |name| (name, why))
    })
}

fn is_shell_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Whether a name fits a pattern, in any case.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_uppercase(), name.to_ascii_uppercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests;
