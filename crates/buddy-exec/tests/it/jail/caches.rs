//! Caches of package managers: read as they are, and changed in a layer of the workspace.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use buddy_exec::{Bounds, CacheLayers, CachePlace, Exit};
use tempfile::TempDir;

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};

/// A home of the command's account with a cache and a place for layers.
struct Store {
    cell: Cell,
    home: TempDir,
}

impl Store {
    fn new(kind: Kind) -> Self {
        let store = Self { cell: Cell::new(kind), home: tempfile::tempdir().unwrap() };
        fs::set_permissions(store.home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["", "layers", "cache", "cache/deep"] {
            let path = store.path(name);
            let _ = fs::create_dir(&path);
            store.cell.give(&path);
        }
        for name in ["old", "gone", "token", "config.toml", "deep/old"] {
            let path = store.path("cache").join(name);
            fs::write(&path, format!("{name}\n")).unwrap();
            store.cell.give(&path);
        }
        store
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn bounds(&self, workspace: &str) -> Bounds {
        let place = |name: &str| CachePlace {
            name: name.to_owned(),
            at: self.path(name),
            redirect: Some((format!("{}_HOME", name.to_uppercase()), "{}/x".to_owned())),
            linked: vec!["config.toml".to_owned()],
        };
        let directory = self.path("layers").join(workspace);
        Bounds {
            caches: Some(CacheLayers {
                all: directory.clone(),
                directory,
                places: vec![place("cache"), place("missing")],
            }),
            hidden: vec![self.path("cache/token")],
            ..self.cell.bounds()
        }
    }

    async fn run(&self, workspace: &str, script: &str) -> Exit {
        let mut exec = self.cell.exec(self.bounds(workspace), script);
        exec.env.push(("C".into(), self.path("cache").to_str().unwrap().into()));
        exec.env.push(("L".into(), self.path("layers").to_str().unwrap().into()));
        self.cell.stage.run(exec).await
    }

    fn assert_untouched(&self) {
        for name in ["old", "gone", "token", "deep/old"] {
            assert_eq!(fs::read_to_string(self.path("cache").join(name)).unwrap(), format!("{name}\n"));
        }
        assert!(!self.path("cache/new").exists() && !self.path("cache/deep/new").exists());
    }
}

#[tokio::test]
async fn options_go_behind_those_that_a_variable_has() {
    for kind in ALL {
        let store = Store::new(kind);
        let mut bounds = store.bounds("w");
        let caches = bounds.caches.as_mut().unwrap();
        caches.places.retain(|place| place.name == "missing");
        caches.places[0].redirect = Some(("OPTIONS".to_owned(), "-Dplace={}".to_owned()));
        let mut exec = store.cell.exec(bounds, "echo \"$OPTIONS\"");
        exec.env.push(("OPTIONS".into(), "-Xmx1g".into()));
        let told = store.cell.stage.run(exec).await.stdout.text();
        let place = store.path("layers/w");
        assert!(told.starts_with(&format!("-Xmx1g -Dplace={}", place.display())), "{kind:?}: {told}");
    }
}

#[tokio::test]
async fn changes_stay_in_the_layer_of_their_workspace() {
    for kind in WITH_MOUNTS {
        let store = Store::new(kind);
        let script = "cat $C/old $C/deep/old; echo new > $C/new; echo new > $C/deep/new; echo changed > $C/old; rm $C/gone; \
                      mkdir $C/made && mv $C/made $C/moved; cat $C/token";
        let exit = store.run("one", script).await;
        assert_eq!(exit.stdout.text(), "old\ndeep/old\n", "{kind:?}: {}", exit.stderr.text());
        store.assert_untouched();
        let look = "cat $C/old $C/new $C/deep/new; ls -d $C/gone $C/moved 2>/dev/null; cat $C/token";
        let again = store.run("one", look).await.stdout.text();
        assert_eq!(
            again,
            format!("changed\nnew\nnew\n{}\n", store.path("cache/moved").display()),
            "{kind:?}"
        );
        let other = store.run("two", "cat $C/old; ls $C").await.stdout.text();
        assert!(
            other.starts_with("old\n") && !other.contains("new") && other.contains("gone"),
            "{kind:?}: {other}"
        );
    }
}

#[tokio::test]
async fn a_hidden_file_in_a_cache_stays_hidden() {
    for kind in ALL {
        let store = Store::new(kind);
        let tries = "cat $C/token; cp $C/token t; mv $C/token $C/t2; cat $C/t2; ln $C/token $C/t3; cat $C/t3; \
                     find $L -name token | xargs cat; cat /proc/1/root$C/token; mv $C $C.away; cat $C.away/token";
        for _ in 0..2 {
            let exit = store.run("one", tries).await;
            assert!(!exit.stdout.text().contains("token\n"), "{kind:?}: {}", exit.stdout.text());
        }
        store.assert_untouched();
    }
}

#[tokio::test]
async fn a_layer_is_changed_by_way_of_its_cache_only() {
    for kind in ALL {
        let store = Store::new(kind);
        store.run("one", "true").await;
        let exit =
            store.run("one", "find $L -type d -exec touch {}/planted \\;; echo x > $L/one/1/lock").await;
        let planted = |directory: &Path| directory.join("planted").exists();
        for name in ["", "one", "one/1", "one/1/cache/upper", "one/1/cache/work", "one/1/cache"] {
            assert!(!planted(&store.path("layers").join(name)), "{kind:?}: {name}: {}", exit.stderr.text());
        }
        assert_eq!(fs::read(store.path("layers/one/1/lock")).unwrap(), b"");
    }
}

#[tokio::test]
async fn a_variable_leads_to_the_layer_where_nothing_can_be_mounted() {
    for kind in ALL {
        let store = Store::new(kind);
        let script = "mkdir -p $MISSING_HOME && echo kept > $MISSING_HOME/file; echo ${CACHE_HOME:-none}";
        let said = store.run("one", script).await;
        let alone = store.path("layers/one/1/cache/alone/x");
        let is_mounted = WITH_MOUNTS.contains(&kind);
        let expected = if is_mounted { "none".to_owned() } else { alone.display().to_string() };
        assert_eq!(said.stdout.text().trim(), expected, "{kind:?}: {}", said.stderr.text());
        assert_eq!(store.run("one", "cat $MISSING_HOME/file").await.stdout.text(), "kept\n", "{kind:?}");
        assert!(!store.path("missing").exists());
        if !is_mounted {
            assert_eq!(
                store
                    .run("one", "echo x > $C/new; mkdir -p $CACHE_HOME; cat $CACHE_HOME/../config.toml")
                    .await
                    .stdout
                    .text(),
                "config.toml\n"
            );
            store.assert_untouched();
        }
    }
}

#[tokio::test]
async fn commands_at_the_same_time_have_layers_of_their_own() {
    for kind in WITH_MOUNTS {
        let store = Store::new(kind);
        store.cell.run("mkfifo there back").await;
        // Each waits for the other, so both run when they write.
        let first =
            store.run("one", "echo first > $C/new; echo > $WS/there; cat $WS/back > /dev/null; cat $C/new");
        let second =
            store.run("one", "echo second > $C/new; cat $WS/there > /dev/null; echo > $WS/back; cat $C/new");
        let (first, second) = tokio::join!(first, second);
        assert_eq!(
            (first.stdout.text().as_str(), second.stdout.text().as_str()),
            ("first\n", "second\n"),
            "{kind:?}"
        );
        store.assert_untouched();
    }
}
