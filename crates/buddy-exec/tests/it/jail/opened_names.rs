//! Names that begin at or above the directory that the user opened and end below it.

use std::fs;

use buddy_exec::{Bounds, Exec, Reach};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell, Kind};

/// Bounds that open one directory of the workspace.
fn bounds(cell: &Cell, opened: &str) -> Bounds {
    let orders = [
        ".git/config",
        ".git/hooks",
        ".git/info/attributes",
        ".config/git",
        ".config/nvim",
        ".cargo/config.toml",
        ".github/hooks",
        ".vscode",
        ".envrc",
    ];
    Bounds {
        write: Reach::Beneath(vec![cell.ws(opened)]),
        anchors: vec![cell.ws(opened)],
        guarded_names: NameSet::trees(orders),
        sealed_names: NameSet::trees([".docker/config.json", ".aws"]).with_files([".env"]),
        ..cell.bounds()
    }
}

/// A directory that is opened, and a script in it.
async fn run(cell: &Cell, opened: &str, script: &str) -> String {
    let exec = Exec { cwd: cell.ws(opened), ..cell.exec(bounds(cell, opened), script) };
    let exit = cell.stage.run(exec).await;
    exit.stdout.text() + &exit.stderr.text()
}

fn open(kind: Kind, opened: &str) -> Cell {
    let cell = Cell::new(kind);
    cell.file(&format!("{opened}/plain"), "plain\n");
    cell
}

#[tokio::test]
async fn a_command_plants_no_orders_whose_names_begin_above() {
    for (opened, name) in [
        (".config", "git/config"),
        (".cargo", "config.toml"),
        ("x/.github", "hooks/hook.json"),
        ("x/.git", "hooks/post-checkout"),
        ("x/.git", "config"),
        ("x/.git/info", "attributes"),
    ] {
        for kind in ALL {
            let cell = open(kind, opened);
            let path = cell.ws(opened).join(name);
            let script = format!("mkdir -p $(dirname {name}); echo evil > {name}; echo x > MERGE_MSG");
            let told = run(&cell, opened, &script).await;
            assert!(!path.exists(), "{kind:?}: new {opened}/{name}: {told}");
            assert_eq!(
                fs::read_to_string(cell.ws(opened).join("MERGE_MSG")).unwrap(),
                "x\n",
                "{kind:?}: {told}"
            );
            cell.file(&format!("{opened}/{name}"), "old\n");
            let told =
                run(&cell, opened, &format!("echo evil > {name}; mv {name} gone; echo evil > {name}")).await;
            assert_eq!(fs::read_to_string(&path).unwrap(), "old\n", "{kind:?}: {opened}/{name}: {told}");
        }
    }
}

#[tokio::test]
async fn a_secret_whose_name_begins_above_is_not_read() {
    for kind in ALL {
        let cell = open(kind, "x/.docker");
        cell.file("x/.docker/config.json", "sesame\n");
        let told = run(&cell, "x/.docker", "cat plain config.json; cat ./../.docker/config.json").await;
        assert!(told.starts_with("plain\n") && !told.contains("sesame"), "{kind:?}: {told}");
    }
}

#[tokio::test]
async fn an_opened_directory_is_not_protected_by_its_own_name() {
    for (opened, name) in
        [(".config/nvim", "init.lua"), (".vscode/x", "a/b"), (".config/git", "ignore"), ("x/.aws", "notes")]
    {
        for kind in ALL {
            let cell = open(kind, opened);
            cell.file(&format!("{opened}/old"), "old\n");
            let script =
                format!("mkdir -p $(dirname {name}); cat old > {name}; echo new > old; echo x > .envrc");
            let told = run(&cell, opened, &script).await;
            let text = |name: &str| fs::read_to_string(cell.ws(opened).join(name)).unwrap();
            assert_eq!((text(name).as_str(), text("old").as_str()), ("old\n", "new\n"), "{kind:?}: {told}");
            assert!(!cell.ws(opened).join(".envrc").exists(), "{kind:?}: {told}");
        }
    }
}
