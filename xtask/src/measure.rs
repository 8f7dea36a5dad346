//! The environment of the measuring chores: an ordinary account with a home outside of `/tmp`, a model that
//! follows a script literally, and a listener that plays the outside world.

pub(crate) mod account;
pub(crate) mod http;
pub(crate) mod listener;
pub(crate) mod model;
pub(crate) mod toolbox;
