//! The words that a judged command is started with.

use buddy_policy::Execution;

/// The judged command is the one that runs: the text in a shell, or the words without one.
pub(crate) fn argv(execution: &Execution, shell: &str, command: String) -> Vec<String> {
    match execution {
        Execution::Shell => vec![shell.to_owned(), "-c".to_owned(), command],
        Execution::Argv(words) => words.clone(),
    }
}
