//! Caches of package managers in the home: commands of the jail change them in a layer of the workspace, and for nobody else.

use std::fs;
use std::path::PathBuf;

use crate::stage::{Stage, done, run};

fn layers(stage: &Stage) -> Vec<PathBuf> {
    let found = fs::read_dir(stage.home.path().join(".cache/buddy/layers")).into_iter().flatten();
    found.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_cache_in_the_home_is_changed_in_a_layer_that_the_next_command_sees() {
    // In scripts, so that the jail alone has to hold.
    let scripts = [
        (
            "1.sh",
            "cat ~/.npm/old > seen; echo new > ~/.npm/new; echo changed > ~/.npm/old; cat ~/.cargo/credentials.toml >> seen",
        ),
        ("2.sh", "cat ~/.npm/new ~/.npm/old >> seen; mkdir -p $PIP_CACHE_DIR/wheels && echo made >> seen"),
        ("3.sh", "touch ~/.other ~/.config/other || echo closed >> seen"),
    ];
    let turns = vec![run("sh 1.sh"), run("sh 2.sh"), run("sh 3.sh"), done()];
    let stage = Stage::apart(turns).await;
    let home = stage.home.path();
    for (name, text) in [(".npm/old", "old\n"), (".cargo/credentials.toml", "token = \"abc\"\n")] {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), text).unwrap();
    }
    for (name, text) in scripts {
        fs::write(stage.home.work().join(name), text).unwrap();
    }
    stage.exec(["--trust", "go"]).run().await.expect_code(0);
    let seen = fs::read_to_string(stage.home.work().join("seen")).unwrap();
    assert_eq!(seen, "old\nnew\nchanged\nmade\nclosed\n", "{:#?}", stage.results());
    assert_eq!(fs::read_to_string(home.join(".npm/old")).unwrap(), "old\n");
    assert!(!home.join(".npm/new").exists() && !home.join(".cache/pip").exists());
    let [layer] = &layers(&stage)[..] else { panic!("{:?}", layers(&stage)) };
    assert_eq!(fs::read_to_string(layer.join("1/npm/upper/new")).unwrap(), "new\n");
    let told = stage.buddy(["doctor"]).run().await.text();
    assert!(told.contains("used for 1 workspace,"), "{told}");
}

#[tokio::test]
async fn a_plan_and_production_have_no_layers() {
    for mode in ["plan", "production"] {
        let stage = Stage::apart(vec![run("echo new > ~/.npm/new"), done()]).await;
        fs::create_dir(stage.home.path().join(".npm")).unwrap();
        let arguments: &[&str] =
            if mode == "plan" { &["--trust", "--permission-mode", "plan", "go"] } else { &["--trust", "go"] };
        let environment = if mode == "plan" { "development" } else { "production" };
        stage.exec(arguments).env("BUDDY_ENV", environment).run().await;
        assert_eq!(
            stage.home.path().join(".npm/new").exists(),
            mode == "production",
            "{:#?}",
            stage.results()
        );
        assert_eq!(layers(&stage), Vec::<PathBuf>::new(), "{mode}");
    }
}
