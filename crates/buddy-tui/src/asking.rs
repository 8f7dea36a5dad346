//! Questions in the terminal: how one is put, and what a typed line answers.

use std::fmt::Write;

use buddy_protocol::{Answer, Approval, Ask, GrantScope, GrantWish, MAX_GRANT_SECONDS, Question, Risk};

use crate::amounts::read_seconds;
use crate::console::ApprovalWords;
use crate::list_time::describe_local_time;
use crate::text::TerminalLook;

/// How long a grant for a session holds when the user does not say.
const SESSION_SECONDS: u64 = 8 * 60 * 60;
/// The same for grants beyond one session.
const LASTING_SECONDS: u64 = MAX_GRANT_SECONDS;

/// The meaning of a line for a question.
#[derive(Debug, PartialEq)]
pub(crate) enum ReadLine {
    /// It answers it.
    Answer(Answer),
    /// It answers nothing; this is told, and the question waits on.
    Help(String),
}

/// The question as it is put in a session that works in `cwd`, without the end of its last line.
pub(crate) fn render_question(ask: &Ask, cwd: &str) -> String {
    let until = ask
        .expires
        .map(|time| format!("denied automatically at {}\n", describe_local_time(time)))
        .unwrap_or_default();
    format!("{until}{}", put(&ask.question, cwd))
}

fn put(question: &Question, cwd: &str) -> String {
    match question {
        Question::Approval(approval) => {
            let mut text = format!("{}\n", title(approval));
            text.push_str(&changes(approval, ""));
            text.push_str(&details(approval, cwd, "  "));
            if let Some(unfit) = &approval.unfit {
                let _ = writeln!(text, "buddy: {}", unfit.why);
            }
            text.push_str(&keys(approval));
            let answers = approval.word.as_ref().map_or("[y/n]".to_owned(), |word| format!("[{word}/n]"));
            let _ = write!(text, "{} -- approve? {answers} ", command(approval));
            text
        }
        Question::Batch { approvals } => {
            let mut text = String::new();
            for (number, approval) in (1..).zip(approvals) {
                text.push_str(&details(approval, cwd, "     "));
                text.push_str(&changes(approval, "     "));
                let _ = writeln!(text, "{number:>3}. {}", command(approval));
            }
            let _ = write!(
                text,
                "approve? [y/n] all {}, or the numbers to allow, such as `1 3` ",
                approvals.len()
            );
            text
        }
        Question::Text { text, options } if options.is_empty() => format!("{text} "),
        Question::Text { text, options } => {
            let mut shown = format!("{text}\n");
            for (number, option) in (1..).zip(options) {
                let _ = writeln!(shown, "{number:>3}. {option}");
            }
            shown.push_str("a number, or your own answer: ");
            shown
        }
    }
}

/// The title of a question, with its risk.
fn title(approval: &Approval) -> String {
    let what = ApprovalWords::of(approval, |_| true).title;
    let risk = match approval.risk {
        Risk::Low => "Low risk",
        Risk::Medium => "Medium risk",
        Risk::High => "High risk",
    };
    format!("{what}  {risk}")
}

/// The keys that answer, one a line. At high risk denying comes first.
fn keys(approval: &Approval) -> String {
    let mut allow = vec![match &approval.word {
        Some(word) => format!("{word}  Allow: type this word"),
        None => "y  Allow once".to_owned(),
    }];
    if let Some(offer) = approval.offers.first() {
        let is_exact = offer.grant == approval.action;
        let granted = ApprovalWords::of(approval, |_| true).granted(&offer.grant, &TerminalLook::plain());
        let what = if is_exact { "exactly this" } else { granted.as_str() };
        let covers = if is_exact { String::new() } else { format!(": {}", offer.covers) };
        allow.push(format!("a  Allow {what} this session{covers}"));
        allow.push("p  Allow it for longer: choose what, where and for how long".to_owned());
    }
    let mut deny = vec!["d  Deny".to_owned(), "n  Deny and say why: n WORDS".to_owned()];
    match &approval.word {
        _ if !approval.is_editable => {}
        Some(word) => deny.push(format!("e  Edit: e {word} COMMAND")),
        None => deny.push("e  Edit: e COMMAND".to_owned()),
    }
    deny.push("?  Details".to_owned());
    let (first, second) = if approval.risk == Risk::High { (deny, allow) } else { (allow, deny) };
    first.iter().chain(&second).fold(String::new(), |text, line| format!("{text}  {line}\n"))
}

/// The help for a question and its answers.
fn help(question: &Question) -> String {
    let mut text = String::new();
    match question {
        Question::Approval(approval) => {
            for reason in &approval.reasons {
                let _ = writeln!(text, "asked because {reason}");
            }
            for address in &approval.destinations {
                let _ = writeln!(text, "connects to {address}");
            }
            for part in &approval.parts {
                let _ = writeln!(text, "runs {part}");
            }
            let yes = approval.word.as_deref().unwrap_or("y");
            let _ = writeln!(text, "{yes:<9} allow it once");
            if let Some(offer) = approval.offers.first() {
                let _ = writeln!(text, "a [TIME]  allow it in this session, for 8h at most: {}", offer.covers);
                text.push_str("p         allow it for longer: choose what, where and for how long\n");
            }
            if approval.is_editable {
                let word = approval.word.as_ref().map(|word| format!(" {word}")).unwrap_or_default();
                let _ = writeln!(text, "e{word} COMMAND run COMMAND instead; buddy checks it like any other");
            }
            text.push_str("d         deny it\nn WORDS   deny it and tell the agent why\n");
        }
        Question::Batch { .. } => text.push_str(
            "y         allow all of them\n1 3       allow these and deny the others\nd         deny all of them\nn WORDS   deny all of them and tell the agent why\n",
        ),
        Question::Text { .. } => text.push_str("type your answer, or the number of one\n"),
    }
    text.push_str("deny all  deny every question that waits");
    text
}

/// The lines before the command itself: why buddy asks, what it is for, and where it happens: the directory if that is
/// elsewhere than usual, and the limits.
fn details(approval: &Approval, cwd: &str, indent: &str) -> String {
    let mut text = String::new();
    if !approval.parts.is_empty() && ApprovalWords::of(approval, |_| true).is_about_hosts() {
        for (place, line) in approval.parts.iter().enumerate() {
            let name = if place == 0 { "runs" } else { "" };
            let _ = writeln!(text, "{indent}{name:<6} {}", line.trim_end());
        }
    }
    for (place, address) in approval.destinations.iter().enumerate() {
        let name = if place == 0 { "to" } else { "" };
        let _ = writeln!(text, "{indent}{name:<6} {address}");
    }
    if !approval.reasons.is_empty() {
        let _ = writeln!(text, "{indent}risk   {}", approval.reasons.join("; "));
    }
    if let Some(opens) = approval.opens_line() {
        let _ = writeln!(text, "{indent}secret {opens}");
    }
    if let Some(why) = &approval.why {
        let _ = writeln!(text, "{indent}why    \"{}\"", one_paragraph(why));
    }
    let is_elsewhere = approval.target.is_some() || approval.cwd != cwd;
    let target = approval.target.iter().map(|target| format!("on {target}"));
    let directory = is_elsewhere.then(|| format!("in {}", approval.cwd));
    let limits = approval.limits.map(|limits| limits.to_string());
    let place: Vec<String> = target.chain(directory).chain(limits).collect();
    if !place.is_empty() {
        let _ = writeln!(text, "{indent}where  {}", place.join(", "));
    }
    text
}

/// The changes of files.
fn changes(approval: &Approval, indent: &str) -> String {
    let diff = approval.diff.as_deref().unwrap_or_default();
    let mut text = String::new();
    for line in diff.lines() {
        let _ = writeln!(text, "{indent}  {line}");
    }
    text
}

/// The exact action. A line break in it is shown as one, so that nothing can pass for a line of buddy's own.
fn command(approval: &Approval) -> String {
    let Approval { actor, place, action, .. } = approval;
    let actor = if actor == "buddy" { String::new() } else { format!("[{actor}] ") };
    let lines: Vec<&str> = action.split('\n').collect();
    format!("{actor}{place}$ {}", lines.join("⏎\n    "))
}

/// Something that can be allowed for longer.
struct Lasting<'a> {
    wish: GrantWish,
    /// The grant and its scope.
    words: String,
    covers: &'a str,
}

/// The lasting grants: every offer, in the session, in the project, everywhere.
fn lasting(approval: &Approval) -> Vec<Lasting<'_>> {
    let scopes = [
        (GrantScope::Session, "until you quit", SESSION_SECONDS),
        (GrantScope::Project, "in this project, for 30 days", LASTING_SECONDS),
        (GrantScope::User, "everywhere, for 30 days", LASTING_SECONDS),
    ];
    let mut all = Vec::new();
    for (offer, made) in (0..).zip(&approval.offers) {
        all.extend(scopes.map(|(scope, words, seconds)| Lasting {
            wish: GrantWish { offer, words: None, scope, seconds },
            words: format!("{} {words}", made.grant),
            covers: &made.covers,
        }));
    }
    all
}

fn one_paragraph(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The answer of a line to a question that takes words.
pub(crate) fn read_reply(question: &Question, line: &str) -> Answer {
    match read_answer(question, line) {
        ReadLine::Answer(answer) => answer,
        ReadLine::Help(_) => Answer::Deny { reason: None },
    }
}

/// Reads a line as an answer. Only a clear yes is one.
pub(crate) fn read_answer(question: &Question, line: &str) -> ReadLine {
    match question {
        Question::Text { options, .. } => ReadLine::Answer(Answer::Reply { text: picked(options, line) }),
        Question::Approval(approval) => with_word(approval, line)
            .or_else(|| one(approval, line))
            .unwrap_or_else(|| yes_or_no(question, line)),
        Question::Batch { approvals } => match numbers(line, approvals.len()) {
            Some(allowed) => ReadLine::Answer(Answer::Each {
                answers: (1..=approvals.len())
                    .map(|number| {
                        if allowed.contains(&number) {
                            Answer::allow()
                        } else {
                            Answer::Deny { reason: None }
                        }
                    })
                    .collect(),
            }),
            None => yes_or_no(question, line),
        },
    }
}

/// Reads a line as an answer to an action that has a word. Only the word is a yes; a wrong one denies nothing.
fn with_word(approval: &Approval, line: &str) -> Option<ReadLine> {
    let word = approval.word.as_ref()?;
    let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    match (key, rest) {
        ("y" | "Y" | "yes", "") => Some(ReadLine::Help(format!(
            "Type {word} to allow this. In production a key alone is not enough."
        ))),
        ("y" | "Y" | "yes", guess) => {
            Some(ReadLine::Answer(Answer::allow().with_word(guess.to_ascii_lowercase())))
        }
        ("e", rest) if approval.is_editable => Some(match rest.split_once(' ') {
            Some((guess, command)) => {
                ReadLine::Answer(Answer::edit(command.trim()).with_word(guess.to_ascii_lowercase()))
            }
            None => ReadLine::Help(format!(
                "Type e {word} and the command to run instead of:\n  {}",
                approval.action
            )),
        }),
        ("no", "") => None,
        (guess, "") if guess.len() > 1 && guess.bytes().all(|letter| letter.is_ascii_alphabetic()) => {
            Some(ReadLine::Answer(Answer::allow().with_word(guess.to_ascii_lowercase())))
        }
        _ => None,
    }
}

fn yes_or_no(question: &Question, line: &str) -> ReadLine {
    let deny = |reason: &str| {
        let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        ReadLine::Answer(Answer::Deny { reason })
    };
    let (key, words) = line.split_once(' ').unwrap_or((line, ""));
    match (key, words) {
        ("y" | "Y" | "yes", "") => ReadLine::Answer(Answer::allow()),
        ("d" | "D" | "no", "") => deny(""),
        ("n" | "N", words) => deny(words),
        // A key that means nothing here, and a line without one, may be a slip.
        _ if line.chars().count() < 2 => ReadLine::Help(help(question)),
        _ => deny(line),
    }
}

fn picked(options: &[String], line: &str) -> String {
    let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|place| options.get(place)).cloned().unwrap_or_else(|| line.to_owned())
}

/// Reads an answer that only a single action takes: a lasting grant, or another command.
fn one(approval: &Approval, line: &str) -> Option<ReadLine> {
    let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    match key {
        "a" | "s" => Some(for_longer(approval, GrantScope::Session, rest)),
        "u" => Some(for_longer(approval, GrantScope::User, rest)),
        "p" => Some(choice(approval, rest)),
        "e" if approval.is_editable && rest.is_empty() => {
            Some(ReadLine::Help(format!("Type e and the command to run instead of:\n  {}", approval.action)))
        }
        "e" if approval.is_editable => Some(ReadLine::Answer(Answer::edit(rest))),
        "e" => Some(ReadLine::Help("This cannot be edited. Answer y, d or n.".to_owned())),
        _ => None,
    }
}

/// A lasting yes to the first offer, such as `a`, `a 10m` or, with other words than those of the offer, `a 10m cargo test -p a *`.
fn for_longer(approval: &Approval, scope: GrantScope, rest: &str) -> ReadLine {
    let wish = lasting(approval).into_iter().map(|one| one.wish).find(|wish| wish.scope == scope);
    let Some(wish) = wish else {
        return ReadLine::Help("buddy cannot remember a yes to this. Answer y, d or n.".to_owned());
    };
    within(&wish, rest)
}

/// One of all that can be allowed, such as `p 2` or `p 2 10m`; without a number they are listed.
fn choice(approval: &Approval, rest: &str) -> ReadLine {
    let all = lasting(approval);
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(one) = place.and_then(|place| all.get(place)) {
        return within(&one.wish, rest);
    }
    if all.is_empty() {
        return ReadLine::Help("buddy cannot remember a yes to this. Answer y, d or n.".to_owned());
    }
    let mut text = String::new();
    for (number, Lasting { words, covers, .. }) in (1..).zip(&all) {
        let _ = writeln!(text, "{number:>3}. {words}: {covers}");
    }
    text.push_str("Answer p and a number, such as `p 2`. To allow it for less time or less often, add a time or a pattern: `p 2 10m`, `p 2 PATTERN`.");
    ReadLine::Help(text)
}

/// The wish for some time, in other words, or both.
fn within(wish: &GrantWish, rest: &str) -> ReadLine {
    let rest = rest.trim();
    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let (seconds, words) = match read_seconds(first) {
        Some(seconds) => (seconds.min(MAX_GRANT_SECONDS), after.trim()),
        None => (wish.seconds, rest),
    };
    let words = Some(words.to_owned()).filter(|words| !words.is_empty());
    ReadLine::Answer(Answer::grant(GrantWish { offer: wish.offer, words, scope: wish.scope, seconds }))
}

/// The numbers in a line of numbers from 1 to `most`.
fn numbers(line: &str, most: usize) -> Option<Vec<usize>> {
    let words = line.split([' ', ',']).filter(|word| !word.is_empty());
    let numbers: Option<Vec<usize>> =
        words.map(|word| word.parse().ok().filter(|number| (1..=most).contains(number))).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use buddy_protocol::{Offer, Unfit, UnixMillis};

    fn approval(action: &str, offers: Vec<Offer>) -> Approval {
        Approval {
            item: None,
            actor: "buddy".to_owned(),
            place: "ann@atlas".to_owned(),
            target: None,
            cwd: "/w".to_owned(),
            action: action.to_owned(),
            why: Some("To see\nwhether it works".to_owned()),
            risk: Risk::Medium,
            reasons: vec!["it runs a command".to_owned()],
            parts: vec![],
            destinations: vec![],
            risky: vec![],
            limits: None,
            opens: vec![],
            diff: None,
            is_editable: true,
            offers,
            unfit: None,
            word: None,
        }
    }

    fn offer() -> Offer {
        Offer { grant: "cargo *".to_owned(), covers: "every command of cargo".to_owned() }
    }

    fn ask(question: Question) -> Ask {
        let id = "ask_00000000000000000000000001".parse().unwrap();
        Ask { id, turn: None, item: None, question, expires: None }
    }

    #[test]
    fn the_addresses_that_git_connects_to_stand_before_the_risk_and_in_the_help() {
        let destinations = vec!["https://a.test/x".to_owned(), "https://b.test/x".to_owned()];
        let push = Question::Approval(Approval { destinations, ..approval("git push", vec![]) });
        let shown = render_question(&ask(push.clone()), "/w");
        assert!(shown.contains("  to     https://a.test/x\n         https://b.test/x\n  risk "), "{shown}");
        assert!(help(&push).contains("connects to https://b.test/x\n"), "{}", help(&push));
    }

    #[test]
    fn an_approval_says_what_it_is_and_why_and_has_its_keys_one_a_line() {
        let shown = render_question(&ask(Question::Approval(approval("ls", vec![]))), "/w");
        let facts = "  risk   it runs a command\n  why    \"To see whether it works\"\n";
        let keys = "  y  Allow once\n  d  Deny\n  n  Deny and say why: n WORDS\n  e  Edit: e COMMAND\n  ?  Details\n";
        let title = "Run this command?  Medium risk\n";
        assert_eq!(shown, format!("{title}{facts}{keys}ann@atlas$ ls -- approve? [y/n] "));
        let grave = Approval { risk: Risk::High, ..approval("ls", vec![]) };
        let shown = render_question(&ask(Question::Approval(grave)), "/w");
        assert!(shown.find("  d  Deny") < shown.find("  y  Allow once"), "{shown}");
    }

    #[test]
    fn what_would_change_is_shown_before_the_question() {
        let added = "+new\n".repeat(300);
        let diff = Some(format!("--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-old\n{added}"));
        let shown = render_question(
            &ask(Question::Approval(Approval { diff, ..approval("write /w/a", vec![]) })),
            "/w",
        );
        assert!(shown.contains("\n  -old\n  +new\n") && shown.matches("+new\n").count() == 300, "{shown}");
        assert!(shown.ends_with("$ write /w/a -- approve? [y/n] "), "{shown}");
    }

    #[test]
    fn a_line_break_cannot_pass_for_a_line_of_buddys_own() {
        let action = "echo a\nann@atlas$ ls -- approve? [y/n] ";
        let shown = render_question(&ask(Question::Approval(approval(action, vec![]))), "/w");
        assert!(shown.contains("$ echo a⏎\n    ann@atlas$ ls"), "{shown}");
    }

    #[track_caller]
    fn helped(question: &Question, line: &str) -> String {
        match read_answer(question, line) {
            ReadLine::Help(text) => text,
            ReadLine::Answer(answer) => panic!("{line}: {answer:?}"),
        }
    }

    #[test]
    fn an_offer_is_taken_with_a_key_for_the_session_or_by_its_number() {
        let approval = approval("cargo test", vec![offer()]);
        let shown = render_question(&ask(Question::Approval(approval.clone())), "/w");
        assert!(shown.contains("  a  Allow cargo * this session: every command of cargo\n"), "{shown}");
        let question = Question::Approval(approval);
        let wish = |line: &str| match read_answer(&question, line) {
            ReadLine::Answer(Answer::Allow { grant: Some(wish), .. }) => (wish.scope, wish.seconds),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(wish("a"), (GrantScope::Session, SESSION_SECONDS));
        assert_eq!(wish("s 10m"), (GrantScope::Session, 600));
        assert_eq!(wish("p 2"), (GrantScope::Project, LASTING_SECONDS));
        assert_eq!(wish("p 2 10m"), (GrantScope::Project, 600));
        assert_eq!(wish("u 900d"), (GrantScope::User, MAX_GRANT_SECONDS));
        assert_eq!(read_answer(&question, "y"), ReadLine::Answer(Answer::allow()));
        let listed = helped(&question, "p");
        assert!(
            listed.contains("  2. cargo * in this project, for 30 days: every command of cargo"),
            "{listed}"
        );
    }

    #[test]
    fn help_answers_nothing_and_neither_does_a_slip() {
        let question = Question::Approval(approval("ls", vec![offer()]));
        let help = helped(&question, "?");
        assert!(help.contains("asked because it runs a command") && help.contains("n WORDS"), "{help}");
        for slip in ["", "x", "e", "1"] {
            helped(&question, slip);
        }
        assert_eq!(read_answer(&question, "e ls -a"), ReadLine::Answer(Answer::edit("ls -a")));
    }

    #[test]
    fn an_action_with_a_word_is_allowed_by_writing_it() {
        let grave = Approval { word: Some("bcdfg".to_owned()), ..approval("rm -r x", vec![]) };
        let shown = render_question(&ask(Question::Approval(grave.clone())), "/w");
        assert!(
            shown.ends_with("$ rm -r x -- approve? [bcdfg/n] ") && !shown.contains("y  Allow"),
            "{shown}"
        );
        let question = Question::Approval(grave);
        for key in ["y", "Y", "yes", "", "?", "1", "a", "e", "e ls"] {
            helped(&question, key);
        }
        let allow = |word: &str| ReadLine::Answer(Answer::allow().with_word(word));
        assert_eq!(read_answer(&question, "bcdfg"), allow("bcdfg"));
        assert_eq!(read_answer(&question, "y BCDFG"), allow("bcdfg"));
        assert_eq!(
            read_answer(&question, "bcdgf"),
            allow("bcdgf"),
            "a slip denies nothing: the hub counts it"
        );
        assert_eq!(
            read_answer(&question, "e bcdfg ls -a"),
            ReadLine::Answer(Answer::edit("ls -a").with_word("bcdfg"))
        );
        for no in ["d", "n", "no", "n not that", "use git clean"] {
            assert!(matches!(read_answer(&question, no), ReadLine::Answer(Answer::Deny { .. })), "{no}");
        }
    }

    #[test]
    fn a_no_can_say_why() {
        let question = Question::Approval(approval("ls", vec![]));
        let deny =
            |reason: Option<&str>| ReadLine::Answer(Answer::Deny { reason: reason.map(str::to_owned) });
        assert_eq!(read_answer(&question, "n"), deny(None));
        assert_eq!(read_answer(&question, "d"), deny(None));
        assert_eq!(read_answer(&question, "n use grep"), deny(Some("use grep")));
        assert_eq!(read_answer(&question, "use grep"), deny(Some("use grep")));
    }

    #[test]
    fn an_offer_is_taken_in_other_words_behind_the_letter_and_the_time() {
        let question = Question::Approval(approval("cargo test", vec![offer()]));
        let wish = |line: &str| match read_answer(&question, line) {
            ReadLine::Answer(Answer::Allow { grant: Some(wish), .. }) => (wish.words, wish.seconds),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(wish("a"), (None, SESSION_SECONDS));
        assert_eq!(wish("a 10m"), (None, 600));
        assert_eq!(wish("a cargo test *"), (Some("cargo test *".to_owned()), SESSION_SECONDS));
        assert_eq!(wish("p 2 10m cargo test"), (Some("cargo test".to_owned()), 600));
        assert_eq!(
            wish("u forever"),
            (Some("forever".to_owned()), MAX_GRANT_SECONDS),
            "it is judged, and not taken"
        );
    }

    #[test]
    fn what_could_not_be_allowed_is_told_with_the_question() {
        let wish =
            GrantWish { offer: 0, words: Some("*".to_owned()), scope: GrantScope::Session, seconds: 60 };
        let unfit = Some(Unfit { wish, why: "`*`: no".to_owned() });
        let shown = render_question(
            &ask(Question::Approval(Approval { unfit, ..approval("cargo test", vec![offer()]) })),
            "/w",
        );
        assert!(shown.contains("buddy: `*`: no\n"), "{shown}");
    }

    #[test]
    fn an_offer_of_exactly_this_does_not_say_it_again() {
        let exact =
            Offer { grant: "./run.sh x".to_owned(), covers: "exactly `./run.sh x`, in `/w`".to_owned() };
        let shown = render_question(&ask(Question::Approval(approval("./run.sh x", vec![exact]))), "/w");
        assert_eq!(shown.matches("./run.sh x").count(), 1, "{shown}");
    }

    #[test]
    fn another_directory_and_an_end_are_told() {
        let ask = Ask { expires: Some(UnixMillis(0)), ..ask(Question::Approval(approval("ls", vec![]))) };
        let shown = render_question(&ask, "/elsewhere");
        assert!(
            shown.starts_with("denied automatically at 19") && shown.contains("\n  where  in /w\n"),
            "{shown}"
        );
    }

    #[test]
    fn without_an_offer_a_letter_is_no_approval() {
        let question = Question::Approval(approval("rm -rf /", vec![]));
        for line in ["a", "s", "p", "p 1", "u 10m", "s forever", "Y?", ""] {
            assert!(
                !matches!(read_answer(&question, line), ReadLine::Answer(Answer::Allow { .. })),
                "{line}"
            );
        }
    }

    #[test]
    fn a_batch_is_answered_whole_or_by_numbers() {
        let question =
            Question::Batch { approvals: vec![approval("write a", vec![]), approval("write b", vec![])] };
        let deny = Answer::Deny { reason: None };
        assert_eq!(read_reply(&question, "y"), Answer::allow());
        assert_eq!(read_reply(&question, "2"), Answer::Each { answers: vec![deny.clone(), Answer::allow()] });
        assert_eq!(
            read_reply(&question, "1, 2"),
            Answer::Each { answers: vec![Answer::allow(), Answer::allow()] }
        );
        assert_eq!(read_reply(&question, "n"), deny);
        assert!(helped(&question, "3").contains("1 3       allow these"));
    }

    #[test]
    fn an_option_is_picked_by_its_number() {
        let question =
            Question::Text { text: "Which?".to_owned(), options: vec!["red".to_owned(), "blue".to_owned()] };
        assert_eq!(read_reply(&question, "2"), Answer::Reply { text: "blue".to_owned() });
        assert_eq!(read_reply(&question, "green"), Answer::Reply { text: "green".to_owned() });
    }
}
