//! One call of a script of buddy's own on another host.

use std::time::Duration;

use super::drive::{self, NotStarted, RemoteLimits};
use super::script::{Nonces, Script};
use super::spare::Spare;
use crate::exec::Chunks;
use crate::{Exit, TargetError, Transport};

/// The time limit of one call. A large file over a slow line takes minutes.
pub(super) const CALL_LIMIT: Duration = Duration::from_mins(10);

/// Runs a script of buddy's own and returns its exit.
pub(super) async fn call(
    transport: &dyn Transport,
    script: Script,
    keep: usize,
) -> Result<Exit, TargetError> {
    let output = crate::OutputLimits { keep_head: keep, keep_tail: 0, log: None };
    let limits =
        RemoteLimits { timeout: Some(CALL_LIMIT), grace: Duration::ZERO, output, manner: Chunks::Sampled };
    let started = drive::start(transport, Spare::none(), script, limits).await;
    let mut running = started.map_err(|error| match error {
        NotStarted::Failed(error) => error,
        NotStarted::Refused { what, how } => TargetError::NotSupported {
            target: transport.name().to_owned(),
            reason: format!("{what}: {how}"),
        },
    })?;
    running.wait().await
}

pub(super) fn nonces(transport: &dyn Transport) -> Result<Nonces, TargetError> {
    let no_random = |error: std::io::Error| TargetError::Unreachable {
        target: transport.name().to_owned(),
        reason: format!("no random number: {error}"),
    };
    Nonces::new().map_err(no_random)
}
