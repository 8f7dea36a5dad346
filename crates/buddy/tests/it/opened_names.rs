//! Protected names that begin at or above the directory that the user opened, by the real program.

use std::fs;
use std::path::PathBuf;

use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, done, run};

/// A text that is in every secret.
const VALUE: &str = "sesame-4711";

/// The way in which a directory is opened.
#[derive(Debug, Clone, Copy)]
enum Opened {
    /// The session works in it, and the user trusts it.
    AsWorkspace,
    /// `--add-dir`.
    Beside,
}

/// A directory of the home that the user opens.
struct Scene {
    stage: Stage,
    root: PathBuf,
    opened: Opened,
}

impl Scene {
    async fn new(opened: Opened, top: &str) -> Self {
        let stage = Stage::apart(Vec::new()).await;
        let root = stage.home.path().canonicalize().unwrap().join(top);
        fs::create_dir_all(&root).unwrap();
        Self { stage, root, opened }
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    fn write(&self, name: &str) -> Turn {
        turn().call("write_file", json!({"path": self.root.join(name), "content": "written"}))
    }

    /// Runs the script `x.sh` of the directory.
    fn script(&self) -> Turn {
        run(&format!("sh {}", self.root.join("x.sh").display()))
    }

    /// Lets the model make these calls in a run without a user. Returns the results.
    async fn results(&mut self, calls: Vec<Turn>) -> Vec<Value> {
        let count = calls.len();
        self.stage.server = ModelServer::start(calls.into_iter().chain([done()]).collect::<Vec<_>>()).await;
        let added = self.root.to_str().unwrap();
        let trust = self.stage.buddy(["trust"]);
        match self.opened {
            Opened::AsWorkspace => {
                trust.cwd(&self.root).run().await.expect_code(0);
                self.stage.usual(["exec", "go on"]).cwd(&self.root).run().await;
            }
            Opened::Beside => {
                trust.run().await.expect_code(0);
                self.stage.usual(["exec", "go on", "--add-dir", added]).run().await;
            }
        }
        let results = self.stage.results();
        assert_eq!(results.len(), count, "{results:#?}");
        results
    }
}

#[tokio::test]
async fn neither_a_tool_nor_a_script_plants_orders_in_an_opened_directory_of_settings() {
    for opened in [Opened::AsWorkspace, Opened::Beside] {
        for (top, name) in [
            (".config", "git/config"),
            (".config", "fish/config.fish"),
            (".cargo", "config.toml"),
            ("x/.github", "hooks/x.json"),
        ] {
            let mut scene = Scene::new(opened, top).await;
            let plant = format!("mkdir -p $(dirname {name}); echo evil > {name}");
            scene.file("x.sh", &format!("cd $(dirname $0); {plant}; echo x > done"));
            let results = scene.results(vec![scene.write(name), scene.script()]).await;
            assert_eq!(results[0]["error"]["code"], "approval_needed", "{opened:?} {top}: {results:#?}");
            assert!(scene.root.join("done").exists(), "{opened:?} {top}: {results:#?}");
            assert!(!scene.root.join(name).exists(), "{opened:?} {top}/{name}: {results:#?}");
        }
    }
}

#[tokio::test]
async fn a_workflow_is_asked_about_and_told_of_where_its_directory_is_the_workspace() {
    let mut scene = Scene::new(Opened::AsWorkspace, "x/.github").await;
    scene.file("x.sh", "mkdir -p workflows; echo x > workflows/by-script.yml");
    let results = scene.results(vec![scene.write("workflows/ci.yml"), scene.script()]).await;
    assert_eq!(results[0]["error"]["code"], "approval_needed", "{results:#?}");
    assert!(!scene.root.join("workflows/ci.yml").exists());
    let told = results[1]["result"]["unseen_files_changed"].as_str().unwrap_or_default();
    assert!(told.contains("workflows/by-script.yml"), "{results:#?}");
}

#[tokio::test]
async fn a_secret_in_an_opened_directory_of_settings_is_not_told() {
    for opened in [Opened::AsWorkspace, Opened::Beside] {
        let mut scene = Scene::new(opened, "x/.docker").await;
        scene.file("config.json", VALUE);
        scene.file("x.sh", "cd $(dirname $0); cat config.json; cat *; echo done");
        let calls = vec![
            turn().call("read_file", json!({"path": scene.root.join("config.json")})),
            turn().call("grep", json!({"path": scene.root, "pattern": "sesame"})),
            scene.script(),
        ];
        let results = scene.results(calls).await;
        let told: String = results.iter().map(ToString::to_string).collect();
        assert!(!told.contains(VALUE) && results[2].to_string().contains("done"), "{opened:?}: {results:#?}");
    }
}

#[tokio::test]
async fn ordinary_work_in_a_directory_of_settings_is_not_asked_about() {
    for opened in [Opened::AsWorkspace, Opened::Beside] {
        for (top, name) in
            [(".config/nvim", "init.lua"), (".config/nvim/lua", "x.lua"), (".vscode/proj", "src/x.rs")]
        {
            let mut scene = Scene::new(opened, top).await;
            scene.file("x.sh", "cd $(dirname $0); echo x > made");
            let results = scene.results(vec![scene.write(name), scene.script()]).await;
            let written = fs::read_to_string(scene.root.join(name));
            assert_eq!(written.ok().as_deref(), Some("written"), "{opened:?} {top}: {results:#?}");
            assert!(scene.root.join("made").exists(), "{opened:?} {top}: {results:#?}");
        }
    }
}
