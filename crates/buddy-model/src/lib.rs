//! Wire protocols to models: prompt in, deltas out.
//!
//! A [`Model`] takes a provider-neutral [`Prompt`] and returns a stream of [`Delta`]s that ends with one
//! [`Reply`] or one [`ModelError`]. [`HttpModel`] is the one that talks to a server. A [`Route`] defines its
//! requests and how answers are read: protocol × endpoint × auth × framing. Protocols and framings are pure
//! (values in, values out); only `http` does I/O.
//!
//! This crate never knows sessions, what a tool does, or approvals, and never reads the environment.

mod arguments;
mod auth;
mod catalogue;
mod clean;
mod demo;
pub mod diagnose;
mod endpoint;
mod error;
mod failure;
mod family;
mod framing;
mod http;
mod ids;
mod login;
mod model;
mod options;
pub mod probe;
mod prompt;
mod protocol;
mod reply;
mod retry;
mod route;
mod switches;
pub mod tokens;

pub use arguments::{Arguments, MAX_ARGUMENTS_BYTES};
pub use auth::Auth;
pub use buddy_protocol::Private;
pub use buddy_protocol::ToolDefinition;
pub use catalogue::{Catalogue, CatalogueError, ModelFacts, Price, SAFE_CONTEXT_WINDOW};
pub use demo::{DEMO_MODEL, DemoModel};
pub use endpoint::{Endpoint, EndpointError};
pub use error::{ModelError, ModelErrorKind};
pub use family::{EditTools, FamilyGates, FamilySwitch, ModelFamilies, ModelFamily, ToolRange};
pub use framing::{Framer, Framing, FramingError, MAX_EVENT_BYTES};
pub use http::{HttpModel, install_tls};
pub use ids::Ids;
pub use login::{
    DeviceCode, Login, LoginError, LoginErrorKind, LoginGrant, LoginProtocol, LoginProvider, LoginTiming,
    LoginToken, Revocation, TokenSource, Tokens,
};
pub use model::{Model, ReplyStream};
pub use options::{MaxTokensField, Options, PromptCache, ReasoningForm, ReasoningReplay};
pub use prompt::{Prompt, PromptItem};
pub use protocol::chat::Chat;
pub use protocol::messages::Messages;
pub use protocol::ollama::Ollama;
pub use protocol::responses::Responses;
pub use protocol::{
    Decoder, DecoderContext, Frame, MAX_ANSWER_BYTES, MAX_CALLS_PER_REPLY, MAX_PARTS, MAX_SAID_BYTES,
    MAX_STREAM_BYTES, Objection, Progress, Protocol, WireError,
};
pub use reply::{Delta, Reply, ReplyItem, StopReason};
pub use route::{Route, Settings};
pub use switches::Switches;
