//! The terms of sessions and the ids that clients choose.

use buddy_protocol::{
    ApprovalPolicy, Fact, ForkKind, ForkPoint, MicroUsd, NewSession, SessionBounds, SessionId, SessionQuery,
    SessionTarget, SessionTerms, Sessions, SessionsError, SpendingLimit, TargetHost, Transcript,
};
use proptest::prelude::*;

use crate::bench::{Bench, new_session, next};

fn approvals() -> impl Strategy<Value = ApprovalPolicy> {
    prop::sample::select(vec![
        ApprovalPolicy::None,
        ApprovalPolicy::Ask,
        ApprovalPolicy::Edits,
        ApprovalPolicy::Auto,
        ApprovalPolicy::Window { seconds: 60 },
        ApprovalPolicy::All,
    ])
}

fn terms() -> impl Strategy<Value = SessionTerms> {
    let tools = prop::sample::subsequence(vec!["glob", "grep", "read_file"], 1..=3);
    let tools = tools.prop_map(|names| names.into_iter().map(str::to_owned).collect());
    let few = || prop::option::of(1_u64..4);
    let budget = (few(), few(), few()).prop_map(|(cost, tokens, calls)| SpendingLimit {
        cost: cost.map(MicroUsd),
        tokens,
        calls,
    });
    let texts = (prop::option::of("[a-z]{3}"), prop::collection::btree_map("[a-z]", "[a-z]", 0..2));
    (prop::option::of(tools), prop::option::of(approvals()), any::<bool>(), budget, texts).prop_map(
        |(tools, approvals, plan_only, budget, (instructions, labels))| SessionTerms {
            tools,
            instructions,
            approvals,
            plan_only,
            budget,
            labels,
        },
    )
}

/// Whether a limit below holds at least what the one above holds.
fn holds<T>(below: Option<T>, above: Option<T>, is_within: impl Fn(&T, &T) -> bool) -> bool {
    match (below, above) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(below), Some(above)) => is_within(&below, &above),
    }
}

fn width(policy: ApprovalPolicy) -> u8 {
    match policy {
        ApprovalPolicy::None => 0,
        ApprovalPolicy::Ask => 1,
        ApprovalPolicy::Edits => 2,
        ApprovalPolicy::Auto => 3,
        ApprovalPolicy::Window { .. } => 4,
        ApprovalPolicy::All => 5,
    }
}

fn is_inside(below: &SessionTerms, above: &SessionTerms) -> bool {
    // Nobody knows whether a window above is still open.
    let lasting = |policy: &ApprovalPolicy| match policy {
        ApprovalPolicy::Window { .. } => 1,
        lasting => width(*lasting),
    };
    holds(below.tools.as_ref(), above.tools.as_ref(), |below, above| {
        below.iter().all(|name| above.contains(name))
    }) && holds(below.approvals, above.approvals, |below, above| width(*below) <= lasting(above))
        && holds(below.budget.cost, above.budget.cost, |below, above| below <= above)
        && holds(below.budget.tokens, above.budget.tokens, |below, above| below <= above)
        && holds(below.budget.calls, above.budget.calls, |below, above| below <= above)
        && (below.plan_only || !above.plan_only)
}

/// These terms where something is said, and those above where nothing is.
fn filled(wanted: &SessionTerms, above: &SessionTerms) -> SessionTerms {
    let approvals = above.approvals.map(|policy| match policy {
        ApprovalPolicy::Window { .. } => ApprovalPolicy::Ask,
        lasting => lasting,
    });
    SessionTerms {
        tools: wanted.tools.clone().or_else(|| above.tools.clone()),
        approvals: wanted.approvals.or(approvals),
        plan_only: wanted.plan_only || above.plan_only,
        budget: SpendingLimit {
            cost: wanted.budget.cost.or(above.budget.cost),
            tokens: wanted.budget.tokens.or(above.budget.tokens),
            calls: wanted.budget.calls.or(above.budget.calls),
        },
        ..wanted.clone()
    }
}

async fn recorded(bench: &Bench, session: &SessionId) -> SessionTerms {
    let events = bench.hub.events(&bench.ann, session, 0, 1).await.unwrap();
    let Fact::SessionStarted(started) = &events[0].fact else { panic!("{events:?}") };
    started.terms.clone()
}

/// Starts a session for each of these terms, each below the one before as far as there is one.
async fn check_chain(bench: &Bench, chain: &[SessionTerms]) {
    let mut above: Option<(SessionId, SessionTerms)> = None;
    for wanted in chain {
        let before = bench.hub.list(&bench.ann, SessionQuery::default()).await.unwrap().sessions.len();
        let parent = above.as_ref().map(|(session, _)| session.clone());
        let new = NewSession { terms: wanted.clone(), ..new_session("/", parent) };
        let created = bench.hub.create(&bench.ann, new).await;
        let unrestricted = SessionTerms::default();
        let bounds = above.as_ref().map_or(&unrestricted, |(_, terms)| terms);
        let filled = filled(wanted, bounds);
        match created {
            Ok(session) => {
                let terms = recorded(bench, &session).await;
                assert_eq!(terms, filled);
                assert!(is_inside(&terms, bounds), "{terms:?} below {bounds:?}");
                above = Some((session, terms));
            }
            Err(error) => {
                assert!(matches!(error, SessionsError::Invalid(_)), "{error:?}");
                assert!(!is_inside(&filled, bounds), "{wanted:?} below {bounds:?}: {error}");
                let after = bench.hub.list(&bench.ann, SessionQuery::default()).await.unwrap().sessions.len();
                assert_eq!(after, before, "nothing was started");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_session_never_gets_more_than_the_one_above(chain in prop::collection::vec(terms(), 2..6)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new();
            check_chain(&bench, &chain).await;
            bench.hub.close().await;
        });
    }
}

fn directory() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["/", "/w", "/w/a", "/wide", "/w/../x"]).prop_map(str::to_owned)
}

fn target(host: TargetHost, cwd: String) -> SessionTarget {
    SessionTarget { name: host.to_string(), host, cwd, place: None }
}

fn targets() -> impl Strategy<Value = Vec<SessionTarget>> {
    let atlas = TargetHost::Ssh { destination: "atlas".to_owned() };
    let here = prop::option::of(directory().prop_map(|cwd| target(TargetHost::Local, cwd)));
    let there = prop::option::of(directory().prop_map(move |cwd| target(atlas.clone(), cwd)));
    (here, there).prop_map(|(here, there)| here.into_iter().chain(there).collect())
}

/// Something that is done with one of the sessions so far.
#[derive(Debug, Clone)]
enum Step {
    Child { terms: SessionTerms, cwd: String, targets: Vec<SessionTarget> },
    Fork { kind: ForkKind, is_at_the_beginning: bool },
    Restrict,
}

fn step() -> impl Strategy<Value = Step> {
    let child = (terms(), directory(), targets());
    let kind = prop::sample::select(vec![ForkKind::Beneath, ForkKind::Beside]);
    prop_oneof![
        child.prop_map(|(terms, cwd, targets)| Step::Child { terms, cwd, targets }),
        (kind, any::<bool>())
            .prop_map(|(kind, is_at_the_beginning)| Step::Fork { kind, is_at_the_beginning }),
        Just(Step::Restrict),
    ]
}

async fn bounds(bench: &Bench, session: &SessionId) -> SessionBounds {
    let mut transcript = Transcript::default();
    for event in bench.hub.events(&bench.ann, session, 0, 1_000).await.unwrap() {
        transcript.apply(&event).unwrap();
    }
    SessionBounds::of(&transcript).unwrap()
}

fn is_beneath(directory: &str, other: &str) -> bool {
    let is_climbing = directory.contains("..");
    directory == other || (!is_climbing && (other == "/" || directory.starts_with(&format!("{other}/"))))
}

fn is_bounded(below: &SessionBounds, above: &SessionBounds) -> bool {
    let has = |target: &SessionTarget| {
        above.targets.iter().any(|known| known.host == target.host && is_beneath(&target.cwd, &known.cwd))
    };
    is_inside(&below.terms, &above.terms)
        && is_beneath(&below.cwd, &above.cwd)
        && below.targets.iter().all(has)
}

/// Takes one step. Returns the session that came of it.
async fn take(bench: &Bench, session: &SessionId, step: &Step) -> Option<SessionId> {
    match step {
        Step::Restrict => {
            let mut events = bench.subscribe(session, 0).await;
            bench.prompt(session, "restrict").await;
            while !matches!(&next(&mut events).await.fact, Fact::SessionChanged(changed) if changed.approvals.is_some())
            {
            }
            None
        }
        Step::Fork { kind, is_at_the_beginning } => {
            let point = if *is_at_the_beginning { ForkPoint::After { seq: 1 } } else { ForkPoint::Now };
            Some(bench.hub.fork(&bench.ann, session, point, *kind).await.unwrap())
        }
        Step::Child { terms, cwd, targets } => {
            let above = bounds(bench, session).await;
            let (terms, targets) = (terms.clone(), targets.clone());
            let new = NewSession { terms, targets, ..new_session(cwd, Some(session.clone())) };
            let has_here = above.targets.iter().any(|target| target.host == TargetHost::Local);
            let wanted = SessionBounds {
                terms: filled(&new.terms, &above.terms),
                cwd: cwd.clone(),
                targets: match &new.targets[..] {
                    [] if has_here => vec![SessionTarget::local(cwd)],
                    [] => above.targets.clone(),
                    named => named.to_vec(),
                },
            };
            let created = bench.hub.create(&bench.ann, new).await;
            assert_eq!(created.is_ok(), is_bounded(&wanted, &above), "{wanted:?} {above:?} {created:?}");
            assert!(matches!(created, Ok(_) | Err(SessionsError::Invalid(_))), "{created:?}");
            created.ok()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_child_and_no_fork_is_wider_than_the_session_above(
        cwd in directory(),
        targets in targets(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), step()), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new();
            let first = NewSession { targets, ..new_session(&cwd, None) };
            let mut sessions = vec![bench.hub.create(&bench.ann, first).await.unwrap()];
            for (index, step) in &steps {
                let session = index.get(&sessions).clone();
                let Some(made) = take(&bench, &session, step).await else { continue };
                if let Some(parent) = bench.hub.find(&bench.ann, &made).await.unwrap().parent {
                    let (below, above) = (bounds(&bench, &made).await, bounds(&bench, &parent).await);
                    assert!(is_bounded(&below, &above), "{step:?}: {below:?} below {above:?}");
                }
                sessions.push(made);
            }
            bench.hub.close().await;
        });
    }
}

#[tokio::test]
async fn a_fork_below_goes_back_to_no_wider_session() {
    let bench = Bench::new();
    let parent = bench.session().await;
    take(&bench, &parent, &Step::Restrict).await;
    for point in [ForkPoint::Now, ForkPoint::After { seq: 1 }] {
        let fork = bench.hub.fork(&bench.ann, &parent, point, ForkKind::Beneath).await.unwrap();
        let terms = bounds(&bench, &fork).await.terms;
        assert_eq!((terms.approvals, terms.plan_only), (Some(ApprovalPolicy::None), true));
    }
    bench.hub.close().await;
}

#[tokio::test]
async fn a_child_has_the_approvals_of_its_parent_at_that_time() {
    let bench = Bench::new();
    let parent = bench.session().await;
    let mut events = bench.subscribe(&parent, 0).await;
    bench.prompt(&parent, "restrict").await;
    while !matches!(next(&mut events).await.fact, Fact::SessionChanged(_)) {}
    let terms = SessionTerms { approvals: Some(ApprovalPolicy::Ask), ..SessionTerms::default() };
    let wider = NewSession { terms, ..new_session("/", Some(parent.clone())) };
    let refused = bench.hub.create(&bench.ann, wider).await;
    assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    let child = bench.hub.create(&bench.ann, new_session("/", Some(parent))).await.unwrap();
    let terms = recorded(&bench, &child).await;
    assert_eq!((terms.approvals, terms.plan_only), (Some(ApprovalPolicy::None), true));
    bench.hub.close().await;
}

#[tokio::test]
async fn a_chosen_id_is_used_once() {
    let bench = Bench::new();
    let id: SessionId = format!("ses_{:026}", 7_777).parse().unwrap();
    let new = || NewSession { id: Some(id.clone()), ..new_session("/", None) };
    assert_eq!(bench.hub.create(&bench.ann, new()).await.unwrap(), id);
    let while_live = bench.hub.create(&bench.ann, new()).await;
    assert!(matches!(while_live, Err(SessionsError::Conflict(_))), "{while_live:?}");
    bench.hub.close().await;
    let later = bench.another_hub();
    let from_store = later.create(&bench.ann, new()).await;
    assert!(matches!(from_store, Err(SessionsError::Conflict(_))), "{from_store:?}");
    let events = later.events(&bench.ann, &id, 0, 10).await.unwrap();
    assert_eq!(events.iter().filter(|event| matches!(event.fact, Fact::SessionStarted(_))).count(), 1);
    later.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_choose_the_same_id_at_once_one_gets_it() {
    let bench = Bench::new();
    let id: SessionId = format!("ses_{:026}", 8_888).parse().unwrap();
    let new = || NewSession { id: Some(id.clone()), ..new_session("/", None) };
    let all = futures::future::join_all((0..8).map(|_| bench.hub.create(&bench.ann, new()))).await;
    let (made, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 1);
    assert!(refused.iter().all(|refused| matches!(refused, Err(SessionsError::Conflict(_)))), "{refused:?}");
    bench.hub.close().await;
}
