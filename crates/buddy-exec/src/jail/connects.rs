//! Connections of a command, made in its place.
//!
//! Neither mounts nor Landlock keep a process from connecting to a local socket whose name it sees, and a filter of system calls does not
//! see names. So the supervisor is asked about every `connect` of a command that has local sockets, and makes the
//! connection with the command's own socket. It copies the address first and never lets the call itself go on: memory that
//! was looked at could be changed meanwhile.
//!
//! A local socket is reached only if it was made in the network namespace of the command. Any other one belongs to a process outside, wherever
//! its name is.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use buddy_notify::{Listener, Question};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, connect, connect_unspec};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::caller::Caller;
use super::socket_list::{SocketFile, SocketList};

/// The longest address that is copied; the kernel's own limit.
const MAX_ADDRESS: u64 = 128;

/// Makes connections.
pub(super) struct Connects {
    /// The sockets of the command.
    inside: SocketList,
    /// Those of this process' own namespace; without them none is known to be inside.
    outside: Option<SocketList>,
}

impl Connects {
    /// For commands in the namespace that a list is of.
    pub(super) fn new(inside: OwnedFd) -> Self {
        Self { inside: inside.into(), outside: SocketList::open().ok().map(SocketList::from) }
    }

    /// Makes the connection that was asked about.
    pub(super) fn settle(&self, listener: &Listener, question: &Question) -> Result<(), Errno> {
        let [descriptor, at, length, ..] = question.arguments;
        let caller = Caller::of(question.thread)?;
        let address = copy_address(&caller, at, length)?;
        let socket = borrow_socket(question.thread, descriptor)?;
        // All of the above was read by the number of a thread, which another one could have by now.
        if !listener.is_waiting(question) {
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
        let file = caller.open(&caller.directory()?.join(path), OFlags::PATH)?;
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let number = u32::try_from(found.st_ino & u64::from(u32::MAX)).unwrap_or_default();
        let listed = SocketFile { number, device: device_of(&file, &caller.mounts()?).ok_or(Errno::ACCESS)? };
        let outside = self.outside.as_ref().ok_or(Errno::ACCESS)?;
        // Only half of the number is listed, so one that could be somebody else's is.
        if outside.has(listed).map_err(|_| Errno::ACCESS)? {
            return Err(Errno::ACCESS);
        }
        if self.inside.has(listed).map_err(|_| Errno::ACCESS)? { Ok(file) } else { Err(Errno::CONNREFUSED) }
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

fn copy_address(caller: &Caller, at: u64, length: u64) -> Result<Vec<u8>, Errno> {
    // The kernel takes a number of 32 bits.
    let length = length & u64::from(u32::MAX);
    if length > MAX_ADDRESS {
        return Err(Errno::INVAL);
    }
    let length = usize::try_from(length).map_err(|_| Errno::INVAL)?;
    let address = caller.copy(at, length)?;
    if address.len() == length { Ok(address) } else { Err(Errno::FAULT) }
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
        let word = |at| -> Result<[u8; 4], Errno> { part(at, 4)?.try_into().map_err(|_| Errno::INVAL) };
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
