//! The hub reveals and permits exactly what `authorize` allows, to any principal and by every way in.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buddy_hub::{Action, Resource, SessionResource, authorize};
use buddy_protocol::{
    AgentId, ApprovalPolicy, Change, Command, CommandKey, Fact, ForkKind, ForkPoint, Members, Principal,
    PrincipalId, Role, SearchQuery, SessionId, SessionPage, SessionQuery, Sessions, SessionsError, UserId,
};
use proptest::prelude::*;

use crate::bench::{Bench, new_session, next};

/// ann and bob are users, and nobody else has an account. bob may not work in `/a`.
struct House;

impl Members for House {
    fn role(&self, user: &UserId) -> Option<Role> {
        ["ann", "bob"].iter().any(|name| *user == UserId::of_account(name)).then_some(Role::User)
    }

    fn is_member(&self, user: &UserId, workspace: &str) -> bool {
        workspace != "/a" || *user == UserId::of_account("ann")
    }
}

fn agent(user: Option<&str>) -> Principal {
    let id = PrincipalId::Agent(AgentId::of_name("ann"));
    Principal { id, name: "ann".to_owned(), on_behalf_of: user.map(UserId::of_account) }
}

fn principals() -> Vec<Principal> {
    vec![
        Principal::person("ann"),
        Principal::person("bob"),
        Principal::person("mallory"),
        agent(Some("ann")),
        agent(Some("bob")),
        agent(None),
        Principal::imported("ann"),
        Principal::system(),
    ]
}

/// A session of the property test: who starts it, where, and below which of the earlier ones.
#[derive(Debug, Clone)]
struct Wish {
    who: usize,
    is_closed: bool,
    parent: Option<prop::sample::Index>,
}

fn wish() -> impl Strategy<Value = Wish> {
    let who = prop::sample::select(vec![0_usize, 0, 1, 1, 3, 4, 7]);
    (who, any::<bool>(), prop::option::of(any::<prop::sample::Index>()))
        .prop_map(|(who, is_closed, parent)| Wish { who, is_closed, parent })
}

/// A session as the test knows it.
struct Made {
    id: SessionId,
    resource: SessionResource,
    above: Option<SessionResource>,
}

fn allows(who: &Principal, action: Action, resource: &SessionResource) -> bool {
    authorize(&House, who, action, Resource::Session(resource)).is_ok()
}

/// Starts the sessions that may be started, and checks that no other starts. Each waits with an ask and has a word.
async fn populate(bench: &Bench, wishes: &[Wish]) -> Vec<Made> {
    let principals = principals();
    let mut made: Vec<Made> = Vec::new();
    for Wish { who, is_closed, parent } in wishes {
        let who = &principals[*who];
        let parent = parent.filter(|_| !made.is_empty()).map(|index| index.get(&made));
        let workspace = if *is_closed { "/a" } else { "/w" }.to_owned();
        let is_bounded = |parent: &Made| parent.resource.workspace == workspace;
        let may = parent
            .is_none_or(|parent| allows(who, Action::Attach, &parent.resource) && is_bounded(parent))
            && authorize(&House, who, Action::Use, Resource::Workspace(&workspace)).is_ok();
        let wish = new_session(&workspace, parent.map(|parent| parent.id.clone()));
        let created = bench.hub.create(who, wish).await;
        assert_eq!(created.is_ok(), may, "{who:?} {created:?}");
        let Ok(id) = created else { continue };
        let user = who.acting_user().cloned();
        let owner = user.map_or_else(|| who.id.clone(), PrincipalId::User);
        let ancestors = parent.map(|parent| {
            let above = std::iter::once(&parent.resource.owner).chain(&parent.resource.ancestors);
            above.cloned().collect()
        });
        let above = parent.map(|parent| parent.resource.clone());
        let resource = SessionResource { owner, workspace, ancestors: ancestors.unwrap_or_default() };
        let buddy = Principal::system();
        let title = Some("lighthouse".to_owned());
        let change = Command::Change(Change { title, ..Change::default() });
        bench.hub.send(&buddy, &id, change).await.unwrap();
        let mut events = bench.hub.subscribe(&buddy, &id, 0).await.unwrap();
        bench.hub.send(&buddy, &id, Command::prompt("ask")).await.unwrap();
        while !matches!(next(&mut events).await.fact, Fact::Asked(_)) {}
        made.push(Made { id, resource, above });
    }
    made
}

async fn check(bench: &Bench, made: &[Made]) {
    for who in principals() {
        let readable: BTreeSet<&SessionId> = made
            .iter()
            .filter(|made| allows(&who, Action::Read, &made.resource))
            .map(|made| &made.id)
            .collect();
        let hub = &bench.hub;
        let listed = hub.list(&who, SessionQuery::default()).await.unwrap().sessions;
        assert_eq!(
            listed.iter().map(|summary| &summary.id).collect::<BTreeSet<_>>(),
            readable,
            "list {who:?}"
        );
        let asks = bench.asks(&who).await;
        assert_eq!(asks.iter().map(|ask| &ask.session).collect::<BTreeSet<_>>(), readable, "asks {who:?}");
        check_pages(bench, &who, made, &readable).await;
        for owner in principals() {
            let query = SessionQuery { owner: Some(owner.id.clone()), ..SessionQuery::default() };
            let listed = hub.list(&who, query).await.unwrap().sessions;
            assert!(
                listed.iter().all(|row| readable.contains(&row.id) && row.owner.id == owner.id),
                "{who:?}"
            );
        }
        for Made { id, resource, .. } in made {
            let may_read = readable.contains(id);
            let is_hidden = |error: SessionsError| matches!(error, SessionsError::NotFound(_));
            assert_eq!(hub.find(&who, id).await.is_ok(), may_read, "{who:?} {resource:?}");
            assert_eq!(hub.events(&who, id, 0, 1).await.is_ok(), may_read, "{who:?} {resource:?}");
            assert_eq!(hub.subscribe(&who, id, 0).await.is_ok(), may_read, "{who:?} {resource:?}");
            if !may_read {
                assert!(is_hidden(hub.events(&who, id, 0, 1).await.unwrap_err()), "{who:?} {resource:?}");
                // The refusal does not say whether the session exists.
                let below =
                    async |parent| hub.create(&who, new_session("/w", Some(parent))).await.unwrap_err();
                let nowhere = below("ses_0000000000000000000000zzzz".parse().unwrap()).await;
                let refused = below(id.clone()).await;
                assert_eq!(std::mem::discriminant(&refused), std::mem::discriminant(&nowhere), "{who:?}");
            }
            check_commands(bench, &who, id, resource).await;
        }
    }
}

/// Pages of one row and filters show the same sessions, and no cursor names a hidden one.
async fn check_pages(bench: &Bench, who: &Principal, made: &[Made], readable: &BTreeSet<&SessionId>) {
    for is_waiting in [false, true] {
        for cwd in [None, Some("/a".to_owned()), Some("/w".to_owned())] {
            let expected: BTreeSet<SessionId> = made
                .iter()
                .filter(|made| readable.contains(&made.id))
                .filter(|made| cwd.as_ref().is_none_or(|cwd| *cwd == made.resource.workspace))
                .map(|made| made.id.clone())
                .collect();
            let mut seen = BTreeSet::new();
            let mut after = None;
            loop {
                let query =
                    SessionQuery { is_waiting, cwd: cwd.clone(), limit: 1, after, ..SessionQuery::default() };
                let page = bench.hub.list(who, query).await.unwrap();
                seen.extend(page.sessions.iter().map(|summary| summary.id.clone()));
                let Some(next) = page.next else { break };
                assert!(readable.contains(&next.session), "{who:?} {next:?}");
                after = Some(next);
            }
            assert_eq!(seen, expected, "{who:?} waiting: {is_waiting}, in {cwd:?}");
            // Each session has the word, and waits.
            let found = found_pages(bench, who, cwd.clone(), readable).await;
            assert_eq!(found, expected, "search by {who:?} in {cwd:?}");
        }
    }
}

/// The sessions with the word that each of them has, page by page.
async fn found_pages(
    bench: &Bench,
    who: &Principal,
    cwd: Option<String>,
    readable: &BTreeSet<&SessionId>,
) -> BTreeSet<SessionId> {
    let (mut seen, mut after) = (BTreeSet::new(), None);
    loop {
        let query = SearchQuery { cwd: cwd.clone(), limit: 1, after, ..SearchQuery::new("lighthouse") };
        let page = bench.hub.search(who, query).await.unwrap();
        for found in page.found {
            assert!(seen.insert(found.summary.id), "nothing comes twice");
        }
        let Some(next) = page.next else { return seen };
        assert!(readable.contains(&next.session), "{who:?} {next:?}");
        after = Some(next);
    }
}

/// Commands that change nothing for the other checks, one for each action.
async fn check_commands(bench: &Bench, who: &Principal, id: &SessionId, resource: &SessionResource) {
    let ask = "ask_0000000000000000000000zzzz".parse().unwrap();
    let govern = Change { approvals: Some(ApprovalPolicy::Ask), ..Change::default() };
    let commands = [
        Command::interrupt(),
        Command::Answer { ask, answer: buddy_protocol::Answer::allow() },
        Command::Change(Change::default()),
        Command::Change(govern),
        Command::Run { command: "true".to_owned(), target: None },
        Command::Stop { item: "itm_0000000000000000000000zzzz".parse().unwrap() },
        Command::Call { tool: "read_file".to_owned(), input: serde_json::json!({}).into() },
    ];
    let is_refused = |sent: &Result<(), SessionsError>| {
        matches!(sent, Err(SessionsError::NotFound(_) | SessionsError::Forbidden { .. }))
    };
    for (place, command) in commands.into_iter().enumerate() {
        let action = Action::of(&command);
        let is_allowed = allows(who, action, resource);
        let sent = bench.hub.send(who, id, command.clone()).await;
        assert_eq!(!is_refused(&sent), is_allowed, "{who:?} {action:?} {resource:?}: {sent:?}");
        // A key that is sent again has the same outcome.
        let key = CommandKey::try_from(format!("key-{place}")).unwrap();
        for _ in 0..2 {
            let sent = bench.hub.send_once(who, id, key.clone(), command.clone()).await;
            assert_eq!(!is_refused(&sent), is_allowed, "{who:?} {action:?} {resource:?}: {sent:?}");
        }
    }
    let taken_up = bench.hub.take_up(who, id).await;
    assert_eq!(!is_refused(&taken_up), allows(who, Action::Prompt, resource), "{who:?} {taken_up:?}");
}

/// Each call of a client is stopped by the owner and by the client that made it.
async fn check_stops(bench: &Bench, made: &[Made]) {
    for Made { id, resource, .. } in made {
        for caller in principals().iter().filter(|caller| allows(caller, Action::Call, resource)) {
            let input = serde_json::json!({}).into();
            let call = Command::Call { tool: "read_file".to_owned(), input };
            bench.hub.send(caller, id, call).await.unwrap();
            let log = bench.hub.events(&Principal::system(), id, 0, 10_000).await.unwrap();
            let running = log.iter().rev().find_map(|event| match &event.fact {
                Fact::ItemStarted(started) => Some(started.item.id.clone()),
                _ => None,
            });
            let item = running.unwrap();
            for who in principals() {
                let own = Resource::Call { session: resource, caller };
                let may = allows(&who, Action::Stop, resource)
                    || authorize(&House, &who, Action::Stop, own).is_ok();
                let stopped = bench.hub.send(&who, id, Command::Stop { item: item.clone() }).await;
                assert_eq!(stopped.is_ok(), may, "{who:?} stops a call of {caller:?}: {stopped:?}");
            }
        }
    }
}

/// Forks and children last, because they are sessions of their own.
async fn check_copies(bench: &Bench, made: &[Made]) {
    for who in principals() {
        for Made { id, resource, above } in made {
            let uses = authorize(&House, &who, Action::Use, Resource::Workspace(&resource.workspace)).is_ok();
            let owns = authorize(&House, &who, Action::Create, Resource::User(&resource.owner)).is_ok();
            for (kind, action) in [(ForkKind::Beside, Action::Read), (ForkKind::Beneath, Action::Attach)] {
                // The tree that pays for the original pays for a fork beside it too.
                let pays = kind == ForkKind::Beneath
                    || above.as_ref().is_none_or(|above| allows(&who, Action::Attach, above));
                let may = allows(&who, action, resource) && uses && owns && pays;
                let forked = bench.hub.fork(&who, id, ForkPoint::Now, kind).await;
                assert_eq!(forked.is_ok(), may, "{who:?} {kind:?} {resource:?}: {forked:?}");
                let Ok(fork) = forked else { continue };
                let fork = bench.hub.find(&who, &fork).await.unwrap();
                assert_eq!(fork.owner.id, resource.owner, "a fork changes no owner");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_hub_reveals_exactly_what_authorize_allows(wishes in prop::collection::vec(wish(), 1..7)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::in_memory(Arc::new(House));
            let made = populate(&bench, &wishes).await;
            check(&bench, &made).await;
            check_stops(&bench, &made).await;
            check_copies(&bench, &made).await;
            bench.hub.close().await;
        });
    }
}

/// Users with an account, until they are locked out.
struct Door(AtomicBool);

impl Members for Door {
    fn role(&self, _: &UserId) -> Option<Role> {
        (!self.0.load(Ordering::SeqCst)).then_some(Role::User)
    }

    fn is_member(&self, _: &UserId, _: &str) -> bool {
        true
    }
}

#[tokio::test]
async fn an_owner_who_is_locked_out_gets_no_cursor() {
    let door = Arc::new(Door(AtomicBool::new(false)));
    let bench = Bench::with(door.clone());
    let session = bench.session().await;
    let list = || bench.hub.list(&bench.ann, SessionQuery::default());
    assert_eq!(list().await.unwrap().next.unwrap().session, session);
    door.0.store(true, Ordering::SeqCst);
    assert_eq!(list().await.unwrap(), SessionPage::default());
    bench.hub.close().await;
}

#[tokio::test]
async fn a_session_is_not_opened_below_a_strangers() {
    let bench = Bench::new();
    let session = bench.session().await;
    let bob = Principal::person("bob");
    let refused = bench.hub.create(&bob, new_session("/", Some(session.clone()))).await;
    assert!(matches!(refused, Err(SessionsError::NotFound(_))), "{refused:?}");
    let nowhere = "ses_0000000000000000000000zzzz".parse().unwrap();
    let refused = bench.hub.create(&bob, new_session("/", Some(nowhere))).await;
    assert!(matches!(refused, Err(SessionsError::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn a_session_that_an_agent_opens_belongs_to_its_user() {
    let bench = Bench::new();
    let parent = bench.session().await;
    let scout = Principal::agent(AgentId::of_name("scout"), "scout", UserId::of_account("ann"));
    let child = bench.hub.create(&scout, new_session("/", Some(parent))).await.unwrap();
    let summary = bench.hub.find(&bench.ann, &child).await.unwrap();
    assert_eq!((&summary.owner, summary.owner.name.as_str()), (&bench.ann, "ann"));
    let events = bench.hub.events(&bench.ann, &child, 0, 1).await.unwrap();
    assert_eq!(events[0].by, Some(scout));
}

#[tokio::test]
async fn a_tree_of_sessions_has_a_bounded_depth() {
    let bench = Bench::new();
    let mut deepest = bench.session().await;
    let mut depth = 1;
    let refused = loop {
        match bench.hub.create(&bench.ann, new_session("/", Some(deepest))).await {
            Ok(child) => deepest = child,
            Err(error) => break error,
        }
        depth += 1;
        assert!(depth <= 100);
    };
    assert!(matches!(refused, SessionsError::Invalid(_)), "{refused:?}");
    assert_eq!(depth, 100);
}
