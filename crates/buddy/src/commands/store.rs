//! `buddy store`.

use buddy_store::CheckReport;
use buddy_tui::{Exit, ListView, Printer, Table, TableCell, TableColumn, counted};

use crate::cli::Store;
use crate::commands::listing::view;
use crate::invocation::Invocation;
use crate::wiring::open_store;

/// Looks after the store.
pub(crate) async fn run(invocation: &Invocation<'_>, action: Store) -> anyhow::Result<Exit> {
    let store = open_store(invocation.environment)?;
    let (text, exit) = match action {
        Store::Check => {
            let report = store.check().await?;
            let view = view(invocation);
            if view.is_terminal() {
                store.close().await?;
                return print_report(&report, &view);
            }
            let counted = format!(
                "{}, {} checked",
                counted(report.sessions, "session"),
                counted(report.events, "event")
            );
            let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            let verdict =
                if findings.is_empty() { "No problems found.".to_owned() } else { findings.join("\n") };
            let exit = if report.findings.is_empty() { Exit::Ok } else { Exit::Failed };
            let note = describe_new_anchors(&report, &view).map(|note| note + "\n").unwrap_or_default();
            (format!("{counted}\n{verdict}\n{note}"), exit)
        }
        Store::Rebuild => {
            let rebuilt = store.rebuild().await?;
            let text = format!(
                "rebuilt {} from {}\n",
                counted(rebuilt.after, "session"),
                counted(rebuilt.events, "event")
            );
            (text, Exit::Ok)
        }
        Store::Backup { path } => {
            let backup = store.backup(path.clone()).await?;
            (format!("{} copied to {}\n", counted(backup.events, "event"), path.display()), Exit::Ok)
        }
    };
    store.close().await?;
    let is_printed = Printer::standard().answer(&text).is_ok();
    Ok(if is_printed { exit } else { Exit::OutputClosed })
}

/// That nothing shows whether sessions were whole at some time, if the anchors were made anew then.
fn describe_new_anchors(report: &CheckReport, view: &ListView) -> Option<String> {
    let made = view.time(report.anchored_anew?);
    Some(format!(
        "The anchors were made anew ({made}): events cut from the end of a session before are not noticed."
    ))
}

/// Prints the outcome of a check on a terminal: the numbers, then one row for each problem.
fn print_report(report: &CheckReport, view: &ListView) -> anyhow::Result<Exit> {
    let mut printer = Printer::standard();
    let numbers = ["SESSIONS", "EVENTS", "PROBLEMS"].map(TableColumn::number);
    let mut table = Table::new(&numbers, "");
    let problems = match report.findings.len() {
        0 => "none".into(),
        count => TableCell::failed(count.to_string()),
    };
    table.add([report.sessions.to_string().into(), report.events.to_string().into(), problems]);
    table.print(view, &mut printer)?;
    if let Some(note) = describe_new_anchors(report, view) {
        printer.answer(&format!("\n{note}\n"))?;
    }
    if report.findings.is_empty() {
        return Ok(Exit::Ok);
    }
    printer.answer("\n")?;
    let hint = "Copy the store with `buddy store backup PATH` before you do anything else";
    let mut table = Table::new(&[TableColumn::wrapped("PROBLEM")], "").hint(hint);
    report.findings.iter().for_each(|finding| table.add([finding.to_string().into()]));
    table.print(view, &mut printer)?;
    Ok(Exit::Failed)
}
