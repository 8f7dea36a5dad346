//! Configuration as the whole program reads, changes and obeys it: files, trust, keys and the models they lead to.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use buddy_testkit::home::Home;
use buddy_testkit::model::{ModelServer, turn};
use buddy_testkit::program::Program;
use serde_json::Value;

use crate::stage::{BUDDY, Stage, said, shell};

/// buddy in a home, with no variable but those that name places.
fn bare<'a>(home: &Home, arguments: impl AsRef<[&'a str]>) -> Program {
    let program =
        Program::new(BUDDY).cwd(home.work()).env("HOME", home.path()).env("BUDDY_HOME", home.data());
    program.args(arguments.as_ref())
}

fn write(home: &Home, path: &str, text: &str) {
    let path = home.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

const USER: &str = ".config/buddy/buddy.toml";

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

async fn answering() -> ModelServer {
    ModelServer::start([turn().text("Well."), turn().text("Well.")]).await
}

/// The value of a header of the only request that a server got.
fn header(server: &ModelServer, name: &str) -> Option<String> {
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "one request is expected");
    requests[0].headers.get(name).cloned()
}

#[tokio::test]
async fn the_first_run_leaves_a_private_file_whatever_the_mask() {
    let stage = Stage::new([turn().text("Well.")]).await;
    stage.in_bash("umask 000; \"$BUDDY\" exec hi").run().await.expect_code(0);
    let file = stage.home.path().join(USER);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(std::fs::read_to_string(&file).unwrap().contains("[models.gpt-codex]"));
    let names: Vec<_> = std::fs::read_dir(file.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "drafts are left: {names:?}");
}

#[tokio::test]
async fn a_home_that_cannot_be_written_is_only_a_warning() {
    let stage = Stage::new([turn().text("Well.")]).await;
    let program = stage.exec(["hi"]).env("XDG_CONFIG_HOME", "/proc/nowhere");
    program.run().await.expect_code(0).expect_stderr("warning: cannot make /proc/nowhere/buddy/buddy.toml");
}

#[tokio::test]
async fn a_key_is_set_shown_and_taken_out_again() {
    let home = Home::new();
    bare(&home, ["config", "set", "agent.model", "claude"]).run().await.expect_code(0);
    let text = std::fs::read_to_string(home.path().join(USER)).unwrap();
    assert!(
        text.contains("\nmodel = \"claude\"\n")
            && text.contains("# The most model calls in one turn; absent means"),
        "{text}"
    );
    let shown = bare(&home, ["config", "show", "--origins"]).run().await.expect_code(0).text();
    let line = shown.lines().find(|line| line.starts_with("agent.model = ")).unwrap();
    assert!(line.starts_with("agent.model = \"claude\"  # ") && line.contains("buddy.toml:"), "{line}");
    let path = bare(&home, ["config", "path"]).run().await.expect_code(0).text();
    assert_eq!(path.trim_end(), home.path().join(USER).to_str().unwrap());
    bare(&home, ["config", "unset", "agent.model"]).run().await.expect_code(0);
    let again = std::fs::read_to_string(home.path().join(USER)).unwrap();
    assert_eq!(again, text.replace("model = \"claude\"\n", ""));
    assert_eq!(mode(&home.path().join(USER)), 0o600);
}

#[tokio::test]
async fn gates_are_shown_with_the_reason_why_they_are_on() {
    let home = Home::new();
    bare(&home, ["config", "set", "agent.model", "claude"]).run().await.expect_code(0);
    bare(&home, ["config", "set", "agent.gates.stuck", "false"]).run().await.expect_code(0);
    let shown = bare(&home, ["config", "show", "--origins"]).run().await.expect_code(0).text();
    assert!(shown.contains("# agent.gates.finish is on in `exec` only: model family `claude`, "), "{shown}");
    assert!(shown.contains("# agent.gates.recite is off: model family `claude`, newer ones keep"), "{shown}");
    assert!(shown.contains("\nagent.gates.stuck = false  # "), "{shown}");
    assert!(!shown.contains("agent.gates.stuck is"), "{shown}");
    let printed = bare(&home, ["config", "show", "--json"]).run().await.expect_code(0).text();
    let entries: Vec<serde_json::Value> = serde_json::from_str(&printed).unwrap();
    let report = entries.iter().find(|entry| entry["key"] == "agent.gates.report").unwrap();
    assert_eq!(report["holds"], "on");
    assert!(report["why"].as_str().unwrap().starts_with("model family `claude`, "), "{report}");
}

#[tokio::test]
async fn changes_that_make_no_sense_are_refused() {
    let home = Home::new();
    write(&home, USER, "# mine\n");
    let refused = bare(&home, ["config", "set", "agent.max_iterations", "many"]).run().await;
    refused.expect_code(2).expect_stderr("`agent.max_iterations`");
    let refused = bare(&home, ["config", "set", "agent.modl", "x"]).run().await;
    refused.expect_code(2).expect_stderr("did you mean `agent.model`?");
    assert_eq!(std::fs::read_to_string(home.path().join(USER)).unwrap(), "# mine\n");
}

#[tokio::test]
async fn mistakes_are_named_with_their_place() {
    let home = Home::new();
    write(&home, USER, "[agent]\nmodle = 'x'\n");
    let shown = bare(&home, ["config", "show"]).run().await.expect_code(0);
    shown.expect_stderr("buddy.toml:2: unknown key `agent.modle`; did you mean `agent.model`?");
    let strict = bare(&home, ["--strict-config", "config", "show"]).run().await;
    strict.expect_code(2).expect_stderr("buddy.toml:2: unknown key");
    write(&home, USER, "\n[tmux]\nmax_panes = 'x'\n");
    let shown = bare(&home, ["config", "show"]).run().await;
    shown.expect_code(2).expect_stderr("buddy.toml:3: `tmux.max_panes`");
    let named = bare(&home, ["--config", "nowhere.toml", "config", "show"]).run().await;
    named.expect_code(2).expect_stderr("nowhere.toml: cannot be read");
}

#[tokio::test]
async fn options_win_over_variables_over_files() {
    let home = Home::new();
    write(&home, USER, "approvals.policy = 'none'\n");
    let policy = async |program: Program| {
        let text = program.run().await.expect_code(0).text();
        let all: Value = serde_json::from_str(&text).unwrap();
        let found = all.as_array().unwrap().iter().find(|entry| entry["key"] == "approvals.policy");
        found.unwrap()["value"].as_str().unwrap().to_owned()
    };
    let show = ["config", "show", "--json"];
    assert_eq!(policy(bare(&home, show)).await, "none");
    assert_eq!(policy(bare(&home, show).env("BUDDY_APPROVE", "all")).await, "all");
    let option = bare(&home, show).args(["-c", "approvals.policy=ask"]).env("BUDDY_APPROVE", "all");
    assert_eq!(policy(option).await, "ask");
}

/// The user's own profile with its key, at this address.
fn own(server: &ModelServer) -> String {
    let url = server.url();
    format!(
        "[agent]\nmodel = 'own'\n[models.own]\napi_base_url = '{url}/v1'\napi_key = 'sk-own'\nmodel = 'm'\n"
    )
}

/// Settings that a stranger's repository would like to have.
fn greedy(server: &ModelServer) -> String {
    let url = server.url();
    format!(
        "[agent]\nmodel = 'evil'\n[approvals]\npolicy = 'all'\n[models.own]\napi_base_url = '{url}/v1'\n\
         [models.evil]\napi_base_url = '{url}/v1'\napi_key_env = 'SECRET_KEY'\nmodel = 'm'\n"
    )
}

#[tokio::test]
async fn an_untrusted_project_changes_nothing_and_gets_no_key() {
    for (name, text) in
        [("buddy.toml", None), ("agent.toml", None), (".env", Some("BUDDY_BASE_URL=URL/v1\nHOME=/x\n"))]
    {
        let (home, good, evil) = (Home::new(), answering().await, answering().await);
        write(&home, USER, &own(&good));
        let text = text.map_or_else(|| greedy(&evil), |text| text.replace("URL", &evil.url()));
        write(&home, &format!("work/{name}"), &text);
        let finished = bare(&home, ["exec", "hi"]).env("SECRET_KEY", "sk-secret").run().await.expect_code(0);
        assert_eq!(finished.stderr.contains("buddy trust"), name != ".env", "{finished}");
        assert_eq!(evil.connections(), 0, "{name}");
        assert_eq!(header(&good, "authorization").as_deref(), Some("Bearer sk-own"), "{name}");
    }
}

#[tokio::test]
async fn trust_is_listed_and_taken_back_and_an_address_of_a_project_is_not_used() {
    let (home, good, other) = (Home::new(), answering().await, answering().await);
    write(&home, USER, &own(&good));
    let project = format!("agent.name = 'Herbert'\nmodels.own.api_base_url = '{}/v1'\n", other.url());
    write(&home, "work/buddy.toml", &project);
    bare(&home, ["trust"]).run().await.expect_code(0);
    let listed = bare(&home, ["trust", "--list"]).run().await.expect_code(0).text();
    assert_eq!(listed, format!("FOLDER\n{}\n", home.work().display()));
    assert_eq!(mode(&home.data().join("trusted.json")), 0o600);
    let finished = bare(&home, ["exec", "hi"]).run().await.expect_code(0);
    finished.expect_stderr("a project cannot set `models.own.api_base_url`");
    assert_eq!(other.connections(), 0);
    assert_eq!(header(&good, "authorization").as_deref(), Some("Bearer sk-own"));
    assert!(good.requests()[0].body.to_string().contains("Herbert"), "the rest of the file is read");
    bare(&home, ["trust", "--remove"]).run().await.expect_code(0);
    bare(&home, ["exec", "hi"]).run().await.expect_code(0);
    assert!(!good.requests()[1].body.to_string().contains("Herbert"));
}

#[tokio::test]
async fn the_environment_s_key_is_not_sent_to_another_host() {
    let (home, one, other) = (Home::new(), answering().await, answering().await);
    let second = format!("[models.other]\napi_base_url = '{}/v1'\nmodel = 'm'\n", other.url());
    write(&home, USER, &(own(&one) + &second));
    let exec = |model: &str| bare(&home, ["exec", "hi", "-m", model]).env("BUDDY_API_KEY", "sk-env");
    exec("other").run().await.expect_code(0);
    assert_eq!(header(&other, "authorization"), None);
    exec("own").run().await.expect_code(0);
    assert_eq!(header(&one, "authorization").as_deref(), Some("Bearer sk-env"));
}

#[tokio::test]
async fn a_command_prints_the_key() {
    let (home, server) = (Home::new(), answering().await);
    let user =
        own(&server).replace("api_key = 'sk-own'", "api_key_command = 'echo ran >> ran; echo sk-printed'");
    write(&home, USER, &user);
    bare(&home, ["exec", "hi"]).run().await.expect_code(0);
    assert_eq!(header(&server, "authorization").as_deref(), Some("Bearer sk-printed"));
    assert_eq!(std::fs::read_to_string(home.path().join("ran")).unwrap(), "ran\n");
    write(&home, USER, &user.replace("echo sk-printed", "echo sk-printed >&2; false"));
    let finished = bare(&home, ["exec", "hi"])
        .run()
        .await
        .expect_code(6)
        .expect_stderr("the command for the key failed");
    assert!(!finished.stderr.contains("sk-printed"), "{finished}");
}

#[tokio::test]
async fn a_missing_key_is_explained_before_anything_is_sent() {
    let (home, server) = (Home::new(), answering().await);
    write(&home, USER, &own(&server).replace("api_key = 'sk-own'", "api_key_env = 'MY_KEY'"));
    let finished = bare(&home, ["exec", "hi"]).run().await.expect_code(6);
    finished.expect_stderr("there is no key for `own`").expect_stderr("MY_KEY");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn older_names_of_variables_still_work() {
    let (home, server) = (Home::new(), answering().await);
    let program = bare(&home, ["exec", "hi"]).env("AGENT_BASE_URL", format!("{}/v1", server.url()));
    program.env("AGENT_MODEL", "m").env("AGENT_API_KEY", "sk-old").run().await.expect_code(0);
    assert_eq!(header(&server, "authorization").as_deref(), Some("Bearer sk-old"));
}

#[tokio::test]
async fn a_vendor_s_key_is_enough_and_said_once() {
    let (home, server) = (Home::new(), answering().await);
    let program = |arguments: &[&str]| {
        let program = bare(&home, arguments).env("OPENAI_API_KEY", "sk-vendor");
        program.env("OPENAI_BASE_URL", format!("{}/v1", server.url()))
    };
    let finished = program(&["exec", "hi"]).run().await.expect_code(0);
    assert_eq!(
        finished.stderr.matches("model: gpt-5.3-codex (from OPENAI_API_KEY)").count(),
        1,
        "{finished}"
    );
    assert_eq!(header(&server, "authorization").as_deref(), Some("Bearer sk-vendor"));
    let quiet = program(&["exec", "hi", "--output-format", "json"]).run().await.expect_code(0);
    assert!(!quiet.stderr.contains("model:"), "{quiet}");
}

#[tokio::test]
async fn messages_are_spoken_where_the_profile_says_so() {
    let (home, server) = (Home::new(), answering().await);
    write(&home, USER, &own(&server).replace("model = 'm'", "model = 'm'\napi = 'messages'"));
    bare(&home, ["exec", "hi"]).run().await.expect_code(0);
    assert_eq!(header(&server, "x-api-key").as_deref(), Some("sk-own"));
    assert_eq!(server.requests()[0].path, "/v1/messages");
}

#[tokio::test]
async fn what_the_configuration_says_reaches_the_model() {
    let (home, server) = (Home::new(), answering().await);
    let profile = "max_output_tokens = 77\nreasoning_effort = 'low'\nextra = { top_k = 3 }\n";
    write(&home, USER, &(own(&server) + profile));
    bare(&home, ["exec", "hi", "-c", "agent.temperature=0.5", "-c", "agent.top_p=0.25"])
        .run()
        .await
        .expect_code(0);
    let body = &server.requests()[0].body;
    let sent = ["max_tokens", "reasoning_effort", "top_k", "temperature", "top_p"]
        .map(|field| body[field].to_string());
    assert_eq!(sent, ["77", "\"low\"", "3", "0.5", "0.25"]);
}

#[tokio::test]
async fn a_session_keeps_its_profile() {
    let (home, one, other) = (Home::new(), answering().await, answering().await);
    let second = format!("[models.other]\napi_base_url = '{}/v1'\n", other.url());
    write(&home, USER, &(own(&one) + &second));
    bare(&home, ["exec", "hi", "-m", "other/special"]).run().await.expect_code(0);
    bare(&home, ["exec", "again", "--last"]).run().await.expect_code(0);
    let models: Vec<_> = other.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!((models, one.connections()), (vec!["special".into(), Value::from("special")], 0));
    let slip = bare(&home, ["exec", "hi", "-m", "othre"]).run().await.expect_code(1);
    slip.expect_stderr("did you mean `other`?");
}

#[tokio::test]
async fn profiles_are_listed_without_their_keys() {
    let (home, server) = (Home::new(), answering().await);
    write(&home, USER, &own(&server));
    let text = bare(&home, ["models", "--json"]).run().await.expect_code(0).text();
    let rows: Value = serde_json::from_str(&text).unwrap();
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "own").unwrap();
    assert_eq!((&row["active"], &row["key"], &row["model"]), (&true.into(), &"set".into(), &"m".into()));
    let table = bare(&home, ["models"]).run().await.expect_code(0).text();
    assert!(table.contains("* own") && !(table + &text).contains("sk-own"));
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_neither_offered_nor_run() {
    let call = turn().call("run_shell", shell("touch sentinel"));
    let (home, server) = (Home::new(), ModelServer::start([call, turn().text("Well.")]).await);
    write(&home, USER, &(own(&server) + "[tools]\nrun_shell = false\n"));
    let program =
        bare(&home, ["exec", "go", "--approve", "all", "-c", "agent.system_prompt=Be kind to cats."]);
    program.run().await.expect_code(0);
    let requests = server.requests();
    let body = &requests[0].body;
    let tools =
        body["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap());
    assert!(tools.clone().any(|name| name == "read_file") && tools.clone().all(|name| name != "run_shell"));
    assert!(said(body, "system")[0].contains("Be kind to cats."));
    assert!(said(&requests[1].body, "tool")[0].contains("switched off"));
    assert!(!home.work().join("sentinel").exists());
}

#[tokio::test]
async fn a_conversation_without_any_model_is_a_demo() {
    let home = Home::new();
    let program = bare(&home, ["-c", "network.local_servers=false"]).input("time\n");
    let finished = program.run().await.expect_code(0).expect_stderr("the built-in demo is answering");
    assert!(finished.text().contains("[demo]"), "{finished}");
}
