//! The bounds that a session sets for the sessions below it: a new one or a fork gets none of its terms, targets and
//! directories wider. Directories are compared as they are written; links are the business of the target's jail.

use std::path::{Component, Path};

use crate::{BadTerms, SessionChanged, SessionStarted, SessionTarget, SessionTerms, Transcript};

/// The bounds of the sessions below one, as that one is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionBounds {
    /// Its terms.
    pub terms: SessionTerms,
    /// Its directory.
    pub cwd: String,
    /// Its targets, never none.
    pub targets: Vec<SessionTarget>,
}

impl SessionBounds {
    /// The bounds that a session sets; none if it never started.
    pub fn of(transcript: &Transcript) -> Option<Self> {
        let cwd = transcript.started()?.cwd.clone();
        let targets = targets_in(&cwd, transcript.targets());
        Some(Self { terms: transcript.terms(), cwd, targets })
    }

    /// The targets of a new session below. If it names none and would be on this machine, where the one above is not, it gets
    /// the targets of that one. An error if something is wider.
    pub fn admit(&self, cwd: &str, targets: Vec<SessionTarget>) -> Result<Vec<SessionTarget>, BadTerms> {
        if !is_inside(cwd, &self.cwd) {
            return Err(BadTerms::Wider(format!("the directory `{cwd}`")));
        }
        let has_this_machine =
            self.targets.iter().any(|target| target.host == SessionTarget::local(cwd).host);
        if targets.is_empty() && !has_this_machine {
            return Ok(self.targets.clone());
        }
        match targets_in(cwd, &targets).iter().find(|target| !self.has(target)) {
            Some(SessionTarget { name, cwd, .. }) => {
                Err(BadTerms::Wider(format!("the target `{name}` in `{cwd}`")))
            }
            None => Ok(targets),
        }
    }

    /// Narrows the beginning of a copy that is to be below. Returns whether it can be: its directory stays as it is.
    pub(crate) fn narrow(&self, started: &mut SessionStarted, changed: &mut SessionChanged) -> bool {
        started.terms = std::mem::take(&mut started.terms).narrowed(&self.terms);
        if started.terms.plan_only {
            changed.plan_only = None;
        }
        let mut targets = targets_in(&started.cwd, &started.targets);
        targets.retain(|target| self.has(target));
        started.targets = if targets.is_empty() { self.targets.clone() } else { targets };
        is_inside(&started.cwd, &self.cwd)
    }

    fn has(&self, wanted: &SessionTarget) -> bool {
        self.targets.iter().any(|target| target.host == wanted.host && is_inside(&wanted.cwd, &target.cwd))
    }
}

/// The targets of a session in a directory. A log without targets means this machine.
fn targets_in(cwd: &str, named: &[SessionTarget]) -> Vec<SessionTarget> {
    if named.is_empty() { vec![SessionTarget::local(cwd)] } else { named.to_vec() }
}

/// Whether a directory is another one or in it.
fn is_inside(directory: &str, other: &str) -> bool {
    let directory = Path::new(directory);
    let climbs = directory.components().any(|part| part == Component::ParentDir);
    directory == Path::new(other) || (!climbs && directory.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetHost;

    fn atlas(cwd: &str) -> SessionTarget {
        let host = TargetHost::Ssh { destination: "atlas".to_owned() };
        SessionTarget { name: host.to_string(), host, cwd: cwd.to_owned(), place: None }
    }

    fn bounds(targets: Vec<SessionTarget>) -> SessionBounds {
        SessionBounds { terms: SessionTerms::default(), cwd: "/w".to_owned(), targets }
    }

    #[test]
    fn a_directory_is_inside_itself_and_those_above_it() {
        for (directory, other, expected) in [
            ("/w", "/w", true),
            ("/w/a", "/w", true),
            ("/w/a/", "/w/", true),
            ("/w", "/", true),
            ("/wide", "/w", false),
            ("/", "/w", false),
            ("/w/../etc", "/w", false),
            ("w", "/w", false),
            (".", ".", true),
        ] {
            assert_eq!(is_inside(directory, other), expected, "{directory} {other}");
        }
    }

    #[test]
    fn a_session_below_works_where_the_one_above_does() {
        let here = bounds(vec![SessionTarget::local("/w")]);
        assert_eq!(here.admit("/w/a", vec![]), Ok(vec![]));
        assert!(here.admit("/etc", vec![]).is_err());
        assert!(here.admit("/w", vec![SessionTarget::local("/etc")]).is_err());
        assert!(here.admit("/w", vec![atlas("/w")]).is_err());
        let both = bounds(vec![SessionTarget::local("/w"), atlas("/srv")]);
        let below = vec![atlas("/srv/www")];
        assert_eq!(both.admit("/w", below.clone()), Ok(below));
        assert!(both.admit("/w", vec![atlas("/")]).is_err());
    }

    #[test]
    fn a_session_below_one_elsewhere_is_there_too() {
        let there = bounds(vec![atlas("/srv")]);
        assert_eq!(there.admit("/w", vec![]), Ok(vec![atlas("/srv")]));
        assert!(there.admit("/w", vec![SessionTarget::local("/w")]).is_err());
    }
}
