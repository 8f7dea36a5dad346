//! Later sessions use the statements of doctor and servers about a model, unless the configuration says otherwise.

use buddy_testkit::home::Home;
use buddy_testkit::model::{ModelServer, Script, Turn, turn};
use serde_json::{Value, json};

use super::{COUNTED, bare, check, examined, home, weather};

const MODEL: &str = "model = 'scripted'";

/// The context window of the active profile and who says so, as `buddy models` lists it.
async fn listed(home: &Home) -> (Value, Value) {
    let text = bare(home, ["models", "--json"]).run().await.expect_code(0).text();
    let rows: Value = serde_json::from_str(&text).unwrap();
    let row = rows.as_array().unwrap().iter().find(|row| row["active"] == true).unwrap();
    (row["context_window"].clone(), row["context_source"].clone())
}

/// The body of the first request of a session.
async fn body(home: &Home, server: &ModelServer, more: &[&str]) -> Value {
    let before = server.requests().len();
    bare(home, [&["exec", "hi"], more].concat()).run().await.expect_code(0);
    server.requests()[before].body.clone()
}

fn answers(turns: impl IntoIterator<Item = Turn>) -> Script {
    Script::from(turns.into_iter().chain([turn().text("Red.")]).collect::<Vec<_>>()).repeating_last()
}

#[tokio::test]
async fn the_source_of_a_window_is_shown() {
    let server = ModelServer::start(answers([turn().text(COUNTED)])).await;
    let silent = home("completions", &server.url(), MODEL);
    assert_eq!(listed(&silent).await, (Value::Null, Value::Null));
    let known = home("completions", &server.url(), "model = 'gpt-5'");
    assert_eq!(listed(&known).await, (json!(400_000), json!("catalogue")));
    examined(&silent).await;
    assert_eq!(listed(&silent).await, (json!(8192), json!("doctor")));
    let set = home("completions", &server.url(), "model = 'scripted'\ncontext_limit = 77");
    assert_eq!(listed(&set).await, (json!(77), json!("config")));
    let telling = ModelServer::start(Script::default().with_window(4096)).await;
    let told = home("completions", &telling.url(), "model = 'gpt-5'");
    assert_eq!(listed(&told).await, (json!(4096), json!("server")));
    let table = bare(&told, ["models"]).run().await.expect_code(0).text();
    assert!(table.contains("4096 (server)") && table.contains("200000 (catalogue)"), "{table}");
}

#[tokio::test]
async fn a_server_s_own_window_is_the_one_that_fills() {
    let server = ModelServer::start(answers([]).with_window(64).with_key("sk-own")).await;
    let told = home("completions", &server.url(), "model = 'gpt-5'");
    let finished = bare(&told, ["exec", "hi"]).run().await.expect_code(7);
    finished.expect_stderr("does not fit the model's context window");
    assert!(server.requests().is_empty());
    let looks = server.looks().len();
    let set = home("completions", &server.url(), "model = 'gpt-5'\ncontext_limit = 100000");
    bare(&set, ["exec", "hi"]).run().await.expect_code(0);
    assert_eq!(server.looks().len(), looks, "who was told needs no look");
}

#[tokio::test]
async fn a_server_that_hangs_on_a_look_holds_nobody() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let home = home("completions", &url, "model = 'gpt-5'");
    assert_eq!(listed(&home).await, (json!(400_000), json!("catalogue")));
}

#[tokio::test]
async fn ollama_is_asked_for_the_window_that_is_counted_with() {
    let call = turn().call("time", json!({}));
    let server = ModelServer::start(answers([call])).await;
    let nobody_says = home("ollama", &server.url(), MODEL);
    bare(&nobody_says, ["exec", "hi"]).run().await.expect_code(0);
    let windows: Vec<_> =
        server.requests().iter().map(|request| request.body["options"]["num_ctx"].clone()).collect();
    assert_eq!(windows, [32_768, 32_768]);
    let paths: Vec<_> = server.looks().iter().map(|look| look.path.clone()).collect();
    assert_eq!(paths, ["/api/show"], "one look for two calls");
    assert_eq!(listed(&nobody_says).await, (json!(32_768), json!("server")));
    let set = home("ollama", &server.url(), "model = 'scripted'\ncontext_limit = 9000");
    assert_eq!(body(&set, &server, &[]).await["options"]["num_ctx"], 9000);
}

#[tokio::test]
async fn a_server_whose_streams_come_to_nothing_is_asked_for_whole_answers() {
    let turns = [
        turn().text(COUNTED).truncate_after(1),
        turn().text(COUNTED),
        turn().call("get_weather", weather("Paris")),
        turn().text("It is clear."),
    ];
    let server = ModelServer::start(answers(turns)).await;
    let home = home("completions", &server.url(), MODEL);
    let (finished, report) = examined(&home).await;
    assert_eq!(report["switches"], json!({ "stream": false }), "{finished}");
    let streams = check(&report, "streams");
    assert_eq!(streams["verdict"], "warn");
    assert!(streams["evidence"].as_str().unwrap().starts_with("streams come to no good end: "), "{streams}");
    assert_eq!(check(&report, "tool_call")["verdict"], "ok", "{finished}");
    assert_eq!(body(&home, &server, &[]).await["stream"], false);
    assert_eq!(body(&home, &server, &["-c", "models.own.stream=true"]).await["stream"], true);
}

#[tokio::test]
async fn calls_that_lose_parts_in_streams_are_asked_for_whole() {
    let turns = [
        turn().text(COUNTED),
        turn().call_raw("get_weather", "{\"city\": Par"),
        turn().call("get_weather", weather("Paris")),
        turn().text("It is clear."),
    ];
    let server = ModelServer::start(answers(turns)).await;
    let (finished, report) = examined(&home("completions", &server.url(), MODEL)).await;
    assert_eq!(report["switches"], json!({ "stream": false }), "{finished}");
    assert_eq!(check(&report, "tool_call")["verdict"], "ok", "{finished}");
    let sent: Vec<_> = server.requests().iter().map(|request| request.body["stream"].clone()).collect();
    assert_eq!(sent[..4], [true, true, false, false]);
}

#[tokio::test]
async fn a_server_that_refuses_several_calls_is_asked_for_one() {
    let turns = [
        turn().text(COUNTED),
        turn().call("get_weather", weather("Paris")),
        turn().text("It is clear."),
        turn().error(400, "invalid_request_error", "one call at a time, please"),
    ];
    let server = ModelServer::start(answers(turns)).await;
    let home = home("completions", &server.url(), MODEL);
    let (finished, report) = examined(&home).await;
    assert_eq!(report["switches"], json!({ "parallel_tool_calls": false }), "{finished}");
    assert_eq!(check(&report, "parallel_calls")["verdict"], "warn");
    assert_eq!(body(&home, &server, &[]).await["parallel_tool_calls"], false);
    let set = body(&home, &server, &["-c", "models.own.parallel_tool_calls=true"]).await;
    assert_eq!(set["parallel_tool_calls"], true);
}

#[tokio::test]
async fn thoughts_that_a_server_does_not_take_back_are_left_out() {
    let turns = [
        turn().text(COUNTED),
        turn().reasoning("Paris.").call("get_weather", weather("Paris")),
        turn().error(400, "invalid_request_error", "what is this"),
        turn().text("Both are clear."),
        turn().text("It is clear."),
    ];
    let server = ModelServer::start(answers(turns)).await;
    let home = home("completions", &server.url(), MODEL);
    let own = "[[models]]\nexact = 'scripted'\nreplay = 'all'\n";
    std::fs::write(home.path().join(".config/buddy/models.toml"), own).unwrap();
    let (finished, report) = examined(&home).await;
    assert_eq!(report["switches"], json!({ "reasoning_replay": "off" }), "{finished}");
    let reasoning = check(&report, "reasoning")["evidence"].as_str().unwrap();
    assert!(reasoning.starts_with("thoughts are not taken back: "), "{reasoning}");
}

#[tokio::test]
async fn a_file_of_lessons_that_cannot_be_read_is_told() {
    let server = ModelServer::start(answers([])).await;
    let home = home("completions", &server.url(), MODEL);
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("models.json"), "{oops").unwrap();
    let finished = bare(&home, ["exec", "hi"]).run().await.expect_code(0);
    finished.expect_stderr("models.json").expect_stderr("`buddy doctor provider` writes it again");
}

#[tokio::test]
async fn a_server_that_never_answers_holds_nobody_beyond_the_time_limit() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let silent = home("completions", &url, "model = 'scripted'\ncontext_limit = 8192");
    let finished =
        bare(&silent, ["doctor", "provider", "--json", "--timeout", "200ms"]).run().await.expect_code(1);
    let report: Value = serde_json::from_str(&finished.text()).unwrap();
    let reachable = check(&report, "reachable");
    assert_eq!(reachable["evidence"], "no answer, and the 0.2 s for all checks are over");
    assert_eq!(
        (&reachable["verdict"], &check(&report, "image")["verdict"]),
        (&json!("fail"), &json!("skipped"))
    );
}

#[tokio::test]
async fn what_was_found_before_the_time_limit_stays() {
    let server = ModelServer::start([turn().text(COUNTED), turn().hang_after(0)]).await;
    let home = home("completions", &server.url(), "model = 'scripted'\ncontext_limit = 8192");
    let finished =
        bare(&home, ["doctor", "provider", "--json", "--timeout", "2s"]).run().await.expect_code(1);
    let report: Value = serde_json::from_str(&finished.text()).unwrap();
    assert_eq!(check(&report, "answers")["verdict"], "ok", "{finished}");
    assert_eq!(check(&report, "tool_call")["verdict"], "fail", "{finished}");
    assert_eq!(check(&report, "cache")["evidence"], "the time for all checks was over");
}
