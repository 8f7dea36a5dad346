//! A provider that one can log in to, over real HTTP on this machine: device codes, a browser's page, tokens that are
//! rotated, revocation. What it does is scripted; what it was asked is recorded.
//!
//! It is as strict as the strictest provider: codes hold once, the proof of the verifier is checked, and a refresh
//! token that comes a second time ends the login it belongs to.

mod browser;
mod grants;
mod script;
mod server;

pub use browser::{Visited, follow, visit};
pub use script::{Consent, OAuthScript, Poll, Rotation, TokenFault};
pub use server::{OAuthRequest, OAuthServer};
