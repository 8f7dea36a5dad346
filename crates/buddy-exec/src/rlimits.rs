//! Limits on each process of a command, in a jail and without one.
//!
//! The supervisor lowers its own limits before it starts the command, which inherits them: nothing can run
//! between fork and exec. They are so high that no honest command meets them, nor does the supervisor. The
//! limits of a command as a whole are those of its control group (`cgroup.rs`); without one, these have to
//! do.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Limits;

/// The largest file that a command may write.
const FILE_BYTES: u64 = 256 * 1024 * 1024 * 1024;

/// Files that a process may have open. Some programs close or look at every number up to this when they start.
const OPEN_FILES: u64 = 65_536;

/// The kernel counts all processes of the account against the limit, so it has to be far above that of one
/// command. Root has no such limit.
const ACCOUNT_FACTOR: u64 = 4;

/// The limit on a command's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Its control group. Programs reserve much that they never use, so the process itself has no limit.
    Group,
    /// Each process may have as much as the command, as there is no group.
    EachProcess,
}

/// Lowers the limits of this process, and of all children from now on.
pub(crate) fn lower(limits: Limits, memory: Memory) -> io::Result<()> {
    at_most(Resource::Nproc, limits.processes.saturating_mul(ACCOUNT_FACTOR))?;
    at_most(Resource::Fsize, FILE_BYTES)?;
    at_most(Resource::Nofile, OPEN_FILES)?;
    // A command's memory does not belong on the disk.
    at_most(Resource::Core, 0)?;
    match memory {
        Memory::Group => Ok(()),
        // Counts private writable memory, and not reserved address space.
        Memory::EachProcess => at_most(Resource::Data, limits.memory_bytes),
    }
}

/// Lowers one limit, and never raises it.
fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(most));
    Ok(setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) })?)
}
