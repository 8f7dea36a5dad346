//! Limits on a command as a whole.

use serde::{Deserialize, Serialize};

/// Processes and threads of one command: a parallel build on a large machine has a tenth of this, a fork bomb any number.
const PROCESSES: u64 = 4096;

/// Memory of one command, on machines that have enough of it.
const MEMORY_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// On smaller machines, a command may take one part in this many of the memory.
const MEMORY_SHARE: u64 = 2;

/// Limits on a command as a whole, where this machine can enforce them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads at the same time.
    pub processes: u64,
    /// Bytes of memory and swap.
    pub memory_bytes: u64,
}

impl Limits {
    /// Generous defaults: they end runaway commands, and leave enough for everything else.
    pub fn usual() -> Self {
        let machine = rustix::system::sysinfo();
        let total = machine.totalram.saturating_mul(u64::from(machine.mem_unit));
        Self { processes: PROCESSES, memory_bytes: MEMORY_BYTES.min(total / MEMORY_SHARE) }
    }
}

/// The limits that a command ran into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsHit {
    /// It could not start another process.
    pub processes: bool,
    /// One of its processes was killed because it ran out of memory.
    pub memory: bool,
}
