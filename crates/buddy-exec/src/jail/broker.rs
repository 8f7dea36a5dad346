//! Calls of a command that the kernel asks the supervisor about.
//!
//! `connect` is made in the place of the command ([`Connects`]). A `rename` goes on, unless git gives a repository new settings by it
//! ([`ConfigWrites`]).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use buddy_notify::{Listener, Question, Verdict, ask_about};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::config_writes::{ConfigWrites, RENAMES};
use super::connects::Connects;
use super::refusal::{Refusal, SECCOMP, refused};
use super::socket_list::SocketList;
use crate::descriptors::{receive_descriptors, send_descriptors};

/// The most calls that are answered at once. The next one holds up the others of the same command.
const MAX_WAITING: usize = 64;

/// The stack of a thread that answers one call.
const STACK_BYTES: usize = 256 * 1024;

/// The inner side: has the kernel ask about calls of this process and of all that it starts, and hands over who is asked. Says whether
/// connections are asked about, which takes Linux 5.19.
pub(super) fn hand_over(supervisor: Option<OwnedFd>, has_connects: bool) -> Result<bool, Refusal> {
    let Some((supervisor, sockets)) = supervisor.zip(SocketList::open().ok()) else { return Ok(false) };
    let connect = has_connects.then_some(libc::SYS_connect);
    let calls: Vec<i64> = connect.into_iter().chain(RENAMES.iter().map(|rename| rename.call)).collect();
    let Ok(listener) = ask_about(&calls) else { return Ok(false) };
    // From here on these calls wait until somebody answers.
    send_descriptors(&supervisor, &[listener.as_fd(), sockets.as_fd()])
        .map(|()| has_connects)
        .map_err(refused(SECCOMP, "hand over calls of the command"))
}

/// The outer side: waits for what is handed over, and then answers until nothing of the command is left.
pub(super) fn serve(inside: UnixStream, configs: Arc<ConfigWrites>) -> io::Result<()> {
    thread::Builder::new()
        .spawn(move || {
            let Ok(descriptors) = receive_descriptors(&inside) else { return };
            drop(inside);
            let Ok([listener, sockets]) = <[OwnedFd; 2]>::try_from(descriptors) else { return };
            answer_all(&Arc::new(Broker {
                listener: listener.into(),
                connects: Connects::new(sockets),
                configs,
            }));
        })
        .map(drop)
}

struct Broker {
    listener: Listener,
    connects: Connects,
    configs: Arc<ConfigWrites>,
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
        // Only connections are waited for.
        if question.call != libc::SYS_connect || waiting.load(Ordering::Relaxed) >= MAX_WAITING {
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
        let verdict = if question.call == libc::SYS_connect {
            match self.connects.settle(&self.listener, question) {
                Ok(()) => Verdict::Returns(0),
                Err(error) => Verdict::Fails(error.raw_os_error()),
            }
        } else {
            self.configs.settle(&self.listener, question)
        };
        // The thread that asked may be gone.
        let _ = self.listener.answer(question, verdict);
    }
}
