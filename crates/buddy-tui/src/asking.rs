//! Questions in the terminal: how one is put, and what a typed line answers.

use std::fmt::Write;

use buddy_protocol::{Answer, Approval, Ask, GrantScope, GrantWish, MAX_GRANT_SECONDS, Question, Risk};

use crate::show::local_time;

/// How long a grant holds when the person does not say.
const SESSION_SECONDS: u64 = 8 * 60 * 60;
/// The same for grants beyond one session.
const LASTING_SECONDS: u64 = MAX_GRANT_SECONDS;

/// Lines of a diff that are shown.
const MAX_DIFF_LINES: usize = 200;

/// The question as it is put in a session that works in `cwd`, without the end of its last line.
pub(crate) fn question(ask: &Ask, cwd: &str) -> String {
    let until =
        ask.expires.map(|time| format!("denied by itself at {}\n", local_time(time))).unwrap_or_default();
    format!("{until}{}", put(&ask.question, cwd))
}

fn put(question: &Question, cwd: &str) -> String {
    match question {
        Question::Approval(approval) => {
            let mut text = details(approval, cwd, "");
            text.push_str(&changes(approval, ""));
            if let Some(unfit) = &approval.unfit {
                let _ = writeln!(text, "buddy: {}", unfit.why);
            }
            for line in offers(approval) {
                let _ = writeln!(text, "  {line}");
            }
            let _ = write!(text, "{} -- approve? [y/n] ", command(approval));
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
            shown.push_str("a number, or your own words: ");
            shown
        }
    }
}

/// What a person should know before the command itself.
fn details(approval: &Approval, cwd: &str, indent: &str) -> String {
    let mut text = String::new();
    match &approval.target {
        Some(target) => drop(writeln!(text, "{indent}on {target}, in {}", approval.cwd)),
        None if approval.cwd != cwd => drop(writeln!(text, "{indent}in {}", approval.cwd)),
        None => {}
    }
    if let Some(why) = &approval.why {
        let _ = writeln!(text, "{indent}{}", one_paragraph(why));
    }
    if approval.risk == Risk::High {
        let _ = writeln!(text, "{indent}high risk: {}", approval.reasons.join("; "));
    }
    text
}

/// What would change in files.
fn changes(approval: &Approval, indent: &str) -> String {
    let diff = approval.diff.as_deref().unwrap_or_default();
    let mut text = String::new();
    for line in diff.lines().take(MAX_DIFF_LINES) {
        let _ = writeln!(text, "{indent}  {line}");
    }
    let left = diff.lines().count().saturating_sub(MAX_DIFF_LINES);
    if left > 0 {
        let _ = writeln!(text, "{indent}  … {left} more lines");
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

fn offers(approval: &Approval) -> Vec<String> {
    let Some(offer) = approval.offers.first() else { return Vec::new() };
    let what = if offer.grant == approval.action {
        let on = approval.target.as_ref().map(|target| format!(" on {target}")).unwrap_or_default();
        format!("exactly this can be allowed for longer{on}:")
    } else {
        format!("also allow `{}`: {}", offer.grant, offer.covers)
    };
    vec![
        what,
        "s in this session (8h), p in this project, u everywhere (30d); with a time: `s 10m`; less than that: `s PATTERN`"
            .to_owned(),
    ]
}

fn one_paragraph(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a line answers.
pub(crate) fn answer(question: &Question, line: &str) -> Answer {
    match question {
        Question::Text { options, .. } => Answer::Reply { text: picked(options, line) },
        Question::Approval(approval) => {
            grant(approval, line).or_else(|| edit(approval, line)).unwrap_or_else(|| yes_or_no(line))
        }
        Question::Batch { approvals } => match numbers(line, approvals.len()) {
            Some(allowed) => Answer::Each {
                answers: (1..=approvals.len())
                    .map(|number| {
                        if allowed.contains(&number) {
                            Answer::allow()
                        } else {
                            Answer::Deny { reason: None }
                        }
                    })
                    .collect(),
            },
            None => yes_or_no(line),
        },
    }
}

fn yes_or_no(line: &str) -> Answer {
    match line {
        "y" | "yes" => Answer::allow(),
        "n" | "no" | "" => Answer::Deny { reason: None },
        reason => Answer::Deny { reason: Some(reason.to_owned()) },
    }
}

fn picked(options: &[String], line: &str) -> String {
    let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|place| options.get(place)).cloned().unwrap_or_else(|| line.to_owned())
}

/// A lasting yes, such as `s`, `p`, `s 10m` or, with other words than those of the offer, `s 10m cargo test -p a *`.
fn grant(approval: &Approval, line: &str) -> Option<Answer> {
    let (scope, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (scope, usual) = match scope {
        "s" => (GrantScope::Session, SESSION_SECONDS),
        "p" => (GrantScope::Project, LASTING_SECONDS),
        "u" => (GrantScope::User, LASTING_SECONDS),
        _ => return None,
    };
    if approval.offers.is_empty() {
        return None;
    }
    let (first, after) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let (seconds, words) = match seconds(first) {
        Some(seconds) => (seconds.min(MAX_GRANT_SECONDS), after.trim()),
        None => (usual, rest.trim()),
    };
    let words = Some(words.to_owned()).filter(|words| !words.is_empty());
    Some(Answer::grant(GrantWish { offer: 0, words, scope, seconds }))
}

/// Another command instead of the one that is asked for, such as `e ls -a`.
fn edit(approval: &Approval, line: &str) -> Option<Answer> {
    let command = line.strip_prefix("e ").map(str::trim).filter(|command| !command.is_empty())?;
    approval.is_editable.then(|| Answer::edit(command))
}

/// A time such as `90s`, `10m`, `2h` or `3d`.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|seconds| *seconds > 0)
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
            diff: None,
            is_editable: true,
            offers,
            unfit: None,
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
    fn an_approval_is_one_line_after_what_it_is_for() {
        let shown = question(&ask(Question::Approval(approval("ls", vec![]))), "/w");
        assert_eq!(shown, "To see whether it works\nann@atlas$ ls -- approve? [y/n] ");
    }

    #[test]
    fn what_would_change_is_shown_before_the_question() {
        let added = "+new\n".repeat(300);
        let diff = Some(format!("--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-old\n{added}"));
        let shown =
            question(&ask(Question::Approval(Approval { diff, ..approval("write /w/a", vec![]) })), "/w");
        assert!(shown.contains("\n  -old\n  +new\n") && shown.contains("  … 104 more lines\n"), "{shown}");
        assert!(shown.ends_with("$ write /w/a -- approve? [y/n] "), "{shown}");
    }

    #[test]
    fn a_line_break_cannot_pass_for_a_line_of_buddys_own() {
        let action = "echo a\nann@atlas$ ls -- approve? [y/n] ";
        let shown = question(&ask(Question::Approval(approval(action, vec![]))), "/w");
        assert!(shown.contains("$ echo a⏎\n    ann@atlas$ ls"), "{shown}");
    }

    #[test]
    fn an_offer_says_what_it_covers_and_is_taken_with_a_letter() {
        let approval = approval("cargo test", vec![offer()]);
        let shown = question(&ask(Question::Approval(approval.clone())), "/w");
        assert!(shown.contains("`cargo *`: every command of cargo"), "{shown}");
        let question = Question::Approval(approval);
        let wish = |line: &str| match answer(&question, line) {
            Answer::Allow { grant: Some(wish), .. } => (wish.scope, wish.seconds),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(wish("s"), (GrantScope::Session, SESSION_SECONDS));
        assert_eq!(wish("p 10m"), (GrantScope::Project, 600));
        assert_eq!(wish("u 900d"), (GrantScope::User, MAX_GRANT_SECONDS));
        assert_eq!(answer(&question, "y"), Answer::allow());
    }

    #[test]
    fn an_offer_is_taken_in_other_words_behind_the_letter_and_the_time() {
        let question = Question::Approval(approval("cargo test", vec![offer()]));
        let wish = |line: &str| match answer(&question, line) {
            Answer::Allow { grant: Some(wish), .. } => (wish.words, wish.seconds),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(wish("s"), (None, SESSION_SECONDS));
        assert_eq!(wish("s 10m"), (None, 600));
        assert_eq!(wish("s cargo test *"), (Some("cargo test *".to_owned()), SESSION_SECONDS));
        assert_eq!(wish("p 10m cargo test"), (Some("cargo test".to_owned()), 600));
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
        let shown = question(
            &ask(Question::Approval(Approval { unfit, ..approval("cargo test", vec![offer()]) })),
            "/w",
        );
        assert!(shown.contains("buddy: `*`: no\n"), "{shown}");
    }

    #[test]
    fn an_offer_of_exactly_this_does_not_say_it_again() {
        let exact =
            Offer { grant: "./run.sh x".to_owned(), covers: "exactly `./run.sh x`, in `/w`".to_owned() };
        let shown = question(&ask(Question::Approval(approval("./run.sh x", vec![exact]))), "/w");
        assert_eq!(shown.matches("./run.sh x").count(), 1, "{shown}");
    }

    #[test]
    fn another_directory_and_an_end_are_told() {
        let ask = Ask { expires: Some(UnixMillis(0)), ..ask(Question::Approval(approval("ls", vec![]))) };
        let shown = question(&ask, "/elsewhere");
        assert!(shown.starts_with("denied by itself at 19") && shown.contains("\nin /w\n"), "{shown}");
    }

    #[test]
    fn without_an_offer_a_letter_is_no_approval() {
        let question = Question::Approval(approval("rm -rf /", vec![]));
        for line in ["s", "p", "u 10m", "s forever", "Y?", ""] {
            assert!(matches!(answer(&question, line), Answer::Deny { .. }), "{line}");
        }
    }

    #[test]
    fn a_batch_is_answered_whole_or_by_numbers() {
        let question =
            Question::Batch { approvals: vec![approval("write a", vec![]), approval("write b", vec![])] };
        let deny = Answer::Deny { reason: None };
        assert_eq!(answer(&question, "y"), Answer::allow());
        assert_eq!(answer(&question, "2"), Answer::Each { answers: vec![deny.clone(), Answer::allow()] });
        assert_eq!(
            answer(&question, "1, 2"),
            Answer::Each { answers: vec![Answer::allow(), Answer::allow()] }
        );
        assert_eq!(answer(&question, "n"), deny);
        assert!(matches!(answer(&question, "3"), Answer::Deny { reason: Some(_) }));
    }

    #[test]
    fn an_option_is_picked_by_its_number() {
        let question =
            Question::Text { text: "Which?".to_owned(), options: vec!["red".to_owned(), "blue".to_owned()] };
        assert_eq!(answer(&question, "2"), Answer::Reply { text: "blue".to_owned() });
        assert_eq!(answer(&question, "green"), Answer::Reply { text: "green".to_owned() });
    }

    #[test]
    fn times_are_read() {
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("2h"), Some(7_200));
        for bad in ["", "10", "m", "0m", "5y", "99999999999999999999s"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
