//! Properties of every text.

use proptest::prelude::*;

use super::{Markdown, colored, rows};
use crate::text::{Colors, StyledLine, TerminalLook};

/// Texts with many signs of Markdown, wide characters, and what steers terminals.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "  ",
        "    ",
        "\t",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        ">",
        "# ",
        "###",
        "```",
        "```py\n",
        "~~~",
        "`",
        "``",
        "*",
        "**",
        "_",
        "~~",
        "[",
        "](",
        ")",
        "[a](https://b.test/)",
        "![c](d)",
        "[x]: y\n",
        "[^1]",
        "[^1]: ",
        "|",
        "| a | b |\n",
        "|---|:-:|\n",
        "---\n",
        "===\n",
        "- [ ] ",
        "- [x] ",
        "<div>",
        "<!--",
        "-->",
        "<br>",
        "\\",
        "&amp;",
        "&#27;",
        "word",
        "漢字",
        "👩‍👩‍👧‍👦",
        "e\u{301}",
        "\u{1b}[2J",
        "\u{7}",
        "\u{202e}",
        "\u{200b}",
        "क्षि",
        "لا",
        "ﷺ",
        "\u{0}",
        "def f(x):",
    ]);
    let piece = prop_oneof![8 => pieces.prop_map(str::to_owned), 1 => "\\PC{0,12}", 1 => any::<String>()];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn looks() -> impl Strategy<Value = TerminalLook> {
    let colors = prop::sample::select(vec![Colors::None, Colors::True]);
    (colors, any::<bool>(), any::<bool>()).prop_map(|(colors, is_ascii, is_read_aloud)| TerminalLook {
        is_ascii,
        is_read_aloud,
        ..colored(colors)
    })
}

#[track_caller]
fn check_rows(rows: &[StyledLine], width: usize) {
    for row in rows {
        assert!(row.width() <= width, "{} columns in {width}: {row:?}", row.width());
        assert!(!row.text().contains(char::is_control), "{row:?}");
    }
}

/// The rows of a text that comes in pieces which end at these places.
fn pushed(text: &str, places: &[prop::sample::Index], look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let letters: Vec<char> = text.chars().collect();
    let mut ends: Vec<usize> = places.iter().map(|place| place.index(letters.len() + 1)).collect();
    ends.push(letters.len());
    ends.sort_unstable();
    let mut markdown = Markdown::default();
    let (mut rows, mut start) = (Vec::new(), 0);
    for end in ends {
        markdown.push(&letters[start..end].iter().collect::<String>());
        rows.extend(markdown.finished(look, width));
        let open = markdown.open(look, width, 5);
        assert!(open.len() <= 5);
        check_rows(&open, width);
        start = end;
    }
    rows.extend(markdown.finish(look, width));
    rows
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn how_a_text_is_cut_changes_nothing(
        text in texts(),
        places: Vec<prop::sample::Index>,
        look in looks(),
        width in 1_usize..60,
    ) {
        let whole = rows(&text, &look, width);
        check_rows(&whole, width);
        prop_assert_eq!(pushed(&text, &places, &look, width), whole);
    }

    #[test]
    fn no_two_empty_rows_follow_each_other_outside_of_code(text in texts()) {
        let text = text.replace(['`', '~', '<'], "x").replace("    ", "").replace('\t', "");
        let rows = rows(&text, &TerminalLook::plain(), 60);
        let pairs = rows.windows(2).filter(|pair| pair.iter().all(StyledLine::is_empty)).count();
        prop_assert_eq!(pairs, 0, "{:?}", rows);
    }
}

/// Words and signs of one line that begins as text.
fn lines_of_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "word",
        "word",
        "two words",
        "a longer one,",
        "**",
        "*",
        "_",
        "`",
        "``",
        "~~",
        "[",
        "]",
        "](",
        ")",
        "[a b](c)",
        "**b c**",
        "`d e`",
        "_f_",
        "\\",
        "<br>",
        "<",
        "&amp;",
        "漢字",
        "|",
        "1.",
        "- ",
        "# ",
        "!",
        "  ",
    ]);
    let piece = (pieces, prop::sample::select(vec![" ", " ", "", "x"]))
        .prop_map(|(piece, end)| format!("{piece}{end}"));
    prop::collection::vec(piece, 0..80).prop_map(|pieces| format!("begin {}", pieces.concat()))
}

/// Letters with how they look.
fn letters(rows: &[StyledLine]) -> Vec<Vec<(String, anstyle::Style)>> {
    let of =
        |row: &StyledLine| row.graphemes().map(|(letter, span)| (letter.to_owned(), span.style())).collect();
    rows.iter().map(of).collect()
}

proptest! {
    #![proptest_config(cases(100))]

    /// A long line is given in parts, and looks as if it had been read as a whole.
    #[test]
    fn a_line_in_parts_looks_like_the_whole(text in lines_of_text(), width in 10_usize..100, keep in 0_usize..4) {
        let look = colored(Colors::True);
        let whole = super::super::inline::shapes(text.trim_end(), false, &look, anstyle::Style::new());
        let [super::super::inline::InlineShape::Lines(lines)] = whole.as_slice() else { return Ok(()) };
        let (none, measure) = (StyledLine::default(), width.min(super::super::paint::MEASURE));
        let whole: Vec<StyledLine> = lines.iter().flat_map(|line| crate::text::wrap(line, measure, &none, &none)).collect();
        let whole: Vec<StyledLine> = whole.iter().map(StyledLine::trimmed).collect();
        let mut markdown = Markdown::default();
        let mut parts = Vec::new();
        for word in text.split_inclusive(' ') {
            markdown.push(word);
            parts.extend(markdown.settled(&look, width, keep));
        }
        parts.extend(markdown.finish(&look, width));
        prop_assert_eq!(letters(&parts), letters(&whole));
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn cutting_long_lines_changes_nothing(
        text in texts(),
        count in 1_usize..300,
        places: [prop::sample::Index; 4],
    ) {
        let text = text.replace('\n', " ").repeat(count);
        let look = TerminalLook::plain();
        let whole = rows(&text, &look, 80);
        check_rows(&whole, 80);
        prop_assert_eq!(pushed(&text, &places, &look, 80), whole);
    }

    #[test]
    fn words_of_a_paragraph_without_end_are_all_shown_in_full_rows(
        words in prop::collection::vec("[a-z]{1,9}", 3_000..4_000),
        lines in 1_usize..50,
    ) {
        let end = |index: usize| if index.is_multiple_of(lines) { "\n" } else { " " };
        let text: String = words.iter().enumerate().flat_map(|(index, word)| [word, end(index)]).collect();
        let rows: Vec<String> = rows(&text, &TerminalLook::plain(), 80).iter().map(StyledLine::text).collect();
        prop_assert_eq!(rows.join(" "), words.join(" "));
        for pair in rows.windows(2) {
            let next = pair[1].split(' ').next().unwrap_or_default();
            prop_assert!(pair[0].len() + 1 + next.len() > 80, "{} ends before {}", pair[0], next);
        }
    }
}

#[test]
fn what_is_held_is_bounded_whatever_never_ends() {
    for endless in [
        "word ",
        "word\n",
        "- item\n",
        "- item\n  - more\n",
        "> quote\n",
        "x",
        "漢",
        "    code\n",
        "a | b\n---|---\n",
        "| a |\n",
        "<p>\n",
        "  ",
    ] {
        for start in ["", "```\n", "- ", "| a |\n|---|\n"] {
            let mut markdown = Markdown::default();
            markdown.push(start);
            for _ in 0..20 {
                markdown.push(&endless.repeat(500));
                markdown.finished(&TerminalLook::plain(), 80);
                assert!(markdown.held() < 16 * 1024, "{} bytes of {endless:?}", markdown.held());
            }
        }
    }
}
