//! Requests, results and errors of `Sessions` are the same after a trip over a wire.

use std::fmt::Debug;

use buddy_protocol::{
    Ask, Bill, Failure, FailureKind, Found, Principal, PrincipalId, Question, SessionCursor, SessionId,
    SessionPage, SessionQuery, SessionState, SessionSummary, SessionsError, StoreError, SubscriptionError,
    UnixMillis, WaitingAsk,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn check<T: Serialize + DeserializeOwned + Debug>(sent: &T) {
    let text = serde_json::to_string(sent).unwrap();
    let got: T = serde_json::from_str(&text).unwrap();
    assert_eq!(format!("{got:?}"), format!("{sent:?}"), "{text}");
    assert_eq!(serde_json::to_string(&got).unwrap(), text);
}

fn session() -> SessionId {
    "ses_00000000000000000000000001".parse().unwrap()
}

fn ask() -> Ask {
    let question = Question::Text { text: "Which?".to_owned(), options: vec!["this".to_owned()] };
    Ask {
        id: "ask_00000000000000000000000002".parse().unwrap(),
        turn: Some("trn_00000000000000000000000003".parse().unwrap()),
        item: Some("itm_00000000000000000000000004".parse().unwrap()),
        question,
        expires: Some(UnixMillis(9)),
    }
}

fn summary() -> SessionSummary {
    SessionSummary {
        id: session(),
        owner: Principal::person("ann"),
        agent: "buddy".to_owned(),
        cwd: "/w".to_owned(),
        model: Some("m".to_owned()),
        parent: Some(session()),
        forked_from: Some(session()),
        title: Some("a title with \"signs\" ✓".to_owned()),
        state: SessionState::Waiting,
        created: UnixMillis(1),
        updated: UnixMillis(2),
        head: 3,
        turns: 4,
        bill: Bill::default(),
        asks: vec![ask()],
    }
}

#[test]
fn requests_and_results_of_sessions() {
    let cursor = SessionCursor { updated: UnixMillis(2), session: session() };
    check(&SessionPage { sessions: vec![summary(), summary()], next: Some(cursor.clone()) });
    check(&SessionPage::default());
    check(&Found { summary: summary(), excerpt: "…a [word] there…".to_owned(), seq: 7 });
    check(&WaitingAsk {
        session: session(),
        title: None,
        parent: Some(session()),
        cwd: "/w".to_owned(),
        ask: ask(),
    });
    check(&SessionQuery::default());
    let owner = Some(PrincipalId::System);
    let query =
        SessionQuery { owner, cwd: Some("/w".to_owned()), is_waiting: true, limit: 5, after: Some(cursor) };
    check(&query);
}

#[test]
fn errors_of_sessions() {
    let holder = || "process 7".to_owned();
    let stored = [
        StoreError::Busy { session: session(), holder: holder() },
        StoreError::InUse { holder: holder() },
        StoreError::OutOfOrder { session: session(), head: 3, found: 5 },
        StoreError::Corrupt("record 3".to_owned()),
        StoreError::TooNew { found: 9, known: 7 },
        StoreError::Full,
        StoreError::Io("no such file".to_owned()),
    ];
    let failure = Failure {
        kind: FailureKind::Auth,
        message: "no key".to_owned(),
        hint: Some("set one".to_owned()),
        http_status: Some(401),
    };
    let errors = [
        SessionsError::NotFound(session()),
        SessionsError::Busy { session: session(), holder: holder() },
        SessionsError::Forbidden { who: "ann".to_owned(), what: "answer".to_owned() },
        SessionsError::Conflict("it ended".to_owned()),
        SessionsError::Invalid("empty".to_owned()),
        SessionsError::Closed,
        SessionsError::Agent(failure),
    ];
    for error in errors.into_iter().chain(stored.into_iter().map(SessionsError::Store)) {
        // A new error must be added to the list above.
        match &error {
            SessionsError::NotFound(_)
            | SessionsError::Busy { .. }
            | SessionsError::Forbidden { .. }
            | SessionsError::Conflict(_)
            | SessionsError::Invalid(_)
            | SessionsError::Closed
            | SessionsError::Agent(_)
            | SessionsError::Store(_) => check(&error),
        }
    }
    check(&SubscriptionError::Lagged { resume_after: 7 });
    check(&SubscriptionError::Store("it is damaged".to_owned()));
}
