//! Variants of a run in which texts for the model and the behaviour of buddy once differed: each call does what the model was told.

use std::fs;

use buddy_testkit::model::{ModelServer, NEWEST_PROCESS, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{APPROVE, Stage, done, prompt, run, sent, shell};
use crate::way_out::PageServer;

/// A fact of the environment block of the first request.
fn fact(body: &Value, name: &str) -> Option<String> {
    let block = sent(body, "user").remove(0);
    block.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned))
}

/// A command that only waits and is left in the background, a shorter wait, and its end.
fn waiting() -> Vec<Turn> {
    let mut left = shell("sleep 200");
    left["wait"] = json!(0.2);
    let stop = json!({"id": NEWEST_PROCESS, "why": "the test"});
    vec![turn().call("run_shell", left), run("sleep 0.1"), turn().call("process_stop", stop), done()]
}

#[tokio::test]
async fn waiting_and_stopping_need_no_question_in_any_mode() {
    for arguments in [
        &["exec", "--trust", "--plan", "go"][..],
        &["exec", "--trust", "--approve", "ask", "go"],
        &["exec", "--trust", "--approve", "none", "go"],
        &["exec", "go"],
    ] {
        let stage = Stage::apart(waiting()).await;
        stage.usual(arguments).run().await.expect_code(0);
        let requests = stage.requests();
        let results = stage.results();
        let left = &results[0]["result"];
        assert_eq!(left["condition"], "running", "{arguments:?}: {left:#}");
        assert_eq!(results[1]["result"]["exit_code"], 0, "{arguments:?}: {:#}", results[1]);
        assert_eq!(results[2]["result"]["id"], left["id"], "{arguments:?}: {:#}", results[2]);
        assert_eq!(results[2]["result"]["condition"], "ended", "{arguments:?}: {:#}", results[2]);
        assert!(sent(&requests[0].body, "system")[0].contains("run `sleep 60` and repeat"));
    }
}

#[tokio::test]
async fn a_process_that_outlives_its_session_is_not_stopped_without_a_question() {
    let mut server = shell("exec sleep 600");
    server["name"] = json!("probe");
    let first = Stage::apart([turn().call("process_start", server), done()]).await;
    first.exec(["--trust", "go"]).run().await.expect_code(0);
    let id = first.results()[0]["result"]["id"].as_str().unwrap().to_owned();
    let stop = turn().call("process_stop", json!({"id": id, "why": "the test"}));
    let stage = Stage { server: ModelServer::start([stop, done()]).await, home: first.home };
    stage.usual(["exec", "--approve", "ask", "go"]).run().await.expect_code(5);
    assert_eq!(stage.results()[0]["error"]["code"], "approval_needed", "{:#?}", stage.results());
    stage.buddy(["kill", &id]).run().await.expect_code(0);
}

#[tokio::test]
async fn an_ephemeral_run_removes_nothing_that_was_there_and_says_so() {
    let delete = |path: &str| turn().call("delete_path", json!({ "path": path }));
    let scratch = tempfile::tempdir_in("/tmp").unwrap();
    let file = scratch.path().join("scratch.txt");
    fs::write(&file, "x").unwrap();
    let turns = vec![
        delete("by-tool.txt"),
        run("rm by-command.txt"),
        run("rm -r target"),
        delete(file.to_str().unwrap()),
        run("rm -f missing.txt; echo ran"),
        done(),
    ];
    let stage = Stage::apart(turns).await;
    let work = stage.home.work();
    for directory in [".git", "target"] {
        fs::create_dir_all(work.join(directory)).unwrap();
    }
    fs::write(work.join(".gitignore"), "target\n").unwrap();
    for name in ["by-tool.txt", "by-command.txt", "target/a"] {
        fs::write(work.join(name), "x").unwrap();
    }
    stage.usual(["exec", "--trust", "--ephemeral", "go"]).run().await.expect_code(5);
    let requests = stage.requests();
    let told = sent(&requests[5].body, "tool");
    for refused in &told[..2] {
        assert!(refused.starts_with("error approval_needed: "), "{refused}");
        assert!(refused.contains("`--ephemeral` keeps nothing for undo"), "{refused}");
    }
    assert!(told[0].contains("--allow '{ delete = "), "{}", told[0]);
    assert!(work.join("by-tool.txt").exists() && work.join("by-command.txt").exists());
    assert!(!work.join("target").exists() && !file.exists(), "{told:#?}");
    assert!(told[4].contains("ran"), "{}", told[4]);
    let body = &requests[0].body;
    assert!(fact(body, "undo").unwrap().starts_with("none: nothing that this run changes"), "{body:#}");
    assert!(fact(body, "approvals").unwrap().contains("file deletions in the workspace"), "{body:#}");
}

#[tokio::test]
async fn in_an_untrusted_folder_a_yes_to_a_command_keeps_the_question_about_its_host() {
    let other = ModelServer::start([turn().text("x")]).await;
    let stage = Stage::apart([run("sh get.sh"), done()]).await;
    fs::write(
        stage.home.work().join("get.sh"),
        format!("curl --noproxy '' -s -S {}/a; echo ended\n", other.url()),
    )
    .unwrap();
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 2).await;
    assert_eq!(other.connections(), 0, "the first yes was about the command");
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await;
    assert_eq!(other.connections(), 0, "{finished}");
    assert!(finished.stderr.contains("network host by host"), "{finished}");
    // The words of a command that the user saw name a host like an answer.
    let stage = Stage::apart([run(&format!("curl -s -S {}/a", other.url())), done()]).await;
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(other.connections(), 1);
}

#[tokio::test]
async fn programs_that_no_jail_serves_are_not_told_of_in_an_untrusted_folder() {
    for trust in [&["exec", "--trust", "go"][..], &["exec", "go"]] {
        let stage = Stage::apart([done()]).await;
        stage.usual(trust).run().await.expect_code(0);
        let programs = fact(&stage.requests()[0].body, "programs").unwrap();
        assert!(programs.contains("git") && !programs.contains("docker"), "{trust:?}: {programs}");
    }
}

#[tokio::test]
async fn with_the_network_off_no_command_asks_for_a_host() {
    let stage = Stage::apart([run("curl -s https://example.com/"), done()]).await;
    let mut started = stage.buddy(["--trust", "-c", "tools.network=false"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(!finished.stderr.contains(APPROVE), "{finished}");
    let told = sent(&stage.requests()[1].body, "tool").remove(0);
    assert!(told.starts_with("error forbidden: ") && told.contains("`tools.network` is false"), "{told}");
    let stage = Stage::apart([run("curl -s https://example.com/"), done()]).await;
    stage.usual(["exec", "--trust", "-c", "tools.network=false", "go"]).run().await.expect_code(5);
    let told = sent(&stage.requests()[1].body, "tool").remove(0);
    assert!(told.contains("`tools.network` is false") && !told.contains("--allow"), "{told}");
}

/// A page of results that lists one address.
fn results_page(address: &str) -> String {
    format!(
        "<html><body><div class=\"result results_links\"><h2 class=\"result__title\"><a class=\"result__a\" href=\"{address}\">A \
         page</a></h2><a class=\"result__snippet\">words</a></div></body></html>"
    )
}

#[tokio::test]
async fn headless_a_page_that_a_search_listed_is_fetched_and_another_is_denied() {
    // Nothing listens there, and only its verdict matters.
    let listed = "http://127.0.0.1:9/listed";
    let engine = PageServer::start(move || results_page(listed)).await;
    let fetch = |url: &str| turn().call("fetch_url", json!({ "url": url }));
    let turns = vec![
        turn().call("web_search", json!({"query": "a page"})),
        fetch(listed),
        fetch("http://127.0.0.1:9/other"),
        done(),
    ];
    let stage = Stage::apart(turns).await;
    let configuration = stage.home.path().join(".config/buddy");
    fs::create_dir_all(&configuration).unwrap();
    let authority = format!("localhost:{}", engine.port);
    let text =
        format!("[web]\nsearch_endpoint = \"http://{authority}/html/\"\nallowed_hosts = [\"{authority}\"]\n");
    fs::write(configuration.join("buddy.toml"), text).unwrap();
    stage.usual(["exec", "--trust", "go"]).run().await;
    let requests = stage.requests();
    let told = sent(&requests[3].body, "tool");
    assert!(told[0].contains(listed), "{told:#?}");
    assert!(told[1].starts_with("error refused: "), "the gate lets it go on: {told:#?}");
    assert!(told[2].starts_with("error approval_needed: "), "{told:#?}");
    let text = requests[0].body["tools"].to_string();
    assert!(text.contains("addresses exactly as a search listed them: the rest is denied"), "{text}");
    assert!(fact(&requests[0].body, "approvals").unwrap().starts_with("reading, web searches, "));
}

#[tokio::test]
async fn without_shell_or_file_tools_the_prompt_speaks_of_neither() {
    for (setting, absent) in [
        ("tools.shell_enabled=false", &["the shell for everything", "# The jail", "`wait`", "sleep 60"][..]),
        ("tools.files_enabled=false", &["a file tool", "`edit_file`"]),
    ] {
        let stage = Stage::new([done()]).await;
        stage.usual(["exec", "--trust", "-c", setting, "go"]).run().await.expect_code(0);
        let system = sent(&stage.requests()[0].body, "system").remove(0);
        for words in absent {
            assert!(!system.contains(words), "{setting}: {words}: {system}");
        }
        assert!(system.contains("You have no "), "{setting}: {system}");
    }
}

#[tokio::test]
async fn a_denial_that_only_names_an_option_says_what_to_do_with_it() {
    for approve in ["ask", "none", "auto"] {
        let stage = Stage::apart([run("pkill nobody"), done()]).await;
        let finished = stage.usual(["exec", "--trust", "--permission-mode", approve, "go"]).run().await;
        finished.expect_code(5);
        let told = sent(&stage.requests()[1].body, "tool").remove(0);
        assert!(!told.contains("approval mode `none`"), "{approve}: {told}");
        assert!(told.contains("The user can allow it with ") && told.contains("name that option"), "{told}");
    }
}

#[tokio::test]
async fn a_read_gives_at_most_2000_lines_and_a_plan_has_one_active_step() {
    let step = |text: &str| json!({"text": text, "state": "active"});
    let turns = [
        turn().call("read_file", json!({"path": "long", "offset": 10, "limit": 4000})),
        turn().call("update_plan", json!({"steps": [step("a"), step("b")]})),
        done(),
    ];
    let stage = Stage::new(turns).await;
    fs::write(stage.home.work().join("long"), "line\n".repeat(5_000)).unwrap();
    stage.exec(["--trust", "go"]).run().await.expect_code(0);
    let results = stage.results();
    let read = &results[0]["result"];
    assert_eq!((&read["lines"], &read["next_offset"]), (&json!(2000), &json!(2010)), "{read:#}");
    assert!(results[1]["error"]["message"].as_str().unwrap().contains("at most one `active` step"));
}

#[tokio::test]
async fn the_schema_of_a_command_demands_fields_without_defaults() {
    let stage = Stage::new([turn().call("run_shell", json!({"command": "true"})), done()]).await;
    stage.exec(["--trust", "go"]).run().await.expect_code(0);
    let body = &stage.requests()[0].body;
    let shell = body["tools"].as_array().unwrap().iter().find(|tool| tool["function"]["name"] == "run_shell");
    let schema = &shell.unwrap()["function"]["parameters"];
    for name in schema["required"].as_array().unwrap() {
        let field = &schema["properties"][name.as_str().unwrap()];
        assert!(field.is_object() && field.get("default").is_none(), "{name}: {field}");
    }
    assert_eq!(stage.results()[0]["result"]["exit_code"], 0, "a missing field fails no call");
    assert_eq!(prompt(body), "go");
}
