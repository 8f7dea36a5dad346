//! Settings that turn groups of tools off, and lists of the only files and hosts: not offered, refused when called, and without effect.

use std::collections::BTreeSet;
use std::fs;

use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, done, run, shell};

/// The names of the tools that the model was offered with its last request.
fn offered(stage: &Stage) -> BTreeSet<String> {
    let requests = stage.requests();
    let tools = requests.last().unwrap().body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// A call of each tool that one of the settings turns off.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("shell_enabled", "run_shell", shell("touch made")),
        ("shell_enabled", "process_start", shell("touch made")),
        ("shell_enabled", "process_status", json!({})),
        ("shell_enabled", "tmux_send_keys", json!({"keys": ["touch made", "Enter"]})),
        ("shell_enabled", "tmux_create_session", json!({"session": "x"})),
        ("files_enabled", "read_file", json!({"path": "a.txt"})),
        ("files_enabled", "write_file", json!({"path": "made", "content": "x"})),
        ("files_enabled", "edit_file", json!({"path": "a.txt", "old": "a", "new": "b"})),
        (
            "files_enabled",
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch"}),
        ),
        ("files_enabled", "list_directory", json!({})),
        ("files_enabled", "make_directory", json!({"path": "made"})),
        ("files_enabled", "delete_path", json!({"path": "a.txt"})),
        ("files_enabled", "grep", json!({"pattern": "text"})),
        ("files_enabled", "glob", json!({"pattern": "*"})),
        ("fetch_enabled", "fetch_url", json!({"url": "https://example.test/"})),
        ("search_enabled", "web_search", json!({"query": "x"})),
        ("search_enabled", "search_youtube", json!({"query": "x"})),
        ("search_enabled", "grep", json!({"pattern": "text"})),
        ("search_enabled", "glob", json!({"pattern": "*"})),
    ]
}

#[tokio::test]
async fn a_session_begins_with_the_tools_that_its_window_has_room_for() {
    let stage = Stage::new([turn().text("Hello.")]).await;
    let config = stage.home.path().join("buddy.toml");
    let profile = "api = \"completions\"\nmodel = \"m\"\nauth = \"none\"\ncontext_limit = 8192";
    let url = stage.server.url();
    fs::write(&config, format!("[models.small]\napi_base_url = \"{url}/v1\"\n{profile}\n")).unwrap();
    let run = stage.exec(["--config", config.to_str().unwrap(), "-m", "small", "--json", "hi"]).run().await;
    let lines = run.expect_code(0).text();
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started = events.into_iter().find(|event| event["type"] == "session.started").unwrap();
    let told = started["data"]["began_with"]["tools"].as_array().unwrap().iter();
    let told: BTreeSet<String> = told.map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(told, offered(&stage));
}

#[tokio::test]
async fn a_group_of_tools_that_is_off_is_not_offered_and_does_nothing_when_it_is_called() {
    for key in ["shell_enabled", "files_enabled", "fetch_enabled", "search_enabled"] {
        let calls: Vec<_> = calls().into_iter().filter(|(group, _, _)| *group == key).collect();
        let turns: Vec<Turn> =
            calls.iter().map(|(_, name, input)| turn().call(name, input.clone())).collect();
        let stage = Stage::new(turns.into_iter().chain([done()]).collect::<Vec<_>>()).await;
        fs::write(stage.home.work().join("a.txt"), "a text\n").unwrap();
        stage.exec(["-c", &format!("tools.{key}=false"), "go"]).run().await;
        let (offered, results) = (offered(&stage), stage.results());
        assert_eq!(results.len(), calls.len(), "{key}: {results:?}");
        for ((_, name, _), result) in calls.iter().zip(&results) {
            assert!(!offered.contains(*name), "{key}: {name} is offered");
            assert_eq!(result["error"]["code"], "tool_off", "{key} {name}: {result}");
        }
        assert!(!stage.home.work().join("made").exists(), "{key}");
        assert_eq!(stage.home.text("a.txt"), "a text\n", "{key}");
        assert!(offered.contains("time") && offered.len() > 10, "{key}: {offered:?}");
    }
}

#[tokio::test]
async fn a_project_turns_a_group_off_and_turns_none_on() {
    for (user, project, is_on) in [("true", "false", false), ("false", "true", false), ("true", "true", true)]
    {
        let stage = Stage::new(vec![run("touch made"), done()]).await;
        let configuration = stage.home.path().join(".config/buddy");
        fs::create_dir_all(&configuration).unwrap();
        fs::write(configuration.join("buddy.toml"), format!("[tools]\nshell_enabled = {user}\n")).unwrap();
        fs::write(stage.home.work().join("buddy.toml"), format!("[tools]\nshell_enabled = {project}\n"))
            .unwrap();
        stage.buddy(["trust"]).run().await.expect_code(0);
        stage.exec(["go"]).run().await;
        assert_eq!(stage.home.work().join("made").exists(), is_on, "{user} {project}");
        assert_eq!(offered(&stage).contains("run_shell"), is_on, "{user} {project}");
    }
}

#[tokio::test]
async fn no_tool_and_no_command_changes_a_file_that_is_not_listed() {
    for mode in ["development", "production"] {
        let closed = [
            turn().call("write_file", json!({"path": "b.txt", "content": "lost"})),
            turn().call("write_file", json!({"path": "src/../b.txt", "content": "lost"})),
            turn().call("edit_file", json!({"path": "b.txt", "old": "kept", "new": "lost"})),
            turn().call("delete_path", json!({"path": "b.txt"})),
            turn().call("read_file", json!({"path": "b.txt"})),
            turn().call("read_file", json!({"path": "src/link"})),
            turn().call("grep", json!({"pattern": "kept", "path": "."})),
            turn().call("list_directory", json!({"path": "."})),
            run("echo lost > b.txt"),
            run("rm b.txt"),
            run("cp src/a.txt b.txt"),
        ];
        let open = [
            turn().call("write_file", json!({"path": "src/new.txt", "content": "made"})),
            turn().call("read_file", json!({"path": "src/a.txt"})),
            run("echo made > src/by-command.txt"),
        ];
        let count = closed.len();
        let turns: Vec<Turn> = closed.into_iter().chain(open).chain([done()]).collect();
        let stage = Stage::apart(turns).await;
        let work = stage.home.work();
        fs::create_dir(work.join("src")).unwrap();
        fs::write(work.join("src/a.txt"), "a\n").unwrap();
        fs::write(work.join("b.txt"), "kept\n").unwrap();
        std::os::unix::fs::symlink("../b.txt", work.join("src/link")).unwrap();
        let list = "tools.files_allowed_paths=[\"src\"]";
        let program = stage.exec(["-c", list, "-c", "agent.max_iterations=200", "--trust", "go"]);
        program.env("BUDDY_ENV", mode).run().await;
        let results = stage.results();
        for result in results.iter().take(count) {
            assert_eq!(result["error"]["code"], "forbidden", "{mode}: {result}");
            assert!(result.to_string().contains("tools.files_allowed_paths"), "{mode}: {result}");
        }
        for result in results.iter().skip(count) {
            assert_eq!(result["ok"], true, "{mode}: {result}");
        }
        assert_eq!(stage.home.text("b.txt"), "kept\n", "{mode}");
        assert!(work.join("src/new.txt").exists() && work.join("src/by-command.txt").exists(), "{mode}");
    }
}

/// The kernel holds places that a command does not name.
#[tokio::test]
async fn the_jail_holds_commands_to_the_files_that_are_listed() {
    let script =
        "for name in ('b.txt', 'src/made'):\n  try: open(name, 'w').write('x')\n  except OSError: pass\n";
    let stage = Stage::apart(vec![run("python3 src/write.py"), done()]).await;
    let work = stage.home.work();
    fs::create_dir(work.join("src")).unwrap();
    fs::write(work.join("src/write.py"), script).unwrap();
    stage.exec(["-c", "tools.files_allowed_paths=[\"src\"]", "--trust", "go"]).run().await;
    assert!(work.join("src/made").exists(), "{:?}", stage.results());
    assert!(!work.join("b.txt").exists(), "{:?}", stage.results());
}

#[tokio::test]
async fn no_host_is_reached_that_is_not_listed_whatever_is_approved() {
    for (list, count) in [("[\"other.test\"]", 0), ("[\"127.0.0.1\"]", 3)] {
        let host = ModelServer::start([turn().text("x"), turn().text("x"), turn().text("x")]).await;
        let authority = host.url().trim_start_matches("http://").to_owned();
        let reach = "import os, sys, urllib.request\n\
             os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''\n\
             print(urllib.request.urlopen(sys.argv[1], timeout=20).status)\n";
        let url = format!("http://{authority}/v1/models");
        let calls = vec![
            turn().call("fetch_url", json!({"url": url})),
            run(&format!("python3 reach.py {url}")),
            run("python3 reach.py $(cat address)"),
            done(),
        ];
        let stage = Stage::apart(calls).await;
        fs::write(stage.home.work().join("reach.py"), reach).unwrap();
        fs::write(stage.home.work().join("address"), &url).unwrap();
        let settings =
            [format!("web.allowed_hosts=[\"{authority}\"]"), format!("tools.fetch_allowed_hosts={list}")];
        let words = ["--trust", "-c", &settings[0], "-c", &settings[1], &*format!("see {url}")];
        stage.exec(words).run().await;
        assert_eq!(host.connections(), count, "{list}: {:#?}", stage.results());
    }
}

#[tokio::test]
async fn an_entry_that_makes_no_sense_is_an_error_before_anything_runs() {
    for setting in ["tools.files_allowed_paths=[\"..\"]", "tools.fetch_allowed_hosts=[\"https://a.test\"]"] {
        let stage = Stage::new(vec![done()]).await;
        let refused = stage.exec(["-c", setting, "go"]).run().await;
        let key = setting.split('=').next().unwrap();
        assert!(refused.code == Some(2) && refused.stderr.contains(key), "{refused}");
        assert!(stage.server.requests().is_empty());
    }
}
