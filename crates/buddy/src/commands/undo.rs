//! `buddy undo`.

mod report;

use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use buddy_exec::undo::{Header, ProjectLock, UndoEntry, UndoError, UndoPlan, UndoStore, Which, project_root};
use buddy_exec::{RemoteTarget, SweepNote};
use buddy_protocol::{Clock, Ids, UnixMillis};
use buddy_tui::{Exit, ListView, Printer, Table, TableCell, TableColumn};
use serde_json::json;

use crate::cli::Undo;
use crate::commands::setup::Invocation;
use crate::commands::{listing, printer, short_id};
use crate::environment::Environment;
use crate::host;
use crate::system::{SystemClock, SystemIds};
use crate::wiring::undo_store;
use report::Tense;

/// The most entries that a list for people has; `--limit` and JSON have more.
const MAX_LISTED: usize = 10;
/// How long an undo waits for calls that change files of its project.
const CLAIM_WAIT: Duration = Duration::from_secs(10);
/// The beginning of the label of an undo, and of one that takes an undo back.
const UNDO_OF: &str = "undo of: ";
const REDO_OF: &str = "redo of: ";
/// The longest answer that is read.
const MAX_ANSWER: u64 = 1_024;

const COLUMNS: [TableColumn; 7] = [
    TableColumn::word("ID"),
    TableColumn::word("WHEN").dropped_at(1),
    TableColumn::number("PATHS").dropped_at(3),
    TableColumn::word("STATUS").dropped_at(2),
    TableColumn::word("TARGET").dropped_at(4),
    TableColumn::word("PROJECT").dropped_at(5),
    TableColumn::free("CALL"),
];

/// Lists what can be undone, or undoes it.
pub(crate) async fn run(invocation: &Invocation<'_>, undo: &Undo) -> anyhow::Result<Exit> {
    let environment = invocation.environment;
    let store = undo_store(environment);
    let scope = UndoScope::of(undo)?;
    if undo.list {
        return list(invocation, undo, &scope, scope.filter(store.list()?));
    }
    let mut printer = printer();
    let which = if let Some(id) = &undo.id {
        Which::Id(whole_id(&store, id)?)
    } else {
        let entries = scope.filter(store.list()?);
        let Some(newest) = store.newest(&entries)? else {
            printer.status(&scope.nothing());
            return Ok(Exit::Ok);
        };
        Which::Id(newest.header.id.clone())
    };
    let header = match store.header(&which) {
        Err(error @ UndoError::NotFound(_)) => {
            printer.status(&format!("buddy: {error}; `buddy undo --list` lists them"));
            return Ok(Exit::Failed);
        }
        header => header?,
    };
    let has_paths = store.list()?.iter().any(|entry| entry.header.id == header.id && entry.changes > 0);
    // Without a path to look at, nothing is needed of another host.
    let place = if has_paths { Place::reach(environment, &header).await? } else { Place::Here };
    let work = UndoWork { store: &store, place: &place, undo };
    let outcome = work.carry_out(header, &mut printer).await?;
    if undo.listing.is_json() {
        printer.line(&serde_json::to_string_pretty(&outcome.report)?)?;
    }
    Ok(outcome.exit)
}

fn list(
    invocation: &Invocation<'_>,
    undo: &Undo,
    scope: &UndoScope,
    entries: Vec<UndoEntry>,
) -> anyhow::Result<Exit> {
    // A note that an entry was passed over is no change.
    let is_note = |entry: &UndoEntry| entry.header.undoes.is_some() && entry.changes == 0;
    let entries: Vec<UndoEntry> = entries.into_iter().filter(|entry| !is_note(entry)).collect();
    listing::print(invocation, &undo.listing, entries, |entries, view, printer| {
        let most = undo.listing.limit.unwrap_or(MAX_LISTED);
        let (shown, left) = entries.split_at_checked(most).unwrap_or((entries, &[]));
        table(shown, view).hint("Undo one with `buddy undo ID`").print(view, printer)?;
        if !left.is_empty() {
            let (total, scope) = (entries.len(), scope.flags());
            printer.status(&format!("… and {} more: `buddy undo --list{scope} --limit {total}`", left.len()));
        }
        Ok(())
    })
}

/// The entries that are meant.
enum UndoScope {
    /// Those of the project that this directory is in.
    Project(PathBuf),
    Session(String),
    All,
}

impl UndoScope {
    fn of(undo: &Undo) -> anyhow::Result<Self> {
        if let Some(session) = &undo.session {
            return Ok(Self::Session(session.clone()));
        }
        if undo.all {
            return Ok(Self::All);
        }
        let cwd = std::env::current_dir().context("the current directory is unknown; use `--all`")?;
        Ok(Self::Project(project_root(&cwd)))
    }

    fn filter(&self, entries: Vec<UndoEntry>) -> Vec<UndoEntry> {
        let is_meant = |entry: &UndoEntry| match self {
            Self::Project(project) => is_of(entry, project),
            Self::Session(session) => entry.header.session == *session,
            Self::All => true,
        };
        entries.into_iter().filter(is_meant).collect()
    }

    fn nothing(&self) -> String {
        match self {
            Self::Project(project) => format!(
                "there is nothing to undo in {}; `buddy undo --list --all` lists other projects",
                project.display()
            ),
            Self::Session(session) => format!("there is nothing to undo in {session}"),
            Self::All => "there is nothing to undo".to_owned(),
        }
    }

    fn flags(&self) -> String {
        match self {
            Self::Project(_) => String::new(),
            Self::Session(session) => format!(" --session {session}"),
            Self::All => " --all".to_owned(),
        }
    }
}

/// Whether an entry belongs to a project: by the directory of its session, or in old entries by a path.
fn is_of(entry: &UndoEntry, project: &Path) -> bool {
    match &entry.header.workspace {
        Some(workspace) => project_root(&workspace.0) == project,
        None => entry.path.as_ref().is_some_and(|path| path.0.starts_with(project)),
    }
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

    async fn apply(
        &self,
        store: &UndoStore,
        plan: &UndoPlan,
        header: Header,
    ) -> Result<Vec<SweepNote>, UndoError> {
        match self {
            Self::Here => store.apply(plan, header),
            Self::Elsewhere(host) => store.apply_on(plan, header, host).await.map(|()| Vec::new()),
        }
    }
}

struct Outcome {
    report: serde_json::Value,
    exit: Exit,
}

/// An undo on its way.
struct UndoWork<'a> {
    store: &'a UndoStore,
    place: &'a Place,
    undo: &'a Undo,
}

impl UndoWork<'_> {
    async fn carry_out(&self, header: Header, printer: &mut Printer) -> anyhow::Result<Outcome> {
        let which = Which::Id(header.id.clone());
        let is_asked = !self.undo.yes;
        // Calls go on while the user reads; the plan is made again then.
        let shown = if is_asked { Some(self.place.plan(self.store, &which).await?) } else { None };
        if let Some(plan) = &shown {
            self.tell(plan, Tense::Ahead, printer);
            let is_possible = plan.conflicts() == 0 || self.undo.force;
            if is_possible && !plan.steps.is_empty() && !is_wanted(printer)? {
                printer.status("nothing was undone");
                return Ok(Outcome::of(plan, None, Exit::Failed));
            }
        }
        let _lock = match self.claim(&header, printer) {
            Err(error @ UndoError::Busy) => {
                printer.status(&format!("buddy: nothing was undone: {error}"));
                let plan = self.place.plan(self.store, &which).await?;
                return Ok(Outcome::of(&plan, None, Exit::Failed));
            }
            lock => lock?,
        };
        let plan = self.place.plan(self.store, &which).await?;
        if shown.is_some_and(|shown| shown != plan) {
            printer.status("buddy: nothing was undone, as files changed while you were asked; try again");
            return Ok(Outcome::of(&plan, None, Exit::Failed));
        }
        if plan.conflicts() > 0 && !self.undo.force {
            if !is_asked {
                self.tell(&plan, Tense::Ahead, printer);
            }
            let (done, command) =
                if is_redo(&plan.header) { ("redone", "/redo") } else { ("undone", "/undo") };
            let force = if self.is_typed() { format!("{command} --force") } else { "--force".to_owned() };
            printer.status(&format!(
                "buddy: nothing was {done}, as paths were changed since; `{force}` restores them all the same"
            ));
            return Ok(Outcome::of(&plan, None, Exit::Failed));
        }
        if plan.is_beyond_undo() {
            return self.pass_over(plan, is_asked, printer).await;
        }
        let id = format!("undo_{:032x}", SystemIds.next());
        let told = plan.clone();
        let swept = self
            .place
            .apply(self.store, &plan.overwriting(), self.header(&id, &told))
            .await
            .context("the undo broke off")?;
        if !is_asked {
            self.tell(&told, Tense::Behind, printer);
        }
        for note in swept {
            printer.status(&note.to_string());
        }
        let (back, it) = match (self.is_typed(), is_redo(&told.header)) {
            (true, true) => ("/undo".to_owned(), "it"),
            (true, false) => ("/redo".to_owned(), "it"),
            (false, _) => (format!("`buddy undo {id} --yes`"), "this"),
        };
        printer.status(&format!("{}; {back} takes {it} back", report::counts(&told)));
        Ok(Outcome::of(&told, Some(&id), Exit::Ok))
    }

    /// Whether it was typed in a conversation.
    fn is_typed(&self) -> bool {
        self.undo.in_conversation.is_some()
    }

    /// The header of the undo of a plan. It belongs to the conversation in which it was typed: a copy redoes its own undos.
    fn header(&self, id: &str, plan: &UndoPlan) -> Header {
        let UnixMillis(unix_ms) = SystemClock.now();
        let prefix = if is_redo(&plan.header) { REDO_OF } else { UNDO_OF };
        Header {
            id: id.to_owned(),
            label: format!("{prefix}{}", subject(&plan.header.label)),
            session: self.undo.in_conversation.clone().unwrap_or_else(|| plan.header.session.clone()),
            workspace: plan.header.workspace.clone(),
            unix_ms,
            undoes: None,
            target: plan.header.target.clone(),
        }
    }

    /// Says that undo has nothing of a change. The next undo without an id goes on to the change before it.
    async fn pass_over(
        &self,
        plan: UndoPlan,
        is_shown: bool,
        printer: &mut Printer,
    ) -> anyhow::Result<Outcome> {
        if !is_shown {
            self.tell(&plan, Tense::Ahead, printer);
        }
        let again = match (self.is_typed(), &self.undo.id) {
            (true, _) => "type /undo again",
            (false, None) => "run `buddy undo` again",
            (false, Some(_)) => "run `buddy undo`",
        };
        let told = plan.clone();
        let can_tell = !is_shown || std::io::stdin().is_terminal();
        if can_tell {
            let id = format!("undo_{:032x}", SystemIds.next());
            let header = self.header(&id, &plan);
            self.place.apply(self.store, &plan.passing_over(), header).await.context("the undo broke off")?;
        }
        printer.status(&format!("nothing was undone; to undo the change before it, {again}"));
        Ok(Outcome::of(&told, None, Exit::Failed))
    }

    /// Keeps calls from changing files meanwhile.
    fn claim(&self, header: &Header, printer: &mut Printer) -> Result<Option<ProjectLock>, UndoError> {
        let Some(workspace) = header.workspace.as_ref().filter(|_| header.target.is_none()) else {
            return Ok(None);
        };
        match self.store.claim(&workspace.0, Duration::ZERO) {
            Err(UndoError::Busy) => {
                printer.status("waiting for a call that changes files in this project …");
                self.store.claim(&workspace.0, CLAIM_WAIT).map(Some)
            }
            lock => lock.map(Some),
        }
    }

    fn tell(&self, plan: &UndoPlan, tense: Tense, printer: &mut Printer) {
        if self.undo.listing.is_json() {
            return;
        }
        for row in report::rows(plan, tense) {
            printer.status(&row);
        }
    }
}

/// Whether the undo of an entry does a change again.
fn is_redo(header: &Header) -> bool {
    header.undoes.is_some() && !header.label.starts_with(REDO_OF)
}

/// The call that a label is about, however often it was undone and redone.
fn subject(mut label: &str) -> &str {
    while let Some(rest) = label.strip_prefix(UNDO_OF).or_else(|| label.strip_prefix(REDO_OF)) {
        label = rest;
    }
    label
}

impl Outcome {
    fn of(plan: &UndoPlan, done: Option<&str>, exit: Exit) -> Self {
        Self { report: json!({"plan": plan, "done": done.is_some(), "id": done}), exit }
    }
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
            UndoEntry { is_covered: false, .. } => TableCell::failed("not kept"),
            UndoEntry { is_undone: true, .. } => "undone".into(),
            UndoEntry { is_interrupted: true, .. } => TableCell::waiting("interrupted"),
            _ => "".into(),
        };
        let elsewhere = entry.header.workspace.as_ref().filter(|_| !is_here(entry));
        table.add([
            id.into(),
            view.time(UnixMillis(entry.header.unix_ms)).into(),
            entry.changes.to_string().into(),
            status,
            entry.header.target.as_ref().map(|target| target.name.clone()).unwrap_or_default().into(),
            elsewhere.map(|workspace| view.path(&workspace.to_string())).unwrap_or_default().into(),
            entry.header.label.replace('\n', "⏎").into(),
        ]);
    }
    table
}

/// Whether an entry is of the project that the current directory is in.
fn is_here(entry: &UndoEntry) -> bool {
    std::env::current_dir().is_ok_and(|cwd| is_of(entry, &project_root(&cwd)))
}

/// The target of an entry, where it is another host.
pub(super) fn on(header: &Header) -> String {
    header.target.as_ref().map(|target| format!("  on {}", target.name)).unwrap_or_default()
}
