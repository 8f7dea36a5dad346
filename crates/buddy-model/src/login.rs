//! Logging in to a provider with OAuth, and keeping the login alive.
//!
//! [`Login`] has the flows: a code on another device, a browser on this one, refresh and revocation. It
//! stores nothing: the caller stores the [`Tokens`] and gives them to routes as a [`TokenSource`]. It uses
//! and shows only https addresses, or http on this machine. It reads answers of a provider with bounds and
//! never quotes them in full.

mod answer;
mod device;
mod error;
mod flows;
mod loopback;
mod pkce;
mod post;
mod provider;
mod redirect;
mod source;
mod timing;
mod tokens;

pub use device::DeviceCode;
pub use error::{LoginError, LoginErrorKind};
pub use flows::{Login, Revocation};
pub use provider::LoginProvider;
pub use source::TokenSource;
pub use timing::LoginTiming;
pub use tokens::Tokens;
