//! `cargo xtask local-model`: the real program against a real server with a real, very small model.
//!
//! The model is far too small for sensible answers, so the checks ignore their content. They check only
//! whether answers stream, are counted and can be stopped, and how overlong prompts are handled.

mod checks;
mod install;
mod peer;
mod stage;

use anyhow::Result;

use crate::counts::Counts;
use crate::gate::Gate;
use crate::place;
use crate::run::{cargo, run};
pub(crate) use install::install;
pub(crate) use peer::{Peer, Serving};
use stage::Stage;

/// One thread, so that tests beside it are not held up, and small pieces, so that the server soon notices that a client
/// has gone.
const SERVING: Serving<'_> = Serving { name: "local", context: checks::CONTEXT, threads: 1, batch: 64 };

/// Runs the checks by themselves.
pub(crate) fn local_model() -> Result<()> {
    let mut gate = Gate::default();
    gate.counted("local model", checks);
    gate.close()
}

/// Installs missing parts, starts the server and runs every check.
pub(crate) fn checks() -> Result<Counts> {
    run(&mut cargo(&["build", "--package", "buddy", "--locked", "--quiet"])?)?;
    let folder = place::target()?.join("local-model");
    let peer = Peer::start(&install()?, &SERVING, &folder)?;
    let stage = Stage::new(peer, folder)?;
    Ok(checks::run(&stage))
}
