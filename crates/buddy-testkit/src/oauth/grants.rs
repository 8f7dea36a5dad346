//! Logins as the provider stores them: each with one valid refresh token and all earlier ones.

use crate::oauth::script::Rotation;

/// One login.
#[derive(Debug, Default)]
struct Family {
    refresh: String,
    spent: Vec<String>,
    access: Vec<String>,
    is_revoked: bool,
}

/// All logins, and every secret that was ever issued.
#[derive(Debug, Default)]
pub(super) struct Grants {
    families: Vec<Family>,
    made: usize,
    secrets: Vec<String>,
}

/// Issued tokens.
#[derive(Debug, Clone)]
pub(super) struct Issued {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
}

impl Grants {
    /// A new secret of this kind. It is unique, so that a test finds it wherever it leaks to.
    pub(super) fn secret(&mut self, kind: &str) -> String {
        self.made += 1;
        let secret = format!("{kind}-s3cr3t-{}-{}", std::process::id(), self.made);
        self.secrets.push(secret.clone());
        secret
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        self.secrets.clone()
    }

    /// A new login.
    pub(super) fn grant(&mut self) -> Issued {
        let (access, refresh) = (self.secret("access"), self.secret("refresh"));
        let family = Family { refresh: refresh.clone(), access: vec![access.clone()], ..Family::default() };
        self.families.push(family);
        Issued { access, refresh: Some(refresh) }
    }

    /// New tokens for a refresh token, if it is valid.
    pub(super) fn refresh(&mut self, token: &str, rotation: Rotation) -> Option<Issued> {
        let (access, next) = (self.secret("access"), self.secret("refresh"));
        let knows =
            |family: &&mut Family| family.refresh == token || family.spent.iter().any(|old| old == token);
        let family = self.families.iter_mut().find(knows)?;
        // The predecessor of the valid token: its successor was never used.
        let is_last = family.spent.last().is_some_and(|old| old == token);
        let is_lost_answer = rotation == Rotation::Lenient && is_last;
        if family.refresh != token && !is_lost_answer {
            family.is_revoked = true;
        }
        if family.is_revoked {
            return None;
        }
        family.access.push(access.clone());
        if rotation == Rotation::Off {
            return Some(Issued { access, refresh: None });
        }
        if family.refresh == token {
            family.spent.push(token.to_owned());
        }
        family.refresh.clone_from(&next);
        Some(Issued { access, refresh: Some(next) })
    }

    /// Ends the login of a token.
    pub(super) fn revoke(&mut self, token: &str) {
        for family in &mut self.families {
            let is_its = family.refresh == token || family.access.iter().any(|access| access == token);
            family.is_revoked |= is_its;
        }
    }

    /// Whether an access token is the newest of a valid login.
    pub(super) fn is_good(&self, access: &str) -> bool {
        let is_newest = |family: &Family| family.access.last().is_some_and(|newest| newest == access);
        self.families.iter().any(|family| !family.is_revoked && is_newest(family))
    }

    /// The number of valid logins.
    pub(super) fn live(&self) -> usize {
        self.families.iter().filter(|family| !family.is_revoked).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spent_token_ends_its_login() {
        let mut grants = Grants::default();
        let first = grants.grant().refresh.unwrap();
        let second = grants.refresh(&first, Rotation::Strict).unwrap();
        assert!(grants.is_good(&second.access));
        assert!(grants.refresh(&first, Rotation::Strict).is_none());
        assert!(grants.refresh(&second.refresh.unwrap(), Rotation::Strict).is_none());
        assert_eq!(grants.live(), 0);
    }

    #[test]
    fn a_lost_answer_can_be_asked_for_again() {
        let mut grants = Grants::default();
        let first = grants.grant().refresh.unwrap();
        let lost = grants.refresh(&first, Rotation::Lenient).unwrap();
        let again = grants.refresh(&first, Rotation::Lenient).unwrap();
        assert_ne!(lost.refresh, again.refresh);
        assert!(grants.refresh(&again.refresh.unwrap(), Rotation::Lenient).is_some());
        assert!(grants.refresh(&first, Rotation::Lenient).is_none(), "its successor was used");
    }
}
