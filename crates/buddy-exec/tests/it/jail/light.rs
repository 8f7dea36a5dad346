//! Bounds that hide some files and allow everything else: the machine is there as it is.

use std::fs;

use buddy_exec::{Bounds, TargetError};
use buddy_protocol::NameSet;

use super::cell::{Cell, Kind, WITH_MOUNTS};

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
    for kind in WITH_MOUNTS {
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
async fn everything_else_is_as_it_was() {
    for kind in WITH_MOUNTS {
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
async fn where_nothing_can_hide_them_the_command_is_refused() {
    for kind in [Kind::Bare, Kind::OrdinaryBare] {
        let cell = stage(kind);
        let error = cell.stage.start(cell.exec(light(&cell), "echo bad > ran")).await.unwrap_err();
        assert!(matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bubblewrap"), "{error:?}");
        assert!(!cell.ws("ran").exists());
    }
}
