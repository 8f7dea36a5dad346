//! The ways of commands to sessions. They keep their order, but for those that answer or stop something while the images of
//! a prompt are under way: nobody waits for a file to stop an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use buddy_protocol::{Command, Principal, SessionId, SessionTarget, Sessions, SessionsError};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::desk::Desk;
use super::effect::EffectReply;
use super::state::Console;
use crate::branches::describe_refusal;
use crate::mentions::attach_images;

/// Commands on their way to sessions.
const QUEUED: usize = 256;

/// Where commands are given. The tasks that send them end with it.
pub(super) struct Lanes {
    usual: mpsc::Sender<LaneOrder>,
    /// For those that do not wait for the images of a prompt.
    urgent: mpsc::Sender<LaneOrder>,
    /// How many prompts with images are under way.
    reading: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

/// A command on its way to a session.
pub(super) struct LaneOrder {
    pub(super) session: SessionId,
    /// Where the files are that a prompt names.
    pub(super) target: SessionTarget,
    /// The images that go with it, by their paths.
    pub(super) images: Vec<String>,
    pub(super) command: Command,
}

/// The fate of a command.
pub(super) enum LaneReport {
    Sent(SessionId),
    /// It was not taken; with the prompt if it was one.
    Refused {
        session: SessionId,
        error: SessionsError,
        prompt: Option<String>,
    },
}

impl Lanes {
    /// Opens the ways to these sessions. The fate of each command comes back.
    pub(super) fn open(
        sessions: &Arc<dyn Sessions>,
        desk: &Arc<dyn Desk>,
        who: &Principal,
    ) -> (Self, mpsc::Receiver<LaneReport>) {
        let (reports, reported) = mpsc::channel(QUEUED);
        let (usual, usual_inbox) = mpsc::channel(QUEUED);
        let (urgent, urgent_inbox) = mpsc::channel(QUEUED);
        let reading = Arc::<AtomicUsize>::default();
        let mut tasks = JoinSet::new();
        for inbox in [usual_inbox, urgent_inbox] {
            let lane = Lane {
                sessions: sessions.clone(),
                desk: desk.clone(),
                who: who.clone(),
                reading: reading.clone(),
                reports: reports.clone(),
            };
            tasks.spawn(lane.send_all(inbox));
        }
        (Self { usual, urgent, reading, _tasks: tasks }, reported)
    }

    /// Has a command sent. False when too many wait already.
    pub(super) fn give(&self, order: LaneOrder) -> bool {
        let is_urgent = matches!(
            order.command,
            Command::Answer { .. } | Command::Interrupt { .. } | Command::Stop { .. }
        );
        let lane =
            if is_urgent && self.reading.load(Ordering::SeqCst) > 0 { &self.urgent } else { &self.usual };
        let Ok(place) = lane.try_reserve() else { return false };
        if !order.images.is_empty() {
            self.reading.fetch_add(1, Ordering::SeqCst);
        }
        place.send(order);
        true
    }
}

/// One way.
struct Lane {
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    who: Principal,
    reading: Arc<AtomicUsize>,
    reports: mpsc::Sender<LaneReport>,
}

impl Lane {
    /// Sends commands one after the other.
    async fn send_all(self, mut inbox: mpsc::Receiver<LaneOrder>) {
        while let Some(order) = inbox.recv().await {
            let has_images = !order.images.is_empty();
            let report = send_order(&*self.sessions, &*self.desk, &self.who, order).await;
            if has_images {
                self.reading.fetch_sub(1, Ordering::SeqCst);
            }
            if self.reports.send(report).await.is_err() {
                return;
            }
        }
    }
}

impl LaneOrder {
    /// A command to a session of this console, with the images that the user named in it.
    pub(super) fn new(console: &Console, session: SessionId, command: Command) -> Self {
        let target = console.target_of(&session);
        let images = match &command {
            Command::Prompt { text, typed, .. } => console.named_images(typed.as_ref().unwrap_or(text)),
            _ => Vec::new(),
        };
        Self { session, target, images, command }
    }
}

/// Sends a command, with its images.
pub(super) async fn send_order(
    sessions: &dyn Sessions,
    desk: &dyn Desk,
    who: &Principal,
    order: LaneOrder,
) -> LaneReport {
    let LaneOrder { session, target, images, mut command } = order;
    let prompt = match &command {
        // A prompt that is not sent comes back as it was typed.
        Command::Prompt { text, typed, .. } => Some(typed.as_ref().unwrap_or(text).clone()),
        _ => None,
    };
    let sent = match attach_images(desk, &target, images, &mut command).await {
        Ok(()) => sessions.send(who, &session, command).await,
        Err(reason) => Err(SessionsError::Invalid(reason)),
    };
    match sent {
        Ok(()) => LaneReport::Sent(session),
        Err(error) => LaneReport::Refused { session, error, prompt },
    }
}

impl LaneReport {
    /// A refused command is told and the conversation goes on, unless there are no sessions any more.
    pub(super) fn into_reply(self) -> Result<EffectReply, SessionsError> {
        let (session, error, prompt) = match self {
            Self::Sent(session) => return Ok(EffectReply::Sent(session)),
            Self::Refused { session, error, prompt } => (session, error, prompt),
        };
        if matches!(error, SessionsError::Closed | SessionsError::Store(_)) {
            return Err(error);
        }
        let reason = describe_refusal(&error);
        Ok(match prompt {
            Some(text) => EffectReply::Unsent { session, text, reason },
            None => EffectReply::Refused(reason),
        })
    }
}
