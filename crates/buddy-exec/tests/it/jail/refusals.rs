//! Layers that do not work: the command is refused, and the layer is named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use buddy_exec::{Bounds, SupervisorCommand, TargetError};

use super::cell::{ALL, Cell, Kind, behind_mount};
use crate::stage::Stage;

/// Runs its arguments without any namespace.
const NO_WALLS: &str = "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"";

/// A program that stands in for bubblewrap.
fn script(path: &Path, text: &str, mode: u32) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A stage where `path` stands in the place of bubblewrap.
fn behind(path: &Path) -> Stage {
    let mut words = behind_mount(path.to_str().unwrap());
    words.push(env!("CARGO_BIN_EXE_buddy-supervise").into());
    let command = SupervisorCommand { program: words[0].clone().into(), args: words.split_off(1) };
    Stage::with(command, Duration::ZERO)
}

/// Runs a command where `path` stands in the place of bubblewrap.
async fn refusal(cell: &Cell, path: &Path, bounds: Bounds) -> TargetError {
    let mut exec = cell.exec(bounds, "echo bad > ran");
    exec.cwd = cell.ws("");
    behind(path).start(exec).await.unwrap_err()
}

#[tokio::test]
async fn a_bubblewrap_that_fails_leaves_it_to_the_other_layers() {
    let cell = Cell::new(Kind::Full);
    let fake = cell.out("fake");
    for text in ["echo no namespaces here >&2; exit 1", "exit 0", NO_WALLS] {
        script(&fake, text, 0o755);
        let mut exec = cell.exec(cell.bounds(), "echo in > inside; echo bad > $OUT/sentinel; echo done");
        exec.cwd = cell.ws("");
        let exit = behind(&fake).run(exec).await;
        assert_eq!(exit.stdout.text(), "done\n", "{text}: {}", exit.stderr.text());
        assert_eq!(fs::read_to_string(cell.ws("inside")).unwrap(), "in\n", "{text}");
        fs::remove_file(cell.ws("inside")).unwrap();
        fs::remove_file(&fake).unwrap();
        cell.assert_outside_untouched(text);
    }
}

#[tokio::test]
async fn mounts_are_made_without_bubblewrap_when_it_fails() {
    let cell = Cell::new(Kind::Full);
    let fake = cell.out("fake");
    for text in ["echo no namespaces here >&2; exit 1", "exit 0", NO_WALLS] {
        script(&fake, text, 0o755);
        let bounds = Bounds { hidden: vec![cell.out("sentinel")], ..Bounds::open() };
        let mut exec = cell.exec(bounds, "cat $OUT/sentinel; echo bad > $OUT/sentinel; echo done");
        exec.cwd = cell.ws("");
        let exit = behind(&fake).run(exec).await;
        assert_eq!(exit.stdout.text(), "done\n", "{text}: {}", exit.stderr.text());
        fs::remove_file(&fake).unwrap();
        cell.assert_outside_untouched(text);
    }
}

#[tokio::test]
async fn a_bubblewrap_that_others_can_write_is_not_run() {
    let cell = Cell::new(Kind::Full);
    let fake = cell.out("secret");
    script(&fake, &format!("touch {}", cell.ws("ran").display()), 0o777);
    let error = refusal(&cell, &fake, cell.bounds()).await;
    assert!(matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bubblewrap"), "{error:?}");
    assert!(!cell.ws("ran").exists());
}

#[tokio::test]
async fn a_bubblewrap_in_the_workspace_or_the_path_is_never_run() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("bwrap", "");
        script(&cell.ws("bwrap"), &format!("touch {}; exec \"$@\"", cell.ws("planted").display()), 0o755);
        let mut exec = cell.exec(cell.bounds(), "echo done");
        exec.env = vec![("PATH".into(), format!("{}:/usr/bin:/bin", cell.ws("").display()))];
        assert_eq!(cell.stage.run(exec).await.stdout.text(), "done\n", "{kind:?}");
        assert!(!cell.ws("planted").exists(), "{kind:?}");
    }
}

#[tokio::test]
async fn bounds_that_make_no_sense_refuse_the_command() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let mut bounds = cell.bounds();
        bounds.hidden = vec!["relative".into()];
        let error = cell.stage.start(cell.exec(bounds, "echo bad > ran")).await.unwrap_err();
        assert!(matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bounds"), "{error:?}");
        assert!(!cell.ws("ran").exists());
    }
}

#[test]
fn the_layers_of_this_machine_hold() {
    let layers = buddy_exec::layers();
    for name in ["bubblewrap", "landlock", "seccomp"] {
        let layer = layers.iter().find(|layer| layer.name == name).unwrap();
        assert_eq!(layer.state, buddy_exec::LayerState::Works, "{layer:?}");
    }
}
