//! Words of the user in place of an offer: they must say less than it, and cover the call.

use buddy_policy::{Action, Claims, Grant, Intent, Mode, Now, RewordError, Scope, Verdict, decide, reword};
use buddy_protocol::{ApprovalPolicy, Risk};

use crate::stage::{leading_to, policy, run, with_grants};

fn said(intent: &Intent, words: &str) -> Result<Grant, RewordError> {
    let policy = policy(Mode::Development);
    let destinations = leading_to("https://a.test/x", intent, &policy);
    let now = Now { destinations: &destinations, ..Now::with(ApprovalPolicy::Ask) };
    let offers = decide(intent, &policy, &now).offers;
    reword(words, &offers, intent, &policy, &[])
}

/// Asserts that allowed words allow the command itself.
#[track_caller]
fn is_taken(command: &str, words: &str) -> Grant {
    let grant = said(&run(command), words).unwrap_or_else(|error| panic!("{command} / {words}: {error}"));
    assert_eq!(grant.to_string(), words.trim());
    let decision = with_grants(&run(command), &policy(Mode::Development), std::slice::from_ref(&grant));
    assert_eq!(decision.verdict, Verdict::Allow, "{command} / {words}");
    grant
}

#[track_caller]
fn is_refused(command: &str, words: &str, why: &str) {
    let error = said(&run(command), words).map(|grant| grant.to_string()).expect_err(words).to_string();
    assert!(error.contains(why), "{command} / {words}: {error}");
}

#[test]
fn less_than_what_is_offered_is_allowed() {
    for (command, words) in [
        ("cargo test -p a", "cargo test *"),
        ("cargo test -p a", "cargo test -p *"),
        ("cargo test -p a", "cargo test -p a *"),
        ("cargo test -p a", "cargo test -p a"),
        ("cargo test -p a", " cargo test * a "),
        ("cargo test 'a b'", "cargo test 'a b' *"),
        ("pytest unit pods", "pytest unit *"),
        ("cd sub && cargo test --lib", "cargo test --lib *"),
        ("cargo test --lib | tail -5", "cargo test --lib"),
        ("cargo build && npm test", "cargo build && npm test"),
    ] {
        is_taken(command, words);
    }
}

#[test]
fn grants_cover_their_words_and_no_more() {
    let grants = [is_taken("pytest unit pods", "pytest unit *")];
    let verdict = |command: &str| with_grants(&run(command), &policy(Mode::Development), &grants).verdict;
    assert_eq!(verdict("pytest unit nodes"), Verdict::Allow);
    for other in ["pytest slow pods", "pytest unit pods; ninja", "pytest unit $x", "sudo pytest unit pods"] {
        assert_ne!(verdict(other), Verdict::Allow, "{other}");
    }
}

#[test]
fn more_than_what_is_offered_is_refused() {
    for (command, words) in [
        ("cargo test -p a", "cargo *"),
        ("cargo test -p a", "cargo * -p a"),
        ("cargo test -p a", "cargo t* *"),
        ("cargo test -p a", "c* test *"),
        ("git commit -m a", "git *"),
        ("npm run lint", "npm * lint"),
    ] {
        is_refused(command, words, "is wider than what can be allowed here; the widest is `");
    }
    is_refused("cargo test", "*", "names a program");
    is_refused("cargo test", "* test", "names a program");
}

#[test]
fn words_that_do_not_cover_the_command_are_refused() {
    for (command, words) in [
        ("cargo test -p a", "cargo test -p b *"),
        ("cargo test -p a", "cargo test"),
        ("cargo test -p a", "cargo build *"),
        ("cargo test -p a", "npm *"),
        ("cargo test -p a", "bash *"),
        ("cargo test -p a", "cargo test '*'"),
    ] {
        is_refused(command, words, "does not cover this call");
    }
}

#[test]
fn exact_offers_have_no_pattern() {
    for (command, words) in [
        ("bash x.sh", "bash *"),
        ("rm -rf target", "rm *"),
        ("rm -rf target", "rm -rf target *"),
        ("curl https://x", "curl *"),
        ("make all", "make *"),
        ("cargo build && npm test", "cargo *"),
        ("git push", "git push *"),
    ] {
        is_refused(command, words, "not a pattern of it");
    }
}

#[test]
fn invalid_patterns_are_refused_with_their_reason() {
    for words in ["cargo test; ls", "cargo test | tail", "cargo test $x", "cargo test > a", "cargo 'test"] {
        is_refused("cargo test", words, "a pattern is about one simple command");
    }
    is_refused("cargo test", "  ", "empty");
    is_refused("cargo test", &format!("cargo test {}", "x".repeat(5_000)), "longer than");
}

#[test]
fn nothing_can_be_said_about_what_is_not_offered() {
    for command in ["sudo cargo test", "git push --force", "eval $x", "cargo test > /opt/x"] {
        assert!(said(&run(command), "cargo test *").is_err(), "{command}");
        assert!(said(&run(command), command).is_err(), "{command}");
    }
}

#[test]
fn claims_of_the_model_are_no_reason_to_refuse_words() {
    let claims = Some(Claims { risk: Risk::High, mutation: Some(true), privesc: false });
    let intent = Intent { claims, ..run("cargo test -p a") };
    assert_eq!(said(&intent, "cargo test -p *").unwrap().to_string(), "cargo test -p *");
}

#[test]
fn writes_can_be_allowed_beneath_a_smaller_directory() {
    let write = Intent::of(Action::Write("/w/src/a/b".into()));
    for words in ["write /w/src", "/w/src/a", "write /w/src/./a/", "/w"] {
        assert!(matches!(said(&write, words).unwrap().scope, Scope::Writes(_)), "{words}");
    }
    for (words, why) in [
        ("write /w/docs", "does not cover this call"),
        ("write /w/src/../docs", "does not cover this call"),
        ("write /", "is wider than what can be allowed here; the widest is `write beneath /w`"),
        ("write src", "give a full path"),
        ("cargo *", "give a full path"),
    ] {
        let error = said(&write, words).expect_err(words).to_string();
        assert!(error.contains(why), "{words}: {error}");
    }
}
