//! Each operation is refused to everybody who may not ask for it.

use std::convert::identity;

use buddy_protocol::operations::{ChangeScope, ExportFormat, SessionChoice, UndoChoice};
use buddy_protocol::{AgentId, PrincipalId, SessionTarget, UserId};
use futures::FutureExt;

use super::*;

/// Whether an operation was refused because of the principal. One that was not is given up at once.
fn is_refused<T>(
    operation: &str,
    asked: impl Future<Output = Result<T, OperationError>>,
    who: &Principal,
) -> bool {
    match asked.now_or_never() {
        Some(Err(error)) if error.code == OperationErrorCode::Forbidden => {
            assert!(error.message.contains(&who.name), "{operation}: {error:?}");
            true
        }
        _ => false,
    }
}

/// The table of all operations: a request, the result, and the right that it needs. An operation without a row, or with two, does not compile.
macro_rules! operations_table {
    ($($operation:ident $(($request:ty: $example:expr))? -> $result:ty, $needed:ident;)*) => {
        /// The port, so that the compiler compares the table with it.
        struct Table(HomeOperations);

        #[async_trait]
        impl Operations for Table {
            $(
                async fn $operation(
                    &self,
                    who: &Principal,
                    $(request: $request,)?
                ) -> Result<$result, OperationError> {
                    self.0.$operation(who $(, identity::<$request>(request))?).await
                }
            )*
        }

        /// Each operation with the right that it needs, and whether it is refused to `who`.
        fn refusals(table: &Table, who: &Principal) -> Vec<(&'static str, Action, bool)> {
            vec![$(
                (
                    stringify!($operation),
                    Action::$needed,
                    is_refused(stringify!($operation), table.$operation(who $(, $example)?), who),
                )
            ),*]
        }
    };
}

operations_table! {
    list_changes(ListChanges: ListChanges { scope: ChangeScope::All }) -> ChangeList, Read;
    count_changes(CountChanges: CountChanges { calls: Vec::new() }) -> usize, Read;
    preview_undo(PreviewUndo: PreviewUndo { choice: newest() }) -> Option<UndoPreview>, Read;
    undo_change(UndoChange: undo()) -> UndoOutcome, Govern;
    find_diff(FindDiff: FindDiff { target: SessionTarget::local("/nowhere") }) -> RepositoryDiff, Read;
    list_processes -> Vec<ManagedProcess>, Read;
    read_process_output(ReadProcessOutput: ReadProcessOutput { id: nothing(), tail: 1, follows: false })
        -> OperationStream<OutputChunk>, Read;
    stop_process(StopProcess: StopProcess { id: nothing(), is_forced: false }) -> ManagedProcess, Govern;
    list_trusted_folders -> Vec<TrustedFolder>, Read;
    review_folder(ReviewFolder: ReviewFolder { folder: nothing() }) -> Vec<ControlFileChange>, Read;
    trust_folder(TrustFolder: TrustFolder { folder: nothing(), seen: Vec::new() }) -> String, Govern;
    distrust_folder(DistrustFolder: DistrustFolder { folder: nothing() }) -> bool, Govern;
    list_grants -> Vec<SavedGrant>, Read;
    save_grant(SaveGrant: SaveGrant { pattern: nothing(), is_everywhere: false, lasts_ms: None }) -> (), Govern;
    revoke_grants(RevokeGrants: RevokeGrants::All) -> usize, Govern;
    show_guards -> GuardsView, Read;
    approve_guards(ApproveGuards: ApproveGuards { seen: None }) -> (), Govern;
    list_models -> ModelList, Read;
    show_configuration -> ConfigurationView, Read;
    find_configuration_file -> ConfigurationFile, Read;
    set_configuration(SetConfiguration: SetConfiguration { key: nothing(), value: nothing() }) -> (), Govern;
    unset_configuration(UnsetConfiguration: UnsetConfiguration { key: nothing() }) -> UnsetOutcome, Govern;
    log_out(LogOut: LogOut::Named(nothing())) -> LogOutReport, Govern;
    export_session(ExportSession: ExportSession { session: SessionChoice::Last { directory: None }, format: ExportFormat::Json })
        -> ExportedSession, Read;
    examine_machine(ExamineMachine: ExamineMachine { has_terminal: false }) -> DoctorReport, Read;
    examine_provider(ExamineProvider: ExamineProvider { name: None, timeout_ms: None })
        -> OperationStream<DoctorStep>, Govern;
}

fn nothing() -> String {
    "nothing".to_owned()
}

fn newest() -> UndoChoice {
    UndoChoice::Newest(ChangeScope::All)
}

fn undo() -> UndoChange {
    UndoChange {
        choice: newest(),
        conversation: None,
        seen: None,
        is_forced: false,
        passes_over: false,
        wait_ms: 0,
    }
}

#[tokio::test]
async fn only_the_user_changes_anything_and_only_their_agents_look() {
    let data = tempfile::tempdir().unwrap();
    let table = Table(operations(data.path()));
    let client = |name| Principal::agent(AgentId::of_name("editor"), "editor", UserId::of_account(name));
    let nobodys = Principal {
        id: PrincipalId::Agent(AgentId::of_name("ann")),
        name: "ann".to_owned(),
        on_behalf_of: None,
    };
    let whos = [
        (Principal::person("ann"), true, true),
        (client("ann"), true, false),
        (Principal::person("bob"), false, false),
        (client("bob"), false, false),
        (nobodys, false, false),
        (Principal::imported("ann"), false, false),
    ];
    for (who, may_look, may_change) in whos {
        for (operation, needed, is_refused) in refusals(&table, &who) {
            let may = if needed == Action::Read { may_look } else { may_change };
            assert_eq!(is_refused, !may, "{operation} by {who:?}");
        }
    }
}
