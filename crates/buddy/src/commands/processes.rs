//! `buddy ps`, `buddy logs` and `buddy kill`: the managed processes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buddy_protocol::Operations;
use buddy_protocol::operations::{OutputChunk, ReadProcessOutput, StopProcess};
use buddy_tui::{Exit, Printer};
use futures::StreamExt;

use crate::cli::{Kill, ListFlags, Logs};
use crate::commands::listing;
use crate::invocation::Invocation;
use crate::rendering::{has_live, print_stopped, processes_table};
use crate::signals::interrupts;

/// Lists them, the newest first.
pub(crate) async fn list(invocation: &Invocation<'_>, listing: &ListFlags) -> anyhow::Result<Exit> {
    let operations = invocation.operations();
    let all = operations.list_processes(operations.owner()).await?;
    listing::print(invocation, listing, all, |all, view, printer| {
        let hint = if has_live(all) {
            "Read output with `buddy logs ID`, stop one with `buddy kill ID`"
        } else {
            "Read output with `buddy logs ID`"
        };
        processes_table(all, view).hint(hint).print(view, printer)
    })
}

/// Shows the end of an output, and what follows it.
pub(crate) async fn logs(invocation: &Invocation<'_>, logs: &Logs) -> anyhow::Result<Exit> {
    let request = ReadProcessOutput { id: logs.id.clone(), tail: logs.tail, follows: logs.follow };
    let operations = invocation.operations();
    let mut chunks = operations.read_process_output(operations.owner(), request).await?;
    let mut printer = Printer::standard();
    let (mut stop, _tasks) = interrupts()?;
    loop {
        tokio::select! {
            _ = stop.recv() => return Ok(Exit::Interrupted),
            chunk = chunks.next() => match chunk {
                None => return Ok(Exit::Ok),
                Some(chunk) => if !show(&mut printer, &chunk?)? {
                    return Ok(Exit::OutputClosed);
                }
            },
        }
    }
}

/// Ends one.
pub(crate) async fn kill(invocation: &Invocation<'_>, kill: &Kill) -> anyhow::Result<Exit> {
    let request = StopProcess { id: kill.id.clone(), is_forced: kill.force };
    let operations = invocation.operations();
    let stopped = operations.stop_process(operations.owner(), request).await?;
    print_stopped(&stopped, &mut Printer::standard());
    Ok(Exit::Ok)
}

/// Prints output. Says whether somebody takes it.
fn show(printer: &mut Printer, chunk: &OutputChunk) -> anyhow::Result<bool> {
    let bytes = STANDARD.decode(chunk.bytes.text())?;
    Ok(printer.answer(&String::from_utf8_lossy(&bytes)).is_ok())
}
