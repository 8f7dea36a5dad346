//! Taking a change back: the plan of it, and carrying it out.

use std::time::Duration;

use anyhow::Context;
use buddy_exec::RemoteTarget;
use buddy_exec::undo::{
    AppliedUndo, Header, PathText, ProjectLock, UndoError, UndoPlan, UndoStore, Which, project_root,
};
use buddy_protocol::operations::{UndoChange, UndoChoice, UndoOutcome, UndoPreview};
use buddy_protocol::{Clock, Ids, OperationError, OperationErrorCode, Principal, UnixMillis};

use super::changes::{entries, left_of_prompt, newest_undo};
use super::place::OperationPlace;
use super::undo_wire::{header_of, preview_of};
use crate::environment::Environment;
use crate::host;
use crate::local_machine::undo_store;
use crate::session_choice::short_id;
use crate::system::{SystemClock, SystemIds};

/// The effect of an undo now.
pub(super) async fn preview(
    place: &OperationPlace,
    choice: &UndoChoice,
) -> anyhow::Result<Option<UndoPreview>> {
    let Some(work) = UndoWork::of(place, choice).await? else { return Ok(None) };
    Ok(Some(preview_of(&work.plan().await?)))
}

/// Undoes a change for a principal.
pub(super) async fn undo(
    place: &OperationPlace,
    who: &Principal,
    request: &UndoChange,
) -> anyhow::Result<UndoOutcome> {
    let Some(work) = UndoWork::of(place, &request.choice).await? else {
        return Ok(UndoOutcome::Nothing { project: PathText(project_root(&place.cwd)) });
    };
    let _lock = match work.claim(Duration::from_millis(request.wait_ms)) {
        Err(error @ UndoError::Busy) => {
            let preview = preview_of(&work.plan().await?);
            return Ok(UndoOutcome::Busy { preview, message: error.to_string() });
        }
        lock => lock?,
    };
    // Calls went on while the user read; the plan is made again now that none can change files.
    let plan = work.plan().await?;
    let preview = preview_of(&plan);
    if request.seen.as_ref().is_some_and(|seen| *seen != preview) {
        return Ok(UndoOutcome::Changed { preview });
    }
    if preview.has_conflicts() && !request.is_forced {
        return Ok(UndoOutcome::Conflicts { preview });
    }
    let id = format!("undo_{:032x}", SystemIds.next());
    let header = header_of_undo(&id, &plan, who, request);
    if plan.is_beyond_undo() {
        if request.passes_over {
            work.apply(&plan.passing_over(), header).await.context("the undo broke off")?;
        }
        return Ok(UndoOutcome::NotRestorable { preview });
    }
    let plan = if request.is_forced { plan.overwriting() } else { plan };
    let AppliedUndo { swept, left } = work.apply(&plan, header).await.context("the undo broke off")?;
    let preview = preview_of(&plan.leaving(left));
    let left_of_prompt = match &request.conversation {
        Some(session) => Some(left_of_prompt(place, session, &preview.header.id).await?),
        None => None,
    };
    let swept = swept.iter().map(ToString::to_string).collect();
    Ok(UndoOutcome::Undone { id, preview, swept, left_of_prompt })
}

/// An entry to undo, and the way to its files.
struct UndoWork {
    store: UndoStore,
    header: Header,
    /// The other host that its paths are on.
    host: Option<Box<RemoteTarget>>,
}

impl UndoWork {
    /// `None` if there is nothing to undo.
    async fn of(place: &OperationPlace, choice: &UndoChoice) -> anyhow::Result<Option<Self>> {
        let store = undo_store(&place.environment);
        let id = match choice {
            UndoChoice::Change(digits) => Some(whole_id(&store, digits)?),
            UndoChoice::NewestUndo(session) => newest_undo(place, session).await?,
            UndoChoice::Newest(scope) => {
                let entries = entries(place, scope).await?;
                store.newest(&entries)?.map(|newest| newest.header.id.clone())
            }
        };
        let Some(id) = id else { return Ok(None) };
        let header = match store.header(&Which::Id(id)) {
            Err(error @ UndoError::NotFound(_)) => {
                let message = format!("{error}; `buddy undo --list` lists them");
                return Err(OperationError::new(OperationErrorCode::NotFound, message).into());
            }
            header => header?,
        };
        // Without a path to look at, nothing is needed of another host.
        let has_paths = store.list()?.iter().any(|entry| entry.header.id == header.id && entry.changes > 0);
        let host = if has_paths { reach(&place.environment, &header).await? } else { None };
        Ok(Some(Self { store, header, host }))
    }

    async fn plan(&self) -> Result<UndoPlan, UndoError> {
        let which = Which::Id(self.header.id.clone());
        match &self.host {
            None => self.store.plan(&which),
            Some(host) => self.store.plan_on(&which, host).await,
        }
    }

    /// Keeps calls from changing files meanwhile.
    fn claim(&self, wait: Duration) -> Result<Option<ProjectLock>, UndoError> {
        let workspace = self.header.workspace.as_ref().filter(|_| self.header.target.is_none());
        workspace.map(|workspace| self.store.claim(&workspace.0, wait)).transpose()
    }

    async fn apply(&self, plan: &UndoPlan, header: Header) -> Result<AppliedUndo, UndoError> {
        match &self.host {
            None => self.store.apply(plan, header),
            Some(host) => {
                let left = self.store.apply_on(plan, header, host).await?;
                Ok(AppliedUndo { left, ..AppliedUndo::default() })
            }
        }
    }
}

/// The other host that the paths of an entry are on.
async fn reach(environment: &Environment, header: &Header) -> anyhow::Result<Option<Box<RemoteTarget>>> {
    let Some(target) = &header.target else { return Ok(None) };
    let reached = host::reach(environment, &target.host, None).await;
    let reached = reached.with_context(|| format!("`{}` is needed to undo {}", target.name, header.id))?;
    Ok(Some(Box::new(reached)))
}

/// The header of an undo. It belongs to the conversation in which it was typed: a copy redoes its own undos.
fn header_of_undo(id: &str, plan: &UndoPlan, who: &Principal, request: &UndoChange) -> Header {
    let UnixMillis(unix_ms) = SystemClock.now();
    let conversation = request.conversation.as_ref().map(ToString::to_string);
    Header {
        id: id.to_owned(),
        label: header_of(&plan.header).undo_label(),
        session: conversation.unwrap_or_else(|| plan.header.session.clone()),
        workspace: plan.header.workspace.clone(),
        unix_ms,
        undoes: None,
        target: plan.header.target.clone(),
        by: Some(who.clone()),
    }
}

/// The id that a user means by the digits that it begins with. Without one such entry the digits stay what they are.
fn whole_id(store: &UndoStore, digits: &str) -> anyhow::Result<String> {
    let entries = store.list()?;
    let ids: Vec<&str> = entries.iter().map(|entry| entry.header.id.as_str()).collect();
    Ok(short_id(&ids, digits)?.map_or_else(|| digits.to_owned(), str::to_owned))
}
