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

/// Toolchains of version managers, as they lie in a home: a program, and what stands for it on the path.
const TOOLCHAINS: &[(&str, &str)] = &[
    (".nvm/versions/node/v22.1.0/bin/node", ".nvm/versions/node/v22.1.0/bin"),
    (".pyenv/versions/3.12.1/bin/python3.12", ".pyenv/versions/3.12.1/bin"),
    (".pyenv/shims/pyenv-python", ".pyenv/shims"),
    (".rustup/toolchains/stable/bin/rustc", ".rustup/toolchains/stable/bin"),
    (".asdf/installs/ruby/3.3.0/bin/ruby", ".asdf/installs/ruby/3.3.0/bin"),
    (".sdkman/candidates/java/21/bin/java", ".sdkman/candidates/java/21/bin"),
    ("go/bin/gopls", "go/bin"),
];

#[tokio::test]
async fn toolchains_of_version_managers_run_in_the_jail_and_keep_their_files() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::apart(vec![run("sh tools.sh"), done()]).await;
    let home = stage.home.path();
    let (mut script, mut path) = (Vec::new(), Vec::new());
    for (program, directory) in TOOLCHAINS {
        let (file, name) = (home.join(program), program.rsplit('/').next().unwrap());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(home.join(directory).join("../lib")).unwrap();
        fs::write(home.join(directory).join("../lib").join(name), format!("library of {name}\n")).unwrap();
        fs::write(&file, "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib/$(basename \"$0\")\"\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        script.push(format!("{name} >> said; echo evil >> {}\n", file.display()));
        path.push(format!("{}:", home.join(directory).display()));
    }
    fs::write(stage.home.work().join("tools.sh"), script.concat()).unwrap();
    let program = stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]);
    program.env("PATH", format!("{}/usr/local/bin:/usr/bin:/bin", path.concat())).run().await;
    let said = fs::read_to_string(stage.home.work().join("said")).unwrap_or_default();
    for (program, _) in TOOLCHAINS {
        let name = program.rsplit('/').next().unwrap();
        assert!(said.contains(&format!("library of {name}\n")), "{name}: {said} {:#?}", stage.results());
        let text = fs::read_to_string(home.join(program)).unwrap();
        assert!(!text.contains("evil"), "{name} was changed");
    }
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
