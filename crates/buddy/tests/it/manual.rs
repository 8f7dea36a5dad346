//! Help, completions, the manual, `buddy init` and `buddy update`.

use std::fs;

use crate::stage::Stage;

async fn stage() -> Stage {
    Stage::new([]).await
}

#[tokio::test]
async fn help_is_grouped_and_has_examples() {
    let stage = stage().await;
    let text = stage.buddy(["--help"]).run().await.expect_code(0).text();
    for part in [
        "Model and configuration:",
        "What the agent may do:",
        "Where it works:",
        "Examples:",
        "buddy resume --last",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[tokio::test]
async fn every_shell_has_its_script() {
    let stage = stage().await;
    let shells = [
        ("bash", "complete -F _buddy"),
        ("zsh", "#compdef buddy"),
        ("fish", "complete -c buddy"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[buddy]"),
        ("nu", "export extern"),
    ];
    for (shell, part) in shells {
        let text = stage.buddy(["completion", shell]).run().await.expect_code(0).text();
        assert!(text.contains(part) && text.contains("sessions"), "{shell}: {text}");
    }
    stage.buddy(["completion", "tcsh"]).run().await.expect_code(2);
    let bash =
        stage.in_bash("source <($BUDDY completion bash) && complete -p buddy").run().await.expect_code(0);
    assert!(bash.text().contains("_buddy"), "{bash}");
}

#[tokio::test]
async fn the_manual_is_printed_or_written() {
    let stage = stage().await;
    let page = stage.buddy(["man"]).run().await.expect_code(0).text();
    assert!(page.contains(".TH buddy 1"), "{page}");
    stage.buddy(["man", "pages/man1"]).run().await.expect_code(0);
    let pages = stage.home.work().join("pages/man1");
    for name in ["buddy.1", "buddy-export.1", "buddy-store-check.1"] {
        assert!(pages.join(name).is_file(), "{name}");
    }
}

#[tokio::test]
async fn a_project_gets_its_notes_and_keeps_those_it_has() {
    let stage = stage().await;
    let work = stage.home.work();
    fs::write(work.join("Cargo.toml"), "[package]").unwrap();
    fs::write(work.join("README.md"), "x").unwrap();
    stage.buddy(["init"]).run().await.expect_code(0);
    let text = fs::read_to_string(work.join("AGENTS.md")).unwrap();
    assert!(text.contains("- test: `cargo test`") && text.contains("Read first: `README.md`"), "{text}");
    assert!(!work.join(".buddy").exists());
    fs::write(work.join("AGENTS.md"), "mine").unwrap();
    stage.buddy(["init"]).run().await.expect_code(1).expect_stderr("AGENTS.md stays as it is");
    assert_eq!(fs::read_to_string(work.join("AGENTS.md")).unwrap(), "mine");
    stage.buddy(["init", "--force", "--folder"]).run().await.expect_code(0);
    assert_eq!(fs::read_to_string(work.join("AGENTS.md")).unwrap(), text);
    assert!(work.join(".buddy/commands").is_dir());
}

#[tokio::test]
async fn nobody_is_asked_for_a_newer_version_unless_that_is_wanted() {
    let stage = stage().await;
    let version = env!("CARGO_PKG_VERSION");
    let text = stage.buddy(["update"]).run().await.expect_code(0).text();
    assert!(
        text.starts_with(&format!("buddy {version} (")) && text.contains("does not change itself"),
        "{text}"
    );
    let wanted = ["update", "-c", "update.check=true"];
    stage
        .buddy(wanted)
        .run()
        .await
        .expect_code(1)
        .expect_stderr("`update.address` does not say where to ask");
    let private = stage.buddy(wanted).args(["-c", "update.address=http://127.0.0.1:9/latest.json"]);
    private.run().await.expect_code(1).expect_stderr("cannot ask http://127.0.0.1:9/latest.json");
}
