//! Logging in to a provider with OAuth, and keeping the login alive.
//!
//! [`Login`] has the flows: a code on another device, a browser on this one, refresh and revocation. The two providers
//! that do it their own way have their own files: `chatgpt.rs`, `chatgpt_account.rs` and `openrouter.rs`. It keeps nothing:
//! whoever calls it stores the [`Tokens`], and gives them to routes as a [`TokenSource`]. Only https, or http on this
//! machine, is ever spoken to or shown; what a provider answers is read with bounds and never quoted in full.

mod answer;
mod chatgpt;
mod chatgpt_account;
mod device;
mod error;
mod flows;
mod loopback;
mod openrouter;
mod pkce;
mod post;
mod provider;
mod redirect;
mod source;
mod timing;
mod tokens;

pub(crate) use chatgpt_account::account_header;
pub use device::DeviceCode;
pub use error::{LoginError, LoginErrorKind};
pub use flows::{Login, LoginGrant, Revocation};
pub use provider::{LoginProtocol, LoginProvider};
pub use source::{LoginToken, TokenSource};
pub use timing::LoginTiming;
pub use tokens::Tokens;
