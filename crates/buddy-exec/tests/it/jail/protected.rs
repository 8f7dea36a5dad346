//! Hidden and guarded names inside of writable directories.

use std::fs;

use buddy_exec::{Bounds, TargetError};

use super::cell::{ALL, Cell, WITH_MOUNTS};

const GUARDED: [&str; 5] =
    [".buddy/config.toml", ".git/hooks", ".git/config", ".mcp.json", "deep/in/the/tree/name"];

fn guarded(cell: &Cell) -> Bounds {
    Bounds { guarded: GUARDED.map(Into::into).to_vec(), ..cell.bounds() }
}

/// Ways to put an object at a name.
fn attacks(name: &str) -> Vec<String> {
    vec![
        format!("mkdir -p $(dirname {name}); echo bad > {name}"),
        format!("mkdir -p {name}; echo bad > {name}/run"),
        format!("echo bad > file; mkdir -p $(dirname {name}); mv file {name}"),
        format!("echo bad > file; mv -T file {name}; rm -rf {name}; cp file {name}"),
        format!("echo bad > file; mkdir -p $(dirname {name}); ln file {name}; ln -s $WS/file {name}"),
        // Replaces a directory on the way to it.
        format!(
            "top=$(echo {name} | cut -d/ -f1); mv $top gone; mkdir -p $(dirname {name}); echo bad > {name}"
        ),
        format!("mv $(dirname {name}) gone; mkdir -p $(dirname {name}); echo bad > {name}"),
        format!(
            "top=$(echo {name} | cut -d/ -f1); rm -rf $top; mkdir -p $(dirname {name}); echo bad > {name}"
        ),
        format!(
            "mkdir -p new/$(dirname {name}); echo bad > new/{name}; top=$(echo {name} | cut -d/ -f1); \
                 mv -T --exchange new/$top $top; mv -T new/$top $top"
        ),
        format!(
            "python3 -c 'import os\nn = \"{name}\"\nos.makedirs(os.path.dirname(n) or \".\", exist_ok=True)\n\
                 open(n, \"w\").write(\"bad\")'"
        ),
        format!("umount {name}; umount -l $(dirname {name}); echo bad > {name}"),
        // The workspace itself.
        format!("cd /; mv $WS $WS.gone; mkdir -p $WS/$(dirname {name}); echo bad > $WS/{name}"),
    ]
}

#[tokio::test]
async fn missing_guarded_names_are_missing_afterwards() {
    for kind in ALL {
        for name in GUARDED {
            for script in attacks(name) {
                let cell = Cell::new(kind);
                let exit = cell.run_in(guarded(&cell), &script).await;
                assert_eq!(exit.survivors, 0);
                for guarded in GUARDED {
                    let there = fs::symlink_metadata(cell.ws(guarded));
                    assert!(there.is_err(), "{kind:?}: {script}: {guarded}");
                }
            }
        }
    }
}

#[tokio::test]
async fn existing_guarded_files_cannot_be_changed_or_moved() {
    for kind in ALL {
        for name in GUARDED {
            for script in attacks(name) {
                let cell = Cell::new(kind);
                for guarded in GUARDED {
                    cell.file(guarded, "good\n");
                }
                cell.file(".git/index", "index\n");
                cell.run_in(guarded(&cell), &script).await;
                for guarded in GUARDED {
                    let text = fs::read_to_string(cell.ws(guarded));
                    assert_eq!(text.ok().as_deref(), Some("good\n"), "{kind:?}: {script}: {guarded}");
                }
            }
        }
    }
}

#[tokio::test]
async fn beside_what_is_guarded_work_goes_on() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        cell.file(".git/hooks/sample", "good\n");
        cell.file(".git/config", "good\n");
        let script = "cat .git/hooks/sample .git/config && echo x > .git/index.lock && mv .git/index.lock .git/index && \
                      echo x > new && mkdir -p src && mv new src/ && ls src";
        let exit = cell.run_in(guarded(&cell), script).await;
        assert_eq!(exit.stdout.text(), "good\ngood\nnew\n", "{kind:?}: {}", exit.stderr.text());
        assert_eq!(fs::read_to_string(cell.ws(".git/index")).unwrap(), "x\n");
    }
}

#[tokio::test]
async fn a_file_in_the_way_cannot_be_replaced_by_a_directory() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file(".git", "gitdir: elsewhere\n");
        cell.run_in(guarded(&cell), "rm -f .git; mkdir -p .git/hooks; echo bad > .git/hooks/run").await;
        assert_eq!(fs::read_to_string(cell.ws(".git")).unwrap(), "gitdir: elsewhere\n", "{kind:?}");
    }
}

#[tokio::test]
async fn a_link_that_a_command_could_replace_refuses_the_command() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("real.json", "{}");
        std::os::unix::fs::symlink("real.json", cell.ws(".mcp.json")).unwrap();
        let error = cell.stage.start(cell.exec(guarded(&cell), "echo bad > ran")).await.unwrap_err();
        assert!(matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bounds"), "{error:?}");
        assert!(!cell.ws("ran").exists());
    }
}

#[tokio::test]
async fn existing_hidden_files_are_neither_read_nor_written() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("keys/id", "secret\n");
        cell.file("keys/deep/id", "secret\n");
        cell.file("token", "secret\n");
        cell.file("open", "open\n");
        std::os::unix::fs::symlink("keys", cell.ws("link")).unwrap();
        let hidden = vec![cell.ws("keys"), cell.ws("token"), cell.out("secret")];
        let bounds = Bounds { hidden, ..cell.bounds() };
        let script = "cat open; cat keys/id; cat keys/deep/id; cat token; cat link/id; cat $OUT/secret; \
                      cat /proc/self/root$WS/token /proc/1/root$WS/keys/id; grep -r secret . $OUT; \
                      ln token stolen; cat stolen; mv keys moved; cat moved/id; cp -r keys copied; cat copied/id; \
                      echo bad > token; echo bad > keys/id; rm -rf keys token; echo bad > keys; echo bad > $OUT/secret";
        let exit = cell.run_in(bounds, script).await;
        assert_eq!(exit.stdout.text(), "open\n", "{kind:?}");
        for name in ["keys/id", "keys/deep/id", "token"] {
            assert_eq!(fs::read_to_string(cell.ws(name)).unwrap(), "secret\n", "{kind:?}");
        }
        cell.assert_outside_untouched("a hidden file");
    }
}

#[tokio::test]
async fn missing_hidden_files_cannot_be_made_beside_hidden_ones() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("data/buddy.db", "good\n");
        cell.file("data/shared/file", "good\n");
        let hidden = ["data/buddy.db", "data/grants.json"].map(|name| cell.ws(name)).to_vec();
        let write = buddy_exec::Reach::Beneath(vec![cell.ws(""), cell.ws("data/shared")]);
        let bounds = Bounds { hidden, write, ..cell.bounds() };
        let exit = cell
            .run_in(bounds, "echo bad > data/grants.json; echo x > data/shared/new; cat data/shared/*")
            .await;
        assert!(!cell.ws("data/grants.json").exists(), "{kind:?}");
        assert_eq!(exit.stdout.text(), "good\nx\n", "{kind:?}");
    }
}

#[tokio::test]
async fn a_stopped_and_a_killed_command_leave_no_trace_either() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let mut running = cell.stage.start_ready(cell.exec(guarded(&cell), "echo ready; sleep 1000")).await;
        running.stop();
        running.wait().await.unwrap();
        let missing = cell.stage.start(cell.exec(guarded(&cell), "true"));
        drop(missing.await.unwrap().wait().await);
        assert_eq!(fs::read_dir(cell.ws("")).unwrap().count(), 0, "{kind:?}");
    }
}
