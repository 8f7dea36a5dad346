//! Programs that run with the rights of their owner outlive a jail, so none is made in one.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use buddy_exec::Bounds;

use super::cell::{ALL, Cell};

/// Ways to give a file `x` the bit, by calls whose arguments a filter sees.
const SETTING: &[&str] = &[
    "cp /bin/true x; chmod 4755 x",
    "cp /bin/true x; chmod u+s x",
    "install -m 4755 /bin/true x",
    "python3 -c 'import os; os.close(os.open(\"x\", os.O_CREAT | os.O_WRONLY, 0o4755))'",
    "python3 -c 'import os; os.mknod(\"x\", 0o104755)'",
    "python3 -c 'import os; f = os.open(\"x\", os.O_CREAT | os.O_WRONLY); os.fchmod(f, 0o4755)'",
    "python3 -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_WRONLY, 0o4755); \
     os.link(f\"/proc/self/fd/{f}\", \"x\", follow_symlinks=True)'",
];

/// `openat2`, whose mode is in memory.
const UNSEEN: &str = "python3 -c 'import ctypes; l = ctypes.CDLL(None, use_errno=True); \
     how = (ctypes.c_uint64 * 3)(0o101, 0o4755, 0); l.syscall(437, -100, b\"x\", how, 24)'; test -e x";

fn bit(cell: &Cell) -> u32 {
    cell.ws("x").metadata().map_or(0, |found| found.permissions().mode()) & 0o4000
}

/// The bounds of production: some files are hidden, and everything may be written.
#[tokio::test]
async fn nor_does_one_in_the_light_jail() {
    for kind in ALL {
        for script in SETTING {
            let cell = Cell::new(kind);
            let bounds = Bounds { hidden: vec![cell.out("secret")], ..Bounds::open() };
            cell.run_in(bounds, &format!("umask 0; {script}")).await;
            assert_eq!(bit(&cell), 0, "{kind:?}: {script}");
        }
        let cell = Cell::new(kind);
        let bounds = Bounds { hidden: vec![cell.out("secret")], ..Bounds::open() };
        let script = "set -e; mkdir d; chmod 2775 d; cp /bin/true y; chmod 755 y; ./y";
        let exit = cell.run_in(bounds, script).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn no_way_leads_to_a_program_that_runs_as_its_owner() {
    for kind in ALL {
        for script in SETTING.iter().chain([&UNSEEN]) {
            let cell = Cell::new(kind);
            let exit = cell.run(script).await;
            assert!(
                !script.ends_with("test -e x") || exit.code == Some(0),
                "{kind:?}: {}",
                exit.stderr.text()
            );
            assert_eq!(bit(&cell), 0, "{kind:?}: {script}");
        }
        let cell = Cell::new(kind);
        let exit =
            cell.run("set -e; mkdir d; chmod 2775 d; chmod 755 d; cp /bin/true y; chmod 755 y; ./y").await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
    }
}

/// A bit that the user sets on a file of theirs while a command runs stays: the command made no name beside it.
#[tokio::test]
async fn a_file_that_a_command_has_not_made_keeps_its_bit() {
    for kind in ALL {
        let cell = Cell::new(kind);
        std::fs::create_dir_all(cell.ws("old/deep")).unwrap();
        for name in ["old", "old/deep"] {
            cell.give(&cell.ws(name));
        }
        cell.file("old/own", "");
        // The clock of files stands still for some milliseconds. In the moment in which the command begins, the name would count as new.
        let changed = |path: &std::path::Path| {
            let found = path.metadata().unwrap();
            (found.ctime(), found.ctime_nsec())
        };
        cell.file("later", "");
        while changed(&cell.ws("later")) <= changed(&cell.ws("old")) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            cell.file("later", "");
        }
        let (own, made) = (cell.ws("old/own"), cell.ws("old/deep/made"));
        let set = |mode| std::fs::set_permissions(&own, std::fs::Permissions::from_mode(mode)).unwrap();
        let script = "touch begun; until test -u old/own; do sleep 0.01; done; \
             python3 -c 'import ctypes; l = ctypes.CDLL(None); how = (ctypes.c_uint64 * 3)(0o101, 0o4755, 0); \
             l.syscall(437, -100, b\"old/deep/made\", how, 24)'; test -e old/deep/made";
        let begun = async {
            while !cell.ws("begun").exists() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            set(0o4755);
        };
        let (exit, ()) = tokio::join!(cell.run(script), begun);
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        let bit = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o4000;
        assert_eq!((bit(&own), bit(&made)), (0o4000, 0), "{kind:?}");
    }
}
