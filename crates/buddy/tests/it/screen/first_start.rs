//! The first start on a real terminal: a home without anything, and the ways to a model.

use buddy_testkit::model::{Turn, turn};
use buddy_testkit::oauth::{OAuthScript, OAuthServer, Poll, follow};
use std::sync::Arc;

use super::Screen;
use crate::stage::Stage;

impl Screen {
    /// buddy in a home where nobody was before, without any key. `claude` is the scripted server.
    pub(super) async fn first_start(turns: impl IntoIterator<Item = Turn>, columns: u32, rows: u32) -> Self {
        let stage = Stage::new(turns.into_iter().collect::<Vec<_>>()).await;
        Self::configure_bare(&stage);
        let screen = Self::prepared(stage);
        screen.begin_first_start(columns, rows);
        screen
    }

    /// Leads the profile `claude` to the scripted server, and looks for no other.
    fn configure_bare(stage: &Stage) {
        let config = stage.home.path().join(".config/buddy");
        std::fs::create_dir_all(&config).unwrap();
        let text = format!(
            "[models.claude]\napi_base_url = \"{}/v1\"\napi = \"completions\"\napi_key_env = \"ANTHROPIC_API_KEY\"\n[network]\nlocal_servers = false\n",
            stage.server.url()
        );
        std::fs::write(config.join("buddy.toml"), text).unwrap();
    }

    fn prepared(stage: Stage) -> Self {
        let socket = stage.home.path().join("terminal");
        Self { stage: Arc::new(stage), socket, variables: Vec::new() }
    }

    /// Starts buddy for the first time on a terminal of this size.
    fn begin_first_start(&self, columns: u32, rows: u32) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let words =
            ["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, "-s", "screen", "--"];
        self.start_bare(&words);
        self.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    }

    /// Starts buddy without a word about models.
    fn start_bare(&self, words: &[&str]) {
        let variables: Vec<String> =
            self.variables().into_iter().filter(|variable| !is_about_models(variable)).collect();
        let variables = variables.iter().map(String::as_str);
        let own = [crate::stage::BUDDY, "-c", "display.motion=false", "-c", "tmux.enabled=false"];
        let all: Vec<&str> = words.iter().copied().chain(["env", "-i"]).chain(variables).chain(own).collect();
        self.tmux(&all);
    }

    /// Goes to the list of those whose key it can be, and takes the one with these words.
    async fn choose_key_of(&self, words: &str) {
        self.wait_for("esc demo").await;
        self.keys(&["Enter"]);
        let whose = self.wait_for("Whose key is it?").await;
        let place = whose.lines().find(|line| line.contains(words)).unwrap();
        let number = place.trim_start_matches(['❯', ' ']).split(' ').next().unwrap();
        self.keys(&[number]);
    }

    /// Starts it again on the same terminal.
    fn bare_again(&self) {
        self.start_bare(&["respawn-pane", "-k", "-t", "screen", "--"]);
        self.tmux(&["clear-history", "-t", "screen"]);
    }
}

fn is_about_models(variable: &str) -> bool {
    ["BUDDY_BASE_URL=", "BUDDY_MODEL=", "BUDDY_API_KEY="].iter().any(|name| variable.starts_with(name))
}

#[tokio::test]
async fn the_first_question_is_how_to_begin_and_escape_is_the_demo() {
    let screen = Screen::first_start([], 80, 24).await;
    insta::assert_snapshot!(screen.wait_for("esc demo").await);
    screen.keys(&["Escape"]);
    screen.wait_for("The demo answers.").await;
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["y"]);
    screen.wait_for("› say tour").await;
    screen.text("h");
    screen.wait_gone("Type `tour`").await;
    screen.keys(&["C-u", "C-d"]);
    screen.wait_dead().await;
    screen.bare_again();
    let again = screen.wait_for("› say tour").await;
    assert!(!again.contains("Hello"), "it is asked once: {again}");
}

#[tokio::test]
async fn a_pasted_key_is_not_shown_tried_once_and_used_from_then_on() {
    let screen = Screen::first_start([turn().text("OK"), turn().text("Here I am.")], 80, 24).await;
    screen.choose_key_of("claude-sonnet").await;
    screen.wait_for("API key for `claude` (not shown)").await;
    screen.line("sk-first-start");
    screen.wait_for("buddy now uses `claude`").await;
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["y"]);
    screen.wait_for("› Ask buddy anything").await;
    screen.line("hello");
    screen.wait_for("Here I am.").await;
    assert!(!screen.everything().contains("sk-first-start"));
    let requests = screen.stage.requests();
    assert_eq!(requests.len(), 2, "one call tries the key, one is the turn");
    let kept = std::fs::read_to_string(screen.stage.home.path().join(".config/buddy/auth.json")).unwrap();
    assert!(kept.contains("sk-first-start"));
}

#[tokio::test]
async fn a_key_that_does_not_work_is_told_and_not_kept() {
    let screen = Screen::first_start([turn().error(401, "invalid_api_key", "no such key")], 40, 20).await;
    screen.wait_for("enter select").await;
    screen.keys(&["1"]);
    screen.wait_for("Whose key is it?").await;
    screen.keys(&["1"]);
    screen.wait_for("(not shown)").await;
    screen.line("sk-wrong");
    screen.wait_for("A first call with it failed").await;
    let shown = screen.wait_for("3  Back").await;
    assert!(!shown.contains("Saved the key"), "it is not: {shown}");
    screen.keys(&["3"]);
    screen.wait_gone("3  Back").await;
    screen.wait_for("enter select").await;
    let kept = std::fs::read_to_string(screen.stage.home.path().join(".config/buddy/auth.json")).unwrap();
    assert!(!kept.contains("sk-wrong"), "{kept}");
    screen.keys(&["C-c"]);
    screen.wait_dead().await;
}

#[tokio::test]
async fn ctrl_c_leaves_also_at_the_question_about_trust() {
    let screen = Screen::first_start([], 80, 24).await;
    screen.wait_for("esc demo").await;
    screen.keys(&["Escape"]);
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["C-c"]);
    screen.wait_for("buddy: interrupted").await;
    screen.wait_dead().await;
    assert!(!screen.stage.home.data().join("trusted.json").exists(), "nothing was answered");
}

#[tokio::test]
async fn a_key_that_was_being_tried_when_the_person_left_is_not_kept() {
    let slow = turn().text("OK").chunk_chars(1).chunk_delay(std::time::Duration::from_mins(1));
    let screen = Screen::first_start([slow], 80, 24).await;
    screen.wait_for("esc demo").await;
    screen.keys(&["1"]);
    screen.wait_for("Whose key is it?").await;
    screen.keys(&["1"]);
    screen.wait_for("(not shown)").await;
    screen.line("sk-half");
    screen.wait_for("Trying it").await;
    screen.keys(&["C-c"]);
    screen.wait_dead().await;
    let kept = std::fs::read_to_string(screen.stage.home.path().join(".config/buddy/auth.json")).unwrap();
    assert!(!kept.contains("sk-half"), "{kept}");
}

#[tokio::test]
async fn a_server_at_any_address_becomes_a_profile_once_it_worked() {
    let screen = Screen::first_start([turn().text("OK"), turn().text("Here I am.")], 80, 30).await;
    screen.choose_key_of("Another server").await;
    screen.wait_for("Address of the API").await;
    screen.line("no address");
    screen.wait_until("it again", |shown| shown.matches("Address of the API").count() == 2).await;
    let address = format!("{}/v1", screen.stage.server.url());
    screen.line(&address);
    screen.wait_for("API key (not shown; press Enter").await;
    screen.line("sk-elsewhere");
    screen.wait_for("Which model?").await;
    screen.wait_for("1  scripted").await;
    screen.keys(&["1"]);
    screen.wait_for("buddy now uses").await;
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["n"]);
    screen.wait_for("› Ask buddy anything").await;
    screen.line("hello");
    screen.wait_for("Here I am.").await;
    let requests = screen.stage.requests();
    assert_eq!(requests.len(), 2);
    let config = std::fs::read_to_string(screen.stage.home.path().join(".config/buddy/buddy.toml")).unwrap();
    assert!(config.contains(&format!("api_base_url = \"{address}\"")), "{config}");
    let kept = std::fs::read_to_string(screen.stage.home.path().join(".config/buddy/auth.json")).unwrap();
    assert!(kept.contains("sk-elsewhere") && !screen.everything().contains("sk-elsewhere"));
}

#[tokio::test]
async fn an_address_that_does_not_answer_leaves_nothing_behind() {
    let screen = Screen::first_start([turn().error(500, "broken", "out of order")], 80, 30).await;
    let file = screen.stage.home.path().join(".config/buddy/buddy.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    screen.choose_key_of("Another server").await;
    screen.wait_for("Address of the API").await;
    // Nobody listens there.
    screen.line("http://127.0.0.1:1/v1");
    screen.wait_for_words("Start the server, or type another address.").await;
    screen.wait_until("it again", |shown| shown.matches("Address of the API").count() == 2).await;
    assert!(!screen.everything().contains("API key (not shown"), "nothing else is asked");
    screen.line(&format!("{}/v1", screen.stage.server.url()));
    screen.wait_for("API key (not shown; press Enter").await;
    screen.keys(&["Enter"]);
    screen.wait_for("Which model?").await;
    screen.keys(&["1"]);
    screen.wait_for("A first call failed").await;
    screen.wait_for("1  Back").await;
    screen.keys(&["1"]);
    screen.wait_for("esc demo").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    screen.keys(&["C-c"]);
    screen.wait_dead().await;
}

/// Further lines of the configuration: the built-in logins lead to a stand-in, and a port that is free.
fn lead_logins_to(screen: &Screen, provider: &OAuthServer) {
    let file = screen.stage.home.path().join(".config/buddy/buddy.toml");
    let (id, api, client) = (provider.url(), screen.stage.server.url(), OAuthServer::CLIENT);
    let more = format!(
        "[models.chatgpt]\napi_base_url = '{api}/backend-api/codex'\n\
         [login.chatgpt]\naddresses = ['{api}']\nclient_id = '{client}'\ntoken_url = '{id}/oauth/token'\n\
         device_url = '{id}/api/accounts/deviceauth/usercode'\n"
    );
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &more).unwrap();
}

#[tokio::test]
async fn a_server_on_this_machine_is_used_without_a_question() {
    let mut screen = Screen::prepared(Stage::new([turn().text("Here I am.")]).await);
    screen.variables.push(format!("OLLAMA_HOST={}", screen.stage.server.url()));
    screen.begin_first_start(80, 24);
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["y"]);
    screen.wait_for("› Ask buddy anything").await;
    screen.line("hello");
    screen.wait_for("Here I am.").await;
    assert!(!screen.everything().contains("Hello"), "there is nothing to ask");
}

#[tokio::test]
async fn a_plan_is_connected_with_a_code_and_ends_in_a_prompt() {
    let provider =
        OAuthServer::start(OAuthScript { polls: vec![Poll::Pending], ..OAuthScript::default() }).await;
    let stage = Stage::new([turn().text("OK"), turn().text("Here I am.")]).await;
    Screen::configure_bare(&stage);
    let screen = Screen::prepared(stage);
    lead_logins_to(&screen, &provider);
    screen.begin_first_start(80, 30);
    screen.wait_for("esc demo").await;
    screen.keys(&["2"]);
    screen.wait_for("1  Log in with your ChatGPT plan").await;
    screen.keys(&["1"]);
    screen.wait_for("WXYZ-1234").await;
    screen.wait_for("buddy now uses `chatgpt`").await;
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["y"]);
    screen.wait_for("› Ask buddy anything").await;
    screen.line("hello");
    screen.wait_for("Here I am.").await;
    let paths: Vec<String> = screen.stage.server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/backend-api/codex/responses"; 2], "one call tries it, one is the turn");
}

#[tokio::test]
async fn openrouter_is_connected_in_a_browser_and_no_key_of_the_person_is_lost() {
    let provider = OAuthServer::start(OAuthScript::default()).await;
    let stage = Stage::new([turn().text("OK"), turn().text("Here I am.")]).await;
    Screen::configure_bare(&stage);
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let (file, api) = (stage.home.path().join(".config/buddy/buddy.toml"), stage.server.url());
    let more = format!(
        "[models.deepseek]\napi_base_url = '{api}/v1'\n[login.openrouter]\naddresses = ['{api}']\n\
         redirect_port = {port}\nauthorize_url = '{id}/auth'\ntoken_url = '{id}/api/v1/auth/keys'\n",
        id = provider.url()
    );
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &more).unwrap();
    let screen = Screen::prepared(stage);
    screen.begin_first_start(250, 40);
    screen.wait_for("esc demo").await;
    screen.keys(&["2"]);
    screen.wait_for("2  Log in with OpenRouter").await;
    screen.keys(&["2"]);
    screen.wait_for("Press Enter to go back.").await;
    screen.keys(&["Enter"]);
    screen.wait_for("esc demo").await;
    screen.keys(&["2"]);
    screen.wait_for("2  Log in with OpenRouter").await;
    screen.keys(&["2"]);
    let is_again = |shown: &str| shown.matches("Press Enter to go back.").count() == 2;
    let shown = screen.wait_until("the page", is_again).await;
    let pages: Vec<&str> = shown.lines().filter(|line| line.contains("/auth?callback_url=")).collect();
    assert_eq!(follow(pages.last().unwrap().trim()).await.status, 200);
    screen.wait_for("buddy now uses").await;
    screen.wait_for("Do you trust this folder?").await;
    screen.keys(&["y"]);
    screen.wait_for("› Ask buddy anything").await;
    screen.line("hello");
    screen.wait_for("Here I am.").await;
    assert!(!screen.everything().contains("sk-or-"), "the key is not shown");
}

#[tokio::test]
async fn a_folder_that_is_not_trusted_is_asked_for_once_and_trusted_later() {
    let write = |name: &str| turn().call("write_file", serde_json::json!({"path": name, "content": "x"}));
    let turns = vec![write("one"), turn().text("Refused."), write("two"), turn().text("Done.")];
    let stage = Stage::apart(turns).await;
    let screen = Screen::bare(stage, &[], 90, 30, &[]);
    screen.wait_for("Do you trust this folder?").await;
    screen.text("fx");
    // Keys that come at once are a paste, and Enter would be a part of it.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    screen.keys(&["Enter"]);
    screen.wait_for("This folder is untrusted, so it is read-only.").await;
    screen.wait_until("a prompt", super::has_prompt).await;
    screen.line("write it");
    screen.wait_for("Refused.").await;
    assert!(
        super::flowing(&screen.everything())
            .contains("this folder is untrusted, so it is read-only: it would write")
    );
    assert!(!screen.stage.home.work().join("one").exists());
    screen.wait_idle().await;
    screen.keys(&["C-d"]);
    screen.wait_for("Resume with  buddy resume").await;
    screen.again(&[]).await;
    assert!(!screen.everything().contains("Do you trust this folder?"), "a no is remembered");
    screen.line("/trust");
    screen.wait_for_words("can change files there").await;
    screen.line("write it");
    screen.wait_for_question("Create two?").await;
    screen.keys(&["y"]);
    screen.wait_for("Done.").await;
    assert!(screen.stage.home.work().join("two").exists());
}
