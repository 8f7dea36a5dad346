//! Probes: one sample call for each class of calls, so that the rules of a session can be told before anything is called. The verdict
//! on a sample is that of [`decide`](crate::decide) itself, so the words about it cannot differ from what happens.

use std::path::{Path, PathBuf};

use crate::places::is_open;
use crate::{Action, Intent, Policy, Typing};

/// A class of calls that a session's rules treat alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallClass {
    /// Reading in the workspace.
    Reading,
    /// A search of the web by a tool.
    Searches,
    /// A change of a file in the workspace, by a tool for files.
    Edits,
    /// The same in a directory for scratch files, such as `/tmp`.
    Scratch,
    /// The same of a file that says how the project is built.
    BuildFiles,
    /// The same of a file that programs or agents take orders from.
    Orders,
    /// The deletion of a file in the workspace, by a tool for files.
    Deletions,
    /// A command that changes the workspace.
    Commands,
    /// A command whose effects no table has.
    Unknown,
    /// A command that runs on in the background after its call.
    Background,
    /// A command that a guard calls dangerous.
    Dangerous,
    /// Typing into a terminal that is shared with the user.
    Typing,
    /// A command that removes files which undo does not keep.
    Unkept,
    /// A command that publishes something.
    Publishing,
    /// Reading a file that can hold secrets.
    Secrets,
    /// A change outside the workspace.
    Outside,
    /// A fetch from a host that the user neither allowed nor named.
    Hosts,
}

impl CallClass {
    /// All classes, in the order in which they are told.
    pub const ALL: [Self; 17] = [
        Self::Reading,
        Self::Searches,
        Self::Edits,
        Self::Scratch,
        Self::Commands,
        Self::BuildFiles,
        Self::Orders,
        Self::Deletions,
        Self::Unknown,
        Self::Background,
        Self::Dangerous,
        Self::Typing,
        Self::Unkept,
        Self::Publishing,
        Self::Secrets,
        Self::Outside,
        Self::Hosts,
    ];

    /// A call of this class by a session in a directory. Its names are ones that no rule of a user is about.
    pub fn sample(self, cwd: &Path, policy: &Policy) -> Intent {
        let run =
            |command: &str| Intent::of(Action::Run { command: command.to_owned(), cwd: cwd.to_owned() });
        match self {
            Self::Reading => Intent::of(Action::Read(cwd.join("buddy-probe.txt"))),
            Self::Searches => {
                let page = policy.searches.first().map_or("https://buddy-probe.invalid/", String::as_str);
                Intent::of(Action::Fetch(page.to_owned()))
            }
            Self::Edits => Intent::of(Action::Write(cwd.join("buddy-probe.txt"))).as_edit(),
            Self::Scratch => {
                let scratch = policy.places.scratch.first().map_or(Path::new("/tmp"), PathBuf::as_path);
                Intent::of(Action::Write(scratch.join("buddy-probe.txt"))).as_edit()
            }
            Self::BuildFiles => Intent::of(Action::Write(cwd.join("Makefile"))).as_edit(),
            Self::Orders => Intent::of(Action::Write(cwd.join("AGENTS.md"))).as_edit(),
            Self::Deletions => Intent::of(Action::Delete(cwd.join("buddy-probe.txt"))).as_edit(),
            Self::Commands => run("touch buddy-probe.txt"),
            Self::Unknown => run("buddy-probe-program"),
            Self::Background => run("touch buddy-probe.txt").running_on(),
            Self::Dangerous => run("pkill buddy-probe"),
            Self::Typing => Intent::of(Action::Terminal {
                line: "keys".to_owned(),
                place: "a pane".to_owned(),
                typing: Typing::Keys,
            }),
            Self::Unkept => run("git stash drop"),
            Self::Publishing => run("git push"),
            Self::Secrets => Intent::of(Action::Read(cwd.join(".env"))),
            Self::Outside => Intent::of(Action::Write(outside(cwd, policy))).as_edit(),
            Self::Hosts => Intent::of(Action::Fetch("https://buddy-probe.invalid/".to_owned())),
        }
    }
}

/// A path beside the working directory, or else in the home or at the root, that is in no open place.
fn outside(cwd: &Path, policy: &Policy) -> PathBuf {
    let beside = cwd.parent().map(Path::to_owned);
    let mut places = [beside, policy.places.home.clone()].into_iter().flatten();
    let is_closed = |path: &PathBuf| !is_open(path, &policy.places) && !path.starts_with(cwd);
    places
        .find_map(|place| Some(place.join("buddy-probe.txt")).filter(is_closed))
        .unwrap_or_else(|| "/buddy-probe.txt".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attendance, Found, Landing, Mode, Now, Verdict, decide};
    use buddy_protocol::ApprovalPolicy;

    /// Verdicts on all classes, in their order: allow, ask, deny.
    #[track_caller]
    fn check(policy: &Policy, now: &Now<'_>, verdicts: &str) {
        let cwd = Path::new("/home/ann/w");
        let path = outside(cwd, policy);
        let landings = [path, "/tmp/buddy-probe.txt".into()].map(|path| Landing {
            directory: path.parent().map(Path::to_owned),
            path,
            found: Found::Missing,
        });
        let now = Now { landings: &landings, ..*now };
        let letter = |class: CallClass| match decide(&class.sample(cwd, policy), policy, &now).verdict {
            Verdict::Allow => 'a',
            Verdict::Ask => '?',
            Verdict::Deny => 'd',
        };
        let found: String = CallClass::ALL.into_iter().map(letter).collect();
        assert_eq!(found, verdicts, "{:?} {:?}", policy.mode, now.approvals);
    }

    fn policy(mode: Mode) -> Policy {
        let mut policy = Policy { mode, has_broker: true, ..Policy::plain("/home/ann/w".into()) };
        policy.places.home = Some("/home/ann".into());
        policy.places.scratch = vec!["/tmp".into()];
        policy.searches = vec!["https://search.test/".to_owned()];
        policy
    }

    #[test]
    fn each_class_has_its_verdict_in_each_mode() {
        let development = policy(Mode::Development);
        check(&development, &Now::with(ApprovalPolicy::Auto), "aaaaaa?aa????????");
        check(&development, &Now::with(ApprovalPolicy::Ask), "aa???????????????");
        check(&development, &Now::with(ApprovalPolicy::Edits), "aaa??????????????");
        check(&development, &Now::with(ApprovalPolicy::Window { seconds: 60 }), "aaaaaaaaaa???a???");
        check(&development, &Now::with(ApprovalPolicy::All), "aaaaaaaaaaaaaa???");
        check(&development, &Now::with(ApprovalPolicy::None), "aaddddddddddddddd");
        check(&policy(Mode::Production), &Now::with(ApprovalPolicy::All), "aaaaaaaaaaaaaaaaa");
        check(&policy(Mode::Plan), &Now::with(ApprovalPolicy::Auto), "aaddddddddd?dd?d?");
        let alone = Now { attendance: Attendance::Nobody, ..Now::with(ApprovalPolicy::Auto) };
        check(&development, &alone, "aaaaaadaadddddddd");
    }
}
