//! Trips of git: a grant of a command that connects holds for the place that it led to.

use buddy_policy::{
    Decision, GitDestination, Grant, Mode, Now, Policy, TripRemote, Verdict, decide, git_trips,
};
use buddy_protocol::{ApprovalPolicy, Risk};

use crate::stage::{leading_to, policy, run};

fn development(has_broker: bool) -> Policy {
    Policy { has_broker, ..policy(Mode::Development) }
}

/// The decision about a command in `ask` whose trips end at an address.
fn leading(command: &str, address: &str, grants: &[Grant], policy: &Policy) -> Decision {
    let destinations = leading_to(address, &run(command), policy);
    decide(
        &run(command),
        policy,
        &Now { destinations: &destinations, grants, ..Now::with(ApprovalPolicy::Ask) },
    )
}

const HERE: &str = "https://here.test/a.git";
const THERE: &str = "https://there.test/a.git";

#[test]
fn a_grant_covers_a_trip_only_where_it_led() {
    for command in [
        "git push",
        "git push origin main",
        "git -C sub push origin main",
        "git add -A && git commit -m x && git push origin main",
        "git checkout -b topic && git push -u origin topic",
        "git fetch",
        "git fetch upstream",
        "git fetch --all",
        "git pull --rebase",
        "git remote update",
        "git remote prune origin",
    ] {
        for policy in [development(true), development(false)] {
            let asked = leading(command, HERE, &[], &policy);
            assert_eq!(asked.verdict, Verdict::Ask, "{command}");
            assert!(!asked.offers.is_empty(), "{command}: {:?}", asked.reasons);
            for offer in &asked.offers {
                assert!(offer.covers.contains(&format!("to `{HERE}`")), "{command}: {}", offer.covers);
                let grants = [offer.grant.clone()];
                let again = leading(command, HERE, &grants, &policy);
                assert_eq!(again.verdict, Verdict::Allow, "{command}: {:?}", again.reasons);
                let moved = leading(command, THERE, &grants, &policy);
                assert_eq!(moved.verdict, Verdict::Ask, "{command}");
                let told = format!("now leads to `{THERE}`; you allowed `{HERE}`");
                let is_told = |reason: &String| reason.contains(&told);
                let is_push = command.contains("push");
                assert!(!is_push || moved.reasons.iter().any(is_told), "{command}: {:?}", moved.reasons);
            }
        }
    }
}

#[test]
fn a_push_to_a_folder_needs_no_network_and_no_login() {
    for folder in ["/srv/a.git", "../a.git", "file:///srv/a.git"] {
        let asked = leading("git push origin main", folder, &[], &development(true));
        let told = asked.reasons.join("; ");
        assert_eq!((asked.verdict, asked.risk), (Verdict::Ask, Risk::Medium), "{told}");
        assert!(told.contains("a repository on this machine") && !told.contains("network"), "{told}");
        assert!(!asked.tells_network && !asked.needs.takes_logins && asked.needs.keeps_seals, "{folder}");
        let again =
            leading("git push origin main", folder, &[asked.offers[0].grant.clone()], &development(true));
        assert_eq!((again.verdict, again.stays_inside), (Verdict::Allow, true), "{:?}", again.reasons);
        let moved =
            leading("git push origin main", HERE, &[asked.offers[0].grant.clone()], &development(true));
        assert_eq!((moved.verdict, moved.risk), (Verdict::Ask, Risk::High), "{:?}", moved.reasons);
    }
    for host in [HERE, "git@here.test:a.git", "here.test:a", "ext::sh -c x", "file://here.test/a"] {
        let asked = leading("git push origin main", host, &[], &development(true));
        assert!(asked.tells_network && asked.needs.takes_logins && asked.needs.keeps_seals, "{host}");
    }
}

#[test]
fn a_push_to_a_folder_stays_one_beside_programs_that_lead_it_nowhere() {
    for command in [
        "python3 -m unittest && git push origin main",
        "git add -A && git commit -m x && make && git push origin main",
    ] {
        let asked = leading(command, "../a.git", &[], &development(true));
        let told = asked.reasons.join("; ");
        assert_eq!((asked.verdict, asked.risk), (Verdict::Ask, Risk::Medium), "{command}: {told}");
        assert!(told.contains("a repository on this machine") && !asked.tells_network, "{command}: {told}");
        // No broker judges the connections.
        assert_eq!(leading(command, "../a.git", &[], &development(false)).risk, Risk::High, "{command}");
    }
    for command in [
        "make && git remote set-url origin https://there.test/a && git push origin main",
        "make && git config remote.origin.url https://there.test/a && git push origin main",
        "make && git -c remote.origin.url=https://there.test/a push origin main",
    ] {
        let asked = leading(command, "../a.git", &[], &development(true));
        assert_eq!(asked.risk, Risk::High, "{command}: {:?}", asked.reasons);
    }
}

#[test]
fn nothing_is_offered_for_a_push_whose_end_is_not_known() {
    for command in [
        "git push $REMOTE main",
        "git push --recurse-submodules=on-demand origin",
        "git --bare push origin main",
        "git --git-dir=other.git push origin main",
        "git lfs push origin main",
        "git subtree push --prefix=a origin main",
        "git remote add o https://a.test/x && git push o main",
        "git checkout topic && git push",
        "git init && git push origin main",
    ] {
        let asked = leading(command, HERE, &[], &development(true));
        assert_eq!(asked.verdict, Verdict::Ask, "{command}");
        assert!(asked.offers.is_empty(), "{command}: {:?}", asked.offers);
    }
    // The host did not say where it ends.
    let unknown = |command: &str, policy: &Policy| {
        let trips = git_trips(&run(command), policy).into_iter();
        let destinations: Vec<_> = trips.map(|trip| GitDestination { trip, end: None }).collect();
        decide(&run(command), policy, &Now { destinations: &destinations, ..Now::with(ApprovalPolicy::Ask) })
    };
    let push = unknown("git push origin main", &development(true));
    assert!(push.offers.is_empty() && push.reasons.iter().any(|reason| reason.contains("asks each time")));
    // The broker judges each connection of a fetch, and nothing does without one.
    assert!(!unknown("git fetch origin", &development(true)).offers.is_empty());
    assert!(unknown("git fetch origin", &development(false)).offers.is_empty());
}

#[test]
fn a_grant_without_a_place_covers_no_push() {
    let old = leading("git push origin main", HERE, &[], &development(true)).offers.remove(0).grant;
    let old = [Grant { destinations: Vec::new(), ..old }];
    let decision = leading("git push origin main", HERE, &old, &development(true));
    assert_eq!(decision.verdict, Verdict::Ask);
}

#[test]
fn a_line_that_the_broker_judges_keeps_its_grant() {
    let command = "cargo test && git push origin main";
    let policy = development(true);
    let asked = leading(command, HERE, &[], &policy);
    let grants = [asked.offers[0].grant.clone()];
    let again = leading(command, HERE, &grants, &policy);
    assert_eq!((again.verdict, again.stays_inside), (Verdict::Allow, true), "{:?}", again.reasons);
}

#[test]
fn the_trips_of_a_line_are_read_off_its_words() {
    let named = |name: &str| TripRemote::Named(name.to_owned());
    for (command, trips) in [
        ("git push", vec![(TripRemote::Usual, true, "/w")]),
        ("cd sub && git push origin main", vec![(named("origin"), true, "/w/sub")]),
        ("git -C sub -C more fetch", vec![(TripRemote::Usual, false, "/w/sub/more")]),
        ("git ls-remote origin", vec![(named("origin"), false, "/w")]),
        ("git remote show origin", vec![(named("origin"), false, "/w")]),
        ("git fetch a; git push b", vec![(named("a"), false, "/w"), (named("b"), true, "/w")]),
        ("git status; git remote -v; git commit -m push", vec![]),
    ] {
        let found = git_trips(&run(command), &development(true));
        let found: Vec<_> = found
            .iter()
            .map(|trip| (trip.remote.clone(), trip.pushes, trip.directory.to_str().expect("a path")))
            .filter(|(_, _, directory)| *directory != "/w" || !command.starts_with("cd"))
            .collect();
        assert_eq!(found, trips, "{command}");
    }
}

#[test]
fn nothing_is_offered_for_other_programs_whose_settings_decide_where_they_send() {
    for command in
        ["hg push", "jj git push", "git-lfs push origin main", "gh pr create", "mvn deploy", "svn commit"]
    {
        assert!(
            !leading(command, HERE, &[], &development(true)).offers.is_empty(),
            "the broker judges: {command}"
        );
        assert!(leading(command, HERE, &[], &development(false)).offers.is_empty(), "{command}");
    }
    for command in
        ["ssh -F ./config host", "scp -F ./config a host:b", "npm publish", "cargo publish", "curl -K x"]
    {
        for has_broker in [true, false] {
            assert!(leading(command, HERE, &[], &development(has_broker)).offers.is_empty(), "{command}");
        }
    }
}
