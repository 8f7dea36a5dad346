//! Answers for single system calls of other processes: seccomp's user notifications.
//!
//! A process has the kernel ask about some of its calls, gives the listener to somebody else, and starts other programs. Whoever
//! holds the listener then answers each such call in the place of the kernel, or lets it go on.
//!
//! This is the only crate of the project with unsafe code: four calls of the kernel that no safe library has. It decides nothing.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The architecture that calls have in a filter; a call by another one has other numbers.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

/// Offsets of the call number and of the architecture in the data that a filter reads.
const CALL_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// The most calls that can be asked about.
const MAX_CALLS: usize = 100;

/// The flag of an answer that lets the call go on.
const GO_ON: u32 = 1;

/// The descriptor on which questions arrive.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A call that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    id: u64,
    /// The thread that made the call, as the receiver numbers it.
    pub thread: i32,
    /// The number of the call.
    pub call: i64,
    /// The arguments of the call. Pointers lead to memory of the thread, which others may be changing.
    pub arguments: [u64; 6],
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is not made, and returns this.
    Returns(i64),
    /// It is not made, and fails with this number.
    Fails(i32),
    /// The kernel makes it as if nobody had been asked. What it was given may be something else by then, so only a call that may do all that
    /// the kernel lets it do goes on.
    GoesOn,
}

/// Has the kernel ask about some calls of this thread and of all that it starts, for good. The thread must have given up new privileges.
///
/// Fails where the kernel is older than Linux 5.19, and where somebody is asked about this thread already. A signal then does not
/// take a question back that was received, so that no call is answered twice.
pub fn ask_about(calls: &[i64]) -> io::Result<Listener> {
    if ARCHITECTURE == 0 || calls.len() > MAX_CALLS {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let step = |code: u32, jump_true: u8, jump_false: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: jump_true,
        jf: jump_false,
        k,
    };
    let (load, equal, end) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    // Jumps are counted from the next step on.
    let mut steps = vec![
        step(load, 0, 0, ARCHITECTURE_AT),
        step(equal, 1, 0, ARCHITECTURE),
        step(end, 0, 0, libc::SECCOMP_RET_ALLOW),
        step(load, 0, 0, CALL_AT),
    ];
    for call in calls {
        let call = u32::try_from(*call).map_err(|_| io::ErrorKind::InvalidInput)?;
        steps.extend([step(equal, 0, 1, call), step(end, 0, 0, libc::SECCOMP_RET_USER_NOTIF)]);
    }
    steps.push(step(end, 0, 0, libc::SECCOMP_RET_ALLOW));
    let program =
        libc::sock_fprog { len: u16::try_from(steps.len()).unwrap_or_default(), filter: steps.as_mut_ptr() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    #[expect(unsafe_code, reason = "no safe library installs a filter with a listener")]
    // SAFETY: the kernel copies the program while the call runs, and `steps` lives until after it.
    let made =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    let descriptor =
        i32::try_from(made).ok().filter(|made| *made >= 0).ok_or_else(io::Error::last_os_error)?;
    #[expect(unsafe_code, reason = "the kernel gives a number")]
    // SAFETY: the kernel has just made this descriptor, and nobody else knows its number.
    Ok(Listener(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

impl Listener {
    /// Waits for a question. `NotFound` when the one that was there is gone again.
    pub fn receive(&self) -> io::Result<Question> {
        let mut got = libc::seccomp_notif {
            id: 0,
            pid: 0,
            flags: 0,
            data: libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] },
        };
        #[expect(unsafe_code, reason = "no safe library receives questions")]
        // SAFETY: the request fills a structure of exactly this type, which must be zero before.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut got) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        let thread = i32::try_from(got.pid).unwrap_or_default();
        Ok(Question { id: got.id, thread, call: i64::from(got.data.nr), arguments: got.data.args })
    }

    /// Whether the thread still waits. Facts read by its number before are then about this thread, and not about one that got the number later.
    pub fn is_waiting(&self, question: &Question) -> bool {
        #[expect(unsafe_code, reason = "no safe library looks after a question")]
        // SAFETY: the request reads one number of 64 bits.
        let done = unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const question.id)
        };
        done == 0
    }

    /// Answers a question.
    pub fn answer(&self, question: &Question, verdict: Verdict) -> io::Result<()> {
        let (val, error, flags) = match verdict {
            Verdict::Returns(value) => (value, 0, 0),
            Verdict::Fails(error) => (0, -error, 0),
            Verdict::GoesOn => (0, 0, GO_ON),
        };
        let answer = libc::seccomp_notif_resp { id: question.id, val, error, flags };
        #[expect(unsafe_code, reason = "no safe library sends answers")]
        // SAFETY: the request reads a structure of exactly this type.
        let done =
            unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for Listener {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.0
    }
}
