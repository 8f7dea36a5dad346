//! Work that a command sends to others: commits that it pushes, and packages.

use buddy_protocol::Risk;

use crate::SentWork;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{CommandExamination, CommandLeaf, PUBLISHES_PACKAGE, git_alias, publishes, risky_words};

/// The reason to ask about a push.
const PUBLISHES: &str = "it publishes commits, which others see and nobody takes back";

/// The reason to ask about a push to a folder of the host.
const PUSHES_HERE: &str = "it pushes commits to a repository on this machine, which undo does not take back";

/// The work that a line sends to others.
pub(super) fn sent_work(examination: &CommandExamination) -> Option<SentWork> {
    let has_package =
        || examination.concerns.iter().any(|concern| concern.reason.contains(PUBLISHES_PACKAGE));
    if examination.leaves.iter().any(is_publishing) {
        return Some(SentWork::Commits);
    }
    has_package().then_some(SentWork::Package)
}

/// Whether a simple command publishes commits.
pub(super) fn is_publishing(leaf: &CommandLeaf) -> bool {
    leaf.program == "git" && leaf.words.get(1..).is_some_and(publishes)
}

/// Whether a simple command publishes commits, or runs an alias that can.
pub(super) fn may_publish(leaf: &CommandLeaf) -> bool {
    let is_alias = || leaf.words.get(1..).is_some_and(|words| git_alias(words).is_some());
    is_publishing(leaf) || (leaf.program == "git" && is_alias())
}

/// Asks about publishing the work here.
///
/// `stays_here` says whether git goes to no other host for a simple command.
pub(super) fn ask_about_publishing(
    uncovered: &[&CommandLeaf],
    stays_here: impl Fn(&CommandLeaf) -> bool,
    sheet: &mut Sheet,
) {
    let network = if sheet.opens_network { "; a yes gives the command the whole network" } else { "" };
    let publishing: Vec<&&CommandLeaf> = uncovered.iter().filter(|leaf| is_publishing(leaf)).collect();
    publishing.iter().filter_map(|leaf| risky_words(&leaf.words)).for_each(|words| sheet.mark(&words));
    if publishing.iter().any(|leaf| !stays_here(leaf)) {
        sheet.ask(Weight::Seen, Risk::High, format!("{PUBLISHES}{network}"));
    } else if !publishing.is_empty() {
        sheet.ask(Weight::Seen, Risk::Medium, format!("{PUSHES_HERE}{network}"));
    }
    let git = uncovered.iter().filter(|leaf| leaf.program == "git");
    for alias in git.filter_map(|leaf| git_alias(leaf.words.get(1..)?)) {
        let alias = crate::display_command(&alias);
        let reason = format!(
            "`git {alias}` is no command of git itself, and an alias can do anything, also push{network}"
        );
        sheet.ask(Weight::Seen, Risk::Medium, reason);
    }
}
