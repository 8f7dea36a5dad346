//! `buddy doctor`: a model over its real route, and the machine.

mod learning;

use std::os::unix::fs::PermissionsExt;

use buddy_testkit::home::Home;
use buddy_testkit::model::{ModelServer, Script, Turn, turn};
use buddy_testkit::program::{Finished, Program};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::BUDDY;

const COUNTED: &str = "one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve";

/// buddy in a home, with nothing configured.
fn bare<'a>(home: &Home, arguments: impl AsRef<[&'a str]>) -> Program {
    let program =
        Program::new(BUDDY).cwd(home.work()).env("HOME", home.path()).env("BUDDY_HOME", home.data());
    program.args(arguments.as_ref())
}

/// A home whose active profile `own` speaks this wire to this address.
fn home(api: &str, url: &str, more: &str) -> Home {
    let home = Home::new();
    let path = home.path().join(".config/buddy/buddy.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!(
        "[agent]\nmodel = 'own'\n[models.own]\napi = '{api}'\napi_base_url = '{url}/v1'\napi_key = 'sk-own'\n{more}\n"
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    home
}

const USUAL: &str = "model = 'scripted'\ncontext_limit = 8192";

fn weather(city: &str) -> Value {
    json!({ "city": city })
}

/// The answers of a model that can do everything but remember, in the order of the checks.
fn able() -> Vec<Turn> {
    vec![
        turn().text(COUNTED),
        turn().reasoning("Paris it is.").call("get_weather", weather("Paris")),
        turn().text("It is clear."),
        turn().call("get_weather", weather("Paris")).call("get_weather", weather("Rome")),
        turn().text("Both are clear."),
        turn().text("OK"),
        turn().text("OK"),
        turn().text("Red."),
    ]
}

/// An answer on each wire that says that most of its prompt was cached.
fn cached(api: &str) -> Turn {
    let body = match api {
        "messages" => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "OK" }],
            "usage": { "input_tokens": 100, "cache_read_input_tokens": 1400, "output_tokens": 2 },
        }),
        _ => json!({
            "id": "c", "object": "chat.completion", "model": "scripted",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": "OK" }, "finish_reason": "stop" }],
            "usage": {
                "prompt_tokens": 1500, "completion_tokens": 2, "total_tokens": 1502,
                "prompt_tokens_details": { "cached_tokens": 1400 },
            },
        }),
    };
    turn().status(200).body(body.to_string())
}

/// Examines the profile of a home and reads the JSON.
async fn examined(home: &Home) -> (Finished, Value) {
    let finished = bare(home, ["doctor", "provider", "own", "--json"]).run().await;
    let report = serde_json::from_str(&finished.text()).unwrap_or_else(|error| panic!("{error}: {finished}"));
    (finished, report)
}

/// The verdicts by name, as one line.
fn verdicts(report: &Value) -> String {
    let checks = report["checks"].as_array().unwrap().iter();
    let texts = checks
        .map(|check| format!("{}={}", check["name"].as_str().unwrap(), check["verdict"].as_str().unwrap()));
    texts.collect::<Vec<_>>().join(" ")
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

const ALL_OK: &str = "reachable=ok auth=ok model=ok answers=ok streams=ok usage=ok tool_call=ok parallel_calls=ok \
                      reasoning=ok cache=ok context=ok image=ok";

#[tokio::test]
async fn a_model_that_can_do_everything_passes_on_each_wire() {
    for api in ["completions", "messages"] {
        let mut turns = able();
        turns[6] = cached(api);
        let server = ModelServer::start(Script::from(turns).with_key("sk-own")).await;
        let home = home(api, &server.url(), USUAL);
        let (finished, report) = examined(&home).await;
        assert_eq!(verdicts(&report), ALL_OK, "{api}: {finished}");
        finished.expect_code(0);
        assert_eq!(server.requests().len(), 8, "{api}");
        let picture = server.requests().pop().unwrap().body["messages"].to_string();
        assert!(picture.contains("iVBORw0KGgo"), "{picture}");
    }
}

#[tokio::test]
async fn what_was_learned_is_kept_for_the_person_alone() {
    let server = ModelServer::start(able()).await;
    let home = home("completions", &server.url(), USUAL);
    let (_, report) = examined(&home).await;
    let path = home.data().join("models.json");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("sk-own"), "{text}");
    let kept: Value = serde_json::from_str(&text).unwrap();
    let [entry] = kept["models"].as_array().unwrap().as_slice() else { panic!("{kept}") };
    assert_eq!((&entry["profile"], &entry["model"]), (&json!("own"), &json!("scripted")));
    assert_eq!(entry["base_url"], format!("{}/v1", server.url()));
    assert_eq!(entry["context_window"], 8192);
    assert_eq!(
        (&entry["verdicts"]["tool_call"], &entry["verdicts"]["cache"]),
        (&json!("ok"), &json!("warn"))
    );
    assert!(entry["when"].as_str().unwrap().ends_with('Z'), "{entry}");
    assert_eq!(report["verdict"], "warn");
}

#[tokio::test]
async fn the_json_has_a_fixed_shape() {
    let server = ModelServer::start(able()).await;
    let (_, report) = examined(&home("completions", &server.url(), USUAL)).await;
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let expected =
        ["profile", "api", "base_url", "model", "verdict", "checks", "context_window", "quirks", "switches"];
    assert_eq!(keys, expected);
    for check in report["checks"].as_array().unwrap() {
        let keys: Vec<&str> = check.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["name", "verdict", "evidence", "next"]);
        let is_bad = check["verdict"] == "warn" || check["verdict"] == "fail";
        assert_eq!(check["next"].is_string(), is_bad, "{check}");
    }
}

#[tokio::test]
async fn a_wrong_key_ends_with_its_own_code() {
    for api in ["completions", "messages"] {
        let server = ModelServer::start(Script::from(able()).with_key("sk-other")).await;
        let (finished, report) = examined(&home(api, &server.url(), USUAL)).await;
        assert_eq!(check(&report, "auth")["verdict"], "fail", "{finished}");
        assert_eq!(check(&report, "tool_call")["evidence"], "the key was not accepted");
        assert_eq!(server.requests().len(), 1, "a refused key is not tried again");
        assert!(!finished.text().contains("sk-own"), "{finished}");
        finished.expect_code(6);
    }
}

#[tokio::test]
async fn a_key_that_is_not_there_sends_nothing() {
    let server = ModelServer::start(able()).await;
    let home = home("completions", &server.url(), USUAL);
    let path = home.path().join(".config/buddy/buddy.toml");
    let text =
        std::fs::read_to_string(&path).unwrap().replace("api_key = 'sk-own'", "api_key_env = 'NO_KEY'");
    std::fs::write(&path, text).unwrap();
    let (finished, report) = examined(&home).await;
    assert!(verdicts(&report).starts_with("reachable=skipped auth=fail model=skipped"), "{finished}");
    finished.expect_code(6);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_model_that_is_not_listed_is_a_warning() {
    let server = ModelServer::start(able()).await;
    let home = home("completions", &server.url(), "model = 'other'\ncontext_limit = 8192");
    let (finished, report) = examined(&home).await;
    let model = check(&report, "model");
    assert_eq!(model["verdict"], "warn");
    assert!(model["evidence"].as_str().unwrap().contains("other is not listed"), "{model}");
    finished.expect_code(0);
}

#[tokio::test]
async fn a_server_that_is_down_fails_once_and_skips_the_rest() {
    let url = ModelServer::unreachable_url().await;
    let (finished, report) = examined(&home("completions", &url, USUAL)).await;
    let verdicts = verdicts(&report);
    assert!(verdicts.starts_with("reachable=fail auth=skipped"), "{verdicts}");
    assert_eq!(verdicts.matches("skipped").count(), 11, "{verdicts}");
    assert_eq!(check(&report, "image")["evidence"], "the server cannot be reached");
    finished.expect_code(1);
}

#[tokio::test]
async fn a_server_without_usage_and_parallel_calls_is_good_enough() {
    let turns = [
        turn().text(COUNTED).no_usage(),
        turn().call("get_weather", weather("Paris")).no_usage(),
        turn().text("It is clear.").no_usage(),
        turn().call("get_weather", weather("Paris")).no_usage(),
        turn().text("OK").no_usage(),
        turn().text("OK").no_usage(),
        turn().error(400, "invalid_request_error", "image input is not supported"),
        turn().text("I see no picture.").no_usage(),
    ];
    let server = ModelServer::start(turns).await;
    let home = home("completions", &server.url(), USUAL);
    let (finished, report) = examined(&home).await;
    assert_eq!(check(&report, "usage")["verdict"], "warn", "{finished}");
    assert_eq!(check(&report, "parallel_calls")["evidence"], "1 of two calls came at once");
    assert_eq!(check(&report, "reasoning")["verdict"], "skipped");
    assert_eq!(check(&report, "cache")["verdict"], "skipped");
    let image = check(&report, "image")["evidence"].as_str().unwrap();
    assert!(image.starts_with("the model sees no images (") && image.contains("not supported"), "{image}");
    let kept = std::fs::read_to_string(home.data().join("models.json")).unwrap();
    assert!(kept.contains("\"images\": false"), "{kept}");
    finished.expect_code(0);
}

#[tokio::test]
async fn a_model_without_tools_fails_and_the_table_says_what_to_do() {
    let turns = [
        turn().text(COUNTED),
        turn().text("Sunny, I guess."),
        turn().text("OK"),
        turn().text("OK"),
        turn().text("Blue."),
    ];
    let server = ModelServer::start(turns).await;
    let home = home("completions", &server.url(), USUAL);
    let finished = bare(&home, ["doctor", "provider"]).run().await.expect_code(1);
    let text = finished.text();
    assert!(text.starts_with("profile: own\napi: completions\n"), "{finished}");
    assert!(
        text.contains("\ntool_call       fail     no call came, but text: Sunny, I guess.\n"),
        "{finished}"
    );
    assert!(text.contains("-> an agent needs tools"), "{finished}");
    assert!(text.contains("\nparallel_calls  skipped  the tool call failed\n"), "{finished}");
    assert!(text.contains("a red square is called: Blue."), "{finished}");
}

#[tokio::test]
async fn an_interrupt_ends_it_and_leaves_nothing() {
    let server = ModelServer::start([turn().text(COUNTED).hang_after(1)]).await;
    let home = home("completions", &server.url(), USUAL);
    let started = bare(&home, ["doctor", "provider"]).start();
    server.wait_for_requests(1).await;
    started.signal(Signal::INT);
    let finished = started.finish().await.expect_code(130);
    assert_eq!(finished.text(), "");
    assert!(!home.data().join("models.json").exists());
    server.wait_for_departures(1).await;
}

#[tokio::test]
async fn an_empty_home_is_well_and_names_the_demo() {
    let home = Home::new();
    let finished = bare(&home, ["doctor"]).run().await.expect_code(0);
    let text = finished.text();
    assert!(text.contains("the built-in demo") && text.contains("buddy login"), "{finished}");
    assert!(!text.contains("tour"), "{finished}");
    for name in
        ["store", "disk", "config", "tmux", "git", "ssh", "bubblewrap", "landlock", "cgroup", "terminal"]
    {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {finished}");
    }
    assert!(!home.data().join("buddy.db").exists(), "a look makes no store");
    bare(&home, ["doctor", "provider"]).run().await.expect_code(0);
}

#[tokio::test]
async fn the_machine_s_store_and_configuration_are_looked_at() {
    let server = ModelServer::start([turn().text("Well.")]).await;
    let home = home("completions", &server.url(), USUAL);
    bare(&home, ["exec", "hi"]).run().await.expect_code(0);
    let read = async || {
        let finished = bare(&home, ["doctor", "--json"]).run().await;
        let report: Value = serde_json::from_str(&finished.text()).unwrap();
        (finished, report)
    };
    let (finished, report) = read().await;
    let store = check(&report, "store")["evidence"].as_str().unwrap();
    assert!(store.contains("1 session") && store.ends_with("no problems"), "{store}");
    assert_eq!(check(&report, "model")["evidence"], "own (chosen by you)");
    for layer in ["bubblewrap", "landlock", "seccomp"] {
        assert_eq!(check(&report, layer)["verdict"], "ok", "{layer}: the tests of the jail need it");
    }
    finished.expect_code(0);
    std::fs::write(home.path().join(".config/buddy/buddy.toml"), "oops").unwrap();
    std::fs::write(home.data().join("buddy.db"), "oops").unwrap();
    // The log ahead alone would do for all of so small a store.
    std::fs::remove_file(home.data().join("buddy.db-wal")).unwrap();
    let (finished, report) = read().await;
    assert_eq!(
        (&check(&report, "store")["verdict"], &check(&report, "config")["verdict"]),
        (&json!("fail"), &json!("fail"))
    );
    finished.expect_code(1);
}

/// All paths beneath a directory.
fn tree(top: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut queue = vec![top.to_owned()];
    while let Some(directory) = queue.pop() {
        for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            queue.extend(Some(path.clone()).filter(|path| path.is_dir()));
            found.push(path);
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn makes_no_file() {
    let home = Home::new();
    let before = tree(home.path());
    let finished = bare(&home, ["doctor"]).run().await;
    assert!(finished.text().contains("defaults, as there is no"), "{finished}");
    assert_eq!(tree(home.path()), before);
}
