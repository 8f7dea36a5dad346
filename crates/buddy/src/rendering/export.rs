//! An exported session as a file of the user.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, bail};
use buddy_protocol::operations::ExportFormat;

/// The format that a file's name asks for.
pub(crate) fn export_format(path: Option<&Path>) -> ExportFormat {
    let extension = path.and_then(Path::extension);
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        ExportFormat::Json
    } else {
        ExportFormat::Markdown
    }
}

/// Whether a file that is there already is overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overwriting {
    Refused,
    Wanted,
}

/// Writes the text into a file, which the user named like this.
pub(crate) fn write_export(
    file: &Path,
    named: &Path,
    text: &str,
    overwriting: Overwriting,
) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    match overwriting {
        Overwriting::Wanted => options.create(true).truncate(true),
        Overwriting::Refused => options.create_new(true),
    };
    let cannot = || format!("cannot write `{}`", named.display());
    let mut opened = match options.open(file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{}` already exists; overwrite it with `--force`", named.display())
        }
        opened => opened.with_context(cannot)?,
    };
    opened.write_all(text.as_bytes()).with_context(cannot)
}
