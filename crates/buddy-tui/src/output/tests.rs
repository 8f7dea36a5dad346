//! The looks of output.

use proptest::prelude::*;

use super::ShownOutput;
use crate::text::{StyledLine, TerminalLook};

fn texts(rows: &[StyledLine]) -> Vec<String> {
    rows.iter().map(StyledLine::text).collect()
}

fn output(text: &str, head: usize, tail: usize) -> ShownOutput {
    let mut output = ShownOutput::new(head, tail);
    output.push(text);
    output
}

fn lines(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|number| format!("line {number}\n")).collect();
    lines.concat()
}

#[track_caller]
fn check(text: &str, width: usize, rows: &[&str]) {
    assert_eq!(texts(&output(text, 3, 2).folded(&TerminalLook::plain(), width)), rows);
}

#[test]
fn colours_and_titles_of_the_program_are_dropped() {
    check("\u{1b}[1;31mred\u{1b}[0m\n\u{1b}]0;title\u{7}plain\u{1b}(B", 40, &["red", "plain"]);
    check("a\u{7}\u{0}b\u{202e}c", 40, &["ab\\u{202e}c"]);
}

#[test]
fn a_progress_bar_is_in_its_last_state() {
    check("get 10%\rget 50%\rget 100%\ndone\r\n", 40, &["get 100%", "done"]);
    check("long text\r\u{1b}[Kshort\n", 40, &["short"]);
    check("spin |\u{8}/\u{8}-", 40, &["spin -"]);
    check("half\u{1b}[2K\u{1b}[1Gwhole", 40, &["whole"]);
}

#[test]
fn tabs_lead_to_columns() {
    check("a\tb\n漢字\tc", 40, &["a       b", "漢字    c"]);
}

#[test]
fn the_middle_is_left_out_and_counted() {
    let text = lines(9);
    check(&text, 40, &["line 1", "line 2", "line 3", "… 4 lines left out", "line 8", "line 9"]);
    let text = lines(6);
    check(&text, 9, &["line 1", "line 2", "line 3", "… 1 line", "line 5", "line 6"]);
    let text = lines(5);
    check(&text, 40, &["line 1", "line 2", "line 3", "line 4", "line 5"]);
    assert_eq!(output(&text, 1, 1).line_count(), 5);
    assert_eq!(output("a\nb", 1, 1).line_count(), 2);
    assert_eq!(output("", 1, 1).line_count(), 0);
}

#[test]
fn long_lines_are_folded_and_cut() {
    check("0123456789", 8, &["01234567", "89"]);
    check(&"ab".repeat(100), 10, &["ababababab", "ababababab", "ababababa…"]);
    check(&"漢".repeat(9_000), 200, &[&"漢".repeat(100), &"漢".repeat(100), &("漢".repeat(99) + "…")]);
}

#[test]
fn a_program_that_runs_shows_its_last_rows() {
    let mut output = ShownOutput::new(2, 5);
    let look = TerminalLook::plain();
    assert_eq!(texts(&output.tail(&look, 10, 3)), [""; 0]);
    output.push("a\nb\n12345678");
    assert_eq!(texts(&output.tail(&look, 4, 3)), ["b", "1234", "5678"]);
    assert_eq!(texts(&output.tail(&look, 4, 9)), ["a", "b", "1234", "5678"]);
    assert_eq!(texts(&output.tail(&look, 4, 1)), ["5678"]);
    for number in 0..100 {
        output.push(&format!("\n{number} 🚀"));
    }
    assert_eq!(texts(&output.tail(&look, 80, 2)), ["98 🚀", "99 🚀"]);
}

#[test]
fn at_several_widths() {
    let text = "   Compiling buddy v0.1.0\nerror[E0308]: mismatched types in a line that is long enough to be folded 漢字 🚀\n";
    let shown = |width| texts(&output(text, 3, 2).folded(&TerminalLook::plain(), width)).join("\n");
    insta::assert_snapshot!(shown(40), @r#"
       Compiling buddy v0.1.0
    error[E0308]: mismatched types in a line
     that is long enough to be folded 漢字
    🚀
    "#);
    insta::assert_snapshot!(shown(80), @r#"
       Compiling buddy v0.1.0
    error[E0308]: mismatched types in a line that is long enough to be folded 漢字
    🚀
    "#);
    insta::assert_snapshot!(shown(200), @r#"
       Compiling buddy v0.1.0
    error[E0308]: mismatched types in a line that is long enough to be folded 漢字 🚀
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn how_output_is_cut_changes_nothing_and_all_rows_fit(
        pieces in prop::collection::vec("(\n|\r|\t|\u{8}|\u{1b}\\[[0-9;]{0,4}[A-Zm]?|\u{1b}\\]0;|\u{7}|漢字|👩‍👩‍👧‍👦|\\PC{0,30}|[\u{0}-\u{a0}]{0,3})", 0..40),
        width in 1_usize..60,
    ) {
        let whole = output(&pieces.concat(), 4, 4);
        let mut cut = ShownOutput::new(4, 4);
        for piece in &pieces {
            for letter in piece.chars() {
                cut.push(letter.encode_utf8(&mut [0; 4]));
            }
        }
        let look = TerminalLook::plain();
        let rows = whole.folded(&look, width);
        prop_assert_eq!(&rows, &cut.folded(&look, width));
        prop_assert_eq!(whole.line_count(), cut.line_count());
        let tail = whole.tail(&look, width, 5);
        prop_assert!(tail.len() <= 5);
        for row in rows.iter().chain(&tail) {
            prop_assert!(row.width() <= width, "{:?}", row);
            prop_assert!(!row.text().contains(char::is_control), "{:?}", row);
        }
    }
}

#[test]
fn what_is_held_is_bounded() {
    let mut output = ShownOutput::new(2, 3);
    for _ in 0..100 {
        output.push(&"x".repeat(1_000));
        output.push("\u{1b}]0;");
        output.push(&"y".repeat(1_000));
        output.push("\u{7}");
    }
    assert!(output.lines.line.text.len() <= super::LONGEST_LINE);
    output.push(&"\nline".repeat(10_000));
    assert_eq!((output.lines.head.len(), output.lines.tail.len()), (2, 3));
    assert_eq!(output.lines.left_out, 10_000 - 5);
}
