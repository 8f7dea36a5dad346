//! Watches one command until its last process is gone: its own end, orders, the timeout, and the end of the
//! control stream.
//!
//! Two threads wait for blocking sources (children, control stream) and send [`Notice`]s; all decisions, all
//! signals and all reaping happen in [`Watch`], so a child's id cannot be reused while it is in use.

use std::io::{self, BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitStatus, waitid};

use super::start::Started;
use super::tree;
use crate::Ended;
use crate::cgroup::Group;
use crate::control::{Leftovers, Order, Outcome, Spec};
use crate::jail::{Keeper, Status, Words};

/// The time that descendants get to end by themselves once the command has: the end of a `tee` behind a
/// process substitution, and the short-lived helpers of package managers. buddy reports none of those.
const LINGER: Duration = Duration::from_millis(300);

/// The time that the jail's own processes get to end after those of the command. The kernel takes namespaces down then,
/// which waits for others on a busy machine.
const JAIL_END_LIMIT: Duration = Duration::from_secs(5);

/// The time that leftovers get between being asked to end and being killed.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// The time that killed processes get to die before the tree is read again.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// The time limit for the last word of a dead jail: it is in the socket already.
const LAST_WORD_LIMIT: Duration = Duration::from_secs(1);

/// An event of a watched command.
pub(crate) enum Notice {
    /// A child ended. The sender waits for the answer, which comes when it has been reaped.
    Child(SyncSender<()>),
    /// The target sent an order.
    Order(Order),
    /// The target is gone.
    Closed,
    /// The process inside the jail reported the end of the command, or ended without a report.
    Jail(Option<Status>),
}

/// One command and its state.
pub(crate) struct Watch<'a> {
    main: Pid,
    group: Option<&'a Group>,
    began: Instant,
    /// The status of the main process.
    reaped: Option<WaitStatus>,
    /// The status of the command.
    status: Option<Status>,
    told: Told,
    keeper: Keeper,
    /// Whether the command can end the process that speaks for it.
    is_light: bool,
    none_left: bool,
    ended: Ended,
    /// Set by an order to kill and by the end of the control stream.
    kill_now: bool,
    /// The timeout at first; the end of the grace once the command is being stopped.
    deadline: Option<Instant>,
    grace: Duration,
    leftovers: Leftovers,
    inbox: Receiver<Notice>,
}

/// The source of the command's exit status.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The main process, which is the command.
    Main,
    /// The process inside the jail; the main process is the jail's outermost one.
    Jail,
    /// The end of the outermost process, as the process inside the jail was lost.
    Nobody,
}

/// Added to the number of a signal by a process that reports the end of another as its own exit code.
const SIGNAL_BASE: i32 = 128;

impl<'a> Watch<'a> {
    pub(crate) fn new(
        started: &'a mut Started,
        spec: &Spec,
        notices: Sender<Notice>,
        inbox: Receiver<Notice>,
    ) -> Self {
        let began = Instant::now();
        let deadline = spec.timeout_ms.and_then(|ms| began.checked_add(Duration::from_millis(ms)));
        let grace = Duration::from_millis(spec.grace_ms);
        let words = started.jail.as_mut().and_then(|jail| jail.words.take());
        let told = if words.is_some() { Told::Jail } else { Told::Main };
        let begun = words.map_or(Ok(()), |words| hear_jail(words, notices.clone()));
        match begun.and_then(|()| watch_children(notices.clone())) {
            Ok(_) => drop(notices),
            // Without it the end of the command would never be seen.
            Err(_) => drop(notices.send(Notice::Closed)),
        }
        Self {
            main: started.main,
            group: started.group.as_ref(),
            began,
            reaped: None,
            status: None,
            told,
            keeper: started.jail.as_ref().map_or(Keeper::Nobody, |jail| jail.keeper),
            is_light: started.jail.as_ref().is_some_and(|jail| jail.is_light),
            none_left: false,
            ended: Ended::Exited,
            kill_now: false,
            deadline,
            grace,
            leftovers: spec.leftovers,
            inbox,
        }
    }

    pub(crate) fn run(mut self) -> Outcome {
        self.until_main_ends();
        let leftovers = match (self.ended, self.leftovers) {
            (Ended::Exited, Leftovers::Stay) => self.leave_be(),
            (Ended::Exited, Leftovers::End) => self.clear_leftovers(),
            _ => self.finish_stop(),
        };
        self.hear_out();
        Outcome {
            code: self.status.and_then(|status| status.code),
            signal: self.status.and_then(|status| status.signal),
            ended: self.ended,
            took_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            leftovers,
            survivors: if self.none_left { 0 } else { count(self.living()).max(1) },
            hit: self.group.map(Group::hit).unwrap_or_default(),
            swept: Vec::new(),
            is_lost: self.is_light && self.told == Told::Nobody && self.ended == Ended::Exited,
        }
    }

    /// After everything was killed, the jail's last word is still on its way, or the end of its
    /// stream.
    fn hear_out(&mut self) {
        let until = Instant::now() + LAST_WORD_LIMIT;
        while self.none_left && self.told == Told::Jail && self.status.is_none() && self.step(Some(until)) {}
    }

    fn living(&self) -> usize {
        tree::living_of(self.main, self.keeper).len()
    }

    /// Waits until the command has ended, or its time is over.
    fn until_main_ends(&mut self) {
        while self.status.is_none() && !self.kill_now {
            if self.step(self.deadline) {
                continue;
            }
            if self.ended != Ended::Exited {
                return;
            }
            self.ask_to_end(Ended::TimedOut);
        }
        if self.kill_now && self.ended == Ended::Exited && self.status.is_none() {
            self.ended = Ended::Stopped;
        }
    }

    fn ask_to_end(&mut self, ended: Ended) {
        self.ended = ended;
        self.deadline = Instant::now().checked_add(self.grace);
        tree::terminate(self.main, self.keeper);
    }

    /// The command ended by itself, and its background processes stay.
    fn leave_be(&mut self) -> u32 {
        self.none_left = true;
        0
    }

    /// The command ended by itself: its background processes are killed.
    fn clear_leftovers(&mut self) -> u32 {
        self.wait_for_none(LINGER);
        if self.none_left {
            return 0;
        }
        let leftovers = self.find_leftovers();
        if leftovers > 0 && !self.kill_now {
            tree::terminate(self.main, self.keeper);
            self.wait_for_none(LEFTOVER_GRACE);
        }
        self.kill_all();
        leftovers
    }

    /// The number of processes that the command left. Those of its jail are not the command's: they may still be on their way
    /// out.
    fn find_leftovers(&mut self) -> u32 {
        let until = Instant::now() + JAIL_END_LIMIT;
        loop {
            self.reap();
            let found = count(self.living());
            let is_over = self.kill_now || Instant::now() >= until;
            match self.keeper {
                _ if self.none_left => return 0,
                // All that is left is the command's, although a process that keeps forking is hard to find.
                Keeper::Nobody => return found.max(1),
                Keeper::Main | Keeper::Child if found > 0 || is_over => return found,
                Keeper::Main | Keeper::Child => self.wait_for_none(LINGER),
            }
        }
    }

    /// The command is being stopped: all of the tree has the same grace.
    fn finish_stop(&mut self) -> u32 {
        let left = self
            .deadline
            .map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()));
        let main_ended = self.status.is_some();
        self.wait_for_none(left);
        let leftovers = if main_ended && !self.none_left { count(self.living()) } else { 0 };
        self.kill_all();
        leftovers
    }

    fn wait_for_none(&mut self, limit: Duration) {
        let until = Instant::now() + limit;
        while !self.none_left && !self.kill_now && self.step(Some(until)) {}
    }

    fn kill_all(&mut self) {
        let give_up_at = tree::give_up_at();
        while !self.none_left && Instant::now() < give_up_at {
            tree::kill_pass();
            if let Some(group) = self.group {
                group.kill();
            }
            let again_at = Instant::now() + KILL_PAUSE;
            while !self.none_left && self.step(Some(again_at)) {}
            self.reap();
        }
    }

    /// Takes one notice. Returns `false` when the time is over, even if there are more: a command whose
    /// children end all the time must not put off its own timeout.
    fn step(&mut self, until: Option<Instant>) -> bool {
        let notice = match until.map(|until| until.saturating_duration_since(Instant::now())) {
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(Duration::ZERO) => Err(RecvTimeoutError::Timeout),
            Some(left) => self.inbox.recv_timeout(left),
        };
        match notice {
            Ok(Notice::Child(reaped)) => {
                self.reap();
                let _ = reaped.send(());
            }
            Ok(Notice::Order(Order::Term)) => self.on_term(),
            Ok(Notice::Order(Order::Kill) | Notice::Closed) => self.kill_now = true,
            Ok(Notice::Jail(status)) => self.on_jail(status),
            Err(RecvTimeoutError::Timeout) => return false,
            // Without listeners no stop could be ordered any more.
            Err(RecvTimeoutError::Disconnected) => {
                self.kill_now = true;
                return false;
            }
        }
        true
    }

    fn on_term(&mut self) {
        if self.ended == Ended::Exited && self.status.is_none() {
            self.ask_to_end(Ended::Stopped);
        }
    }

    fn reap(&mut self) {
        let found = tree::reap(self.main);
        self.reaped = self.reaped.or(found.main);
        self.none_left = found.none_left;
        self.settle();
    }

    fn on_jail(&mut self, status: Option<Status>) {
        self.status = self.status.or(status);
        if status.is_none() {
            self.told = Told::Nobody;
        }
        self.settle();
    }

    fn settle(&mut self) {
        let reaped = self.reaped.map(Status::from);
        self.status = self.status.or(match self.told {
            Told::Main => reaped,
            Told::Jail => None,
            Told::Nobody => reaped.map(without_base),
        });
    }
}

/// The outermost process of a jail reports the signal that ended the inner one as an exit code.
fn without_base(status: Status) -> Status {
    match status.code {
        Some(code) if code > SIGNAL_BASE => Status { code: None, signal: Some(code - SIGNAL_BASE) },
        _ => status,
    }
}

/// Sends a notice when the process inside the jail has reported the end of the command, or is gone.
fn hear_jail(words: Words, notices: Sender<Notice>) -> io::Result<()> {
    thread::Builder::new().spawn(move || notices.send(Notice::Jail(words.exited()))).map(drop)
}

/// Sends a notice for every child that ends, until there is none.
fn watch_children(notices: Sender<Notice>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().spawn(move || {
        let (reaped, was_reaped) = mpsc::sync_channel(1);
        loop {
            // `NOWAIT` leaves the reaping to the watch.
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) => {}
            }
            if notices.send(Notice::Child(reaped.clone())).is_err() || was_reaped.recv().is_err() {
                return;
            }
        }
    })
}

/// Sends a notice for every order, and one for the end of the stream. A line that is no order is ignored.
pub(super) fn listen(control: BufReader<UnixStream>, notices: Sender<Notice>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().spawn(move || {
        for line in control.lines().map_while(Result::ok) {
            if let Ok(order) = serde_json::from_str(&line)
                && notices.send(Notice::Order(order)).is_err()
            {
                return;
            }
        }
        let _ = notices.send(Notice::Closed);
    })
}

fn count(processes: usize) -> u32 {
    u32::try_from(processes).unwrap_or(u32::MAX)
}
