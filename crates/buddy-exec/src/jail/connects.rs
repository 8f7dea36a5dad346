//! Connections of a command, made in its place.
//!
//! Neither mounts nor Landlock keep a process from connecting to a local socket whose name it sees, and a filter of system calls does not
//! see names. So the kernel asks the supervisor about every `connect` of a command that has local sockets, and the supervisor makes the
//! connection with the command's own socket. It copies the address first and never lets the call itself go on: memory that
//! was looked at could be changed meanwhile.
//!
//! A local socket is reached only if it was made in the network namespace of the command. Any other one belongs to a process outside, wherever
//! its name is.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use buddy_notify::{Listener, Question, ask_about};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, connect, connect_unspec};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::refusal::{Refusal, SECCOMP, refused};
use super::socket_list::{SocketFile, SocketList};
use crate::control::{receive_descriptors, send_descriptors};

/// The longest address that is copied; the kernel's own limit.
const MAX_ADDRESS: u64 = 128;

/// How many connections may be waited for at once. With more of them the next one holds up the others of the same command.
const MAX_WAITING: usize = 64;

/// What a thread that makes one connection needs.
const STACK_BYTES: usize = 256 * 1024;

/// The inner side: has the kernel ask about connections of this process and of all that it starts, and hands over who is asked. Says whether it
/// does, which takes Linux 5.19.
pub(super) fn hand_over(supervisor: Option<OwnedFd>) -> Result<bool, Refusal> {
    let Some((supervisor, sockets)) = supervisor.zip(SocketList::open().ok()) else { return Ok(false) };
    let Ok(listener) = ask_about(libc::SYS_connect) else { return Ok(false) };
    // From here on nothing connects unless somebody answers.
    send_descriptors(&supervisor, &[listener.as_fd(), sockets.as_fd()])
        .map(|()| true)
        .map_err(refused(SECCOMP, "hand over the connections of the command"))
}

/// The outer side: waits for what is handed over, and then answers until nothing of the command is left.
pub(super) fn serve(inside: UnixStream) -> io::Result<()> {
    thread::Builder::new()
        .spawn(move || {
            let Ok(descriptors) = receive_descriptors(&inside) else { return };
            drop(inside);
            let Ok([listener, sockets]) = <[OwnedFd; 2]>::try_from(descriptors) else { return };
            answer_all(&Arc::new(Broker {
                listener: listener.into(),
                inside: sockets.into(),
                outside: SocketList::open().ok().map(SocketList::from),
            }));
        })
        .map(drop)
}

struct Broker {
    listener: Listener,
    /// The sockets of the command.
    inside: SocketList,
    /// Those of this process' own namespace; without them none is known to be inside.
    outside: Option<SocketList>,
}

fn answer_all(broker: &Arc<Broker>) {
    let waiting = Arc::new(AtomicUsize::new(0));
    loop {
        let mut polled = [PollFd::new(&broker.listener, PollFlags::IN)];
        match poll(&mut polled, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        let events = polled[0].revents();
        if !events.contains(PollFlags::IN) {
            if events.is_empty() {
                continue;
            }
            // Nobody is left who could ask.
            return;
        }
        let Ok(question) = broker.listener.receive() else { continue };
        if waiting.load(Ordering::Relaxed) >= MAX_WAITING {
            broker.settle(&question);
            continue;
        }
        waiting.fetch_add(1, Ordering::Relaxed);
        let (own, count) = (Arc::clone(broker), Arc::clone(&waiting));
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            own.settle(&question);
            count.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            waiting.fetch_sub(1, Ordering::Relaxed);
            broker.settle(&question);
        }
    }
}

impl Broker {
    fn settle(&self, question: &Question) {
        let outcome = self.connect(question).map(|()| 0).map_err(Errno::raw_os_error);
        // Who asked may be gone.
        let _ = self.listener.answer(question, outcome);
    }

    fn connect(&self, question: &Question) -> Result<(), Errno> {
        let [descriptor, at, length, ..] = question.arguments;
        let address = copy_address(question.thread, at, length)?;
        let socket = borrow_socket(question.thread, descriptor)?;
        let caller = Caller::of(question.thread)?;
        // All of the above was read by the number of a thread, which another one could have by now.
        if !self.listener.is_waiting(question) {
            return Err(Errno::SRCH);
        }
        match Address::of(&address)? {
            Address::None => connect_unspec(&socket),
            Address::V4(address) => connect(&socket, &address),
            Address::V6(address) => connect(&socket, &address),
            // These names are those of the network namespace that the socket was made in.
            Address::Abstract(name) => connect(&socket, &SocketAddrUnix::new_abstract_name(name)?),
            Address::Path(path) => {
                let file = self.find(&caller, path)?;
                let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
                connect(&socket, &SocketAddrUnix::new(by_descriptor)?)
            }
        }
    }

    /// The file of a local socket that was made inside. It stays the same one, whatever its name leads to meanwhile.
    fn find(&self, caller: &Caller, path: &Path) -> Result<OwnedFd, Errno> {
        let path = caller.directory.join(path);
        let below = path.strip_prefix("/").unwrap_or(&path);
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let file = openat2(&caller.root, below, flags, Mode::empty(), resolve)?;
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let number = u32::try_from(found.st_ino & u64::from(u32::MAX)).unwrap_or_default();
        let listed = SocketFile { number, device: device_of(&file, &caller.mounts).ok_or(Errno::ACCESS)? };
        let outside = self.outside.as_ref().ok_or(Errno::ACCESS)?;
        // Only half of the number is listed, so one that could be somebody else's is.
        if outside.has(listed).map_err(|_| Errno::ACCESS)? {
            return Err(Errno::ACCESS);
        }
        if self.inside.has(listed).map_err(|_| Errno::ACCESS)? { Ok(file) } else { Err(Errno::CONNREFUSED) }
    }
}

/// Where a thread is, as far as names are concerned.
struct Caller {
    root: OwnedFd,
    directory: PathBuf,
    mounts: String,
}

impl Caller {
    fn of(thread: i32) -> Result<Self, Errno> {
        let place = |name: &str| format!("/proc/{thread}/{name}");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            root: open(place("root"), flags, Mode::empty())?,
            directory: fs::read_link(place("cwd")).map_err(|_| Errno::ACCESS)?,
            mounts: fs::read_to_string(place("mountinfo")).map_err(|_| Errno::ACCESS)?,
        })
    }
}

/// The number of the file system that a file is on. Some tell another one with the file itself.
fn device_of(file: &OwnedFd, mounts: &str) -> Option<u32> {
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let mount = about.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().to_owned();
    let words = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let (major, minor) =
        words.into_iter().find(|words| words.first() == Some(&mount.as_str()))?.get(2)?.split_once(':')?;
    Some((major.parse::<u32>().ok()? << 20) | minor.parse::<u32>().ok()?)
}

fn copy_address(thread: i32, at: u64, length: u64) -> Result<Vec<u8>, Errno> {
    // The kernel takes a number of 32 bits.
    let length = length & u64::from(u32::MAX);
    if length > MAX_ADDRESS {
        return Err(Errno::INVAL);
    }
    let mut address = vec![0; usize::try_from(length).map_err(|_| Errno::INVAL)?];
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(|_| Errno::ACCESS)?;
    memory.read_exact_at(&mut address, at).map_err(|_| Errno::FAULT)?;
    Ok(address)
}

/// The socket of the caller, under a number of this process.
fn borrow_socket(thread: i32, descriptor: u64) -> Result<OwnedFd, Errno> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
    let leader = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    let leader = leader.and_then(|leader| leader.trim().parse().ok()).and_then(Pid::from_raw);
    let process = pidfd_open(leader.ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
    let number = i32::try_from(descriptor & u64::from(u32::MAX)).map_err(|_| Errno::BADF)?;
    pidfd_getfd(&process, number, PidfdGetfdFlags::empty())
}

/// An address as it was copied.
#[derive(Debug, PartialEq, Eq)]
enum Address<'a> {
    None,
    V4(SocketAddrV4),
    V6(SocketAddrV6),
    Abstract(&'a [u8]),
    Path(&'a Path),
}

impl<'a> Address<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, Errno> {
        let part = |at: usize, length: usize| bytes.get(at..at + length).ok_or(Errno::INVAL);
        let port = || Ok::<u16, Errno>(u16::from_be_bytes(part(2, 2)?.try_into().map_err(|_| Errno::INVAL)?));
        let word = |at| Ok::<[u8; 4], Errno>(part(at, 4)?.try_into().map_err(|_| Errno::INVAL)?);
        match i32::from(u16::from_ne_bytes(part(0, 2)?.try_into().map_err(|_| Errno::INVAL)?)) {
            libc::AF_UNSPEC => Ok(Self::None),
            libc::AF_INET => Ok(Self::V4(SocketAddrV4::new(Ipv4Addr::from(word(4)?), port()?))),
            libc::AF_INET6 => {
                let host: [u8; 16] = part(8, 16)?.try_into().map_err(|_| Errno::INVAL)?;
                let scope = word(24).map_or(0, u32::from_ne_bytes);
                let flow = u32::from_be_bytes(word(4)?);
                Ok(Self::V6(SocketAddrV6::new(Ipv6Addr::from(host), port()?, flow, scope)))
            }
            libc::AF_UNIX => match bytes.get(2..).unwrap_or_default() {
                [] => Err(Errno::INVAL),
                [0, name @ ..] => Ok(Self::Abstract(name)),
                path => {
                    let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
                    Ok(Self::Path(Path::new(std::ffi::OsStr::from_bytes(path))))
                }
            },
            _ => Err(Errno::AFNOSUPPORT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let check =
            |bytes: &[u8], expected: Result<Address<'_>, Errno>| assert_eq!(Address::of(bytes), expected);
        let local = |rest: &[u8]| [&[1, 0][..], rest].concat();
        check(&local(b"a/b\0rest"), Ok(Address::Path(Path::new("a/b"))));
        check(&local(b"/x"), Ok(Address::Path(Path::new("/x"))));
        check(&local(b"\0name\0"), Ok(Address::Abstract(b"name\0")));
        check(&local(b""), Err(Errno::INVAL));
        check(&[2, 0, 0, 80, 127, 0, 0, 1], Ok(Address::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80))));
        check(&[2, 0, 0, 80, 127], Err(Errno::INVAL));
        check(&[1], Err(Errno::INVAL));
        check(&[0, 0], Ok(Address::None));
        check(&[17, 0, 0, 0], Err(Errno::AFNOSUPPORT));
    }
}
