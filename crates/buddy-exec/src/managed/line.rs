//! Orders for a keeper. They come as signals, which any process of the account can send, also a buddy that
//! was started later.
//!
//! `TERM` asks the process tree to end and kills it after the grace; `QUIT` kills it now. The signals that a
//! terminal or a shell sends when it goes away change nothing.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};

use crate::control::Order;
use crate::supervise::watch::Notice;

/// The orders of one keeper, handed to the current listener.
#[derive(Default)]
pub(super) struct Line(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    listener: Option<Sender<Notice>>,
    /// The last order; an order to kill is not taken back.
    order: Option<Order>,
}

impl Line {
    /// Begins to listen. Must come before any other thread is started, as those would get the signals otherwise.
    pub(super) fn open() -> io::Result<Arc<Self>> {
        let mut signals = SigSet::empty();
        for signal in [Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGINT, Signal::SIGHUP] {
            signals.add(signal);
        }
        // The command does not inherit this: the standard library gives it an empty mask.
        signals.thread_block()?;
        let line = Arc::new(Self::default());
        let heard = line.clone();
        thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = signals.wait() {
                match signal {
                    Signal::SIGTERM => heard.take(Order::Term),
                    Signal::SIGQUIT => heard.take(Order::Kill),
                    _ => {}
                }
            }
        })?;
        Ok(line)
    }

    fn take(&self, order: Order) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.order != Some(Order::Kill) {
            inner.order = Some(order);
        }
        if let Some(listener) = &inner.listener {
            let _ = listener.send(Notice::Order(order));
        }
    }

    /// A new listener in the place of the old one. It also hears an order that came before.
    pub(super) fn listen(&self) -> (Sender<Notice>, Receiver<Notice>) {
        let (notices, inbox) = mpsc::channel();
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(order) = inner.order {
            let _ = notices.send(Notice::Order(order));
        }
        inner.listener = Some(notices.clone());
        (notices, inbox)
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).order.is_some()
    }

    /// Waits for this long. Returns `false` when an order came instead.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let (_notices, inbox) = self.listen();
        matches!(inbox.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }
}
