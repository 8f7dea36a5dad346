//! Steps that take a while or never end: hosts that do not answer, a model source that does not get ready. What stops
//! something works meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use buddy_calls::BuiltInTools;
use buddy_protocol::{
    Change, Command, Event, Fact, Principal, SessionId, SessionTerms, Sessions, SessionsError, Subscription,
    TargetChange, TargetHost, TargetWish, TurnId, TurnOutcome,
};
use buddy_testkit::model::{ModelServer, turn};
use tokio::task::JoinHandle;

use crate::office::{Office, ScriptedModels, next, people};

/// An interrupt that takes longer than this waited for something.
const PROMPTLY: Duration = Duration::from_secs(5);

struct Busy {
    office: Arc<Office>,
    models: Arc<ScriptedModels>,
    server: ModelServer,
    ann: Principal,
    session: SessionId,
    events: Subscription,
}

impl Busy {
    /// An office whose model stops in the middle of its answer at the gate `here`.
    async fn new(hangs_at: usize) -> Self {
        let server =
            ModelServer::start([turn().text("Half of").gate("here").text(" it."), turn().text("Next.")])
                .await;
        let models = Arc::new(ScriptedModels::new(&server, hangs_at));
        let office = Arc::new(Office::with(models.clone(), Arc::new(BuiltInTools)));
        let ann = people().0;
        let (session, events) = office.begin(&ann, SessionTerms::default()).await;
        Self { office, models, server, ann, session, events }
    }

    async fn send(&self, command: Command) -> Result<(), SessionsError> {
        self.office.hub.send(&self.ann, &self.session, command).await
    }

    /// Sends a command that takes a while.
    fn begin(&self, command: Command) -> JoinHandle<Result<(), SessionsError>> {
        let (office, ann, session) = (self.office.clone(), self.ann.clone(), self.session.clone());
        #[expect(clippy::disallowed_methods, reason = "the test awaits it")]
        tokio::spawn(async move { office.hub.send(&ann, &session, command).await })
    }

    /// Begins to reach a host that does not answer.
    async fn add_target(&self) -> JoinHandle<Result<(), SessionsError>> {
        self.office.reach.hangs.store(true, Ordering::SeqCst);
        let host = TargetHost::Ssh { destination: "atlas".to_owned() };
        let target = TargetWish { host, directory: None };
        let change = Change { target: Some(TargetChange::Add { target }), ..Change::default() };
        let added = self.begin(Command::Change(change));
        self.office.reach.tried().await;
        added
    }

    /// Begins a turn that stands at the gate.
    async fn begin_turn(&mut self) -> TurnId {
        self.send(Command::prompt("go")).await.unwrap();
        self.server.gate("here").reached().await;
        next(&mut self.events, started).await
    }

    async fn promptly(&self, command: Command) {
        tokio::time::timeout(PROMPTLY, self.send(command)).await.unwrap().unwrap();
    }

    async fn outcome(&mut self) -> TurnOutcome {
        tokio::time::timeout(PROMPTLY, next(&mut self.events, ended)).await.unwrap()
    }
}

fn started(event: &Event) -> Option<TurnId> {
    match &event.fact {
        Fact::TurnStarted(started) => Some(started.turn.clone()),
        _ => None,
    }
}

fn ended(event: &Event) -> Option<TurnOutcome> {
    match &event.fact {
        Fact::TurnEnded(ended) => Some(ended.outcome),
        _ => None,
    }
}

async fn refusal(sent: JoinHandle<Result<(), SessionsError>>) -> String {
    tokio::time::timeout(PROMPTLY, sent).await.unwrap().unwrap().unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_interrupted_while_a_host_does_not_answer() {
    let mut busy = Busy::new(0).await;
    let turn = busy.begin_turn().await;
    let added = busy.add_target().await;
    // A prompt is sent behind it, and has to wait.
    let later = busy.begin(Command::prompt("and then"));
    busy.promptly(Command::Interrupt { turn: Some(turn) }).await;
    assert_eq!(busy.outcome().await, TurnOutcome::Interrupted);
    assert!(!added.is_finished(), "the host may still answer");
    // An interrupt without a name lets go of what waits, too.
    busy.promptly(Command::interrupt()).await;
    let refused = refusal(added).await;
    assert!(refused.contains("interrupted"), "{refused}");
    let refused = refusal(later).await;
    assert!(refused.contains("interrupted"), "{refused}");
    // The session goes on, on the target that it has.
    busy.send(Command::prompt("again")).await.unwrap();
    assert_eq!(busy.outcome().await, TurnOutcome::Completed);
    busy.office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_of_another_turn_stops_nothing() {
    let mut busy = Busy::new(0).await;
    busy.begin_turn().await;
    let added = busy.add_target().await;
    let other: TurnId = format!("trn_{:026}", 7).parse().unwrap();
    busy.promptly(Command::Interrupt { turn: Some(other) }).await;
    assert!(!added.is_finished());
    busy.server.gate("here").open();
    assert_eq!(busy.outcome().await, TurnOutcome::Completed);
    busy.office.hub.close().await;
    assert!(refusal(added).await.contains("interrupted"), "a session that closes waits for no host");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_not_opened_after_an_interrupt() {
    let busy = Busy::new(0).await;
    busy.office.hub.close().await;
    busy.office.reach.hangs.store(true, Ordering::SeqCst);
    let prompt = busy.begin(Command::prompt("go"));
    busy.office.reach.tried().await;
    let other: TurnId = format!("trn_{:026}", 7).parse().unwrap();
    busy.promptly(Command::Interrupt { turn: Some(other) }).await;
    assert!(!prompt.is_finished(), "no turn of this name runs there");
    busy.promptly(Command::interrupt()).await;
    let refused = refusal(prompt).await;
    assert!(refused.contains("interrupted while it was being opened"), "{refused}");
    // It can be opened as soon as the host answers again.
    busy.office.reach.hangs.store(false, Ordering::SeqCst);
    busy.promptly(Command::prompt("go")).await;
    busy.server.gate("here").reached().await;
    busy.office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_closes_while_a_session_is_being_opened() {
    let busy = Busy::new(0).await;
    busy.office.hub.close().await;
    busy.office.reach.hangs.store(true, Ordering::SeqCst);
    let prompt = busy.begin(Command::prompt("go"));
    busy.office.reach.tried().await;
    tokio::time::timeout(PROMPTLY, busy.office.hub.close()).await.unwrap();
    assert!(refusal(prompt).await.contains("interrupted while it was being opened"));
}

/// The source hangs when it is asked for the time `hangs_at`: at the beginning of the turn, or before the call.
async fn check_model_source(hangs_at: usize) {
    let mut busy = Busy::new(hangs_at).await;
    busy.send(Command::prompt("go")).await.unwrap();
    let turn = next(&mut busy.events, started).await;
    let mut asked = busy.models.asked.subscribe();
    tokio::time::timeout(PROMPTLY, asked.wait_for(|count| *count >= hangs_at)).await.unwrap().unwrap();
    busy.promptly(Command::Interrupt { turn: Some(turn) }).await;
    assert_eq!(busy.outcome().await, TurnOutcome::Interrupted);
    assert_eq!(busy.server.requests().len(), 0);
    busy.send(Command::prompt("again")).await.unwrap();
    busy.server.gate("here").pass().await;
    assert_eq!(busy.outcome().await, TurnOutcome::Completed);
    busy.office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_interrupted_while_its_model_is_not_ready() {
    check_model_source(1).await;
    check_model_source(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compacting_is_interrupted_while_its_model_is_not_ready() {
    let busy = Busy::new(1).await;
    let compacted = busy.begin(Command::Compact);
    let mut asked = busy.models.asked.subscribe();
    tokio::time::timeout(PROMPTLY, asked.wait_for(|count| *count >= 1)).await.unwrap().unwrap();
    busy.promptly(Command::interrupt()).await;
    assert!(refusal(compacted).await.contains("interrupted"));
    busy.office.hub.close().await;
}
