//! Commands on the wire: every variant comes back from text, from a reader and from a value.

use buddy_protocol::{Answer, ApprovalPolicy, Attachment, Base64, Change, Command, TargetChange};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The name on the wire. A variant that is not here does not compile.
fn kind(command: &Command) -> &'static str {
    match command {
        Command::Prompt { .. } => "prompt",
        Command::Run { .. } => "run",
        Command::Call { .. } => "call",
        Command::Stop { .. } => "stop",
        Command::Interrupt { .. } => "interrupt",
        Command::WindUp { .. } => "wind_up",
        Command::Answer { .. } => "answer",
        Command::Change(_) => "change",
        Command::Compact => "compact",
        Command::End => "end",
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let key = prop_oneof![any::<String>(), Just("type".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn id(prefix: &'static str) -> impl Strategy<Value = String> {
    any::<u32>().prop_map(move |number| format!("{prefix}_{number:026}"))
}

fn parsed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn command() -> impl Strategy<Value = Command> {
    let text = any::<String>;
    let maybe = || prop::option::of(any::<String>());
    let image = (maybe(), any::<Vec<u8>>())
        .prop_map(|(name, bytes)| Attachment { name, data: Base64::from(format!("{bytes:?}")) });
    prop_oneof![
        (text(), prop::collection::vec(image, 0..2), maybe())
            .prop_map(|(text, images, typed)| Command::Prompt { text, images, typed }),
        (text(), maybe()).prop_map(|(command, target)| Command::Run { command, target }),
        (text(), value()).prop_map(|(tool, input)| Command::Call { tool, input: input.into() }),
        id("itm").prop_map(|item| Command::Stop { item: parsed(json!(item)) }),
        prop::option::of(id("trn"))
            .prop_map(|turn| Command::Interrupt { turn: turn.map(|turn| parsed(json!(turn))) }),
        text().prop_map(|reason| Command::WindUp { reason }),
        (id("ask"), text()).prop_map(|(ask, reason)| Command::Answer {
            ask: parsed(json!(ask)),
            answer: Answer::Unanswered { reason },
        }),
        (maybe(), any::<Option<bool>>()).prop_map(|(title, plan_only)| Command::Change(Change {
            title,
            plan_only,
            approvals: Some(ApprovalPolicy::Ask),
            ..Change::default()
        })),
        Just(Command::Compact),
        Just(Command::End),
    ]
}

#[track_caller]
fn check(command: &Command) {
    let text = serde_json::to_string(command).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["type"], kind(command));
    assert_eq!(&serde_json::from_str::<Command>(&text).unwrap(), command, "from text: {text}");
    assert_eq!(&serde_json::from_slice::<Command>(text.as_bytes()).unwrap(), command, "from bytes: {text}");
    assert_eq!(
        &serde_json::from_reader::<_, Command>(text.as_bytes()).unwrap(),
        command,
        "from a reader: {text}"
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(&serde_json::from_value::<Command>(value).unwrap(), command, "from a value: {text}");
    // The tag can come last.
    let Value::Object(mut fields) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
    let tag = fields.shift_remove("type").unwrap();
    fields.insert("type".to_owned(), tag);
    let text = Value::Object(fields).to_string();
    assert_eq!(&serde_json::from_str::<Command>(&text).unwrap(), command, "with the tag last: {text}");
}

proptest! {
    #[test]
    fn every_command_comes_back(command in command()) {
        check(&command);
    }
}

#[test]
fn every_variant_of_the_schema_is_among_them() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let schema = serde_json::to_value(schemars::schema_for!(Command)).unwrap();
    let named = |branch: &Value| branch["properties"]["type"]["const"].as_str().map(str::to_owned);
    let mut named: Vec<String> = schema["oneOf"].as_array().unwrap().iter().filter_map(named).collect();
    named.sort();
    let mut runner = TestRunner::deterministic();
    let strategy = command();
    let mut made: Vec<String> =
        (0..500).map(|_| kind(&strategy.new_tree(&mut runner).unwrap().current()).to_owned()).collect();
    made.sort();
    made.dedup();
    assert_eq!(named, made);
}

#[test]
fn arguments_of_a_call_stay_byte_for_byte() {
    let input =
        r#"{ "n" : 1e400, "big": 123456789012345678901234567890, "type": "call", "twice": 1, "twice": 2 }"#;
    for text in [
        format!(r#"{{"type":"call","tool":"x","input":{input}}}"#),
        format!(r#"{{"input":{input},"tool":"x","type":"call"}}"#),
        format!(r#"{{"tool":"x","type":"c\u0061ll","input":{input},"later":true}}"#),
    ] {
        let Command::Call { input: read, .. } = serde_json::from_str(&text).unwrap() else {
            panic!("{text}")
        };
        assert_eq!(read.text(), input);
    }
}

#[test]
fn broken_commands_are_refused() {
    let many = (0..100).map(|at| format!(r#","f{at}":1"#)).collect::<Vec<_>>().concat();
    for text in [
        r#"{"type":"call","type":"end","tool":"x","input":{}}"#.to_owned(),
        r#"{"type":"call","tool":"x","tool":"y","input":{}}"#.to_owned(),
        r#"{"type":"call","tool":"x","input":{},"input":{"command":"y"}}"#.to_owned(),
        r#"{"type":"call","tool":"x"}"#.to_owned(),
        r#"{"type":"call","tool":1,"input":{}}"#.to_owned(),
        r#"{"type":"nothing"}"#.to_owned(),
        r#"{"type":["call"]}"#.to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
        "\"end\"".to_owned(),
        format!(r#"{{"type":"end"{many}}}"#),
    ] {
        assert!(serde_json::from_str::<Command>(&text).is_err(), "{text}");
    }
}

#[test]
fn a_change_of_targets_comes_back() {
    let change = Change { target: Some(TargetChange::Remove { name: "x".to_owned() }), ..Change::default() };
    check(&Command::Change(change));
}
