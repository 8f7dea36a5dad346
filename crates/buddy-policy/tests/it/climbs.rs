//! `..` after a name, where links can be looked up and where they cannot.

use std::path::Path;

use buddy_policy::{Action, Intent, Mode, Now, Policy, Verdict, decide};
use buddy_protocol::{ApprovalPolicy, LinkLook, LinkLookup};

use crate::stage::{ask, policy, run};

/// `/w` with a link to `/home/u/h/sub`.
fn linked(mode: Mode) -> Policy {
    let mut policy = policy(mode);
    policy.places.links = LinkLookup::new(|name: &Path| {
        let is_link = name == Path::new("/w/lnk");
        if is_link { LinkLook::Link("../home/u/h/sub".into()) } else { LinkLook::Plain }
    });
    policy
}

/// The same on a host whose links nobody can look up.
fn unseen(mode: Mode) -> Policy {
    let mut policy = policy(mode);
    policy.places.links = LinkLookup::default();
    policy
}

#[track_caller]
fn check(policy: &Policy, command: &str, verdict: Verdict, reason: &str) {
    let decision = ask(&run(command), policy);
    assert_eq!(decision.verdict, verdict, "{command}: {:?}", decision.reasons);
    let is_said = reason.is_empty() || decision.reasons.iter().any(|said| said.contains(reason));
    assert!(is_said, "{command}: {:?}", decision.reasons);
}

#[test]
fn a_link_is_followed_before_the_climb() {
    let policy = linked(Mode::Production);
    check(&policy, "rm lnk/../f", Verdict::Ask, "`/home/u/h/f`");
    check(&policy, "cp a lnk/..", Verdict::Ask, "`/home/u/h`");
    check(&policy, "cat lnk/../../.ssh/id_rsa", Verdict::Deny, "`/home/u/.ssh/id_rsa`");
    check(&policy, "tar cf x.tar lnk/../../.aws", Verdict::Deny, "`/home/u/.aws`");
    check(&policy, "echo x >> lnk/../../.bashrc", Verdict::Ask, "`/home/u/.bashrc`");
    check(&policy, "cd lnk && rm ../f", Verdict::Ask, "`/home/u/h/f`");
    check(&policy, "cd lnk/.. && rm f", Verdict::Ask, "`/home/u/h/f`");
    check(&policy, "rm a/../f", Verdict::Allow, "");
}

#[test]
fn a_line_that_makes_links_does_not_say_where_a_climb_ends() {
    let policy = linked(Mode::Production);
    check(&policy, "ln -s ../h made && rm made/../f", Verdict::Ask, "`made/../f`");
    check(&policy, "bash -c 'ln -s ../h made'; rm made/../f", Verdict::Ask, "`made/../f`");
    check(&policy, "ln -s a b && rm c", Verdict::Allow, "");
}

#[test]
fn where_links_cannot_be_looked_up_a_climb_from_a_name_asks() {
    for mode in [Mode::Production, Mode::Development] {
        for line in ["rm a/../f", "cat a/../f", "echo x > a/../f", "bash a/../x.sh", "git -C a/.. log"] {
            let decision = ask(&run(line), &unseen(mode));
            assert_ne!(decision.verdict, Verdict::Allow, "{mode:?} {line}: {:?}", decision.reasons);
        }
        check(&unseen(mode), "cat ../w/f", Verdict::Allow, "");
    }
    check(&unseen(Mode::Production), "rm ../w/f", Verdict::Allow, "");
}

#[test]
fn tools_are_refused_and_told_the_path() {
    for mode in [Mode::Production, Mode::Development] {
        for action in [
            Action::Write("/w/lnk/../f".into()),
            Action::Read("/w/lnk/../f".into()),
            Action::Delete("/w/lnk/../f".into()),
            Action::Run { command: "true".to_owned(), cwd: "/w/lnk/..".into() },
        ] {
            let intent = Intent::of(action);
            for (policy, said) in [(linked(mode), "`/home/u/h"), (unseen(mode), "without `..`")] {
                let decision = decide(&intent, &policy, &Now::with(ApprovalPolicy::All));
                assert_eq!(decision.verdict, Verdict::Deny, "{intent:?}");
                let is_said = decision.reasons.iter().any(|reason| reason.contains(said));
                assert!(is_said, "{intent:?}: {:?}", decision.reasons);
            }
        }
    }
}
