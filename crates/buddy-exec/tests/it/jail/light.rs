//! Bounds that hide some files and allow everything else: the machine is there as it is.

use std::fs;
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Reach, Target, TargetError};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell, Kind};
use crate::stage::Stage;

fn light(cell: &Cell) -> Bounds {
    Bounds {
        hidden: vec![cell.out("secret"), cell.ws("data/buddy.db"), cell.ws("data/run")],
        sealed_names: NameSet::default().with_files([".env"]),
        ..Bounds::open()
    }
}

fn stage(kind: Kind) -> Cell {
    let cell = Cell::new(kind);
    cell.file("data/buddy.db", "hidden\n");
    cell.file("data/run/socket", "hidden\n");
    cell.file("data/shared/file", "shared\n");
    cell.file(".env", "sealed\n");
    cell
}

#[tokio::test]
async fn nothing_reaches_what_is_hidden() {
    for kind in ALL {
        let cell = stage(kind);
        let script = "cat $OUT/secret data/buddy.db data/run/socket .env; tar c -C data . | grep -a -o hidden; \
            cp data/buddy.db copy; cat copy; ln data/buddy.db hard; cat hard; ln -s data/buddy.db soft; cat soft; \
            mv data moved; cat moved/buddy.db; umount data/buddy.db; umount -l $OUT/secret; cat data/buddy.db $OUT/secret; \
            unshare -m sh -c \"umount $OUT/secret; cat $OUT/secret\"; unshare -rm sh -c \"umount -l $OUT/secret; cat $OUT/secret\"; \
            for p in /proc/[0-9]*; do cat $p/root$OUT/secret $p/cwd/data/buddy.db; done; nsenter -t 1 -m cat $OUT/secret; \
            echo bad > data/buddy.db; rm -rf data/run";
        let exit = cell.run_in(light(&cell), script).await;
        assert_eq!(exit.stdout.text(), "", "{kind:?}");
        assert_eq!(fs::read_to_string(cell.ws("data/buddy.db")).unwrap(), "hidden\n", "{kind:?}");
        assert_eq!(fs::read_to_string(cell.ws("data/run/socket")).unwrap(), "hidden\n", "{kind:?}");
        cell.assert_outside_untouched("a light jail");
    }
}

#[tokio::test]
async fn without_the_network_nothing_is_reached_and_all_else_is_as_it_was() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for kind in ALL {
        let cell = stage(kind);
        let script = format!(
            "echo x > new; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'; \
             nsenter -t 1 -n true && echo entered; mkdir a && mv a b; echo done"
        );
        let exit = cell.run_in(Bounds { network: false, ..light(&cell) }, &script).await;
        assert_eq!(exit.stdout.text(), "done\n", "{kind:?}: {}", exit.stderr.text());
        assert!(cell.ws("new").exists() && cell.ws("b").exists(), "{kind:?}");
        assert!(listener.accept().is_err(), "{kind:?}");
    }
}

#[tokio::test]
async fn everything_else_is_as_it_was() {
    for kind in ALL {
        let cell = stage(kind);
        let marker = std::process::id();
        let script = format!(
            "set -e; cat data/shared/file; echo x > data/shared/new; echo x > /tmp/light-{marker}; rm /tmp/light-{marker}; \
             test -d /proc/{marker}; ps -p {marker} -o pid= | tr -d ' '; sleep 100 & kill $!; wait $! || true; \
             echo x > /dev/null; test -e /run; ls /run >/dev/null; \
             python3 -c 'import pty,socket; pty.openpty(); socket.socketpair(); s=socket.socket(); s.bind((\"127.0.0.1\",0)); \
             socket.socket(socket.AF_UNIX).bind(\"own.sock\")'; mkdir a; mv a b; chmod 600 b; echo done"
        );
        let exit = cell.run_in(light(&cell), &script).await;
        assert_eq!(
            exit.stdout.text(),
            format!("shared\n{marker}\ndone\n"),
            "{kind:?}: {}",
            exit.stderr.text()
        );
        let exit = cell.run_in(light(&cell), "kill -9 $$").await;
        assert_eq!((exit.code, exit.signal), (None, Some(9)), "{kind:?}");
    }
}

#[tokio::test]
async fn a_command_is_refused_if_no_layer_can_hide_the_files() {
    let cell = stage(Kind::NoMounts);
    let error = cell.stage.start(cell.exec(light(&cell), "echo bad > ran")).await.unwrap_err();
    let TargetError::NotJailed { layer, reason } = &error else { panic!("{error:?}") };
    assert_eq!(layer, "user_namespaces");
    assert!(reason.contains("install bubblewrap"), "{reason}");
    assert!(!cell.ws("ran").exists());
}

#[tokio::test]
async fn a_target_finds_out_by_trying_whether_it_can_hide_files() {
    for kind in ALL {
        assert!(Cell::new(kind).stage.target().can_hide().await, "{kind:?}");
    }
    assert!(!Cell::new(Kind::NoMounts).stage.target().can_hide().await);
    let tries = tempfile::NamedTempFile::new().unwrap();
    let lost = Stage::with_scripted_supervisor(&format!("echo tried >> {}", tries.path().display()));
    for _ in 0..2 {
        assert!(!lost.target().can_hide().await, "no supervisor answers");
    }
    assert_eq!(fs::read_to_string(tries.path()).unwrap(), "tried\n", "once is enough");
}

/// A directory of buddy's own, in which two places are visible to commands.
fn own(cell: &Cell) -> Bounds {
    let (shared, logs) = (cell.ws("data/shared"), cell.ws("data/logs"));
    Bounds {
        hidden: vec![cell.ws("data")],
        shown: vec![shared, logs.clone()],
        guarded: vec![logs],
        ..Bounds::open()
    }
}

#[tokio::test]
async fn nothing_can_be_made_in_a_hidden_directory_but_where_it_is_shown() {
    for kind in ALL {
        let cell = stage(kind);
        cell.file("data/logs/old", "logged\n");
        let everywhere = own(&cell);
        let beneath = Reach::Beneath(vec![cell.ws(""), cell.ws("data/shared")]);
        let confined = Bounds { write: beneath, network: false, ..own(&cell) };
        for bounds in [everywhere, confined] {
            let script = "cat data/shared/file data/logs/old; echo new > data/shared/new; \
                python3 -c 'open(\"data/grants.json\",\"w\").write(\"all\")'; echo all > data/trusted.json; mkdir -p data/config; \
                echo all > data/config/rules.toml; echo x > data/logs/new; echo x >> data/logs/old; cat data/buddy.db; \
                mv data elsewhere; mkdir -p data; echo all > data/grants.json; rm -rf data/logs data/run; \
                ln -s elsewhere data/shared/link; rmdir data/shared; umount data; umount -l data/shared; ls data | xargs";
            let exit = cell.run_in(bounds, script).await;
            let listed = if exit.stdout.text().contains("logs shared") { "logs shared\n" } else { "\n" };
            assert_eq!(
                exit.stdout.text(),
                format!("shared\nlogged\n{listed}"),
                "{kind:?}: {}",
                exit.stderr.text()
            );
            assert_eq!(fs::read_to_string(cell.ws("data/shared/new")).unwrap(), "new\n", "{kind:?}");
            let mut names: Vec<_> =
                fs::read_dir(cell.ws("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, ["buddy.db", "logs", "run", "shared"], "{kind:?}");
            assert_eq!(fs::read_to_string(cell.ws("data/logs/old")).unwrap(), "logged\n", "{kind:?}");
            assert_eq!(fs::read_dir(cell.ws("data/logs")).unwrap().count(), 1, "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_command_with_light_bounds_is_asked_to_end_at_its_limit() {
    for kind in ALL {
        let cell = stage(kind);
        let script = "trap 'echo asked; exit 7' TERM; echo ready; sleep 60 & wait";
        let mut exec = cell.exec(light(&cell), script);
        exec.timeout = Some(Duration::from_millis(700));
        let exit = cell.stage.run(exec).await;
        assert_eq!((exit.code, exit.ended), (Some(7), Ended::TimedOut), "{kind:?}");
        assert_eq!(exit.stdout.text(), "ready\nasked\n", "{kind:?}");
    }
}

#[tokio::test]
async fn a_command_that_ends_who_speaks_for_it_is_lost() {
    for kind in ALL {
        let cell = stage(kind);
        let ended = match cell.stage.start(cell.exec(light(&cell), "kill -9 $PPID; sleep 61")).await {
            Ok(mut running) => running.wait().await.map(drop),
            Err(error) => Err(error),
        };
        // The command can be quicker than the report that it has started.
        let is_told = matches!(&ended, Err(TargetError::SupervisorLost))
            || matches!(&ended, Err(TargetError::NotJailed { layer, .. }) if layer == "process");
        assert!(is_told, "{kind:?}: {ended:?}");
    }
}

#[tokio::test]
async fn some_files_are_found_empty() {
    for kind in ALL {
        let cell = stage(kind);
        let names = [".npmrc", "auth.json", "settings.xml"];
        for name in names {
            cell.file(&format!("home/{name}"), "token\n");
        }
        let mut bounds = light(&cell);
        bounds.hidden.push(cell.ws("home/.npmrc"));
        bounds.sealed_names = NameSet::default().with_files(["auth.json", "settings.xml"]);
        bounds.blank_names = NameSet::default().with_files(names);
        let script = "cd home; cat .npmrc auth.json settings.xml && test -f .npmrc && echo fine; echo x > .npmrc; rm -f .npmrc; mv -f auth.json a";
        let exit = cell.run_in(bounds, script).await;
        assert_eq!(exit.stdout.text(), "{}\n<settings/>\nfine\n", "{kind:?}: {}", exit.stderr.text());
        for name in names {
            assert_eq!(fs::read_to_string(cell.ws("home").join(name)).unwrap(), "token\n", "{kind:?}");
        }
    }
}
