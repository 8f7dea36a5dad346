//! Text for people fits every window: words stay whole, and the next step is never what is left out.

use buddy_protocol::{NoticeLevel, Ran, RanOutcome};
use proptest::prelude::*;

use super::*;
use crate::console::calls::{Paper, render_finished_call};
use crate::console::{render_session_notice, render_watched_call};
use crate::text::{Overlong, wrap_printed};

/// Refusals, the last sentence of which says what to do.
const REFUSALS: [&str; 4] = [
    "this is not allowed: it writes `/home/ann/projects/wt`, which is outside the workspace, and no question can open it, as a yes \
     would have to open all of `/home/ann/projects`, where protected places are. Use a directory inside the workspace, or put \
     `write = [\"/home/ann/projects/wt\"]` under `[jail]` in your buddy.toml (the directory must exist), or run the command yourself \
     with `!`",
    "this needs a user's approval and nobody is there to ask: it reaches `example.com`, which you did not name\nThe user can allow it \
     with `--allow '{ fetch = \"example.com\" }'`, or `{ fetch = \"example.com\" }` under `allow` in rules.toml",
    "short",
    "one reason; another reason that is long enough to need a second row in most windows; the last thing to do is `buddy trust`",
];

/// Words of buddy's own around a text.
const OWN: [&str; 11] =
    ["…", "more", "row", "rows", "ctrl+o", "show", "jail:", "▲", "exec", "never", "prompts"];

/// The last sentence of a text.
fn next_step(text: &str) -> &str {
    let line = text.lines().last().unwrap_or_default();
    if text.contains('\n') {
        return line;
    }
    line.rsplit("; ").next().and_then(|part| part.rsplit(". ").next()).unwrap_or_default()
}

/// Checks rows that show a text beside at most `indent` columns of something else.
#[track_caller]
fn check_rows(rows: &[StyledLine], text: &str, width: usize, indent: usize) {
    let shown: Vec<String> = rows.iter().map(StyledLine::text).collect();
    let told = || format!("{width}: {shown:#?}");
    assert!(rows.iter().all(|row| row.width() <= width), "too wide, {}", told());
    let room = width.saturating_sub(indent);
    // A command on a row of its own has no quotes.
    let bare = text.replace('`', "");
    let words: Vec<&str> = text.split_whitespace().chain(bare.split_whitespace()).collect();
    for piece in shown.iter().flat_map(|row| row.split_whitespace()) {
        let is_word = words.contains(&piece) || OWN.contains(&piece);
        let is_of_long = words.iter().any(|word| word.chars().count() > room && word.contains(piece));
        assert!(is_word || is_of_long || piece.parse::<usize>().is_ok(), "`{piece}` is no word, {}", told());
    }
    let letters = |text: &str| text.replace('`', "").split_whitespace().collect::<String>();
    let step = letters(next_step(text));
    assert!(letters(&shown.join(" ")).contains(&step), "the next step is missing, {}", told());
}

fn refused(code: &str, text: &str) -> ToolCall {
    let output = Some(Envelope::new(UnixMillis(0), Err(ToolFailure::new(code, text))));
    ToolCall { output, ..call(ToolKind::Execute, "make all") }
}

fn rows_of(call: &ToolCall, status: ItemStatus, width: usize) -> Vec<StyledLine> {
    let look = palette();
    render_finished_call(call, status, Duration::ZERO, &Paper { look: &look, width, cwd: "/w", answered: "" })
        .rows
}

#[test]
fn refusals_wrap_between_words_and_keep_the_next_step() {
    for (width, text) in (20..=200).flat_map(|width| REFUSALS.map(|text| (width, text))) {
        for status in [ItemStatus::Denied, ItemStatus::Failed] {
            let rows = rows_of(&refused("forbidden", text), status, width);
            check_rows(rows.get(1..).unwrap_or_default(), text, width, 12);
        }
    }
}

#[test]
fn lines_about_the_jail_wrap_between_words_and_keep_the_next_step() {
    for (width, text) in (20..=200).flat_map(|width| REFUSALS.map(|text| (width, text))) {
        let result = json!({"exit_code": 0, "stdout": "", "stderr": "", "jail": [text]});
        let Fact::ItemEnded(ended) = done(1, ToolKind::Execute, "make all", result) else { unreachable!() };
        let Content::ToolCall(call) = ended.item.content else { unreachable!() };
        let rows = rows_of(&call, ItemStatus::Completed, width);
        check_rows(rows.get(1..).unwrap_or_default(), text, width, 18);
    }
}

#[test]
fn a_run_tells_the_option_that_opens_a_call_in_every_window() {
    let text = REFUSALS[1];
    let way = text.split("The user can ").nth(1).unwrap();
    for width in 20..=200 {
        let look = palette();
        let call = refused("approval_needed", text);
        let rows = render_watched_call(&call, ItemStatus::Denied, Duration::ZERO, (&look, width, "/w"));
        if rows.len() == 1 {
            assert!(rows[0].text().ends_with(way), "{}", rows[0].text());
        } else {
            check_rows(&rows[1..], way, width, 12);
        }
    }
}

#[test]
fn notices_and_printed_lines_wrap_between_words() {
    for (width, text) in (20..=200).flat_map(|width| REFUSALS.map(|text| (width, text))) {
        let rows = render_session_notice(text, NoticeLevel::Warning, &palette(), width);
        check_rows(&rows, text, width, 2);
        check_rows(&wrap_printed(text, width, Overlong::Broken), text, width, 0);
        let listed = format!("  risk   {}", text.replace('\n', " "));
        check_rows(&wrap_printed(&listed, width, Overlong::Broken), &listed, width, 9);
    }
}

proptest! {
    #[test]
    fn any_words_stay_whole_in_any_window(
        words in prop::collection::vec("[a-z`(]{1,14}[.;,]?", 1..80),
        width in 20..=200_usize,
    ) {
        let text = words.join(" ");
        let rows = rows_of(&refused("forbidden", &text), ItemStatus::Denied, width);
        let shown: Vec<String> = rows.iter().skip(1).map(StyledLine::text).collect();
        prop_assert!(rows.iter().all(|row| row.width() <= width), "{shown:#?}");
        let last = shown.last().and_then(|row| row.split_whitespace().last());
        prop_assert_eq!(last, words.last().map(String::as_str), "{:#?}", &shown);
        for piece in shown.iter().flat_map(|row| row.split_whitespace()) {
            let is_known = words.iter().any(|word| word == piece) || OWN.contains(&piece);
            let is_long = words.iter().any(|word| word.len() > width.saturating_sub(12) && word.contains(piece));
            prop_assert!(is_known || is_long || piece.parse::<usize>().is_ok(), "`{}` {:#?}", piece, shown);
        }
    }
}

#[test]
fn a_command_with_a_document_shows_its_first_line_and_how_many_follow() {
    let document = (0..40).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    let command = format!("cat > notes.md <<'EOF'\n{document}EOF");
    for width in [40, 80, 200] {
        let mut stage = SceneStage::new(&palette(), (width, 24));
        stage.prompt("go");
        stage.fact(ran(1, &command, 0, ""));
        let shown: Vec<String> = stage.finished.iter().skip(2).map(StyledLine::text).collect();
        assert_eq!(shown.len(), 1, "{shown:#?}");
        assert!(shown[0].contains("cat >") && shown[0].ends_with("… 41 more lines"), "{shown:#?}");
        stage.seat.press("ctrl-o");
        let rows: Vec<String> = stage.seat.console.take_rows().iter().map(StyledLine::text).collect();
        assert!(rows.iter().any(|row| row.trim() == "line 39"), "{rows:#?}");
    }
}

#[test]
fn the_end_of_a_command_of_the_users_own_wraps_between_words() {
    let note =
        "the model does not see this output, as the command can read a secret; tell it what it needs to know";
    let outcome = RanOutcome {
        exit_code: Some(0),
        stdout: "KEY=1\n".to_owned(),
        note: Some(note.to_owned()),
        ..RanOutcome::default()
    };
    let run = Ran {
        command: "cat .env".to_owned(),
        target: "local".to_owned(),
        cwd: "/w".to_owned(),
        background: None,
        is_withheld: true,
        outcome: Some(outcome),
    };
    let content = Content::UserMessage {
        text: String::new(),
        images: Vec::new(),
        ran: Some(Box::new(run)),
        typed: None,
    };
    for width in 20..=120 {
        let mut stage = SceneStage::new(&palette(), (width, 24));
        stage.fact(ended(1, content.clone()));
        let shown: Vec<String> =
            stage.finished.iter().map(StyledLine::text).filter(|row| !row.is_empty()).collect();
        assert_eq!(shown[1], "  KEY=1", "{width}: {shown:#?}");
        check_rows(&shown[2..].iter().map(|row| StyledLine::plain(row)).collect::<Vec<_>>(), note, width, 2);
    }
}
