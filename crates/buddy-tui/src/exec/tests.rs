//! A run over sessions that fall behind.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{
    Command, Event, Fact, NewSession, Principal, TurnEnded, TurnOutcome, TurnStarted, UnixMillis,
};
use tokio_util::sync::CancellationToken;

use super::{ExecRequest, ExecTarget, OutputFormat, report_time, run_exec};
use crate::details::Details;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::slow_sessions::{SlowSessions, WrittenText, session_id};

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
    Event { session: session_id(), seq: Some(seq), time: UnixMillis(0), by: None, fact }
}

/// A run with one prompt.
fn request(timeout: Option<Duration>) -> ExecRequest {
    let new = NewSession::new("buddy", "/w");
    ExecRequest {
        who: Principal::person("ann"),
        target: ExecTarget::New(Box::new(new)),
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
    let (sessions, written) =
        (Arc::new(SlowSessions::delivering([vec![event(1)], vec![event(2)]])), WrittenText::default());
    let request = request(None);
    let printer = Printer::new(Box::new(written.clone()), Box::new(io::sink()), false);
    let outcome = run_exec(sessions.clone(), request, None, printer).await.unwrap();
    assert_eq!(outcome.exit, Exit::Ok);
    assert_eq!(sessions.asked_after(), [0, 1]);
    let text = written.text();
    let events: Vec<Event> = text.lines().filter_map(|line| Event::from_json(line).ok()).collect();
    assert_eq!(events, [event(1), event(2)]);
}

/// The commands that a run sends whose turn does not end in this time.
async fn sent_in(timeout: Duration) -> Vec<Command> {
    let sessions = Arc::new(SlowSessions::delivering([vec![event(1)]]));
    let printer = Printer::new(Box::new(io::sink()), Box::new(io::sink()), false);
    let outcome = run_exec(sessions.clone(), request(Some(timeout)), None, printer).await.unwrap();
    assert_eq!(outcome.exit, Exit::Timeout);
    sessions.take_sent()
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
