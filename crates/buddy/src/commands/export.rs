//! `buddy export`.

use buddy_protocol::Operations;
use buddy_protocol::operations::{ExportFormat, ExportSession, SessionChoice};
use buddy_tui::{Exit, Printer};

use crate::cli::{Export, ExportFormatFlag};
use crate::invocation::Invocation;
use crate::rendering::{Overwriting, export_format, write_export};

/// Writes a session to a file or to the standard output.
pub(crate) async fn run(invocation: &Invocation<'_>, export: &Export) -> anyhow::Result<Exit> {
    let session = match &export.id {
        Some(id) => SessionChoice::Session(id.clone()),
        None => SessionChoice::Last {
            directory: invocation.named.as_ref().map(|named| named.to_string_lossy().into_owned()),
        },
    };
    let format = match export.format {
        Some(ExportFormatFlag::Markdown) => ExportFormat::Markdown,
        Some(ExportFormatFlag::Json) => ExportFormat::Json,
        None => export_format(export.output.as_deref()),
    };
    let operations = invocation.operations();
    let exported = operations.export_session(operations.owner(), ExportSession { session, format }).await?;
    let exit = match &export.output {
        None if Printer::standard().answer(&exported.text).is_ok() => Exit::Ok,
        None => Exit::OutputClosed,
        Some(path) => {
            let overwriting = if export.force { Overwriting::Wanted } else { Overwriting::Refused };
            write_export(path, path, &exported.text, overwriting)?;
            Printer::standard().status(&format!("{} written", path.display()));
            Exit::Ok
        }
    };
    exported.damage.map_or(Ok(exit), |damage| Err(damage.into()))
}
