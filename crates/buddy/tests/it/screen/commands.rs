//! Commands that begin with `/`.

use buddy_testkit::model::turn;
use serde_json::json;

use super::{Screen, making};
use crate::stage::Stage;

async fn idle() -> Screen {
    Screen::start([turn().text("Answer."), turn().text("Again.")], 80, 24).await
}

/// Gives a command and waits for what it shows.
async fn check(command: &str, shown: &str) -> Screen {
    let screen = idle().await;
    screen.line(command);
    screen.wait_for(shown).await;
    screen
}

#[tokio::test]
async fn a_menu_lists_what_fits_and_enter_takes_it() {
    let screen = idle().await;
    screen.text("/");
    let is_whole = |shown: &str| shown.contains("❯ help") && shown.trim_end().ends_with("scripted   ~/work");
    insta::assert_snapshot!(screen.wait_until("the menu", is_whole).await);
    screen.text("stat");
    screen.wait_for("❯ status").await;
    screen.keys(&["Enter"]);
    screen.wait_for("session    ses_ID").await;
}

#[tokio::test]
async fn help_lists_every_command() {
    let screen = Screen::start([turn().text("Answer.")], 120, 60).await;
    screen.line("/help");
    screen.wait_for("in the background").await;
    insta::assert_snapshot!(screen.wait_idle().await);
}

#[tokio::test]
async fn an_unknown_command_is_told_and_nothing_is_sent() {
    let screen = check("/nothing", "There is no command `/nothing`. /help lists them.").await;
    assert!(screen.stage.requests().is_empty());
}

#[tokio::test]
async fn numbers_of_the_session_are_told() {
    check("/context", "no model call yet").await;
    let screen = check("/cost", "output     0 tokens").await;
    screen.line("/ps");
    screen.wait_for("No task or process runs.").await;
    screen.line("/kill 7");
    screen.wait_for("there is no task 7").await;
    screen.line("/timeout 5m");
    screen.wait_for("no task runs").await;
}

#[tokio::test]
async fn modes_change_and_show_in_the_status() {
    let screen = idle().await;
    screen.keys(&["BTab"]);
    screen.wait_for("Accept edits ──").await;
    screen.keys(&["BTab"]);
    screen.wait_for("Plan only ╌╌").await;
    screen.line("/plan off");
    screen.wait_for("Plan mode is off").await;
    screen.line("/approve all");
    screen.wait_for("Allow everything ━━").await;
    screen.line("/approve nonsense");
    screen.wait_for("use /approve auto, ask, edits, all, none").await;
}

#[tokio::test]
async fn a_theme_is_picked_with_arrows() {
    let screen = idle().await;
    screen.line("/theme");
    // This terminal does not tell its ground, so its own colours are used.
    screen.wait_for("❯ terminal").await;
    screen.keys(&["Up", "Enter"]);
    screen.wait_for("Theme: light. Keep it with /config set display.theme light.").await;
    screen.line("/theme none");
    screen.wait_for("There is no theme `none`. Use one of dark, light, terminal").await;
}

#[tokio::test]
async fn another_conversation_is_begun_and_the_first_is_gone_back_to() {
    let screen = idle().await;
    screen.line("first");
    screen.wait_for("Answer.").await;
    screen.line("/rename the first one");
    screen.wait_for("title: the first one").await;
    screen.line("/new");
    screen.wait_for("\n  This is a new conversation").await;
    screen.line("second");
    screen.wait_for("Again.").await;
    screen.line("/session");
    screen.wait_for("› Type to search titles").await;
    screen.text("first");
    screen.keys(&["Enter"]);
    screen
        .wait_until("the first conversation", |shown| shown.contains("● Again.\n\n› first\n\n● Answer."))
        .await;
}

#[tokio::test]
async fn a_task_in_the_background_asks_in_the_foreground_and_tells_its_end() {
    let turns = [turn().text("Hello."), making("made")[0].clone(), making("made")[1].clone()];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    screen.line("make it &");
    screen.wait_for_question("▌ mkdir made").await;
    screen.keys(&["y"]);
    let told = screen.wait_for("task 1 done: make it").await;
    assert!(told.contains("So be it."), "{told}");
    assert!(screen.stage.home.work().join("made").is_dir());
}

#[tokio::test]
async fn the_keys_are_shown_at_a_question_mark_and_leaving_needs_two_presses() {
    let screen = idle().await;
    screen.keys(&["?"]);
    screen.wait_for("ctrl-g      edit in your editor").await;
    screen.keys(&["C-c"]);
    screen.wait_for("Press ctrl+c again to leave").await;
    screen.keys(&["C-c"]);
    screen.wait_dead().await;
    let left = screen.everything();
    assert!(!left.contains("Resume with"), "nothing was said that could be resumed: {left}");
}

#[tokio::test]
async fn quit_has_three_names() {
    for name in ["/quit", "/exit", "/q"] {
        let screen = idle().await;
        screen.line(name);
        screen.wait_dead().await;
    }
}

#[tokio::test]
async fn what_was_undone_is_done_again() {
    let write = json!({"path": "made.txt", "content": "new\n"});
    let turns = [turn().call("write_file", write), turn().text("Written.")];
    let screen = Screen::start(turns, 80, 40).await;
    let file = screen.stage.home.work().join("made.txt");
    screen.line("/redo");
    screen.wait_for("there is no undo to take back").await;
    screen.line("/approve edits");
    screen.line("write it");
    screen.wait_for("Written.").await;
    screen.line("/undo");
    screen.wait_for("/redo takes it back").await;
    assert!(!file.exists() && screen.screen().contains("removed   made.txt  the call made it"));
    screen.line("/redo");
    screen.wait_for("restored  made.txt").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n");
    screen.line("/redo");
    screen
        .wait_until("its refusal", |screen| screen.matches("there is no undo to take back").count() == 2)
        .await;
}

/// A conversation that wrote files of these names, each in a turn.
async fn having_written(names: &[&str]) -> Screen {
    let turns = names.iter().flat_map(|name| {
        let write = json!({"path": format!("{name}.txt"), "content": format!("{name}\n")});
        [turn().call("write_file", write), turn().text(format!("Wrote {name}."))]
    });
    let screen = Screen::start(turns.collect::<Vec<_>>(), 80, 60).await;
    screen.line("/approve edits");
    for name in names {
        screen.line(&format!("write {name}"));
        screen.wait_for(&format!("Wrote {name}.")).await;
    }
    screen
}

#[tokio::test]
async fn an_undo_says_how_many_changes_of_the_prompt_are_left() {
    let write = |name: &str| json!({"path": name, "content": "new\n"});
    let removal = json!({"command": "rm -r build"});
    let turns = [
        turn().call("write_file", write("a.txt")),
        turn().call("write_file", write("b.txt")),
        turn().call("run_shell", removal),
        turn().text("All done."),
    ];
    let screen = Screen::on(crate::stage::Stage::new(turns.to_vec()).await, &["--trust"], 90, 50).await;
    let build = screen.stage.home.work().join("build");
    std::fs::create_dir(&build).unwrap();
    std::fs::write(build.join("out"), "x\n").unwrap();
    screen.line("/approve edits");
    screen.line("go");
    screen.wait_for_question("Allow once").await;
    screen.keys(&["y"]);
    screen.wait_for("All done.").await;
    screen.wait_for("/undo the last change").await;
    screen.line("/undo");
    screen.wait_for("2 more changes of this prompt are left").await;
    assert!(build.join("out").exists());
    screen.line("/redo");
    screen.wait_for("the call removed it").await;
    screen.line("/undo");
    screen.line("/undo");
    screen.wait_for("1 more change of this prompt is left").await;
    screen.line("/undo");
    screen.wait_for("removed   a.txt").await;
    screen.line("/undo");
    screen.wait_for("There is nothing to undo in this conversation.").await;
}

#[tokio::test]
async fn a_copy_redoes_its_own_undo_before_those_of_its_past() {
    let screen = having_written(&["one", "two", "three"]).await;
    let has = |name: &str| screen.stage.home.work().join(format!("{name}.txt")).exists();
    screen.line("/undo");
    screen.wait_for("removed   three.txt").await;
    screen.line("/fork");
    screen.wait_for("This is a copy of the conversation").await;
    screen.line("/undo");
    screen.wait_for("removed   two.txt").await;
    assert!(has("one") && !has("two") && !has("three"));
    screen.line("/redo");
    screen.wait_for("restored  two.txt").await;
    assert!(has("one") && has("two") && !has("three"));
    screen.line("/redo");
    screen.wait_for("restored  three.txt").await;
    assert!(has("three"));
}

#[tokio::test]
async fn an_undo_after_going_back_is_redone_by_force_where_files_changed_since() {
    let screen = having_written(&["one", "two"]).await;
    let file = screen.stage.home.work().join("two.txt");
    screen.line("/rewind");
    screen.wait_for("write two").await;
    screen.keys(&["Enter"]);
    screen.wait_for("back before that prompt").await;
    screen.keys(&["C-u"]);
    screen.line("/undo");
    screen.wait_for("1 path removed; /redo takes it back").await;
    std::fs::write(&file, "mine\n").unwrap();
    screen.line("/redo");
    let shown = screen.wait_for("nothing was redone").await;
    assert!(shown.contains("`/redo --force`") && !shown.contains("/undo --force"), "{shown}");
    screen.line("/redo --force");
    screen.wait_for("Redone: write two.txt").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
}

#[tokio::test]
async fn the_configuration_is_shown_as_it_holds_and_the_file_is_changed() {
    let screen = Screen::start([], 120, 60).await;
    screen.line("/config");
    screen.wait_for("display.motion = false  # command line").await;
    screen.line("/config set display.theme light");
    screen.wait_for("It takes effect when you next start buddy").await;
    let text = std::fs::read_to_string(screen.stage.home.path().join(".config/buddy/buddy.toml")).unwrap();
    assert!(text.lines().any(|line| line == "theme = \"light\""), "{text}");
    screen.line("/config unset");
    screen.wait_for("use /config, /config set KEY VALUE or /config unset KEY").await;
    screen.line("/config set display.theme blue");
    screen.wait_for("unknown value `blue`").await;
}

#[tokio::test]
async fn keys_are_listed_as_they_are_bound() {
    let stage = Stage::new(vec![]).await;
    let config = stage.home.path().join(".config/buddy");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("keys.toml"), "f5 = \"redraw\"\n\"ctrl-l\" = \"none\"\n").unwrap();
    let screen = Screen::on(stage, &["--trust"], 100, 60).await;
    screen.line("/keymap");
    let shown = screen.wait_for("`keys.toml` beside `buddy.toml` binds others").await;
    let row = |name: &str| {
        shown.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default().to_owned()
    };
    assert_eq!(row("redraw "), "  redraw               f5");
    assert_eq!(row("line-start "), "  line-start           ctrl-a, home");
}

#[tokio::test]
async fn a_key_that_was_kept_is_forgotten() {
    let screen = Screen::start([], 80, 24).await;
    screen.line("/logout");
    screen.wait_for("Not logged in.").await;
}

#[tokio::test]
async fn a_review_is_a_prompt_that_waits_for_the_end_of_a_turn() {
    let turns = [turn().gate("answer").text("Answer."), turn().text("I find nothing.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("first");
    screen.wait_until("work", crate::screen::is_working).await;
    screen.line("/review the last commit");
    screen.wait_for("This runs when the turn has ended").await;
    screen.stage.server.gate("answer").open();
    screen.wait_for("Answer.").await;
    screen.wait_for("I find nothing.").await;
    let told = crate::stage::said(&screen.stage.requests()[1].body, "user").join("");
    assert!(told.contains("change nothing yourself") && told.ends_with("Look at: the last commit"), "{told}");
}

#[tokio::test]
async fn a_beginning_that_several_commands_have_is_completed_and_not_run() {
    let screen = idle().await;
    screen.line("/ex");
    screen
        .wait_until("the command alone", |shown| shown.contains("› /exit\n──") && !shown.contains("❯"))
        .await;
    screen.keys(&["C-u"]);
    screen.text("/cl");
    screen.wait_for("❯ clear").await;
    screen.keys(&["C-u"]);
    screen.line("/expo");
    screen.wait_for("› /expo").await;
    screen
        .wait_until("the file", |_| {
            std::fs::read_dir(screen.stage.home.work())
                .unwrap()
                .any(|file| file.unwrap().file_name().to_string_lossy().ends_with(".md"))
        })
        .await;
}

#[tokio::test]
async fn a_command_stands_before_what_it_says_and_apart_from_the_rest() {
    let screen = idle().await;
    screen.line("/context");
    screen.wait_for("no model call yet").await;
    screen.line("hello");
    screen.wait_for("Answer.").await;
    let shown = screen.wait_idle().await;
    assert!(shown.contains("\n\n› /context\n\n  no model call yet\n\n› hello\n\n● Answer."), "{shown}");
}

#[tokio::test]
async fn approvals_are_picked_and_the_present_one_is_pointed_at() {
    let screen = idle().await;
    screen.line("/approve");
    screen.wait_for("❯ ask").await;
    screen.keys(&["Down", "Enter"]);
    screen.wait_for("Accept edits ──").await;
    screen.line("/approve");
    screen.wait_for("❯ edits").await;
}

#[tokio::test]
async fn the_doctor_sees_the_terminal_of_the_conversation_and_a_file_is_exported_over() {
    let screen = Screen::start([turn().text("Answer.")], 100, 60).await;
    screen.line("/doctor");
    screen.wait_for("tmux-256color, colours").await;
    assert!(!screen.everything().contains("input or output is not a terminal"), "{}", screen.everything());
    std::fs::write(screen.stage.home.work().join("talk.md"), "old").unwrap();
    screen.line("/export talk.md");
    screen.wait_for("overwrite it with `--force`").await;
    screen.line("/export talk.md --force");
    screen.wait_until("the file", |_| screen.stage.home.text("talk.md") != "old").await;
}

#[tokio::test]
async fn of_a_command_that_failed_the_last_lines_are_shown() {
    let mut call = crate::stage::shell("seq 1 200; ls nowhere-at-all; exit 3");
    call["mutation"] = false.into();
    let turns = [turn().call("run_shell", call), turn().text("So be it.")];
    let stage = Stage::new(turns.to_vec()).await;
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 80, 40).await;
    screen.line("go");
    let shown = screen.wait_for("So be it.").await;
    assert!(shown.contains("exit 3") && shown.contains("cannot access 'nowhere-at-all'"), "{shown}");
}
