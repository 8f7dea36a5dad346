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
    for part in ["Model and configuration:", "Permissions:", "Workspace:", "Examples:", "buddy resume --last"]
    {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[tokio::test]
async fn the_help_of_a_command_lists_its_own_options() {
    let stage = stage().await;
    for command in [&["completion"][..], &["store", "check"], &["sessions"], &["config", "show"]] {
        let words = [command, &["--help"]].concat();
        let text = stage.buddy(&words).run().await.expect_code(0).text();
        assert!(!text.contains("--ssh") && !text.contains("Permissions:"), "{command:?}: {text}");
        assert!(text.contains("Run `buddy --help`") && text.lines().count() < 40, "{command:?}: {text}");
    }
    let sessions = stage.buddy(["sessions", "-h"]).run().await.expect_code(0).text();
    assert!(sessions.contains("--grep <WORDS>") && !sessions.contains("--add-dir"), "{sessions}");
    let exec = stage.buddy(["exec", "--help"]).run().await.expect_code(0).text();
    assert!(exec.contains("--ssh") && exec.contains("Permissions:"), "{exec}");
    // A hidden option still counts.
    stage.buddy(["sessions", "-C", "/"]).run().await.expect_code(0);
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
    stage.buddy(["init"]).run().await.expect_code(1).expect_stderr("AGENTS.md is unchanged.");
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
    stage.buddy(wanted).run().await.expect_code(1).expect_stderr("`update.address` is not set");
    let private = stage.buddy(wanted).args(["-c", "update.address=http://127.0.0.1:9/latest.json"]);
    private.run().await.expect_code(1).expect_stderr("cannot ask http://127.0.0.1:9/latest.json");
}

#[tokio::test]
async fn a_newer_version_is_told_by_the_address_that_the_person_named() {
    let own = format!("v{}", env!("CARGO_PKG_VERSION"));
    for (answer, told) in [
        (r#"{"version": "99.1.0"}"#.to_owned(), "the newest version is 99.1.0".to_owned()),
        (format!(r#"{{"tag_name": "{own}"}}"#), "this is the newest version".to_owned()),
    ] {
        let address = answering(&answer);
        let finished = checked(&address).await.expect_code(0);
        assert!(finished.text().contains(&told), "{finished}");
    }
    let address = answering("not JSON");
    checked(&address).await.expect_code(1).expect_stderr("did not answer with JSON");
}

/// `buddy update` that may ask at this address.
async fn checked(address: &std::net::SocketAddr) -> buddy_testkit::program::Finished {
    let wanted = [
        "update.check=true".to_owned(),
        format!("update.address=http://{address}/latest.json"),
        format!("web.allowed_hosts=[\"{address}\"]"),
    ];
    let arguments: Vec<&str> = wanted.iter().flat_map(|line| ["-c", line]).collect();
    stage().await.buddy(["update"]).args(arguments).run().await
}

/// A server that answers one request with this.
fn answering(body: &str) -> std::net::SocketAddr {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let count = stream.read(&mut request).unwrap();
        assert!(request[..count].starts_with(b"GET /latest.json HTTP/1.1"));
        stream.write_all(answer.as_bytes()).unwrap();
    });
    address
}
