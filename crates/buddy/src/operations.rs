//! The operations of this user on this machine: one implementation for the command line, the conversation and, later, a server.
//!
//! Most of what an operation does blocks, and an undo can take minutes. So each runs on a thread of its own, and the screen of a
//! conversation goes on meanwhile. Whoever gives a request up drops its future: the work stops at its next await, and a part that
//! does not await ends by itself.

mod changes;
mod configuration;
mod diff;
mod doctor;
mod export;
mod failure;
mod grants;
mod guards;
mod logins;
mod models;
mod open_sessions;
mod place;
mod processes;
mod trust;
mod undo;
mod undo_wire;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use buddy_hub::{Action, Resource, authorize};
use buddy_protocol::operations::{
    ApproveGuards, ChangeList, ConfigurationFile, ConfigurationView, ControlFileChange, CountChanges,
    DistrustFolder, DoctorReport, DoctorStep, ExamineMachine, ExamineProvider, ExportSession,
    ExportedSession, FindDiff, GuardsView, ListChanges, LogOut, LogOutReport, ManagedProcess, ModelList,
    OperationStream, OutputChunk, PreviewUndo, ReadProcessOutput, RepositoryDiff, ReviewFolder, RevokeGrants,
    SaveGrant, SavedGrant, SetConfiguration, StopProcess, TrustFolder, TrustedFolder, UndoChange,
    UndoOutcome, UndoPreview, UnsetConfiguration, UnsetOutcome,
};
use buddy_protocol::{OperationError, OperationErrorCode, Operations, Principal, SingleUser};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

pub(crate) use configuration::{FileBefore, UserConfiguration, view_configuration};
use failure::failure_of;
pub(crate) use place::{OperationConversation, OperationPlace};

/// The parts of a result that may wait to be read.
const STREAM_QUEUE: usize = 16;

/// The operations of a user, in one working directory.
#[derive(Clone)]
pub(crate) struct HomeOperations {
    place: Arc<OperationPlace>,
}

impl HomeOperations {
    pub(crate) fn new(place: OperationPlace) -> Self {
        Self { place: Arc::new(place) }
    }

    /// The user whose operations these are.
    pub(crate) fn owner(&self) -> &Principal {
        &self.place.owner
    }

    /// Refuses unless `who` may do this to what belongs to the user.
    fn permit(&self, who: &Principal, action: Action) -> Result<(), OperationError> {
        authorize(&SingleUser, who, action, Resource::User(&self.place.owner.id))
            .map_err(|denied| OperationError::new(OperationErrorCode::Forbidden, denied.to_string()))
    }

    /// Does a piece of work on a thread of its own.
    async fn perform<T, Work>(
        &self,
        work: impl FnOnce(Arc<OperationPlace>) -> Work + Send + 'static,
    ) -> Result<T, OperationError>
    where
        T: Send + 'static,
        Work: Future<Output = anyhow::Result<T>>,
    {
        let (stop, place, runtime) = (CancellationToken::new(), self.place.clone(), Handle::current());
        let _stop_when_dropped = stop.clone().drop_guard();
        let done = spawn_blocking(move || runtime.block_on(stop.run_until_cancelled(work(place)))).await;
        match done {
            Ok(Some(done)) => done.map_err(|error| failure_of(&error)),
            Ok(None) => Err(OperationError::new(OperationErrorCode::Stopped, "stopped before it was done")),
            Err(error) => Err(OperationError::new(OperationErrorCode::Failed, error.to_string())),
        }
    }

    /// The same for work whose result comes in parts. The work stops when nobody reads them.
    fn stream<T, Work>(
        &self,
        work: impl FnOnce(Arc<OperationPlace>, mpsc::Sender<T>) -> Work + Send + 'static,
    ) -> OperationStream<T>
    where
        T: Send + 'static,
        Work: Future<Output = anyhow::Result<()>>,
    {
        let (sender, parts) = mpsc::channel(STREAM_QUEUE);
        let operations = self.clone();
        let done = async move { operations.perform(move |place| work(place, sender)).await };
        let parted = PartedWork { work: Some(Box::pin(done)), parts, error: None };
        Box::pin(futures::stream::unfold(parted, |mut parted| async move {
            parted.next().await.map(|part| (part, parted))
        }))
    }
}

type UnfinishedWork = Pin<Box<dyn Future<Output = Result<(), OperationError>> + Send>>;

/// A piece of work that sends parts while it is driven.
struct PartedWork<T> {
    /// None once it has ended.
    work: Option<UnfinishedWork>,
    parts: mpsc::Receiver<T>,
    /// Why it failed; told after its last part.
    error: Option<OperationError>,
}

impl<T> PartedWork<T> {
    async fn next(&mut self) -> Option<Result<T, OperationError>> {
        while let Some(work) = &mut self.work {
            tokio::select! {
                biased;
                Some(part) = self.parts.recv() => return Some(Ok(part)),
                ended = work => {
                    self.work = None;
                    self.error = ended.err();
                }
            }
        }
        match self.parts.recv().await {
            Some(part) => Some(Ok(part)),
            None => self.error.take().map(Err),
        }
    }
}

#[async_trait]
impl Operations for HomeOperations {
    async fn list_changes(
        &self,
        who: &Principal,
        request: ListChanges,
    ) -> Result<ChangeList, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| changes::list(&place, &request.scope).await).await
    }

    async fn count_changes(&self, who: &Principal, request: CountChanges) -> Result<usize, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| changes::count(&place, &request.calls)).await
    }

    async fn preview_undo(
        &self,
        who: &Principal,
        request: PreviewUndo,
    ) -> Result<Option<UndoPreview>, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| undo::preview(&place, &request.choice).await).await
    }

    async fn undo_change(&self, who: &Principal, request: UndoChange) -> Result<UndoOutcome, OperationError> {
        self.permit(who, Action::Govern)?;
        let who = who.clone();
        self.perform(async move |place| undo::undo(&place, &who, &request).await).await
    }

    async fn find_diff(&self, who: &Principal, request: FindDiff) -> Result<RepositoryDiff, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| diff::find(&*place.hosts(), &request.target).await).await
    }

    async fn list_processes(&self, who: &Principal) -> Result<Vec<ManagedProcess>, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| processes::list(&place.environment)).await
    }

    async fn read_process_output(
        &self,
        who: &Principal,
        request: ReadProcessOutput,
    ) -> Result<OperationStream<OutputChunk>, OperationError> {
        self.permit(who, Action::Read)?;
        Ok(self.stream(async move |place, parts| processes::read(&place.environment, &request, &parts).await))
    }

    async fn stop_process(
        &self,
        who: &Principal,
        request: StopProcess,
    ) -> Result<ManagedProcess, OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| processes::stop(&place.environment, &request)).await
    }

    async fn list_trusted_folders(&self, who: &Principal) -> Result<Vec<TrustedFolder>, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| trust::list(&place)).await
    }

    async fn review_folder(
        &self,
        who: &Principal,
        request: ReviewFolder,
    ) -> Result<Vec<ControlFileChange>, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| Ok(trust::review(&place, &request.folder))).await
    }

    async fn trust_folder(&self, who: &Principal, request: TrustFolder) -> Result<String, OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| trust::give(&place, &request)).await
    }

    async fn distrust_folder(
        &self,
        who: &Principal,
        request: DistrustFolder,
    ) -> Result<bool, OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| trust::take(&place, &request.folder)).await
    }

    async fn list_grants(&self, who: &Principal) -> Result<Vec<SavedGrant>, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| grants::list(&place.environment)).await
    }

    async fn save_grant(&self, who: &Principal, request: SaveGrant) -> Result<(), OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| grants::save(&place, &request)).await
    }

    async fn revoke_grants(&self, who: &Principal, request: RevokeGrants) -> Result<usize, OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| grants::revoke(&place.environment, &request)).await
    }

    async fn show_guards(&self, who: &Principal) -> Result<GuardsView, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| guards::show(&place.environment)).await
    }

    async fn approve_guards(&self, who: &Principal, request: ApproveGuards) -> Result<(), OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| guards::approve(&place.environment, request.seen)).await
    }

    async fn list_models(&self, who: &Principal) -> Result<ModelList, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| models::list(&place).await).await
    }

    async fn show_configuration(&self, who: &Principal) -> Result<ConfigurationView, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| configuration::show(&place)).await
    }

    async fn find_configuration_file(&self, who: &Principal) -> Result<ConfigurationFile, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async |place| configuration::find_file(&place)).await
    }

    async fn set_configuration(
        &self,
        who: &Principal,
        request: SetConfiguration,
    ) -> Result<(), OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| configuration::set_key(&place, &request)).await
    }

    async fn unset_configuration(
        &self,
        who: &Principal,
        request: UnsetConfiguration,
    ) -> Result<UnsetOutcome, OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| configuration::unset_key(&place, &request.key)).await
    }

    async fn log_out(&self, who: &Principal, request: LogOut) -> Result<LogOutReport, OperationError> {
        self.permit(who, Action::Govern)?;
        self.perform(async move |place| logins::log_out(&place, &request).await).await
    }

    async fn export_session(
        &self,
        who: &Principal,
        request: ExportSession,
    ) -> Result<ExportedSession, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| export::export(&place, &request).await).await
    }

    async fn examine_machine(
        &self,
        who: &Principal,
        request: ExamineMachine,
    ) -> Result<DoctorReport, OperationError> {
        self.permit(who, Action::Read)?;
        self.perform(async move |place| doctor::machine::examine(&place, request.has_terminal).await).await
    }

    async fn examine_provider(
        &self,
        who: &Principal,
        request: ExamineProvider,
    ) -> Result<OperationStream<DoctorStep>, OperationError> {
        self.permit(who, Action::Govern)?;
        Ok(self.stream(async move |place, steps| doctor::provider::examine(&place, &request, &steps).await))
    }
}

#[cfg(test)]
mod tests;
