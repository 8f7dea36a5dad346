//! Words about the user, for the model.
//!
//! Reasons and advice are written for the user, who reads them in a question: "which you did not name". A model that reads the same
//! words in a result would take them for itself, so it gets others, from one table. A test fails for words that are not in it.

/// The fields of a result that have advice of buddy. All other fields are material.
pub const ADVICE_FIELDS: &[&str] = &["note", "hint", "jail", "sealed", "unseen_files_changed", "pane_notes"];

/// Words to the user, and the words about them in their place.
const ABOUT_USER: &[(&str, &str)] = &[
    ("which you did not name", "which the user did not name"),
    (": you named it, but", ": the user named it, but"),
    ("run it yourself with `!`", "leave it to the user, who can run it with `!`"),
    ("run the command yourself with `!`", "leave the command to the user, who can run it with `!`"),
    ("Run the command yourself with `!`", "Leave the command to the user, who can run it with `!`"),
    ("run it yourself in another terminal", "leave it to the user"),
    (
        "Review them, or take the change back with `/undo` (outside a conversation: `buddy undo`).",
        "Report which of them changed, and why.",
    ),
    ("; you allowed ", "; the user allowed "),
    ("than when you allowed this", "than when the user allowed this"),
    ("since you allowed this", "since the user allowed this"),
    ("in your own buddy.toml", "in the user's buddy.toml"),
    ("in your buddy.toml", "in the user's buddy.toml"),
    ("in your own rules.toml", "in the user's rules.toml"),
    ("a change of your own", "a change that the user makes"),
    ("your account may not", "the account may not"),
    ("it changes your settings", "it changes the user's settings"),
    ("and your other sessions", "and the user's other sessions"),
    ("the terminal that you share", "the terminal that the user shares"),
];

/// A text of buddy as the model reads it.
pub fn for_model(text: &str) -> String {
    ABOUT_USER.iter().fold(text.to_owned(), |text, (user, model)| {
        if text.contains(user) { text.replace(user, model) } else { text }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reason_of_policy_and_no_line_of_the_jail_speaks_to_the_model_as_the_user() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let policy = crates.join("buddy-policy/src");
        let code = crate::absent_user::tests::code_in(&[
            policy.join("decide"),
            policy.join("decide.rs"),
            policy.join("effect"),
            policy.join("effect.rs"),
            policy.join("limits.rs"),
            crates.join("buddy-calls/src/tools/outside.rs"),
            crates.join("buddy-calls/src/tools/unseen_files.rs"),
        ]);
        for (user, model) in ABOUT_USER {
            assert!(code.contains(user), "nobody says any more: {user}");
            assert!(!speaks_to_reader(model), "{model}");
        }
        // Questions and notices, which only the user reads.
        let asked = [
            "all rights of your account",
            "it has your account's rights",
            "neither buddy's own files nor your other",
            "changed after your answer",
        ];
        let code = asked.iter().fold(for_model(&code), |code, known| code.replace(known, ""));
        let said: Vec<&str> =
            code.lines().filter(|line| line.contains('"') && speaks_to_reader(line)).collect();
        assert!(said.is_empty(), "add to the table:\n{}", said.join("\n"));
    }

    fn speaks_to_reader(text: &str) -> bool {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
        words.any(|word| matches!(word.to_lowercase().as_str(), "you" | "your" | "yours" | "yourself"))
    }
}
