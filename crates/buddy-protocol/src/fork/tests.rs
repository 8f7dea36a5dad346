use super::*;
use crate::{
    Event, Item, ItemStatus, Principal, SessionTerms, ToolCall, ToolKind, TurnEnded, TurnOutcome,
    TurnStarted, UsageReported,
};

fn id(number: u32) -> String {
    format!("{number:026}")
}

fn session() -> SessionId {
    format!("ses_{}", id(1)).parse().unwrap()
}

fn turn(number: u32) -> TurnId {
    format!("trn_{}", id(number)).parse().unwrap()
}

fn item(number: u32, status: ItemStatus, content: Content) -> Item {
    let id = format!("itm_{}", id(number)).parse().unwrap();
    Item { id, turn: Some(turn(1)), step: None, place: None, parent: None, status, content, private: None }
}

fn said(number: u32, text: &str) -> Fact {
    let content = Content::said(text);
    Fact::ItemEnded(ItemEnded { item: item(number, ItemStatus::Completed, content) })
}

fn answered(number: u32, text: &str) -> Fact {
    let content = Content::AgentMessage { text: text.to_owned() };
    Fact::ItemEnded(ItemEnded { item: item(number, ItemStatus::Completed, content) })
}

fn call(number: u32, status: ItemStatus) -> Fact {
    let content = Content::ToolCall(Box::new(ToolCall {
        call_id: format!("call_{number}"),
        name: "run_shell".to_owned(),
        kind: ToolKind::Execute,
        title: "ls".to_owned(),
        input: serde_json::json!({}).into(),
        output: None,
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    }));
    let item = item(number, status, content);
    if status.is_final() {
        Fact::ItemEnded(ItemEnded { item })
    } else {
        Fact::ItemStarted(ItemStarted { item })
    }
}

fn began(number: u32) -> Fact {
    Fact::TurnStarted(TurnStarted { turn: turn(number) })
}

fn ended(number: u32) -> Fact {
    Fact::TurnEnded(TurnEnded {
        turn: turn(number),
        outcome: TurnOutcome::Completed,
        stop_reason: None,
        failure: None,
    })
}

fn begin() -> Fact {
    Fact::SessionStarted(SessionStarted {
        owner: Principal::person("ann"),
        agent: "buddy".to_owned(),
        cwd: "/w".to_owned(),
        model: Some("small".to_owned()),
        parent: None,
        targets: vec![],
        forked_from: None,
        began_with: None,
        terms: SessionTerms::default(),
    })
}

fn log(facts: Vec<Fact>) -> Vec<LogEntry> {
    let stamp = |(place, fact)| {
        LogEntry::Event(Event {
            session: session(),
            seq: Some(place as u64 + 1),
            time: UnixMillis(0),
            by: None,
            fact,
        })
    };
    facts.into_iter().enumerate().map(stamp).collect()
}

/// Two turns. A prompt steered the second one while two calls ran, of which the later one ended first.
fn conversation() -> Vec<LogEntry> {
    let usage = UsageReported {
        turn: turn(1),
        model: "small".to_owned(),
        step: None,
        usage: crate::Usage::default(),
        cost: None,
    };
    log(vec![
        begin(),
        began(1),
        said(1, "one"),
        answered(2, "first"),
        Fact::UsageReported(usage),
        ended(1),
        Fact::SessionChanged(SessionChanged { model: Some("large".to_owned()), ..SessionChanged::default() }),
        began(2),
        said(3, "two"),
        call(4, ItemStatus::Running),
        call(5, ItemStatus::Running),
        call(5, ItemStatus::Completed),
        said(6, "steered"),
        call(4, ItemStatus::Completed),
        ended(2),
    ])
}

fn texts(facts: &[Fact]) -> Vec<String> {
    let text = |fact: &Fact| match &fact.item()?.content {
        Content::UserMessage { text, .. } | Content::AgentMessage { text } => Some(text.clone()),
        Content::ToolCall(call) => Some(format!("{} {:?}", call.call_id, fact.item()?.status)),
        _ => None,
    };
    facts.iter().filter_map(text).collect()
}

fn forked(point: &ForkPoint) -> Result<Vec<Fact>, ForkError> {
    fork_of(conversation(), point, ForkKind::Beside)
}

fn fork_of(mut log: Vec<LogEntry>, point: &ForkPoint, kind: ForkKind) -> Result<Vec<Fact>, ForkError> {
    let until = fork_end(&log, point)?;
    let since = changes_since(&log, until, point);
    log.truncate(usize::try_from(until).unwrap());
    let facts = fork(&Principal::person("ann"), &session(), log, since, kind, None, UnixMillis(9))?;
    Ok(facts.into_iter().map(|authored| authored.fact).collect())
}

fn before(number: u32) -> ForkPoint {
    ForkPoint::Before { prompt: format!("itm_{}", id(number)).parse().unwrap() }
}

fn started(facts: &[Fact]) -> &SessionStarted {
    match &facts[0] {
        Fact::SessionStarted(started) => started,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fork_has_each_item_once_in_its_place_and_no_bill() {
    let facts = forked(&ForkPoint::Now).unwrap();
    assert_eq!(texts(&facts), ["one", "first", "two", "call_4 Completed", "call_5 Completed", "steered"]);
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::UsageReported(_))));
    let started = started(&facts);
    assert_eq!(started.forked_from, Some(Origin { session: session(), seq: 15 }));
    assert_eq!((started.model.as_deref(), &started.parent), (Some("large"), &None));
}

#[test]
fn later_changes_do_not_apply_to_an_earlier_fork_point() {
    let facts = forked(&ForkPoint::After { seq: 6 }).unwrap();
    assert_eq!(texts(&facts), ["one", "first"]);
    assert_eq!(started(&facts).model.as_deref(), Some("small"));
}

#[test]
fn before_a_prompt_its_turn_has_not_begun() {
    let facts = forked(&before(3)).unwrap();
    assert_eq!(texts(&facts), ["one", "first"]);
    assert!(matches!(facts.last(), Some(Fact::TurnEnded(_))));
    assert_eq!(forked(&ForkPoint::After { seq: 8 }).unwrap(), facts);
    assert_eq!(texts(&forked(&before(1)).unwrap()), [] as [String; 0]);
}

#[test]
fn before_a_prompt_that_steered_the_turn_is_interrupted() {
    let facts = forked(&before(6)).unwrap();
    assert_eq!(
        texts(&facts),
        ["one", "first", "two", "call_4 Running", "call_5 Completed", "call_4 Interrupted"]
    );
    let Some(Fact::TurnEnded(last)) = facts.last() else { panic!("{facts:?}") };
    assert_eq!(last.outcome, TurnOutcome::Interrupted);
}

#[test]
fn a_running_turn_is_left_out() {
    let mut running = conversation();
    running.truncate(11);
    let facts = fork_of(running, &ForkPoint::Now, ForkKind::Beneath).unwrap();
    assert_eq!(texts(&facts), ["one", "first"]);
    assert_eq!(started(&facts).parent, Some(session()));
}

/// A change of the mode and of the title.
fn planning() -> Fact {
    let title = Some("Plans".to_owned());
    Fact::SessionChanged(SessionChanged { plan_only: Some(true), title, ..SessionChanged::default() })
}

#[test]
fn events_after_the_last_turn_are_part_of_the_fork() {
    let mut later = conversation();
    later.extend(log(vec![said(7, "! echo"), planning()]));
    let facts = fork_of(later, &ForkPoint::Now, ForkKind::Beside).unwrap();
    assert_eq!(texts(&facts).last().map(String::as_str), Some("! echo"));
    assert!(facts.contains(&planning()));
}

#[test]
fn a_mode_that_was_changed_in_the_middle_of_a_turn_holds_in_a_fork_of_now_alone() {
    let mut running = conversation();
    running.truncate(11);
    running.extend(log(vec![planning()]));
    let now = fork_of(running.clone(), &ForkPoint::Now, ForkKind::Beneath).unwrap();
    assert_eq!(texts(&now), ["one", "first"]);
    assert!(now.contains(&planning()));
    let then = fork_of(running, &before(1), ForkKind::Beside).unwrap();
    assert!(!then.contains(&planning()));
}

#[test]
fn an_invalid_fork_point_is_refused() {
    assert_eq!(forked(&ForkPoint::After { seq: 10 }), Err(ForkError::InTurn(10)));
    assert_eq!(forked(&ForkPoint::After { seq: 16 }), Err(ForkError::NoEvent(16)));
    assert_eq!(forked(&ForkPoint::After { seq: 0 }), Err(ForkError::NoEvent(0)));
    assert!(matches!(forked(&before(2)), Err(ForkError::NoPrompt(_))));
    let empty = fork_of(vec![], &ForkPoint::Now, ForkKind::Beside);
    assert_eq!(empty, Err(ForkError::NotStarted));
}

/// A turn of calls that start in order and end in the order of these numbers.
fn turn_of(number: u32, ends: &[u8]) -> Vec<Fact> {
    let first = number * 100;
    let count = u32::try_from(ends.len()).unwrap();
    let mut order: Vec<(u8, u32)> = ends.iter().copied().zip(1..).collect();
    order.sort_unstable();
    let starts = (1..=count).map(|place| call(first + place, ItemStatus::Running));
    let ends = order.into_iter().map(|(_, place)| call(first + place, ItemStatus::Completed));
    let said = std::iter::once(said(first, "go"));
    std::iter::once(began(number)).chain(said).chain(starts).chain(ends).chain([ended(number)]).collect()
}

proptest::proptest! {
    #[test]
    fn a_fork_folds_to_the_items_of_its_origin(turns in proptest::collection::vec(proptest::collection::vec(0_u8..9, 0..6), 0..5)) {
        let turns = turns.iter().zip(1..).flat_map(|(ends, number)| turn_of(number, ends));
        let log = log(std::iter::once(begin()).chain(turns).collect());
        let fold = |facts: Vec<Fact>| {
            let mut transcript = Transcript::default();
            for fact in facts {
                transcript.take_fact(None, fact);
            }
            transcript
        };
        let facts = log.iter().map(|entry| match entry {
            LogEntry::Event(event) => event.fact.clone(),
            LogEntry::Superseded { .. } => unreachable!("this log is not settled"),
        });
        let origin = fold(facts.collect());
        let fork = fold(fork_of(log, &ForkPoint::Now, ForkKind::Beside).unwrap());
        proptest::prop_assert_eq!(fork.items(), origin.items());
        proptest::prop_assert_eq!(fork.turns(), origin.turns());
        proptest::prop_assert!(recovery(&fork, UnixMillis(0)).is_empty());
    }
}
