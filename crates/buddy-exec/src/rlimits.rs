//! What each process of a command may take, in a jail and without one.
//!
//! The supervisor lowers its own limits before it starts the command, which inherits them: nothing can run between fork and
//! exec. They are such that no honest command meets them, and the supervisor does not either. The limits of a command as a
//! whole are those of its control group (`cgroup.rs`); where there is none, these have to do.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Limits;

/// The largest file that a command may write.
const FILE_BYTES: u64 = 256 * 1024 * 1024 * 1024;

/// Files that a process may have open. Some programs close or look at every number up to this when they start.
const OPEN_FILES: u64 = 65_536;

/// The kernel counts all processes of the account against the limit, so it has to be far above what one command may have. Root
/// has no such limit.
const ACCOUNT_FACTOR: u64 = 4;

/// Who limits the memory of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Its control group. Much can be reserved that is never used, so the process itself is left alone.
    Group,
    /// Nobody else: each process may have as much as the command.
    EachProcess,
}

/// Lowers the limits of this process, and of all that it starts from now on.
pub(crate) fn lower(limits: Limits, memory: Memory) -> io::Result<()> {
    at_most(Resource::Nproc, limits.processes.saturating_mul(ACCOUNT_FACTOR))?;
    at_most(Resource::Fsize, FILE_BYTES)?;
    at_most(Resource::Nofile, OPEN_FILES)?;
    // What a command had in its memory does not belong on the disk.
    at_most(Resource::Core, 0)?;
    match memory {
        Memory::Group => Ok(()),
        // Counts what is private and can be written, and not what is only reserved.
        Memory::EachProcess => at_most(Resource::Data, limits.memory_bytes),
    }
}

/// Lowers one, and never raises it.
fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(most));
    Ok(setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) })?)
}
