//! The tables of this crate as a page for people, made from the tables themselves.

use std::fmt::Write as _;
use std::path::Path;

use crate::Places;
use crate::effect::{
    EVALUATED_FORMS, GIT_READERS, PLAIN_VARIABLES, READERS, RECIPES, RUNNERS, TELLING, TouchAccess,
    TouchReach, UNTRIED, ZSH_FORMS, examine, launcher_uses, rows,
};
use crate::later::{LATER, Later};

/// The directory in which the examples are said to run.
const HERE: &str = "/w";

/// The pinned file of a program without files of its own.
const SCRIPT: &str = "the script that the command names";

/// The generated part of `docs/reference/commands.md`.
pub fn command_reference() -> String {
    let mut page = String::new();
    effects(&mut page);
    readers(&mut page);
    held(&mut page);
    listed(
        &mut page,
        "Programs whose arguments do not show their effects",
        "kind",
        "programs",
        RUNNERS.iter().copied(),
    );
    let uses = launcher_uses();
    let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
    let _ = write!(page, "\n## Programs that run a command\n\n{}\n", codes(&uses));
    let _ = write!(page, "\n## Variables that steer and do no more\n\n{}\n", codes(PLAIN_VARIABLES));
    evaluated(&mut page);
    let recipes = RECIPES.iter().map(|recipe| (recipe.names, recipe.files));
    page.push_str("\n## Files that buddy pins\n\n| program | files in its directory |\n|---|---|\n");
    for (names, files) in recipes {
        let files = if files.is_empty() { SCRIPT.to_owned() } else { codes(files) };
        let _ = writeln!(page, "| {} | {files} |", codes(names));
    }
    page.push_str("\n## Build, CI and agent files\n\n| kind | asks in | files |\n|---|---|---|\n");
    for kind in LATER {
        let asks = if kind.later == Later::Unseen { "`edits`, `auto`" } else { "`edits`" };
        let _ = writeln!(page, "| {} | {asks} | {} |", kind.title, codes(kind.names));
    }
    page
}

const EVALUATED: &str = "
## Text that a shell evaluates again

A quoted text can run a command in these places, so in production buddy asks about the line. In development the jail holds what it runs, and approval mode `auto` does not ask.
`PAYLOAD` stands for `x[$(command)]`. A test runs each form in bash, dash, busybox ash and zsh: buddy must ask wherever the command runs, or judge the command itself. A text for `zsh -c`,
`ksh -c` or `mksh -c` always asks, because these shells evaluate more.

| kind | forms |
|---|---|
";

fn evaluated(page: &mut String) {
    page.push_str(EVALUATED);
    for kind in EVALUATED_FORMS.iter().chain([&ZSH_FORMS]) {
        let forms: Vec<String> = kind.forms.iter().map(|form| form.replace('\n', "⏎")).collect();
        let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        let _ = writeln!(page, "| {} | {} |", kind.title, codes(&forms));
    }
}

fn readers(page: &mut String) {
    let names: Vec<&str> = READERS.iter().flat_map(|reader| reader.names.iter().copied()).collect();
    let _ = write!(page, "\n## Programs that only read\n\n{}\n", codes(&names));
}

fn held(page: &mut String) {
    page.push_str("\n## Commands that only read in a jail\n\n| command | examples |\n|---|---|\n");
    for reader in GIT_READERS.iter().filter(|reader| !reader.tried.is_empty()) {
        let names: Vec<String> = reader.names.iter().map(|name| code(&format!("git {name}"))).collect();
        let _ = writeln!(page, "| {} | {} |", names.join(", "), codes(reader.tried));
    }
    for (names, words) in TELLING {
        let _ = writeln!(page, "| {} | with {} alone |", codes(names), codes(words));
    }
}

fn listed<'a>(
    page: &mut String,
    title: &str,
    first: &str,
    second: &str,
    rows: impl Iterator<Item = (&'a str, &'a [&'a str])>,
) {
    let _ = write!(page, "\n## {title}\n\n| {first} | {second} |\n|---|---|\n");
    for (kind, names) in rows {
        let _ = writeln!(page, "| {kind} | {} |", codes(names));
    }
}

fn codes(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| code(name)).collect();
    names.join(", ")
}

fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn effects(page: &mut String) {
    page.push_str("## Effects on files\n\n");
    let examples = rows().map(|row| row.changes.len() + row.reads.len()).sum::<usize>();
    let only_said = rows().map(|row| row.untried.len()).sum::<usize>();
    let _ = write!(
        page,
        "A test runs {examples} examples of this table. It does not run the {only_said} that say so, and these programs have no example that it runs:\n\n",
    );
    for (why, programs) in UNTRIED {
        let _ = writeln!(page, "- {} {why}.", codes(programs));
    }
    page.push_str("\n| program | example | effect |\n|---|---|---|\n");
    for row in rows() {
        let mut names = codes(row.names);
        for line in row.changes.iter().chain(row.reads) {
            let line = line.replace("{here}", HERE);
            let _ = writeln!(page, "| {names} | {} | {} |", code(&line), effect(&line));
            names.clear();
        }
        for line in row.untried {
            let _ = writeln!(page, "| {names} | {} (not run) | {} |", code(line), effect(line));
            names.clear();
        }
    }
}

/// The effects that the judge announces for a line.
fn effect(line: &str) -> String {
    let places = Places { workspace: vec![HERE.into()], target: "local".to_owned(), ..Places::default() };
    let Ok(examination) = examine(line, Some(Path::new(HERE)), &places) else { return String::new() };
    let named = |wanted: TouchAccess| {
        let touches = examination.touches.iter().filter(|touch| touch.access == wanted);
        let names: Vec<String> = touches.map(|touch| name(&touch.reach)).collect();
        names.join(", ")
    };
    let parts = [("writes", named(TouchAccess::Write)), ("removes", named(TouchAccess::Delete))];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(verb, names)| format!("{verb} {names}"))
        .collect();
    if parts.is_empty() { "reads".to_owned() } else { parts.join("; ") }
}

fn name(reach: &TouchReach) -> String {
    let relative = |path: &Path| path.strip_prefix(HERE).unwrap_or(path).to_string_lossy().into_owned();
    match reach {
        TouchReach::Path(path) => code(&relative(path)),
        TouchReach::Beneath(path) if path == Path::new(HERE) => "files here".to_owned(),
        TouchReach::Beneath(path) => format!("files in {}", code(&relative(path))),
        TouchReach::Unknown(words) => words.clone(),
    }
}
