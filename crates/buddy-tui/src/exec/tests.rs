//! A run over sessions that fall behind.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use buddy_protocol::{
    Command, CommandKey, Event, Fact, ForkKind, ForkPoint, Found, NewSession, Principal, SessionId,
    SessionPage, SessionQuery, SessionSummary, Sessions, SessionsError, Subscription, SubscriptionError,
    TurnEnded, TurnOutcome, TurnStarted, UnixMillis, WaitingAsk,
};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{ExecRequest, ExecTarget, OutputFormat, report_time, run_exec};
use crate::details::Details;
use crate::exit::Exit;
use crate::printer::Printer;

/// Sessions with one turn, whose subscriptions each deliver one event and then have fallen behind.
#[derive(Default)]
struct Slow {
    asked_after: Mutex<Vec<u64>>,
    sent: Mutex<Vec<Command>>,
    /// Whether the turn never ends by itself.
    is_endless: bool,
}

fn session() -> SessionId {
    format!("ses_{:026}", 1).parse().unwrap()
}

fn event(seq: u64) -> Event {
    let turn = format!("trn_{:026}", 1).parse().unwrap();
    let fact = match seq {
        1 => Fact::TurnStarted(TurnStarted { turn }),
        _ => Fact::TurnEnded(TurnEnded {
            turn,
            outcome: TurnOutcome::Completed,
            stop_reason: None,
            failure: None,
        }),
    };
    Event { session: session(), seq: Some(seq), time: UnixMillis(0), by: None, fact }
}

#[async_trait]
impl Sessions for Slow {
    async fn create(&self, _: &Principal, _: NewSession) -> Result<SessionId, SessionsError> {
        Ok(session())
    }

    async fn fork(
        &self,
        _: &Principal,
        _: &SessionId,
        _: ForkPoint,
        _: ForkKind,
    ) -> Result<SessionId, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn send(&self, _: &Principal, _: &SessionId, command: Command) -> Result<(), SessionsError> {
        self.sent.lock().unwrap().push(command);
        Ok(())
    }

    async fn send_once(
        &self,
        who: &Principal,
        session: &SessionId,
        _: CommandKey,
        command: Command,
    ) -> Result<(), SessionsError> {
        self.send(who, session, command).await
    }

    async fn take_up(&self, _: &Principal, _: &SessionId) -> Result<(), SessionsError> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: &Principal,
        _: &SessionId,
        after: u64,
    ) -> Result<Subscription, SessionsError> {
        self.asked_after.lock().unwrap().push(after);
        if self.is_endless {
            let begun = futures::stream::iter([Ok(Arc::new(event(1)))]);
            return Ok(Box::pin(begun.chain(futures::stream::pending())));
        }
        let lagged = SubscriptionError::Lagged { resume_after: after + 1 };
        Ok(Box::pin(futures::stream::iter([Ok(Arc::new(event(after + 1))), Err(lagged)])))
    }

    async fn events(
        &self,
        _: &Principal,
        _: &SessionId,
        _: u64,
        _: usize,
    ) -> Result<Vec<Event>, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn find(&self, _: &Principal, _: &SessionId) -> Result<SessionSummary, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn asks(&self, _: &Principal) -> Result<Vec<WaitingAsk>, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn list(&self, _: &Principal, _: SessionQuery) -> Result<SessionPage, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn search(&self, _: &Principal, _: &str, _: usize) -> Result<Vec<Found>, SessionsError> {
        Err(SessionsError::Closed)
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run with one prompt.
fn request(timeout: Option<Duration>) -> ExecRequest {
    let new = NewSession::new("buddy", "/w");
    ExecRequest {
        who: Principal::person("ann"),
        target: ExecTarget::New(new),
        prompt: Some("go".to_owned()),
        typed: None,
        images: Vec::new(),
        schema: None,
        plan_only: None,
        details: Details::default(),
        watch: None,
        format: OutputFormat::StreamJson,
        include_deltas: false,
        timeout,
        interrupt: CancellationToken::new(),
    }
}

#[tokio::test]
async fn a_run_that_fell_behind_goes_on_where_it_was() {
    let (sessions, written) = (Arc::new(Slow::default()), Written::default());
    let request = request(None);
    let printer = Printer::new(Box::new(written.clone()), Box::new(io::sink()), false);
    let outcome = run_exec(sessions.clone(), request, None, printer).await.unwrap();
    assert_eq!(outcome.exit, Exit::Ok);
    assert_eq!(*sessions.asked_after.lock().unwrap(), [0, 1]);
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let events: Vec<Event> = text.lines().filter_map(|line| Event::from_json(line).ok()).collect();
    assert_eq!(events, [event(1), event(2)]);
}

/// The commands that a run sends whose turn does not end in this time.
async fn sent_in(timeout: Duration) -> Vec<Command> {
    let sessions = Arc::new(Slow { is_endless: true, ..Slow::default() });
    let printer = Printer::new(Box::new(io::sink()), Box::new(io::sink()), false);
    let outcome = run_exec(sessions.clone(), request(Some(timeout)), None, printer).await.unwrap();
    assert_eq!(outcome.exit, Exit::Timeout);
    std::mem::take(&mut *sessions.sent.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_report_is_asked_for_before_the_time_is_up_unless_it_is_short() {
    let long = sent_in(Duration::from_mins(10)).await;
    assert!(
        matches!(&long[..], [Command::Prompt { .. }, Command::WindUp { .. }, Command::Interrupt { .. }]),
        "{long:?}"
    );
    let short = sent_in(Duration::from_secs(29)).await;
    assert!(matches!(&short[..], [Command::Prompt { .. }, Command::Interrupt { .. }]), "{short:?}");
}

#[test]
fn the_report_has_a_tenth_of_the_time_within_bounds() {
    let seconds = |timeout| report_time(Duration::from_secs(timeout)).map(|time| time.as_secs());
    assert_eq!(
        [29, 30, 45, 60, 200, 300, 36_000].map(seconds),
        [None, Some(5), Some(5), Some(6), Some(20), Some(30), Some(30)]
    );
}
