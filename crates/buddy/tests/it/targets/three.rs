//! One session on three hosts at once.

use buddy_protocol::Fact;
use buddy_testkit::model::turn;
use serde_json::{Value, json};

use super::yard::{Machine, container, shell_on, with_engine};
use crate::stage::Stage;

fn write_on(target: &str) -> Value {
    json!({"path": "by-tool", "content": format!("for {target}\n"), "target": target})
}

#[tokio::test]
async fn each_call_happens_on_the_target_that_it_names() {
    let (machine, web) = (Machine::new(), container());
    let (there, inside) = ("ssh:machine", format!("container:{}", web.name()));
    let stage = Stage::new([
        turn()
            .call("run_shell", shell_on("local", "echo here > by-command; uname -n"))
            .call("run_shell", shell_on(there, "echo there > by-command; pwd"))
            .call("run_shell", shell_on(&inside, "echo inside > by-command; uname -n")),
        turn()
            .call("write_file", write_on("local"))
            .call("write_file", write_on(there))
            .call("write_file", write_on(&inside)),
        turn()
            .call("read_file", json!({"path": "by-command"}))
            .call("read_file", json!({"path": "by-tool", "target": inside}))
            .call("git_status", json!({"target": "ssh:nowhere"})),
        turn().text("Done."),
    ])
    .await;
    let (ssh, engine) = (machine.flag(), format!("{}:/var/tmp", web.name()));
    let program = stage.exec(["work", "--local", "--ssh", &ssh, "--container", &engine]);
    with_engine(&web, machine.known_to(program)).run().await.expect_code(0);
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(read(stage.home.work().join("by-command")), "here\n");
    assert_eq!(read(machine.path("by-command")), "there\n");
    assert_eq!(read(stage.home.work().join("by-tool")), "for local\n");
    assert_eq!(read(machine.path("by-tool")), "for ssh:machine\n");
    let results = stage.results();
    let stdout = |at: usize| results[at]["result"]["stdout"].as_str().unwrap_or_default().to_owned();
    assert_eq!(stdout(1), format!("{}\n", machine.path("").display()).replace("/\n", "\n"));
    assert_ne!(stdout(2), stdout(0), "a container has a name of its own");
    assert!(
        results[6]["result"].to_string().contains("here"),
        "without a name it is the first: {results:#?}"
    );
    assert!(results[7]["result"].to_string().contains(&inside), "{results:#?}");
    assert_eq!(results[8]["error"]["code"], "unknown_target", "{results:#?}");
    let hint = results[8]["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("local") && hint.contains(there) && hint.contains(&inside), "{hint}");
    let log = stage.only_log().await;
    let targets: Vec<_> = log.calls().iter().map(|(_, call)| call.target.clone().unwrap()).collect();
    assert_eq!(targets[..6], ["local", there, &inside, "local", there, &inside]);
    let Fact::SessionStarted(started) = &log.events[0].fact else { panic!("a log begins with a start") };
    let names: Vec<&str> = started.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["local", there, &inside]);
}

#[tokio::test]
async fn the_model_is_told_of_targets_only_where_there_is_a_choice() {
    let machine = Machine::new();
    let flag = machine.flag();
    let stage = Stage::new([turn().text("One."), turn().text("Two.")]).await;
    machine.known_to(stage.exec(["work", "--ssh", &flag])).run().await.expect_code(0);
    machine.known_to(stage.exec(["work", "--ssh", &flag, "--local"])).run().await.expect_code(0);
    let requests = stage.requests();
    let field = |at: usize, name: &str| {
        let tools = requests[at].body["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["function"]["name"] == name).unwrap();
        tool["function"]["parameters"]["properties"]["target"].clone()
    };
    assert_eq!(field(0, "run_shell"), Value::Null);
    for name in ["run_shell", "read_file", "write_file", "grep", "git_status", "process_start"] {
        assert_eq!(field(1, name)["enum"], json!(["ssh:machine", "local"]), "{name}");
    }
    assert_eq!(field(1, "time"), Value::Null);
    let told = requests[1].body.to_string();
    assert!(told.contains("# Targets") && told.contains("`ssh:machine` (the default)"), "{told}");
    assert!(!told.contains("# Another machine"), "{told}");
    let alone = requests[0].body.to_string();
    assert!(!alone.contains("# Targets"), "{alone}");
    let is_offered = |at: usize| requests[at].body["tools"].to_string().contains(r#""name":"process_start""#);
    assert_eq!((is_offered(0), is_offered(1)), (false, true), "what no target has is not offered");
}

#[tokio::test]
async fn what_a_target_lacks_is_refused_by_its_name() {
    let machine = Machine::new();
    let flag = machine.flag();
    let mut start = shell_on("ssh:machine", "sleep 60");
    let stage = Stage::new([
        turn().call("process_start", start.take()),
        turn().call("process_status", json!({"target": "local"})),
        turn().text("Done."),
    ])
    .await;
    machine.known_to(stage.exec(["work", "--ssh", &flag, "--local"])).run().await.expect_code(0);
    let results = stage.results();
    assert_eq!(results[0]["error"]["code"], "unsupported", "{results:#?}");
    assert!(results[0]["error"]["message"].as_str().unwrap().contains("`ssh:machine`"), "{results:#?}");
    assert_eq!(results[1]["ok"], true, "{results:#?}");
}
