//! Lists as their commands print them on a terminal: fitted to the window, with a bold header and one hint.

use buddy_testkit::model::{Script, turn};
use serde_json::json;

use super::Screen;
use super::size::{Size, at_each_size};
use crate::stage::Stage;

at_each_size!(
    sessions,
    grants,
    trusted,
    doctor,
    undo,
    processes,
    config,
    models,
    store_check,
    targets,
    doctor_within,
    help
);

/// A stage in which there is something to list.
async fn staged() -> Stage {
    let start = json!({"command": "echo a line that is long enough to be cut in a window of forty columns", "why": "the test", "risk": "low", "mutation": true, "privesc": false});
    let turns = [
        turn().call("write_file", json!({"path": "notes/a-file-with-a-long-name.txt", "content": "x"})),
        turn().call("process_start", start),
        turn().text("Yes."),
    ];
    let stage = Stage::new(Script::from(turns).repeating_last()).await;
    let prompts = ["fix the overflow in parse_number, test it and publish the branch", "why?"];
    for prompt in prompts {
        stage.exec(["--trust", prompt]).run().await.expect_code(0);
    }
    for pattern in ["cargo test *", "make *"] {
        stage.buddy(["grants", "--allow", pattern]).run().await.expect_code(0);
    }
    stage
}

/// The output of a command in a window of this size, with all that differs from run to run taken out.
async fn printed(size: Size, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let screen = Screen::bare(staged().await, arguments, size.columns, size.rows, variables);
    screen.wait_dead().await;
    let all = screen.everything();
    for line in all.lines() {
        assert!(unicode_width(line) <= size.columns as usize, "too wide: {line}");
    }
    all.lines().filter(|line| !line.starts_with("Pane is dead")).map(anonymous).collect::<Vec<_>>().join("\n")
}

fn unicode_width(line: &str) -> usize {
    line.chars().count()
}

/// A line in which each id has letters in the place of its digits.
fn anonymous(line: &str) -> String {
    let is_id = |word: &str| {
        let digits = word.strip_prefix("proc-").unwrap_or(word);
        digits.len() >= 8
            && digits.starts_with('0')
            && digits.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
            || word.starts_with("proc-")
    };
    let words =
        line.split(' ').map(|word| if is_id(word) { "I".repeat(word.len()) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

async fn sessions(size: Size) {
    size.check("list_sessions", &printed(size, &["sessions"], &[]).await);
}

async fn grants(size: Size) {
    size.check("list_grants", &printed(size, &["grants"], &[]).await);
}

async fn trusted(size: Size) {
    size.check("list_trusted", &printed(size, &["trust", "--list"], &[]).await);
}

async fn undo(size: Size) {
    size.check("list_undo", &printed(size, &["undo", "--list"], &[]).await);
}

async fn processes(size: Size) {
    let shown = printed(size, &["ps"], &[]).await;
    assert!(shown.starts_with("ID ") && shown.contains("buddy logs ID"), "{shown}");
    assert!(shown.lines().nth(1).is_some_and(|row| row.contains("exit 0")), "{shown}");
    size.check("list_processes", &shown);
}

async fn help(size: Size) {
    size.check("list_help", &printed(size, &["--help"], &[]).await);
}

async fn config(size: Size) {
    let shown = printed(size, &["config", "show"], &[]).await;
    let rows: Vec<&str> = shown.lines().collect();
    let end = rows.iter().position(|row| row.starts_with("Change one with")).unwrap();
    assert!(rows[end..].iter().any(|row| row.contains("buddy config set KEY VALUE")), "{shown}");
    let known = [
        ("models.chatgpt.api_base_url", "https://chatgpt.com/backend-api/codex"),
        ("display.motion", "false"),
        ("models.chatgpt.api", "responses"),
    ];
    let place = |key: &str| rows.iter().position(|row| row.split(' ').next() == Some(key)).unwrap();
    if size.columns >= 200 {
        assert!(rows[0].starts_with("Key ") && rows[0].ends_with(" Value"), "{shown}");
        let column = rows[0].find("Value").unwrap();
        for (key, value) in known {
            let (name, text) = rows[place(key)].split_at(column);
            assert_eq!((name.trim_end(), text), (key, value), "{shown}");
        }
        return;
    }
    // Columns would break an address, so each value is below its key, and no key and no address is broken.
    for (key, value) in known {
        assert_eq!(rows[place(key)..][..2], [key, &format!("  {value}")], "{shown}");
    }
    for row in &rows[..end] {
        let is_key = !row.starts_with(' ') && !row.contains(' ');
        let is_value = row.starts_with("  ") && !row.starts_with("   ");
        assert!(is_key || is_value, "{row}: {shown}");
    }
}

async fn models(size: Size) {
    let shown = printed(size, &["models"], &[]).await;
    let head = shown.lines().next().unwrap_or_default();
    assert!(head.trim_start().starts_with("Profile ") && head.contains("Model"), "{shown}");
    assert!(shown.contains("claude") && shown.contains("buddy -m PROFILE"), "{shown}");
}

async fn store_check(size: Size) {
    size.check("list_store_check", &printed(size, &["store", "check"], &[]).await);
}

async fn targets(size: Size) {
    let screen = size.start([]).await;
    screen.line("/target");
    screen.wait_for_words("Change the default with /target use NAME").await;
    size.check("list_targets", &screen.wait_idle().await);
}

async fn doctor(size: Size) {
    let shown = printed(size, &["doctor"], &[]).await;
    for title in ["Storage", "Settings", "Model", "Programs", "Sandbox", "Terminal"] {
        assert!(shown.lines().any(|line| line == title), "{title}: {shown}");
    }
    assert!(shown.contains("✓ store") && shown.contains("exit code 0"), "{shown}");
}

/// In a conversation the report fits the window too: rows that follow from one line hang below its text.
async fn doctor_within(size: Size) {
    let screen = size.start([]).await;
    screen.line("/doctor");
    screen.wait_for_words("exit code 0").await;
    let all = screen.everything();
    let rows: Vec<&str> = all.lines().skip_while(|row| *row != "  Storage").collect();
    let end = rows.iter().rposition(|row| row.contains("exit code 0")).unwrap();
    let groups = rows[..end].iter().rposition(|row| row.starts_with("    ")).unwrap();
    let hanging = " ".repeat(if size.columns < 62 { 6 } else { 21 });
    for row in &rows[..=groups] {
        let is_title = row.strip_prefix("  ").is_some_and(|title| title.chars().all(char::is_alphabetic));
        let is_check = ["✓", "▲", "✗", "○"].iter().any(|sign| row.starts_with(&format!("    {sign} ")));
        assert!(row.is_empty() || is_title || is_check || row.starts_with(&hanging), "{row}:\n{all}");
    }
}

#[tokio::test]
async fn a_terminal_without_unicode_gets_ascii_alone() {
    let shown = printed(Size::NARROW, &["sessions"], &[("LANG", "C")]).await;
    assert!(shown.is_ascii() && shown.contains("..."), "{shown}");
}

#[tokio::test]
async fn the_header_is_bold_and_without_colours_nothing_else_is_coloured() {
    let screen = Screen::bare(staged().await, &["sessions"], 80, 24, &[("NO_COLOR", "1")]);
    screen.wait_dead().await;
    let shown =
        String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-S", "-", "-t", "screen"]).stdout)
            .unwrap();
    assert!(shown.contains("\u{1b}[1mID"), "{shown:?}");
    assert!(!shown.contains("\u{1b}[31m") && !shown.contains("[38;"), "{shown:?}");
}

#[tokio::test]
async fn the_digits_of_a_list_name_the_session() {
    let stage = staged().await;
    let screen = Screen::bare(stage, &["sessions"], 120, 24, &[]);
    screen.wait_dead().await;
    let shown =
        String::from_utf8(screen.tmux(&["capture-pane", "-p", "-S", "-", "-t", "screen"]).stdout).unwrap();
    let row = shown.lines().find(|line| line.contains("fix the overflow")).unwrap();
    let digits = row.split_whitespace().next().unwrap();
    assert!(digits.len() < 26, "{row}");
    let text = screen.stage.buddy(["show", digits]).run().await.expect_code(0).text();
    assert!(text.starts_with("> fix the overflow"), "{text}");
    let none = screen.stage.buddy(["show", "zzzzzzzz"]).run().await;
    none.expect_code(1).expect_stderr("`buddy sessions` lists them");
    let many = screen.stage.buddy(["show", &digits.chars().take(4).collect::<String>()]).run().await;
    many.expect_code(1).expect_stderr("add more of its digits");
}
