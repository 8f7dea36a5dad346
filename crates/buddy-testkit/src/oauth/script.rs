//! The script of the provider.

use std::time::Duration;

/// The behaviour of a provider.
#[derive(Debug, Clone)]
pub struct OAuthScript {
    /// The poll results for a device code before it counts as confirmed.
    pub polls: Vec<Poll>,
    /// Seconds between two polls of a device code.
    pub interval: u64,
    /// Seconds that a device code is valid.
    pub code_life: u64,
    /// The address for the user with a device code; `None` means this server.
    pub verification_uri: Option<String>,
    /// The user's answer in the browser.
    pub consent: Consent,
    /// The issuer that the server names in the redirect.
    pub issuer: Option<String>,
    /// The treatment of used refresh tokens.
    pub rotation: Rotation,
    /// Seconds that access tokens are valid; `None` reports no lifetime.
    pub token_life: Option<u64>,
    /// The secret that the client must send.
    pub client_secret: Option<String>,
    /// The account of a plan that id tokens name.
    pub plan_account: Option<String>,
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
            plan_account: None,
            delay: Duration::ZERO,
            faults: Vec::new(),
        }
    }
}

/// The result of polling a device code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// Not confirmed yet.
    Pending,
    /// Polled too often.
    SlowDown,
    /// The user said no.
    Denied,
    /// Too late.
    Expired,
}

/// The user's answer in the browser.
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

/// The treatment of a used refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// It stays valid, and no new one is issued.
    Off,
    /// A new one replaces it; using the old one again ends the login.
    Strict,
    /// The same, but the old one stays valid until the new one is used, because answers get lost.
    Lenient,
}

/// A faulty answer of the token endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenFault {
    /// This status with this body.
    Answer(u16, String),
    /// A refusal that quotes the whole request.
    Echo,
    /// A redirect to another place.
    Redirect,
}
