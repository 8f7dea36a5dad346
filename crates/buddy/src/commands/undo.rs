//! `buddy undo`.

use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;

use anyhow::Context;
use buddy_exec::RemoteTarget;
use buddy_exec::undo::{Header, State, Step, UndoEntry, UndoError, UndoPlan, UndoStore, Which};
use buddy_protocol::{Clock, Ids, UnixMillis};
use buddy_tui::{Exit, Printer, counted, local_time};
use serde_json::json;

use crate::cli::Undo;
use crate::commands::{listing, printer};
use crate::environment::Environment;
use crate::host;
use crate::system::{SystemClock, SystemIds};
use crate::wiring::undo_store;

/// Paths that are shown of a plan; JSON has them all.
const MAX_SHOWN: usize = 200;
/// Columns of paths beside which notes stand in a column of their own.
const WIDEST_PATH: usize = 48;
/// The longest answer that is read.
const MAX_ANSWER: u64 = 1_024;

/// Lists what can be undone, or undoes it.
pub(crate) async fn run(environment: &Environment, undo: &Undo) -> anyhow::Result<Exit> {
    let store = undo_store(environment);
    let mut printer = printer();
    if undo.list {
        return listing::print(&undo.listing, store.list()?, |entries, printer| {
            entries.iter().try_for_each(|entry| printer.answer(&format!("{}\n", described(entry))))
        });
    }
    let which = undo.id.clone().map_or(Which::Last, Which::Id);
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
    let home = environment.get("HOME");
    let (is_told, is_certain) = (!undo.listing.is_json(), undo.yes && (undo.force || plan.conflicts() == 0));
    if is_told && !is_certain {
        show(&plan, Tense::Planned, home, &mut printer);
    }
    let done = plan.clone();
    let outcome = carry_out(&store, &place, plan, undo, &mut printer).await?;
    if is_told && is_certain {
        show(&done, Tense::Done, home, &mut printer);
    }
    if let Some(id) = outcome.id.filter(|_| !undo.in_conversation) {
        printer.status(&format!("`buddy undo {id} --yes` takes this back"));
    }
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
    /// The entry that takes it back.
    id: Option<String>,
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
            "buddy: nothing was undone, because paths changed since the call. `--force` restores them anyway.",
        );
        return Ok(Outcome { report: report(&plan, None), exit: Exit::Failed, id: None });
    }
    if !plan.steps.is_empty() && !undo.yes && !is_wanted(printer)? {
        printer.status("nothing was undone");
        return Ok(Outcome { report: report(&plan, None), exit: Exit::Failed, id: None });
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
    place.apply(store, &plan.overwriting(), header).await.context("the undo broke off")?;
    Ok(Outcome { report: told, exit: Exit::Ok, id: Some(id) })
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

/// Whether the rows of a plan tell of the future or of the past.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    Planned,
    Done,
}

/// Prints a plan: the call, then one row for each path.
fn show(plan: &UndoPlan, tense: Tense, home: Option<&str>, printer: &mut Printer) {
    let UndoPlan { header, steps, .. } = plan;
    let word = if tense == Tense::Done { "Undone" } else { "Undo" };
    let label = header.label.replace('\n', "⏎");
    let count = counted(steps.len() as u64, "path");
    let time = local_time(UnixMillis(header.unix_ms));
    printer.status(&format!("  {word}: {label}{}  {count}, from {time}", on(header)));
    if plan.is_interrupted {
        printer.status("  ▲ The call did not finish, so some of these changes may be from another program.");
    }
    if steps.is_empty() {
        printer.status("  everything is already as it was");
    }
    let rows: Vec<StepRow> =
        steps.iter().take(MAX_SHOWN).map(|step| StepRow::of(step, tense, home)).collect();
    let width = rows.iter().map(|row| row.path.chars().count()).max().unwrap_or(0).min(WIDEST_PATH);
    for StepRow { mark, verb, path, note } in rows {
        printer.status(format!("  {mark} {verb:<11}{path:<width$}  {note}").trim_end());
    }
    if steps.len() > MAX_SHOWN {
        printer.status(&format!("  … and {} more", steps.len() - MAX_SHOWN));
    }
    for left_out in plan.not_covered.iter().take(MAX_SHOWN) {
        printer.status(&format!("  ▲ not covered: {}: {}", left_out.path, left_out.why));
    }
}

/// One path of a plan.
struct StepRow {
    mark: &'static str,
    verb: &'static str,
    path: String,
    note: String,
}

impl StepRow {
    fn of(step: &Step, tense: Tense, home: Option<&str>) -> Self {
        let path = shown_path(&step.path.0, home);
        if let Some(conflict) = &step.conflict
            && tense == Tense::Planned
        {
            return Self { mark: "▲", verb: "conflict", path, note: conflict.clone() };
        }
        let mark = if tense == Tense::Done { "✓" } else { "○" };
        let (planned, done, note) = match (&step.now, &step.to) {
            (_, State::Absent) => ("remove", "removed", "buddy made it".to_owned()),
            (State::Absent, to) => ("bring back", "restored", to.describe()),
            (now, to) => ("restore", "restored", format!("{} → {}", now.describe(), to.describe())),
        };
        Self { mark, verb: if tense == Tense::Done { done } else { planned }, path, note }
    }
}

/// A path below the current directory or the home, or else whole.
fn shown_path(path: &Path, home: Option<&str>) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    if let Some(below) = below.filter(|below| !below.as_os_str().is_empty()) {
        return below.display().to_string();
    }
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

fn described(entry: &UndoEntry) -> String {
    let time =
        i64::try_from(entry.header.unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let time = time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let undone = if entry.is_undone { "  (undone)" } else { "" };
    let interrupted = if entry.is_interrupted { "  (interrupted)" } else { "" };
    let label = entry.header.label.replace('\n', "⏎");
    let not_kept = if entry.is_covered { "" } else { "  (not kept for undo)" };
    let on = on(&entry.header);
    format!(
        "{}  {time}  {}  {label}{on}{not_kept}{undone}{interrupted}",
        entry.header.id,
        counted(entry.changes as u64, "path")
    )
}

/// The target of an entry, where it is another host.
fn on(header: &Header) -> String {
    header.target.as_ref().map(|target| format!("  on {}", target.name)).unwrap_or_default()
}
