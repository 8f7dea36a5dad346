//! The report of `buddy doctor` on a terminal: checks in groups, each with its mark, and what to do about it.

use crate::printer::{OutputClosed, Printer};
use crate::table::ListView;
use crate::text::{Paint, StyledLine, encode, wrap};

/// The column of the evidence.
const EVIDENCE: usize = 20;
/// Windows narrower than this have the evidence below the name.
const NARROW: usize = 60;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckMark {
    /// It works.
    Passed,
    /// It works, with limitations.
    Limited,
    /// It does not work.
    Failed,
    /// It was not run.
    Skipped,
}

/// One check.
#[derive(Debug, Clone)]
pub struct CheckRow {
    /// How it ended.
    pub mark: CheckMark,
    /// Its name.
    pub name: String,
    /// The evidence.
    pub evidence: String,
    /// The next step.
    pub next: Option<String>,
}

/// Checks that belong together.
#[derive(Debug, Clone)]
pub struct CheckGroup {
    /// Their title.
    pub title: String,
    /// The checks.
    pub rows: Vec<CheckRow>,
}

/// Prints groups of checks, notes, and how many problems there are.
pub fn show_checks(
    groups: &[CheckGroup],
    notes: &[String],
    exit_code: u8,
    view: &ListView,
    printer: &mut Printer,
) -> Result<(), OutputClosed> {
    let mut text = String::new();
    for line in check_lines(groups, notes, exit_code, view) {
        encode(&line, view.look(), &mut text);
        text.push('\n');
    }
    printer.styled(&text)
}

fn check_lines(groups: &[CheckGroup], notes: &[String], exit_code: u8, view: &ListView) -> Vec<StyledLine> {
    let look = view.look();
    let (strong, dim) = (look.style(Paint::Strong), look.style(Paint::Dim));
    let mut lines = Vec::new();
    for group in groups.iter().filter(|group| !group.rows.is_empty()) {
        lines.extend([StyledLine::default(), StyledLine::styled(&group.title, strong)]);
        for row in &group.rows {
            lines.extend(row_lines(row, view));
        }
    }
    lines.push(StyledLine::default());
    for note in notes {
        lines.extend(wrap(
            &StyledLine::styled(note, dim),
            view.width(),
            &StyledLine::default(),
            &StyledLine::default(),
        ));
    }
    let count = |mark: CheckMark| {
        groups.iter().flat_map(|group| &group.rows).filter(|row| row.mark == mark).count() as u64
    };
    let code = StyledLine::styled(&format!("  exit code {exit_code}"), dim);
    let counts = [("problem", count(CheckMark::Failed)), ("warning", count(CheckMark::Limited))];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(noun, count)| crate::counting::counted(count, noun))
        .collect();
    let verdict = if counts.is_empty() { "No problems".to_owned() } else { counts.join(", ") };
    let last = StyledLine::styled(&verdict, strong).and_line(code);
    lines.push(last.cut(view.width(), ""));
    lines
}

fn row_lines(row: &CheckRow, view: &ListView) -> Vec<StyledLine> {
    let (look, width) = (view.look(), view.width());
    let (sign, ascii, paint) = match row.mark {
        CheckMark::Passed => ("✓", "+", Paint::Dim),
        CheckMark::Limited => ("▲", "!", Paint::Warning),
        CheckMark::Failed => ("✗", "x", Paint::Bad),
        CheckMark::Skipped => ("○", "o", Paint::Dim),
    };
    let name = StyledLine::plain("  ")
        .and(look.sign(sign, ascii), look.style(paint))
        .and(&format!(" {}", row.name), anstyle::Style::new());
    let is_narrow = width < NARROW;
    let indent = StyledLine::plain(&" ".repeat(if is_narrow { 4 } else { EVIDENCE }));
    let gap = " ".repeat(EVIDENCE.saturating_sub(name.width()).max(1));
    let first = if is_narrow { indent.clone() } else { name.clone().and(&gap, anstyle::Style::new()) };
    let mut lines: Vec<StyledLine> = if is_narrow { vec![name.cut(width, "")] } else { Vec::new() };
    lines.extend(wrap(&StyledLine::plain(&row.evidence), width, &first, &indent));
    let next = row.next.iter().flat_map(|next| next_line(next, view, &indent));
    lines.extend(next);
    lines
}

/// The next step: dim, with the words to type as they are.
fn next_line(next: &str, view: &ListView, indent: &StyledLine) -> Vec<StyledLine> {
    wrap(&StyledLine::hint(next, view.look().style(Paint::Dim)), view.width(), indent, indent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TerminalLook;

    fn groups() -> Vec<CheckGroup> {
        let row = |mark, name: &str, evidence: &str, next: Option<&str>| CheckRow {
            mark,
            name: name.to_owned(),
            evidence: evidence.to_owned(),
            next: next.map(str::to_owned),
        };
        vec![
            CheckGroup {
                title: "Sandbox".to_owned(),
                rows: vec![
                    row(CheckMark::Passed, "seccomp", "on", None),
                    row(
                        CheckMark::Limited,
                        "bubblewrap",
                        "not installed; commands can see your processes",
                        Some("Install it: `apt install bubblewrap`"),
                    ),
                ],
            },
            CheckGroup {
                title: "Terminal".to_owned(),
                rows: vec![row(CheckMark::Failed, "keys", "Shift+Enter sends Enter", None)],
            },
        ]
    }

    fn shown(columns: usize, is_ascii: bool) -> String {
        let view = ListView::sized(TerminalLook { is_ascii, ..TerminalLook::plain() }, columns);
        let lines = check_lines(&groups(), &[], 1, &view);
        assert!(lines.iter().all(|line| line.width() <= columns), "{columns}");
        lines.iter().map(|line| line.text() + "\n").collect()
    }

    #[test]
    fn the_report_fits_every_window() {
        let windows = [40, 80, 100, 200].map(|columns| format!("{columns}\n{}", shown(columns, false)));
        insta::assert_snapshot!("doctor", windows.join("\n"));
    }

    #[test]
    fn checks_stand_in_groups_with_their_next_step() {
        let expected = "
Sandbox
  ✓ seccomp         on
  ▲ bubblewrap      not installed; commands can see your processes
                    Install it: apt install bubblewrap

Terminal
  ✗ keys            Shift+Enter sends Enter

1 problem, 1 warning  exit code 1
";
        assert_eq!(shown(80, false), expected);
    }

    #[test]
    fn a_narrow_window_has_the_evidence_below_and_ascii_has_its_own_marks() {
        let expected = "
Sandbox
  + seccomp
    on
  ! bubblewrap
    not installed; commands can see your
    processes
    Install it: apt install bubblewrap

Terminal
  x keys
    Shift+Enter sends Enter

1 problem, 1 warning  exit code 1
";
        assert_eq!(shown(40, true), expected);
    }
}
