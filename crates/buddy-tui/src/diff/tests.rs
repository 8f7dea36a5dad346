//! The looks of diffs.

use proptest::prelude::*;

use super::{DiffHead, render_diff};
use crate::text::{Colors, StyledLine, TerminalLook, Theme, encode};

const DIFF: &str = "\
diff --git a/src/main.rs b/src/main.rs
index 1..2 100644
--- a/src/main.rs
+++ b/src/main.rs
@@ -8,5 +8,6 @@ fn main() {
     let before = 1;
-    let count = compute(before, 10);
-\tprintln!(\"漢字\");
+    let total = compute(before, 10);
+\tprintln!(\"漢字 🚀\");
+    // An added line which is so long that a narrow terminal has to fold it.
     let after = 2;
 }
\\ No newline at end of file
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+--- a note
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
---- gone
rename from a
";

fn shown(diff: &str, width: usize, limit: usize) -> String {
    let rows: Vec<String> = render_diff(diff, &TerminalLook::plain(), width, (limit, DiffHead::Shown))
        .iter()
        .map(StyledLine::text)
        .collect();
    rows.join("\n")
}

#[test]
fn in_a_narrow_terminal() {
    insta::assert_snapshot!(shown(DIFF, 39, 100), @r#"
    src/main.rs  +3 −2
       8       let before = 1;
       9 −     let count = compute(before,
           10);
      10 −     println!("漢字");
       9 +     let total = compute(before,
           10);
      10 +     println!("漢字 🚀");
      11 +     // An added line which is so
            long that a narrow terminal has
            to fold it.
      12       let after = 2;
      13   }
    \ No newline at end of file

    notes.txt (new)  +1 −0
       1 + --- a note

    old.txt (removed)  +0 −1
       1 − --- gone
    rename from a
    "#);
}

#[test]
fn in_a_terminal_of_forty_columns() {
    insta::assert_snapshot!(shown(DIFF, 40, 100), @r#"
    src/main.rs  +3 −2
       8       let before = 1;
       9 −     let count = compute(before, 1
           0);
      10 −     println!("漢字");
       9 +     let total = compute(before, 1
           0);
      10 +     println!("漢字 🚀");
      11 +     // An added line which is so
           long that a narrow terminal has t
           o fold it.
      12       let after = 2;
      13   }
    \ No newline at end of file

    notes.txt (new)  +1 −0
       1 + --- a note

    old.txt (removed)  +0 −1
       1 − --- gone
    rename from a
    "#);
}

#[test]
fn in_a_usual_terminal() {
    insta::assert_snapshot!(shown(DIFF, 80, 100), @r#"
    src/main.rs  +3 −2
       8       let before = 1;
       9 −     let count = compute(before, 10);
      10 −     println!("漢字");
       9 +     let total = compute(before, 10);
      10 +     println!("漢字 🚀");
      11 +     // An added line which is so long that a narrow terminal has to fold
           it.
      12       let after = 2;
      13   }
    \ No newline at end of file

    notes.txt (new)  +1 −0
       1 + --- a note

    old.txt (removed)  +0 −1
       1 − --- gone
    rename from a
    "#);
}

#[test]
fn in_a_wide_terminal() {
    insta::assert_snapshot!(shown(DIFF, 200, 5), @r#"
    src/main.rs  +3 −2
       8       let before = 1;
       9 −     let count = compute(before, 10);
      10 −     println!("漢字");
    … 13 more lines
    "#);
}

#[test]
fn changes_within_a_line_are_marked_in_colours() {
    let look = TerminalLook { colors: Colors::Sixteen, theme: Theme::Terminal, ..TerminalLook::plain() };
    let mut out = String::new();
    for row in render_diff(DIFF, &look, 80, (8, DiffHead::Shown)) {
        encode(&row, &look, &mut out);
        out.push('\n');
    }
    insta::assert_snapshot!(out.replace('\u{1b}', "␛"), @r#"
    ␛[1msrc/main.rs␛[0m␛[32m  +3␛[0m␛[91m −2␛[0m
    ␛[2m   8 ␛[0m      let before = 1;
    ␛[2m   9 ␛[0m␛[1m␛[91m−␛[0m ␛[91m    let ␛[0m␛[1m␛[4m␛[91mcount␛[0m␛[91m = compute(before, 10);␛[0m
    ␛[2m  10 ␛[0m␛[1m␛[91m−␛[0m ␛[91m    println!("漢字");␛[0m
    ␛[2m   9 ␛[0m␛[1m␛[32m+␛[0m ␛[32m    let ␛[0m␛[1m␛[4m␛[32mtotal␛[0m␛[32m = compute(before, 10);␛[0m
    ␛[2m  10 ␛[0m␛[1m␛[32m+␛[0m ␛[32m    println!("漢字␛[0m␛[1m␛[4m␛[32m 🚀␛[0m␛[32m");␛[0m
    ␛[2m… 11 more lines␛[0m
    "#);
}

#[test]
fn what_is_left_out_is_counted() {
    let diff: String = std::iter::once("@@ -1,3 +1,9 @@\n".to_owned())
        .chain((1..=9).map(|number| format!("+line {number}\n")))
        .collect();
    assert_eq!(shown(&diff, 80, 4), "   1 + line 1\n   2 + line 2\n   3 + line 3\n… 6 more lines");
    assert_eq!(shown(&diff, 80, 10).lines().last(), Some("   9 + line 9"));
    assert_eq!(shown(&diff, 80, 8).lines().last(), Some("… 2 more lines"));
    assert_eq!(shown(&diff, 80, 1), "… 9 more lines");
    assert_eq!(shown(&diff, 80, 0), "");
}

#[test]
fn a_diff_with_bad_counts_loses_nothing() {
    assert_eq!(shown("@@ fn main\n-a\n+b\n c", 80, 10), "… fn main\n− a\n+ b\n  c");
    assert_eq!(shown("@@ -1 +1 @@\n-a\n+b\n+c\n", 80, 10), "   1 − a\n   1 + b\n   2 + c");
    assert_eq!(shown("@@ -1,9 +1,9 @@\n-a\nBinary files differ", 80, 10), "   1 − a\nBinary files differ");
    assert_eq!(shown("--- a\n", 80, 10), "--- a");
}

#[test]
fn a_line_without_end_is_cut() {
    let diff = format!("@@ -1 +1 @@\n-{}\n+b", "a".repeat(100_000));
    let rows: Vec<String> = render_diff(&diff, &TerminalLook::plain(), 42, (10, DiffHead::Shown))
        .iter()
        .map(StyledLine::text)
        .collect();
    assert_eq!(rows.len(), 5 + 1);
    assert!(rows[4].ends_with("a…"), "{rows:?}");
}

#[test]
fn a_file_that_moved_has_both_names() {
    assert_eq!(shown("--- a/x.rs\n+++ b/y.rs\n", 80, 10), "x.rs → y.rs  +0 −0");
    assert_eq!(shown("--- a/x.rs\n+++ a/x.rs\n", 80, 10), "a/x.rs  +0 −0");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_fit_and_steer_nothing(
        lines in prop::collection::vec(("(|@@ -1,2 \\+3,4 @@|--- a/|\\+\\+\\+ b/| |-|\\+|\\\\|diff --git )", any::<String>()), 0..20),
        width in 1_usize..100,
        limit in 0_usize..40,
        colors in prop::sample::select(vec![Colors::None, Colors::True]),
    ) {
        let diff: String = lines.iter().flat_map(|(start, rest)| [start, rest.as_str(), "\n"]).collect();
        let rows = render_diff(&diff, &TerminalLook { colors, ..TerminalLook::plain() }, width, (limit, DiffHead::Shown));
        prop_assert!(rows.len() <= limit);
        for row in rows {
            prop_assert!(row.width() <= width, "{:?}", row);
            prop_assert!(!row.text().contains(char::is_control), "{:?}", row);
        }
    }
}
