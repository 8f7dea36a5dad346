//! The blocks, one by one.

use super::{check, colored, rows, shown};
use crate::markdown::{Markdown, load_syntaxes};
use crate::text::{Colors, StyledLine, TerminalLook};

#[test]
fn blocks_are_apart_by_one_empty_row() {
    check("a\n\n\n\nb\n# c\nd\n***\n", 20, &["a", "", "b", "", "# c", "", "d", "", "────────────────────"]);
    check("#\n\na\n\n#\n\nb", 20, &["#", "", "a", "", "#", "", "b"]);
    check("Title\n=====\ntext\nSub\n---\n", 20, &["# Title", "", "## text Sub"]);
}

#[test]
fn items_are_as_close_as_they_were_written() {
    check("- a\n- b\n\n- c\n* d", 20, &["• a", "• b", "", "• c", "", "• d"]);
    check("- a\n\n  b\n  - c\n- d\n\nend", 20, &["• a", "", "  b", "  • c", "• d", "", "end"]);
    check("-\n- a\n- # b\n", 20, &["•", "• a", "• # b"]);
}

#[test]
fn numbers_count_from_the_first() {
    check("3) a\n3) b\n1. c\n1. d", 20, &["3) a", "4) b", "", "1. c", "2. d"]);
    check("in 1999\n2000. was next", 30, &["in 1999 2000. was next"]);
    check("99. a\n    b\n100. c d", 9, &["99. a b", "100. c d"]);
}

#[test]
fn where_it_is_narrow_the_outer_marks_go_first() {
    check("> - 1. one two", 9, &["• 1. one", "     two"]);
    check("> - 1. one", 3, &["one"]);
}

#[test]
fn lines_without_signs_belong_to_the_paragraph_before() {
    check("> a\nb\n\nc", 20, &["> a b", "", "c"]);
    check("- a\nb\n  c", 20, &["• a b c"]);
    check("> - a\n>   b\n> - c", 20, &["> • a b", "> • c"]);
    check("> a\n>\n> b\n\n> c", 20, &["> a", ">", "> b", "", "> c"]);
}

#[test]
fn code_keeps_its_shape() {
    check("```\n  a\n\n\n\tb  c\n```\n", 20, &["```", "  a", "", "", "    b  c", "```"]);
    check("~~~ text\n```\n~~~\nx", 20, &["```text", "```", "```", "", "x"]);
    check("    a\n\n      b\n\nc", 20, &["```", "a", "", "  b", "```", "", "c"]);
    check("```\n0123456789\n", 8, &["```", "01234567", "89", "```"]);
    check("- ```sh\n  a\n  ```\n- b", 20, &["• ```sh", "  a", "  ```", "• b"]);
}

#[test]
fn code_in_colours_is_indented_and_has_no_fences() {
    let look = colored(Colors::True);
    assert_eq!(shown("a\n```\nb\n\nc\n```\nd", &look, 20), "a\n\n  b\n\n  c\n\nd");
    assert_eq!(shown("a\n```\n```\nd", &look, 20), "a\n\n\n\nd");
    assert_eq!(shown("1. ```sh\n   b\n   ```", &look, 20), "1.   b");
}

#[test]
fn a_line_beyond_the_bound_ends_the_colours_of_its_block() {
    load_syntaxes();
    let source = format!("```rust\nlet a = 1;\n// {}\nlet b = 2;\n```", "x".repeat(2_000));
    let rows = rows(&source, &colored(Colors::True), 4_000);
    assert!(rows[0].spans().len() > 2, "{:?}", rows[0]);
    assert_eq!(rows[2], StyledLine::plain("  let b = 2;"));
}

#[test]
fn tables_that_do_not_fit_are_lists() {
    let table =
        "| Name | What it is | Where |\n|---|---|---|\n| one | long words | here |\n| two | | there |\n";
    check(
        table,
        20,
        &[
            "• Name: one",
            "  What it is: long",
            "  words",
            "  Where: here",
            "• Name: two",
            "  What it is:",
            "  Where: there",
        ],
    );
    check("| a | b |\n|--:|:-:|\n| 1 | 234 |\n", 20, &["a │  b", "──┼────", "1 │ 234"]);
    check("a | b\n- | -\n1 | 2", 20, &["a │ b", "──┼──", "1 │ 2"]);
    check("> | a |\n> |---|\n> | b<br>c |", 20, &["> a", "> ─", "> b", "> c"]);
}

#[test]
fn html_is_text() {
    check("<div>\n  *a*\n</div>\n\n<b>x</b> y", 20, &["<div>", "  *a*", "</div>", "", "<b>x</b> y"]);
    check("<!-- a\n\nb -->\nc", 20, &["<!-- a", "", "b -->", "", "c"]);
    check("<?php\n\n*a* ?>\n*b*", 20, &["<?php", "", "*a* ?>", "", "*b*"]);
    check("<pre>\n\n*a*</pre>\n*b*", 20, &["<pre>", "", "*a*</pre>", "", "*b*"]);
}

#[test]
fn nesting_ends_somewhere() {
    let deep = "> ".repeat(500) + "a";
    let rows = rows(&deep, &TerminalLook::plain(), 80);
    assert_eq!(rows.len(), 1);
    assert!(rows[0].text().ends_with('a'), "{:?}", rows[0]);
}

#[test]
fn finished_rows_come_as_soon_as_they_are() {
    let look = TerminalLook::plain();
    let mut markdown = Markdown::default();
    let mut step = |text: &str| {
        markdown.push(text);
        let finished: Vec<String> = markdown.finished(&look, 40).iter().map(StyledLine::text).collect();
        let open: Vec<String> = markdown.open(&look, 40, 2).iter().map(StyledLine::text).collect();
        (finished.join("/"), open.join("/"))
    };
    let pair = |finished: &str, open: &str| (finished.to_owned(), open.to_owned());
    assert_eq!(step("one"), pair("", "one"));
    assert_eq!(step(" two\n\n"), pair("one two", ""));
    assert_eq!(step("- a **b"), pair("", "/• a **b"));
    assert_eq!(step("**\n-"), pair("", "/• a **b**"));
    assert_eq!(step(" c\n  ```\n  x\n  y"), pair("/• a **b**/• c/  ```/  x", "  y/  ```"));
    assert_eq!(step("\n  ```\n\n| a |\n|--"), pair("  y/  ```", "/| a |"));
    assert_eq!(step("-|\n| b |\n"), pair("", "─/b"));
    assert_eq!(step("\nend"), pair("/a/─/b", "/end"));
}
