//! The look of each question, in windows of every size and at every depth of colour.

use std::fmt::Write;

use buddy_protocol::{RunLimits, RunNetwork};

use super::*;
use crate::console::ApprovalWords;
use crate::text::{Colors, Theme, encode};

/// The windows that each is shown in.
const SIZES: [(usize, usize); 4] = [(40, 15), (80, 24), (100, 30), (200, 50)];

fn looks() -> TerminalLook {
    TerminalLook { colors: Colors::Palette, home: "/home/ann".to_owned(), ..TerminalLook::plain() }
}

/// A question about a command.
pub(super) fn asked(action: &str) -> Fact {
    let approval = Approval {
        item: None,
        actor: "buddy".to_owned(),
        place: "ann@atlas".to_owned(),
        target: None,
        cwd: "/w".to_owned(),
        action: action.to_owned(),
        why: None,
        risk: Risk::Medium,
        reasons: Vec::new(),
        parts: Vec::new(),
        destinations: Vec::new(),
        risky: Vec::new(),
        limits: None,
        opens: Vec::new(),
        diff: None,
        is_editable: true,
        offers: Vec::new(),
        unfit: None,
        word: None,
    };
    let question = Question::Approval(approval);
    Fact::Asked(Asked { ask: Ask { id: ask_id(), turn: None, item: None, question, expires: None } })
}

fn approval(action: &str, risk: Risk) -> Approval {
    let Fact::Asked(Asked { ask }) = asked(action) else { unreachable!() };
    let Question::Approval(approval) = ask.question else { unreachable!() };
    Approval { risk, cwd: "/home/ann/app".to_owned(), ..approval }
}

fn put(question: Question) -> Fact {
    Fact::Asked(Asked { ask: Ask { id: ask_id(), turn: None, item: None, question, expires: None } })
}

/// A seat at which a question is put in a window.
fn seat(look: &TerminalLook, (columns, height): (usize, usize), question: Question) -> Seat {
    let now = Instant::now();
    let console = Console::new(session(1), look.clone(), columns, Vec::new(), now);
    let painter = ScreenPainter::new(look.clone(), columns, height);
    let mut seat = Seat { console, painter, now, seq: 0 };
    let Fact::SessionStarted(started) = begun() else { unreachable!() };
    seat.fact(1, Fact::SessionStarted(SessionStarted { cwd: "/home/ann/app".to_owned(), ..started }));
    seat.fact(1, Fact::TurnStarted(TurnStarted { turn: turn() }));
    seat.fact(1, put(question));
    seat
}

fn rows(seat: &Seat) -> Vec<StyledLine> {
    seat.console.frame(seat.painter.height()).rows
}

/// The question in every window, after these keys.
#[track_caller]
fn check(name: &str, question: &Question, keys: &[&str]) {
    let mut shown = String::new();
    for size in SIZES {
        let mut seat = seat(&looks(), size, question.clone());
        for key in keys {
            seat.press(key);
        }
        let _ = writeln!(shown, "{}x{}", size.0, size.1);
        let rows = rows(&seat);
        assert!(rows.len() <= size.1, "{name} at {size:?} has {} rows", rows.len());
        for row in &rows {
            assert!(row.width() <= size.0, "{name} at {size:?}: {}", row.text());
            let _ = writeln!(shown, "{}", row.text().trim_end());
        }
        shown.push('\n');
    }
    insta::assert_snapshot!(name, shown);
}

fn testing() -> Approval {
    let offers = vec![
        Offer {
            grant: "cargo test *".to_owned(),
            covers: "every command that starts with `cargo test`".to_owned(),
        },
        Offer { grant: "cargo test -p parser".to_owned(), covers: "exactly this command".to_owned() },
    ];
    let why = Some("see whether the fix works".to_owned());
    Approval {
        offers,
        why,
        reasons: vec!["it runs a program".to_owned()],
        ..approval("cargo test -p parser", Risk::Low)
    }
}

fn forcing() -> Approval {
    Approval {
        why: Some("clear the old build and publish the rebased branch".to_owned()),
        reasons: vec![
            "it removes `build`, which git does not know".to_owned(),
            "it pushes with `--force`, which can drop commits".to_owned(),
        ],
        parts: vec!["rm -rf build".to_owned(), "git push --force origin main".to_owned()],
        risky: vec!["rm -rf".to_owned(), "git push --force".to_owned()],
        limits: Some(RunLimits { sandboxed: false, network: RunNetwork::On }),
        ..approval("rm -rf build && git push --force origin main", Risk::High)
    }
}

fn editing() -> Approval {
    let diff = "--- src/parser.rs\n+++ src/parser.rs\n@@ -40,4 +40,6 @@\n fn parse_number(s: &str, span: Span) -> Result<i64, ParseError> {\n     let digits = s.trim_start_matches('0');\n-    let value = digits.parse::<i32>()?;\n+    let value = digits\n+        .parse::<i64>()\n+        .map_err(|_| ParseError::TooLarge(span))?;\n     Ok(value)\n";
    Approval {
        diff: Some(diff.to_owned()),
        is_editable: false,
        why: Some("i32 overflows at 2147483648".to_owned()),
        ..approval("Write src/parser.rs", Risk::Low)
    }
}

fn reaching() -> Approval {
    Approval {
        is_editable: false,
        reasons: vec!["nothing allows `static.example.com` yet".to_owned()],
        parts: vec!["cargo update".to_owned()],
        offers: vec![Offer {
            grant: "reach static.example.com".to_owned(),
            covers: "connections to static.example.com".to_owned(),
        }],
        ..approval(
            "cargo wants to reach static.example.com (its registry, named in Cargo.toml)",
            Risk::Medium,
        )
    }
}

/// A command, an edit, a connection and a command at high risk.
fn kinds() -> [Question; 4] {
    [testing(), editing(), reaching(), forcing()].map(Question::Approval)
}

/// The cards of each kind in one look, as a terminal gets them.
fn encoded_kinds(look: &TerminalLook) -> String {
    let mut shown = String::new();
    for question in kinds() {
        for row in rows(&seat(look, (80, 24), question)) {
            assert!(row.width() <= 80, "{}", row.text());
            encode(&row, look, &mut shown);
            shown.push('\n');
        }
    }
    shown
}

#[test]
fn in_the_light_palette() {
    for (name, colors) in [("light_true", Colors::True), ("light_palette", Colors::Palette)] {
        let look = TerminalLook { theme: Theme::Light, colors, ..looks() };
        let (light, dark) =
            (encoded_kinds(&look), encoded_kinds(&TerminalLook { theme: Theme::Dark, ..look }));
        assert_ne!(light, dark, "{name}");
        insta::assert_snapshot!(name, light.replace('\u{1b}', "␛"));
    }
}

#[test]
fn without_colours() {
    let shown = encoded_kinds(&TerminalLook { colors: Colors::Mono, ..looks() });
    for (code, _) in shown.split("\u{1b}[").skip(1).filter_map(|rest| rest.split_once('m')) {
        let is_plain = |one: &str| ["", "0", "1", "2", "3", "4", "7"].contains(&one);
        assert!(code.split(';').all(is_plain), "a colour: {code}");
    }
    for words in ["Low risk", "Medium risk", "High risk", "\u{1b}[1m−", "\u{1b}[1m+"] {
        assert!(shown.contains(words), "{words} is said without colours: {shown}");
    }
    insta::assert_snapshot!(shown.replace('\u{1b}', "␛"));
}

#[test]
fn low_risk() {
    check("low", &Question::Approval(testing()), &[]);
}

#[test]
fn medium_risk() {
    let push = Approval {
        reasons: vec!["it publishes to `origin`, on `git.example.com`".to_owned()],
        why: Some("open the branch for review".to_owned()),
        offers: vec![Offer {
            grant: "git push origin parser-fix".to_owned(),
            covers: "exactly this command".to_owned(),
        }],
        ..approval("git push origin parser-fix", Risk::Medium)
    };
    check("medium", &Question::Approval(push), &[]);
}

/// A script of 30 lines, with a reason for many of them.
fn long() -> Approval {
    let line = |number: usize| {
        format!("./tools/step{number}.sh --input data/part{number}.csv --output out/part{number}.json")
    };
    let reason = |number: usize| {
        format!("`./tools/step{number}.sh` is a program that commands of this project can change")
    };
    Approval {
        reasons: (1..=20).map(reason).collect(),
        why: Some("run all steps of the pipeline one after the other, and see whether each of them writes its part of the result ".repeat(3)),
        ..approval(&(1..=30).map(line).collect::<Vec<_>>().join("\n"), Risk::Medium)
    }
}

#[test]
fn a_long_command_is_folded_into_the_window() {
    check("long", &Question::Approval(long()), &[]);
    for size in [(80, 24), (100, 30), (200, 50)] {
        let text = |seat: &Seat| rows(seat).iter().map(StyledLine::text).collect::<Vec<_>>().join("\n");
        let mut seat = seat(&looks(), size, Question::Approval(long()));
        seat.paint();
        let shown = text(&seat);
        assert!(
            shown.contains("Some rows are folded. y shows them first.") && shown.contains("Read on first"),
            "{shown}"
        );
        for _ in 0..100 {
            let before = text(&seat);
            if before.contains("Allow once") {
                break;
            }
            assert!(seat.press("y").is_empty(), "{size:?} allowed something unseen:\n{before}");
            seat.paint();
        }
        let last = text(&seat);
        assert!(last.contains("Allow once"), "{size:?}: {last}");
    }
}

#[test]
fn high_risk_offers_no_first() {
    check("high", &Question::Approval(forcing()), &[]);
}

#[test]
fn a_digit_answers_nothing_where_denying_comes_first() {
    for risk in [Risk::Low, Risk::Medium, Risk::High] {
        let mut seat = seat(&looks(), (80, 24), Question::Approval(approval("make", risk)));
        seat.paint();
        let answered = seat.press("1").iter().any(|effect| matches!(effect, ConsoleEffect::Send(..)));
        assert_eq!(answered, risk != Risk::High, "{risk:?}");
    }
    // Nor does it begin a draft, which would take the keys that answer.
    let mut seat = seat(&looks(), (80, 24), Question::Approval(approval("make", Risk::High)));
    seat.paint();
    seat.press("4");
    let answered = seat.press("d").iter().any(|effect| matches!(effect, ConsoleEffect::Send(..)));
    assert!(answered, "{:?}", rows(&seat));
}

#[test]
fn titles_and_labels_say_what_a_call_does() {
    let title = |approval: &Approval| ApprovalWords::of(approval, |_| true).title;
    let tool = |action| Approval { is_editable: false, ..approval(action, Risk::Medium) };
    let search = tool("Search the web for rust (https://search.test/?q=rust)");
    assert_eq!(title(&search), "Search the web?");
    let diff = |hunk: &str| Some(format!("--- /w/a\n+++ /w/a\n{hunk}\n+x\n"));
    for (hunk, expected) in [("@@ -0,0 +1 @@", "Create a?"), ("@@ -1 +1,2 @@", "Edit a?")] {
        let edit = Approval { diff: diff(hunk), ..tool("Write a (+1 −0)") };
        assert_eq!(title(&edit), expected);
        let granted = ApprovalWords::of(&edit, |_| true).granted("write /w/a", &TerminalLook::plain());
        assert_eq!(granted, "writes of /w/a");
    }
    for (force, what) in [("", "pushes"), (" --force-with-lease", "forced pushes")] {
        let grant = format!(
            "git push --porcelain --no-verify --no-signed --no-follow-tags --recurse-submodules=no \
             --receive-pack=git-receive-pack{force} --end-of-options origin refs/heads/wip:refs/heads/wip # ../o.git"
        );
        let granted = ApprovalWords::of(&search, |_| true).granted(&grant, &TerminalLook::plain());
        assert_eq!(granted, format!("{what} of wip to origin"));
    }
}

#[test]
fn digits_count_the_rows_of_a_card() {
    let offer = Offer { grant: "make".to_owned(), covers: "exactly this command".to_owned() };
    let card = Approval { is_editable: true, offers: vec![offer], ..approval("make", Risk::Low) };
    let text = |seat: &Seat| rows(seat).iter().map(StyledLine::text).collect::<Vec<_>>();
    let painted = || {
        let mut seat = seat(&looks(), (80, 24), Question::Approval(card.clone()));
        seat.paint();
        seat
    };
    let after = |key: &str| {
        let mut seat = painted();
        let effects = format!("{:?}", seat.press(key));
        seat.paint();
        (effects, text(&seat))
    };
    let letters: Vec<String> = text(&painted())
        .iter()
        .filter_map(|row| row.strip_prefix("▌  ")?.split_once("  ").map(|(key, _)| key.to_owned()))
        .filter(|key| key != "?" && key.len() == 1)
        .collect();
    assert_eq!(letters, ["y", "a", "p", "d", "n", "e"]);
    for (digit, letter) in (1..).zip(letters) {
        assert_eq!(after(&digit.to_string()), after(&letter), "{digit} {letter}");
    }
}

#[test]
fn details() {
    check("details", &Question::Approval(forcing()), &["?"]);
}

#[test]
fn an_edit_is_its_diff() {
    check("edit", &Question::Approval(editing()), &[]);
}

#[test]
fn several_edits() {
    check("batch", &several(), &["2"]);
}

/// Two edits, of which git runs one.
fn several() -> Question {
    let other = Approval {
        action: "Write .githooks/pre-commit".to_owned(),
        risk: Risk::High,
        reasons: vec![
            "it writes `.githooks/pre-commit`".to_owned(),
            "git runs `.githooks/pre-commit` on every commit".to_owned(),
        ],
        ..editing()
    };
    Question::Batch { approvals: vec![editing(), other] }
}

#[test]
fn in_a_narrow_window_every_file_of_several_is_listed_first() {
    let shown: Vec<String> =
        rows(&seat(&looks(), (40, 15), several())).iter().map(StyledLine::text).collect();
    let place = |text: &str| shown.iter().position(|row| row.contains(text));
    let (first, second, diff) =
        (place("src/parser.rs"), place(".githooks/pre-commit"), place("fn parse_number"));
    assert!(first < second && second.is_some(), "{shown:#?}");
    assert!(diff.is_none() || second < diff, "{shown:#?}");
    assert!(place(" d  Reject").is_some_and(|row| shown[row].starts_with("▌  d")), "{shown:#?}");
}

/// Every question at every depth of colour, on both grounds and in ASCII, in windows of every size: no row is too wide and none too many.
#[test]
fn every_card_fits_every_window_at_every_depth() {
    let depths = [Colors::True, Colors::Palette, Colors::Sixteen, Colors::Mono, Colors::None];
    let grounds = depths.into_iter().flat_map(|colors| [(colors, Theme::Dark), (colors, Theme::Light)]);
    let all = grounds.flat_map(|(colors, theme)| {
        [false, true].map(|is_ascii| TerminalLook { colors, theme, is_ascii, ..looks() })
    });
    let words = Question::Text { text: "Where should the cache live?".to_owned(), options: places() };
    let questions: Vec<Question> =
        kinds().into_iter().chain([Question::Approval(long()), several(), words]).collect();
    for look in all {
        for (size, question) in
            SIZES.into_iter().flat_map(|size| questions.iter().map(move |one| (size, one)))
        {
            for keys in [&[][..], &["?"], &["p"], &["n"]] {
                let mut seat = seat(&look, size, question.clone());
                for key in keys {
                    seat.press(key);
                }
                let rows = rows(&seat);
                assert!(rows.len() <= size.1, "{size:?} {keys:?}: {} rows", rows.len());
                let wide = rows.iter().find(|row| row.width() > size.0);
                assert!(wide.is_none(), "{size:?} {keys:?}: {wide:?}");
            }
        }
    }
}

#[test]
fn a_connection() {
    check("network", &Question::Approval(reaching()), &[]);
}

#[test]
fn outside_the_sandbox() {
    let outside = Approval {
        is_editable: false,
        reasons: vec![
            "outside the jail it has your account's rights and the network, but no `sudo`, and sees neither buddy's own files nor your other sessions; undo does not cover it".to_owned(),
            "it can load files of the workspace, which the agent may have written".to_owned(),
            "it could not write `~/.cargo/config.toml`".to_owned(),
        ],
        ..approval("run once outside the jail: cargo login", Risk::High)
    };
    check("sandbox", &Question::Approval(outside), &[]);
}

#[test]
fn for_longer() {
    check("longer", &Question::Approval(testing()), &["p"]);
}

#[test]
fn a_no_with_words() {
    check("telling", &Question::Approval(testing()), &["n", "u", "s", "e", "space", "b"]);
}

#[test]
fn another_command() {
    check("editing", &Question::Approval(testing()), &["e"]);
}

#[test]
fn a_word_in_production() {
    let word = Some("kxwpd".to_owned());
    check("word", &Question::Approval(Approval { word, ..forcing() }), &["y"]);
}

/// Answers to pick from, with what is said about each.
fn places() -> Vec<String> {
    [
        "In memory: fast, gone on restart; nothing to configure",
        "On disk, in ~/.cache/app: survives restarts; needs eviction",
        "Redis: shared by both binaries; adds a dependency",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn a_question_in_words() {
    let question = Question::Text { text: "Where should the cache live?".to_owned(), options: places() };
    check("question", &question, &["down"]);
    check("question_own_words", &question, &["a", "s", "k"]);
}

#[test]
fn a_key_that_does_nothing() {
    check("no_choice", &Question::Approval(testing()), &["left"]);
}

#[test]
fn text_below_a_card() {
    check("typed", &Question::Approval(testing()), &["m"]);
}

#[test]
fn at_every_depth() {
    let mut shown = String::new();
    let depths = [Colors::True, Colors::Palette, Colors::Sixteen, Colors::Mono, Colors::None];
    for (colors, theme) in
        depths.into_iter().flat_map(|colors| [(colors, Theme::Dark), (colors, Theme::Light)])
    {
        let look = TerminalLook { colors, theme, ..looks() };
        let seat = seat(&look, (80, 24), Question::Approval(forcing()));
        let _ = writeln!(shown, "{colors:?} {theme:?}");
        for row in rows(&seat) {
            encode(&row, &look, &mut shown);
            shown.push('\n');
        }
    }
    insta::assert_snapshot!(shown.replace('\u{1b}', "␛"));
}

#[test]
fn in_ascii() {
    let look = TerminalLook { is_ascii: true, colors: Colors::None, ..looks() };
    let mut shown = String::new();
    for row in kinds().into_iter().flat_map(|question| rows(&seat(&look, (80, 24), question))) {
        let _ = writeln!(shown, "{}", row.text().trim_end());
    }
    assert!(shown.is_ascii(), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn a_line_of_a_command_cannot_pass_for_a_row_of_the_card() {
    let forged = approval("rm -rf /\nrisk   none\n y  Allow once", Risk::High);
    let seat = seat(&looks(), (80, 24), Question::Approval(forged));
    let texts: Vec<String> = rows(&seat).iter().map(StyledLine::text).collect();
    assert!(texts.iter().any(|row| row == "▌   risk   none⏎"), "{texts:#?}");
    assert!(!texts.iter().any(|row| row.starts_with("▌ risk   none")), "{texts:#?}");
}

#[test]
fn a_long_command_that_is_edited_leaves_the_keys_on_the_screen() {
    let long = (0..60).map(|number| format!("echo number {number}")).collect::<Vec<_>>().join(" && ");
    let document = (0..40).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    for command in [long, format!("cat > notes.md <<'EOF'\n{document}EOF")] {
        for size in [(30, 10), (40, 15), (60, 12), (80, 24), (100, 30), (200, 50)] {
            for (key, words) in [("e", ["enter", "esc"]), ("n", ["enter", "esc"]), ("p", ["enter", "esc"])] {
                let mut approval = testing();
                approval.action.clone_from(&command);
                let mut seat = seat(&looks(), size, Question::Approval(approval));
                // Everything has to be on the screen before a key leads to a yes.
                for _ in 0..200 {
                    if seat.console.asking.as_ref().is_some_and(|asking| asking.seen.is_whole()) {
                        break;
                    }
                    seat.press("y");
                    seat.wait(1_000);
                    seat.paint();
                }
                seat.press(key);
                let rows: Vec<String> = rows(&seat).iter().map(StyledLine::text).collect();
                assert!(rows.len() <= size.1, "{size:?} {rows:#?}");
                for word in words {
                    assert!(rows.iter().any(|row| row.contains(word)), "{word} at {key} {size:?} {rows:#?}");
                }
            }
        }
    }
}

#[test]
fn a_push_shows_where_it_goes_in_every_window() {
    let push = Question::Approval(Approval {
        destinations: vec!["https://git.example.org/ann/app.git".to_owned()],
        reasons: vec![
            "`origin` now leads to `https://git.example.org/ann/app.git`; you allowed `../a`".to_owned(),
        ],
        ..approval("git push origin main", Risk::High)
    });
    for size in SIZES {
        for keys in [&[][..], &["?"]] {
            let mut seat = seat(&looks(), size, push.clone());
            for key in keys {
                seat.press(key);
            }
            let shown: Vec<String> = rows(&seat).iter().map(StyledLine::text).collect();
            let shown = shown.join("\n");
            let row =
                shown.lines().find(|row| row.contains(" to ")).unwrap_or_else(|| panic!("{size:?}: {shown}"));
            assert!(row.contains("https://git.example"), "{size:?}: {shown}");
        }
    }
}

#[test]
fn escape_closes_the_details_and_then_denies() {
    let mut seat = seat(&looks(), (80, 40), Question::Approval(testing()));
    seat.paint();
    seat.wait(1_100);
    seat.press("?");
    let is_open = |seat: &Seat| seat.console.asking.as_ref().unwrap().is_expanded;
    assert!(is_open(&seat));
    seat.press("esc");
    assert!(!is_open(&seat) && !is_shown(&seat, "Deny it."), "only the details are closed");
    seat.press("esc");
    assert!(is_shown(&seat, "Deny it."));
}
