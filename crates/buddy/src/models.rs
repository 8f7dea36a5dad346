//! Models: which one is used and why, what its name means, where its key comes from, and how it is reached.

mod choice;
mod configured;
mod connect;
mod current;
mod key;
mod known;
mod lessons;
mod local;
mod model_line;
mod reference;
mod source;

pub(crate) use choice::{ChoiceKind, choose};
pub(crate) use current::{CurrentModels, find_models};
pub(crate) use key::ModelKeys;
pub(crate) use lessons::{Lesson, Lessons};
pub(crate) use local::{LocalServer, local_servers};
pub(crate) use model_line::ModelLine;
pub(crate) use reference::Reference;
pub(crate) use source::{Models, NoModels, OfferedModel};
