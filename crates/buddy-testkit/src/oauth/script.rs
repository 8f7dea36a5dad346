//! What the provider is to do.

use std::time::Duration;

/// The behaviour of a provider.
#[derive(Debug, Clone)]
pub struct OAuthScript {
    /// What is said about a device code before it counts as confirmed.
    pub polls: Vec<Poll>,
    /// Seconds between two questions about a device code.
    pub interval: u64,
    /// Seconds that a device code holds.
    pub code_life: u64,
    /// Where the person is sent with a device code; none takes this server.
    pub verification_uri: Option<String>,
    /// What the person says in the browser.
    pub consent: Consent,
    /// What the server calls itself when the browser goes back.
    pub issuer: Option<String>,
    /// What becomes of refresh tokens.
    pub rotation: Rotation,
    /// Seconds that access tokens hold; none says nothing about it.
    pub token_life: Option<u64>,
    /// The secret that the client must show.
    pub client_secret: Option<String>,
    /// How long each answer with tokens takes.
    pub delay: Duration,
    /// Answers of the token endpoint that come before all others.
    pub faults: Vec<TokenFault>,
}

impl Default for OAuthScript {
    fn default() -> Self {
        Self {
            polls: Vec::new(),
            interval: 0,
            code_life: 60,
            verification_uri: None,
            consent: Consent::Given,
            issuer: None,
            rotation: Rotation::Strict,
            token_life: Some(3600),
            client_secret: None,
            delay: Duration::ZERO,
            faults: Vec::new(),
        }
    }
}

/// An answer about a device code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// Not confirmed yet.
    Pending,
    /// Asked too often.
    SlowDown,
    /// The person said no.
    Denied,
    /// Too late.
    Expired,
}

/// What the person says in the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Yes.
    Given,
    /// No.
    Refused,
    /// Yes, but the answer carries the state of another login.
    ForeignState,
    /// Yes, but the answer names another issuer.
    ForeignIssuer,
}

/// What becomes of a refresh token that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// It stays good, and no new one is given.
    Off,
    /// A new one takes its place; the old one, used again, ends the login.
    Strict,
    /// The same, but the old one may be used again until the new one was used: answers get lost.
    Lenient,
}

/// An answer of the token endpoint that is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenFault {
    /// This status with this body.
    Answer(u16, String),
    /// A refusal that quotes all that it was sent.
    Echo,
    /// A redirect to another place.
    Redirect,
}
