//! `buddy undo`.

use std::io::{BufRead, IsTerminal, Read};

use anyhow::Context;
use buddy_exec::RemoteTarget;
use buddy_exec::undo::{Header, UndoEntry, UndoError, UndoPlan, UndoStore, Which};
use buddy_protocol::{Clock, Ids, UnixMillis};
use buddy_tui::{Exit, ListView, Printer, Table, TableCell, TableColumn, counted};
use serde_json::json;

use crate::cli::Undo;
use crate::commands::setup::Invocation;
use crate::commands::{listing, printer, short_id};
use crate::environment::Environment;
use crate::host;
use crate::system::{SystemClock, SystemIds};
use crate::wiring::undo_store;

/// Paths that are shown of a plan; JSON has them all.
const MAX_SHOWN: usize = 200;
/// The longest answer that is read.
const MAX_ANSWER: u64 = 1_024;

const COLUMNS: [TableColumn; 6] = [
    TableColumn::word("ID"),
    TableColumn::word("WHEN").dropped_at(1),
    TableColumn::number("PATHS").dropped_at(3),
    TableColumn::word("STATUS").dropped_at(2),
    TableColumn::word("TARGET").dropped_at(4),
    TableColumn::free("CALL"),
];

/// Lists what can be undone, or undoes it.
pub(crate) async fn run(invocation: &Invocation<'_>, undo: &Undo) -> anyhow::Result<Exit> {
    let environment = invocation.environment;
    let store = undo_store(environment);
    let mut printer = printer();
    if undo.list {
        return listing::print(invocation, &undo.listing, store.list()?, |entries, view, printer| {
            table(entries, view).hint("Undo one with `buddy undo ID`").print(view, printer)
        });
    }
    let which = match &undo.id {
        None => Which::Last,
        Some(id) => Which::Id(whole_id(&store, id)?),
    };
    let header = match store.header(&which) {
        Err(UndoError::Nothing) => {
            printer.status("there is nothing to undo");
            return Ok(Exit::Ok);
        }
        Err(error @ UndoError::NotFound(_)) => {
            printer.status(&format!("buddy: {error}; `buddy undo --list` lists them"));
            return Ok(Exit::Failed);
        }
        header => header?,
    };
    let place = Place::reach(environment, &header).await?;
    let plan = place.plan(&store, &Which::Id(header.id)).await?;
    if !undo.listing.is_json() {
        show(&plan, &mut printer);
    }
    let outcome = carry_out(&store, &place, plan, undo, &mut printer).await?;
    if undo.listing.is_json() {
        printer.line(&serde_json::to_string_pretty(&outcome.report)?)?;
    }
    Ok(outcome.exit)
}

/// Where the paths of an entry are.
enum Place {
    Here,
    Elsewhere(Box<RemoteTarget>),
}

impl Place {
    async fn reach(environment: &Environment, header: &Header) -> anyhow::Result<Self> {
        let Some(target) = &header.target else { return Ok(Self::Here) };
        let reached = host::reach(environment, &target.host, None).await;
        let reached =
            reached.with_context(|| format!("`{}` is needed to undo {}", target.name, header.id))?;
        Ok(Self::Elsewhere(Box::new(reached)))
    }

    async fn plan(&self, store: &UndoStore, which: &Which) -> Result<UndoPlan, UndoError> {
        match self {
            Self::Here => store.plan(which),
            Self::Elsewhere(host) => store.plan_on(which, host).await,
        }
    }

    async fn apply(&self, store: &UndoStore, plan: &UndoPlan, header: Header) -> Result<(), UndoError> {
        match self {
            Self::Here => store.apply(plan, header),
            Self::Elsewhere(host) => store.apply_on(plan, header, host).await,
        }
    }
}

struct Outcome {
    report: serde_json::Value,
    exit: Exit,
}

async fn carry_out(
    store: &UndoStore,
    place: &Place,
    plan: UndoPlan,
    undo: &Undo,
    printer: &mut Printer,
) -> anyhow::Result<Outcome> {
    let report =
        |plan: &UndoPlan, done: Option<&str>| json!({"plan": plan, "done": done.is_some(), "id": done});
    if plan.conflicts() > 0 && !undo.force {
        printer.status(
            "buddy: nothing was undone, as paths were changed since; `--force` restores them all the same",
        );
        return Ok(Outcome { report: report(&plan, None), exit: Exit::Failed });
    }
    if !plan.steps.is_empty() && !undo.yes && !is_wanted(printer)? {
        printer.status("nothing was undone");
        return Ok(Outcome { report: report(&plan, None), exit: Exit::Failed });
    }
    let UnixMillis(unix_ms) = SystemClock.now();
    let id = format!("undo_{:032x}", SystemIds.next());
    let label = format!("undo of: {}", plan.header.label);
    let header = Header {
        id: id.clone(),
        label,
        session: plan.header.session.clone(),
        unix_ms,
        undoes: None,
        target: plan.header.target.clone(),
    };
    let told = report(&plan, Some(&id));
    let count = plan.steps.len() as u64;
    place.apply(store, &plan.overwriting(), header).await.context("the undo broke off")?;
    printer.status(&format!("{} restored; `buddy undo {id} --yes` takes this back", counted(count, "path")));
    Ok(Outcome { report: told, exit: Exit::Ok })
}

/// Asks on a terminal. Where nobody can be asked the answer is no.
fn is_wanted(printer: &mut Printer) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        printer.status("buddy: there is no terminal to ask on; `--yes` does it without asking");
        return Ok(false);
    }
    printer.prompt("Restore these paths? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer);
    read.context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn show(plan: &UndoPlan, printer: &mut Printer) {
    printer.status(&format!("{}: {}{}", plan.header.id, plan.header.label, on(&plan.header)));
    if plan.is_interrupted {
        printer.status("the call did not come to its end, so some of these changes may be somebody else's");
    }
    if plan.steps.is_empty() {
        printer.status("everything is already as it was");
    }
    for step in plan.steps.iter().take(MAX_SHOWN) {
        printer.status(&format!("  {}: {} → {}", step.path, step.now.describe(), step.to.describe()));
        if let Some(conflict) = &step.conflict {
            printer.status(&format!("    CONFLICT: {conflict}"));
        }
    }
    if plan.steps.len() > MAX_SHOWN {
        printer.status(&format!("  … and {} more", plan.steps.len() - MAX_SHOWN));
    }
    for left_out in plan.not_covered.iter().take(MAX_SHOWN) {
        printer.status(&format!("  not covered: {}: {}", left_out.path, left_out.why));
    }
}

/// The id that a user means by the digits that it begins with. Without one such entry the digits stay what they are.
fn whole_id(store: &UndoStore, digits: &str) -> anyhow::Result<String> {
    let entries = store.list()?;
    let ids: Vec<&str> = entries.iter().map(|entry| entry.header.id.as_str()).collect();
    Ok(short_id(&ids, digits)?.map_or_else(|| digits.to_owned(), str::to_owned))
}

fn table(entries: &[UndoEntry], view: &ListView) -> Table {
    let mut table = Table::new(&COLUMNS, "there is nothing to undo");
    let ids: Vec<&str> = entries.iter().map(|entry| entry.header.id.as_str()).collect();
    for (entry, id) in entries.iter().zip(view.ids(&ids)) {
        let status = match entry {
            UndoEntry { is_undone: true, .. } => "undone".into(),
            UndoEntry { is_covered: false, .. } => TableCell::failed("not kept"),
            UndoEntry { is_interrupted: true, .. } => TableCell::waiting("interrupted"),
            _ => "".into(),
        };
        table.add([
            id.into(),
            view.time(UnixMillis(entry.header.unix_ms)).into(),
            entry.changes.to_string().into(),
            status,
            entry.header.target.as_ref().map(|target| target.name.clone()).unwrap_or_default().into(),
            entry.header.label.replace('\n', "⏎").into(),
        ]);
    }
    table
}

/// The target of an entry, where it is another host.
fn on(header: &Header) -> String {
    header.target.as_ref().map(|target| format!("  on {}", target.name)).unwrap_or_default()
}
