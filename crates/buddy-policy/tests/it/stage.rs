//! A policy to judge by, and the questions that the tests put to it.

use buddy_policy::{
    Action, CommandPattern, Decision, GitDestination, Grant, Intent, Mode, Now, Places, Policy, Rules,
    TripEnd, Verdict, decide, git_trips,
};
use buddy_protocol::{ApprovalPolicy, LinkLook, LinkLookup};

/// Development in `/w`, with a home and places of buddy's own.
pub(crate) fn policy(mode: Mode) -> Policy {
    let places = Places {
        untrusted: None,
        workspace: vec!["/w".into()],
        home: Some("/home/u".into()),
        own: vec!["/home/u/.config/buddy".into(), "/home/u/.buddy/run".into()],
        own_readable: Vec::new(),
        scratch: vec!["/tmp".into()],
        target: "local".to_owned(),
        git_orders: Vec::new(),
        git_names: buddy_protocol::NameSet::default(),
        linked: buddy_policy::LinkedPlaces::default(),
        remote: false,
        links: LinkLookup::new(|_| LinkLook::Plain),
        remotes: buddy_protocol::RemoteLookup::default(),
    };
    Policy { mode, places, ..Policy::default() }
}

pub(crate) fn run_in(cwd: &str, command: &str) -> Intent {
    Intent::of(Action::Run { command: command.to_owned(), cwd: cwd.into() })
}

pub(crate) fn run(command: &str) -> Intent {
    run_in("/w", command)
}

pub(crate) fn ask(intent: &Intent, policy: &Policy) -> Decision {
    decide(intent, policy, &Now::with(ApprovalPolicy::Ask))
}

pub(crate) fn with_grants(intent: &Intent, policy: &Policy, grants: &[Grant]) -> Decision {
    decide(intent, policy, &Now { grants, ..Now::with(ApprovalPolicy::Ask) })
}

/// The trips of git in an intent, which all end at this address.
pub(crate) fn leading_to(address: &str, intent: &Intent, policy: &Policy) -> Vec<GitDestination> {
    let end = TripEnd {
        repository: "/w/.git".into(),
        identity: "1".to_owned(),
        addresses: vec![address.to_owned()],
        connects: String::new(),
    };
    let trips = git_trips(intent, policy).into_iter();
    trips.map(|trip| GitDestination { trip, end: Some(end.clone()) }).collect()
}

/// Checks the verdict on a command in a mode.
pub(crate) fn check(mode: Mode, command: &str, verdict: Verdict) {
    let decision = ask(&run(command), &policy(mode));
    assert_eq!(decision.verdict, verdict, "{mode:?} {command:?}: {:?}", decision.reasons);
}

/// Checks that a command is not run by itself in any mode, nor in a window that the user opened.
pub(crate) fn is_stopped(command: &str) {
    for mode in [Mode::Development, Mode::Production, Mode::Plan] {
        for approvals in [
            ApprovalPolicy::Ask,
            ApprovalPolicy::Window { seconds: 60 },
            ApprovalPolicy::Edits,
            ApprovalPolicy::None,
        ] {
            let decision = decide(&run(command), &policy(mode), &Now::with(approvals));
            assert_ne!(decision.verdict, Verdict::Allow, "{mode:?} {approvals:?} {command:?}");
            assert!(decision.offers.is_empty(), "{mode:?} {command:?} offers {:?}", decision.offers);
        }
    }
}

/// Checks that a command that is not known to only read is not run by itself in development or plan mode.
pub(crate) fn is_asked(command: &str) {
    for mode in [Mode::Development, Mode::Plan] {
        let decision = ask(&run(command), &policy(mode));
        assert_ne!(decision.verdict, Verdict::Allow, "{mode:?} {command:?}");
        assert!(!decision.is_read_only, "{command:?}");
    }
}

pub(crate) fn rules(text: &str) -> Rules {
    toml::from_str(text).expect("the rules are well-formed")
}

pub(crate) fn pattern(text: &str) -> CommandPattern {
    CommandPattern::parse(text).expect("the pattern is well-formed")
}
