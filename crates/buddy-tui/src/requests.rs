//! Prompts that commands stand for.

/// The prompt of `/init`.
pub(crate) const INIT: &str = "Write an AGENTS.md for this project, or improve the one that is there. Look at the project \
                               first: its files, how it is built, tested and checked, its conventions and what a newcomer \
                               would get wrong. Keep it short and exact, name commands as they are typed, and write nothing \
                               that the files do not show.";

/// The prompt of `/review`, before the changes to look at.
const REVIEW: &str = "Review what changed, and change nothing yourself. Read the differences and as much around them as it \
                      takes to judge them. Say what is wrong or risky, the worst first, each with its file and line and \
                      what would go wrong; then what is missing, such as tests. Say plainly where you find nothing. \
                      Look at:";

/// The prompt of `/review`.
pub(crate) fn ask_for_review(what: &str) -> String {
    let what =
        if what.is_empty() { "what is not committed yet, in the working tree and the index." } else { what };
    format!("{REVIEW} {what}")
}
