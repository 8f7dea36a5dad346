//! The files of local sockets, as the kernel lists them for one network namespace.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::net::netlink::SOCK_DIAG;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

/// Of the kernel's interface: the request, its flags and its size, and how answers end.
const BY_FAMILY: u16 = 20;
const REQUEST_ALL: u16 = 0x301;
const REQUEST_BYTES: u32 = 40;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const EVERY_STATE: u32 = u32::MAX;
const SHOW_FILE: u32 = 2;

/// The attribute that has the file of a socket.
const FILE: u16 = 1;

/// The length of a message header, and the offset of the attributes of one socket.
const HEADER: usize = 16;
const ATTRIBUTES_AT: usize = 32;

/// As much as the kernel sends at once.
const ANSWER_BYTES: usize = 64 * 1024;

/// A file as the kernel lists it with a socket: its file system, and the lower half of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SocketFile {
    pub(super) number: u32,
    pub(super) device: u32,
}

/// The sockets of the namespace that this was opened in, whoever holds it.
#[derive(Debug)]
pub(super) struct SocketList(Mutex<OwnedFd>);

impl SocketList {
    /// Opens the list of the namespace that this process is in.
    pub(super) fn open() -> io::Result<OwnedFd> {
        Ok(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?)
    }

    /// Whether a socket of the namespace stands at a file.
    pub(super) fn has(&self, file: SocketFile) -> io::Result<bool> {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = list(socket.as_fd())?;
        Ok(all.contains(&file))
    }
}

impl From<OwnedFd> for SocketList {
    fn from(descriptor: OwnedFd) -> Self {
        Self(Mutex::new(descriptor))
    }
}

fn list(socket: BorrowedFd<'_>) -> io::Result<Vec<SocketFile>> {
    send(socket, &request(), SendFlags::empty())?;
    let mut found = Vec::new();
    let mut answer = vec![0; ANSWER_BYTES];
    loop {
        let (_, bytes) = recv(socket, &mut answer[..], RecvFlags::TRUNC)?;
        let answer = answer.get(..bytes).ok_or(io::ErrorKind::InvalidData)?;
        if read_answer(answer, &mut found)? {
            return Ok(found);
        }
    }
}

fn request() -> Vec<u8> {
    let mut request = Vec::new();
    request.extend(REQUEST_BYTES.to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST_ALL.to_ne_bytes());
    request.extend([0; 8]);
    // The family, and what is left open.
    request.extend([1, 0, 0, 0]);
    request.extend(EVERY_STATE.to_ne_bytes());
    request.extend(0_u32.to_ne_bytes());
    request.extend(SHOW_FILE.to_ne_bytes());
    request.extend([0; 8]);
    request
}

/// Adds what one answer has. Says whether it was the last.
fn read_answer(mut answer: &[u8], found: &mut Vec<SocketFile>) -> io::Result<bool> {
    while !answer.is_empty() {
        let length = word(answer, 0).and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
        let message = answer.get(..length).filter(|message| message.len() >= HEADER);
        let message = message.ok_or(io::ErrorKind::InvalidData)?;
        match half(message, 4) {
            Some(DONE) => return Ok(true),
            Some(ERROR) | None => return Err(io::ErrorKind::Unsupported.into()),
            Some(_) => found.extend(file_of(message)),
        }
        answer = answer.get(aligned(length)..).unwrap_or_default();
    }
    Ok(false)
}

fn file_of(message: &[u8]) -> Option<SocketFile> {
    let mut left = message.get(ATTRIBUTES_AT..)?;
    loop {
        let (length, kind) = (usize::from(half(left, 0)?), half(left, 2)?);
        if kind == FILE {
            return Some(SocketFile { number: word(left, 4)?, device: word(left, 8)? });
        }
        left = left.get(aligned(length.max(4))..)?;
    }
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_found_by_its_file_as_long_as_it_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let number = u32::try_from(fs::metadata(&path).unwrap().ino()).unwrap();
        let list = SocketList::from(SocketList::open().unwrap());
        let is_listed = || list_numbers(&list).contains(&number);
        assert!(is_listed());
        drop(listener);
        assert!(!is_listed());
    }

    fn list_numbers(sockets: &SocketList) -> Vec<u32> {
        let socket = sockets.0.lock().unwrap();
        list(socket.as_fd()).unwrap().iter().map(|file| file.number).collect()
    }
}
