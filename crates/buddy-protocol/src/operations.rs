//! The actions of people besides talking: typed requests with typed results.
//!
//! Faces call this port and render the results; a server carries the same requests and results over its wire. An implementation
//! works for one user, on one machine, from one working directory, with the configuration that it was given.

mod changes;
mod configuration;
mod diff;
mod doctor;
mod error;
mod export;
mod grants;
mod guards;
mod logins;
mod models;
mod processes;
mod trust;

use std::pin::Pin;

use async_trait::async_trait;
use futures::Stream;

use crate::Principal;

pub use changes::{
    ChangeHeader, ChangeList, ChangeScope, CountChanges, ListChanges, PathState, PreviewUndo,
    UncoveredChange, UndoChange, UndoChoice, UndoOutcome, UndoPreview, UndoStep, UndoableChange,
};
pub use configuration::{
    ConfigurationEntry, ConfigurationFile, ConfigurationGate, ConfigurationView, IgnoredSetting,
    SetConfiguration, UnsetConfiguration, UnsetOutcome,
};
pub use diff::{FindDiff, RepositoryDiff};
pub use doctor::{
    CheckVerdict, DoctorCheck, DoctorFact, DoctorReport, DoctorStep, ExamineMachine, ExamineProvider,
};
pub use error::{OperationError, OperationErrorCode};
pub use export::{ExportFormat, ExportSession, ExportedSession, SessionChoice};
pub use grants::{GrantUptime, RevokeGrants, SaveGrant, SavedGrant};
pub use guards::{ApproveGuards, GuardsView, PendingGuards};
pub use logins::{ForgottenKey, ForgottenLogin, LogOut, LogOutReport, TokenRevocation};
pub use models::{ModelList, ModelRow, WindowSource};
pub use processes::{
    ManagedProcess, OutputChunk, ProcessCondition, ProcessEnd, ProcessHealth, ProcessIdentity, ProcessOwner,
    ProcessRecord, ProcessRestart, ProcessState, ProcessWrites, ReadProcessOutput, StopProcess,
};
pub use trust::{
    ControlFileChange, DistrustFolder, ReviewFolder, TrustFolder, TrustedFolder, TrustedFolderFile,
};

/// The parts of a result as they come. Ends after an error.
pub type OperationStream<T> = Pin<Box<dyn Stream<Item = Result<T, OperationError>> + Send>>;

/// The operations of one user on one machine, each for the principal that asks for it. Dropping a future gives the request up: nothing waits for it any more, and it stops
/// at the next place where it can.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Changes of calls that can be undone, newest first.
    async fn list_changes(&self, who: &Principal, request: ListChanges)
    -> Result<ChangeList, OperationError>;

    /// How many of these calls changed files and were not undone.
    async fn count_changes(&self, who: &Principal, request: CountChanges) -> Result<usize, OperationError>;

    /// The effect of an undo now; `None` if there is nothing to undo.
    async fn preview_undo(
        &self,
        who: &Principal,
        request: PreviewUndo,
    ) -> Result<Option<UndoPreview>, OperationError>;

    /// Undoes a change, or takes an undo back. An undo is a change too.
    async fn undo_change(&self, who: &Principal, request: UndoChange) -> Result<UndoOutcome, OperationError>;

    /// The changes in a repository since its last commit.
    async fn find_diff(&self, who: &Principal, request: FindDiff) -> Result<RepositoryDiff, OperationError>;

    /// The managed processes, newest first.
    async fn list_processes(&self, who: &Principal) -> Result<Vec<ManagedProcess>, OperationError>;

    /// The end of the output of a managed process, and what follows it.
    async fn read_process_output(
        &self,
        who: &Principal,
        request: ReadProcessOutput,
    ) -> Result<OperationStream<OutputChunk>, OperationError>;

    /// Stops a managed process and everything that it started. Returns how it is then.
    async fn stop_process(
        &self,
        who: &Principal,
        request: StopProcess,
    ) -> Result<ManagedProcess, OperationError>;

    /// The trusted folders.
    async fn list_trusted_folders(&self, who: &Principal) -> Result<Vec<TrustedFolder>, OperationError>;

    /// The changes in the control files of a folder since the user trusted it, as far as the user can accept them.
    async fn review_folder(
        &self,
        who: &Principal,
        request: ReviewFolder,
    ) -> Result<Vec<ControlFileChange>, OperationError>;

    /// Trusts a folder and returns its real path.
    async fn trust_folder(&self, who: &Principal, request: TrustFolder) -> Result<String, OperationError>;

    /// Stops trusting a folder. False if it was not trusted.
    async fn distrust_folder(&self, who: &Principal, request: DistrustFolder)
    -> Result<bool, OperationError>;

    /// The grants that hold now, in a stable order.
    async fn list_grants(&self, who: &Principal) -> Result<Vec<SavedGrant>, OperationError>;

    /// Saves a grant for commands on this machine.
    async fn save_grant(&self, who: &Principal, request: SaveGrant) -> Result<(), OperationError>;

    /// Revokes grants and returns how many.
    async fn revoke_grants(&self, who: &Principal, request: RevokeGrants) -> Result<usize, OperationError>;

    /// The guards in effect and the change of them that waits for approval.
    async fn show_guards(&self, who: &Principal) -> Result<GuardsView, OperationError>;

    /// Puts a change of the guards into effect that the user saw. Only a person may ask for this.
    async fn approve_guards(&self, who: &Principal, request: ApproveGuards) -> Result<(), OperationError>;

    /// The model profiles. The server of the active one may be asked for its context window.
    async fn list_models(&self, who: &Principal) -> Result<ModelList, OperationError>;

    /// The configuration as it holds, without secrets.
    async fn show_configuration(&self, who: &Principal) -> Result<ConfigurationView, OperationError>;

    /// The file that `set` and `unset` change.
    async fn find_configuration_file(&self, who: &Principal) -> Result<ConfigurationFile, OperationError>;

    /// Sets a key in that file.
    async fn set_configuration(
        &self,
        who: &Principal,
        request: SetConfiguration,
    ) -> Result<(), OperationError>;

    /// Removes a key from that file.
    async fn unset_configuration(
        &self,
        who: &Principal,
        request: UnsetConfiguration,
    ) -> Result<UnsetOutcome, OperationError>;

    /// Deletes logins and keys, and revokes tokens if the provider supports it.
    async fn log_out(&self, who: &Principal, request: LogOut) -> Result<LogOutReport, OperationError>;

    /// A session as Markdown or JSON.
    async fn export_session(
        &self,
        who: &Principal,
        request: ExportSession,
    ) -> Result<ExportedSession, OperationError>;

    /// Checks the store, the configuration, the model in use and this machine.
    async fn examine_machine(
        &self,
        who: &Principal,
        request: ExamineMachine,
    ) -> Result<DoctorReport, OperationError>;

    /// Checks a model over its real route, which a provider may charge for. The last step is the report.
    async fn examine_provider(
        &self,
        who: &Principal,
        request: ExamineProvider,
    ) -> Result<OperationStream<DoctorStep>, OperationError>;
}
