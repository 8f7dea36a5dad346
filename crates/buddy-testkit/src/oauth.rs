//! A login provider over real HTTP on this machine: device codes, a browser page, rotating tokens,
//! revocation. A script determines its behaviour, and it records its requests.
//!
//! It is as strict as the strictest provider: codes are valid once, it checks the proof of the verifier, and
//! a refresh token that is used a second time ends its login.

mod browser;
mod grants;
mod provider;
mod script;
mod server;
mod standard;
mod vendors;

pub use browser::{Visited, follow, visit};
pub use provider::OAuthRequest;
pub use script::{Consent, OAuthScript, Poll, Rotation, TokenFault};
pub use server::OAuthServer;
