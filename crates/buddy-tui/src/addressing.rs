//! Buddy's texts for the model, as the user reads them.
//!
//! A refusal is recorded once, in words for the model, which speak of the user. On a screen the reader is that user.

/// Words about the user, and the same words to them. The first that fits counts.
const WORDS: [(&str, &str); 10] = [
    ("the user can run /trust to allow changes", "run /trust to allow changes"),
    // Advice to the agent alone.
    ("; do not look for a way around", ""),
    ("the user's own", "your own"),
    ("the user's", "your"),
    ("the user has ", "you have "),
    ("the user is ", "you are "),
    ("the user was ", "you were "),
    ("the user does ", "you do "),
    ("the user wants ", "you want "),
    ("the user", "you"),
];

/// A text of buddy's own that speaks to the user. Quoted parts, which are names and commands, stay.
pub(crate) fn address_user(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(place, part)| if place % 2 == 0 { reworded(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

fn reworded(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (about, to)| text.replace(about, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_speak_to_the_user_and_quotes_stay() {
        let check = |text: &str, shown: &str| assert_eq!(address_user(text), shown);
        check(
            "`the user` is untrusted; the user can run /trust to allow changes",
            "`the user` is untrusted; run /trust to allow changes",
        );
        check(
            "the user interrupted before the call ran; it was not run",
            "you interrupted before the call ran; it was not run",
        );
        check(
            "the user can allow a host in `web.allowed_hosts`; do not look for a way around",
            "you can allow a host in `web.allowed_hosts`",
        );
        check("it asks the user, who is busy", "it asks you, who is busy");
        check("the user can allow it with `[jail] hosts`", "you can allow it with `[jail] hosts`");
        check(
            "only the user's rules and what the user has approved",
            "only your rules and what you have approved",
        );
    }
}
