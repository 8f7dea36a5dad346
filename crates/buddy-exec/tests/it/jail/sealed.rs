//! Files that hold secrets: their names are seen, and their contents are not read.

use std::fs;
use std::os::unix::fs::symlink;

use buddy_exec::{Bounds, TargetError};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell};

fn bounds(cell: &Cell) -> Bounds {
    let sealed_names =
        NameSet::trees([".ssh"]).with_files([".env", ".env.*", "*.pem"]).without([".env.example"]);
    Bounds { sealed_names, ..cell.bounds() }
}

#[tokio::test]
async fn contents_are_not_read_by_any_name_and_names_are_seen() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for name in [".env", "app/.env.local", "app/keys/a.pem", ".ssh/id", ".env.example", "plain"] {
            cell.file(name, &format!("<{name}>\n"));
        }
        fs::write(cell.out("secret"), "outside\n").unwrap();
        fs::rename(cell.out("secret"), cell.out("x.pem")).unwrap();
        symlink(cell.out("x.pem"), cell.ws("link")).unwrap();
        let script = "cat .env.example plain; cat .env app/.env.local app/keys/a.pem .ssh/id link $OUT/x.pem; \
            mv app moved; cat moved/.env.local; ln moved/.env.local hard; cat hard; cp .env copy; cat copy; \
            tar c . 2>/dev/null | grep -a -o '<[a-z./]*>'; cat /proc/self/root$WS/.env";
        let exit = cell.run_in(bounds(&cell), script).await;
        let shown = exit.stdout.text();
        for name in [".env", "app/.env.local", "app/keys/a.pem", ".ssh/id"] {
            assert!(!shown.contains(&format!("<{name}>")), "{kind:?}: {name}: {shown}");
        }
        assert!(!shown.contains("outside"), "{kind:?}: {shown}");
        assert!(shown.starts_with("<.env.example>\n<plain>\n"), "{kind:?}: {shown}");
        let exit = cell.run_in(bounds(&cell), "ls -A; ls .ssh").await;
        for name in [".env\n", ".ssh\n", "id\n"] {
            assert!(exit.stdout.text().contains(name), "{kind:?}: {}", exit.stderr.text());
        }
    }
}

#[tokio::test]
async fn a_further_name_of_a_secret_is_sealed_too() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file(".env", "<secret>\n");
        cell.file("app/x", "<app>\n");
        fs::hard_link(cell.ws(".env"), cell.ws("notes.txt")).unwrap();
        fs::hard_link(cell.out("secret"), cell.ws("app/hidden.txt")).unwrap();
        let bounds = Bounds { hidden: vec![cell.out("secret")], ..bounds(&cell) };
        let exit = cell.run_in(bounds.clone(), "cat notes.txt app/hidden.txt; cat app/x").await;
        assert_eq!(exit.stdout.text(), "<app>\n", "{kind:?}");
        let opened = Bounds { opened: vec![cell.ws(".env")], ..bounds };
        assert_eq!(cell.run_in(opened, "cat notes.txt").await.stdout.text(), "<secret>\n", "{kind:?}");
    }
}

#[tokio::test]
async fn an_opened_file_is_read_and_the_home_is_sealed_too() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file(".env", "secret\n");
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("project")).unwrap();
        fs::write(home.path().join("project/.env"), "of the home\n").unwrap();
        cell.give(home.path());
        let opened = Bounds { opened: vec![cell.ws(".env")], ..bounds(&cell) };
        let mut exec = cell.exec(opened, "cat .env $HOME/project/.env");
        exec.env.push(("HOME".into(), home.path().to_str().unwrap().into()));
        assert_eq!(cell.stage.run(exec).await.stdout.text(), "secret\n", "{kind:?}");
    }
}

#[tokio::test]
async fn what_a_command_makes_itself_is_its_own() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let exit = cell.run_in(bounds(&cell), "echo own > .env; cat .env").await;
        assert_eq!(exit.stdout.text(), "own\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn decoys_do_not_leave_a_secret_open() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for number in 0..500 {
            cell.file(&format!(".env.{number}"), "decoy\n");
        }
        cell.file("deep/down/.env", "secret\n");
        let script = "cat deep/down/.env; find . -name .env -exec cat {} +";
        let error = cell.stage.start(cell.exec(bounds(&cell), script)).await.unwrap_err();
        assert!(
            matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bounds"),
            "{kind:?}: {error:?}"
        );
    }
}
