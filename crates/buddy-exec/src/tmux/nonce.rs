//! The random numbers of setups and commands in a pane.

use crate::TargetError;

/// Below every tag of a command.
const LEAST_TAG: u32 = 1_000_000_000;

/// An unpredictable number.
pub(super) fn nonce() -> Result<String, TargetError> {
    let failed = |source| TargetError::Io { action: "read", path: "/dev/urandom".into(), source };
    crate::random::nonce().map_err(failed)
}

/// A number by which all processes of one command are found, as a limit that they inherit: large, so that no
/// program sets the same by chance.
pub(super) fn tag() -> Result<u32, TargetError> {
    let nonce = nonce()?;
    let digits = nonce.get(..7).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    Ok(LEAST_TAG + digits.unwrap_or_default())
}
