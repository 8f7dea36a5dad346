//! Programs that run with the rights of their owner outlive a jail, so none is made in one.

use std::os::unix::fs::PermissionsExt;

use super::cell::{ALL, Cell};

#[tokio::test]
async fn no_way_leads_to_a_program_that_runs_as_its_owner() {
    for kind in ALL {
        for script in [
            "cp /bin/true x; chmod 4755 x",
            "cp /bin/true x; chmod u+s x",
            "install -m 4755 /bin/true x",
            "python3 -c 'import os; os.close(os.open(\"x\", os.O_CREAT | os.O_WRONLY, 0o4755))'",
            "python3 -c 'import os; os.mknod(\"x\", 0o104755)'",
            "python3 -c 'import os; f = os.open(\"x\", os.O_CREAT | os.O_WRONLY); os.fchmod(f, 0o4755)'",
            "python3 -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_WRONLY, 0o4755); \
             os.link(f\"/proc/self/fd/{f}\", \"x\", follow_symlinks=True)'",
            // `openat2`, whose mode is in memory.
            "python3 -c 'import ctypes; l = ctypes.CDLL(None, use_errno=True); how = (ctypes.c_uint64 * 3)(0o101, 0o4755, 0); \
             l.syscall(437, -100, b\"x\", how, 24)'; test -e x",
        ] {
            let cell = Cell::new(kind);
            let exit = cell.run(script).await;
            assert!(
                !script.ends_with("test -e x") || exit.code == Some(0),
                "{kind:?}: {}",
                exit.stderr.text()
            );
            let mode = cell.ws("x").metadata().map_or(0, |found| found.permissions().mode());
            assert_eq!(mode & 0o4000, 0, "{kind:?}: {script}");
        }
        let cell = Cell::new(kind);
        let exit =
            cell.run("set -e; mkdir d; chmod 2775 d; chmod 755 d; cp /bin/true y; chmod 755 y; ./y").await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
    }
}
