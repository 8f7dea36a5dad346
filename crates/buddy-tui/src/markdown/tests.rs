//! The looks of answers, and that it does not matter how they come in.

mod answers;
mod blocks;
mod inline;
mod properties;
mod structure;

use crate::markdown::Markdown;
use crate::text::{Colors, StyledLine, TerminalLook, encode};

fn colored(colors: Colors) -> TerminalLook {
    TerminalLook { colors, has_links: true, ..TerminalLook::plain() }
}

fn rows(source: &str, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let mut markdown = Markdown::default();
    markdown.push(source);
    markdown.finish(look, width)
}

/// The text of the rows.
fn shown(source: &str, look: &TerminalLook, width: usize) -> String {
    let rows: Vec<String> = rows(source, look, width).iter().map(StyledLine::text).collect();
    rows.join("\n")
}

/// The rows as the terminal gets them, with a visible sign for its escapes.
fn encoded(source: &str, look: &TerminalLook, width: usize) -> String {
    let mut out = String::new();
    for row in rows(source, look, width) {
        encode(&row, look, &mut out);
        out.push('\n');
    }
    out.replace('\u{1b}', "␛")
}

#[track_caller]
fn check(source: &str, width: usize, expected: &[&str]) {
    assert_eq!(shown(source, &TerminalLook::plain(), width).split('\n').collect::<Vec<_>>(), expected);
}
