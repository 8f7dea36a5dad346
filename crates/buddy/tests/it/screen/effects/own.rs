//! Commands of the user's own, and of a trusted project.

use buddy_testkit::model::turn;

use crate::screen::Screen;
use crate::stage::{Stage, prompt};

#[tokio::test]
async fn files_are_commands_with_arguments() {
    let stage = Stage::new(vec![turn().text("First answer."), turn().text("Second answer.")]).await;
    let own = stage.home.path().join(".config/buddy/commands");
    let project = stage.home.work().join(".buddy/commands");
    for (directory, name, text) in [
        (
            &own,
            "inspect.md",
            "---\ndescription: look at a file\n---\nInspect $1 for $2. All of it: $ARGUMENTS.",
        ),
        (&project, "hello.md", "Say hello."),
    ] {
        std::fs::create_dir_all(directory).unwrap();
        std::fs::write(directory.join(name), text).unwrap();
    }
    let screen = Screen::on(stage, &["--trust"], 80, 24).await;
    screen.text("/insp");
    screen.wait_for("❯ inspect  look at a file").await;
    screen.keys(&["Tab"]);
    screen.wait_for("› /inspect").await;
    screen.text("main.rs bugs");
    screen.keys(&["Enter"]);
    screen.wait_for("First answer.").await;
    let said = prompt(&screen.stage.requests()[0].body);
    assert_eq!(said, "Inspect main.rs for bugs. All of it: main.rs bugs.");
    screen.wait_idle().await;
    screen.line("/hello to everybody");
    screen.wait_for("Second answer.").await;
    assert_eq!(prompt(&screen.stage.requests()[1].body), "Say hello.\n\nto everybody");
}

#[tokio::test]
async fn commands_of_a_project_that_is_not_trusted_are_none() {
    let stage = Stage::new(vec![]).await;
    let project = stage.home.work().join(".buddy/commands");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("hello.md"), "Say hello.").unwrap();
    let screen = Screen::bare(stage, &[], 80, 24, &[]);
    screen.wait_for("Do you trust this folder?").await;
    screen.line("n");
    screen.wait_until("a prompt", crate::screen::has_prompt).await;
    screen.line("/hello");
    screen.wait_for("There is no command `/hello`").await;
    assert!(screen.stage.requests().is_empty());
}
