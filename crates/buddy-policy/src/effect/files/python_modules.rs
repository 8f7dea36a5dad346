//! Modules of Python that are programs of their own, as `python3 -m venv`.

use super::row::{Does, FileRow, RowCondition, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

const VENV: Flags = Flags::NONE.long(
    &[
        "system-site-packages",
        "symlinks",
        "copies",
        "without-pip",
        "upgrade",
        "upgrade-deps",
        "without-scm-ignore-files",
    ],
    &["prompt"],
);
const COMPILE: Flags =
    Flags::of("lfqb", "rsxjo").long(&["invalidation-mode", "hardlink-dupes"], &["workers"]);

pub(super) const ROWS: &[FileRow] = &[
    row(&["python -m venv"], RowOperands::Each(TouchAccess::Write))
        .flags(VENV)
        .with(&[(&["clear"], Does::Discards)])
        .check(clears)
        .changes(&["python3 -m venv --without-pip new", "python3 -m venv --without-pip --clear dir"]),
    row(&["python -m virtualenv"], RowOperands::Each(TouchAccess::Write))
        .lenient()
        .with(&[(&["clear"], Does::Discards)])
        .check(clears)
        .untried(&["python3 -m virtualenv new"]),
    row(&["python -m zipfile"], RowOperands::UnpackTo)
        .when(RowCondition::Option(&["e", "extract"]))
        .flags(Flags::of("e", "").long(&["extract"], &["metadata-encoding"]))
        .changes(&["python3 -m zipfile -e t.zip new", "python3 -m zipfile --extract t.zip dir"]),
    row(&["python -m zipfile"], RowOperands::First(TouchAccess::Write))
        .when(RowCondition::Option(&["c", "create"]))
        .flags(Flags::of("c", "").long(&["create"], &[]))
        .changes(&["python3 -m zipfile -c new.zip a.txt dir"]),
    row(&["python -m zipfile"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("lt", "").long(&["list", "test"], &["metadata-encoding"]))
        .reads(&["python3 -m zipfile -l t.zip"]),
    row(&["python -m tarfile"], RowOperands::UnpackTo)
        .when(RowCondition::Option(&["e", "extract"]))
        .flags(Flags::of("ev", "").long(&["extract", "verbose"], &["filter"]))
        .brings_links()
        .changes(&["python3 -m tarfile -e t.tar", "python3 -m tarfile -e t.tar new"]),
    row(&["python -m tarfile"], RowOperands::First(TouchAccess::Write))
        .when(RowCondition::Option(&["c", "create"]))
        .flags(Flags::of("cv", "").long(&["create", "verbose"], &[]))
        .changes(&["python3 -m tarfile -c new.tar a.txt dir"]),
    row(&["python -m tarfile"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("ltv", "").long(&["list", "test", "verbose"], &[]))
        .reads(&["python3 -m tarfile -l t.tar"]),
    row(&["python -m compileall"], RowOperands::Each(TouchAccess::Write))
        .flags(COMPILE)
        .with(&[(&["i"], Does::Anywhere), (&["d", "p", "e"], Does::Anywhere)])
        .check(compiles_everything)
        .changes(&["python3 -m compileall -q dir"]),
    row(&["python -m py_compile"], RowOperands::Beside).changes(&["python3 -m py_compile dir/e.py"]),
    row(&["python -m ensurepip"], RowOperands::Text)
        .lenient()
        .with(&[(&["root"], Does::WritesWithin)])
        .untried(&["python3 -m ensurepip --root dir"]),
    row(&["python -m json.tool"], RowOperands::InOut)
        .flags(Flags::NONE.long(
            &["sort-keys", "no-ensure-ascii", "json-lines", "tab", "no-indent", "compact"],
            &["indent"],
        ))
        .changes(&["python3 -m json.tool one.json new"])
        .reads(&["python3 -m json.tool one.json"]),
];

/// Without words it goes through every directory of installed modules.
fn compiles_everything(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    operands.is_empty().then_some("it writes beside every installed module")
}

/// It empties a directory that may be more than an environment.
fn clears(_: &[ShellWord], names: &[String]) -> Option<&'static str> {
    names.iter().any(|name| name.starts_with("cl")).then_some("it removes everything in a directory first")
}
