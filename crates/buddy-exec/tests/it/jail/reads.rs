//! Reading, with bounds on it too.

use buddy_exec::{Bounds, Reach};

use super::cell::{ALL, Cell, WITH_MOUNTS};

#[tokio::test]
async fn only_the_roots_and_what_programs_need_can_be_read() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("file", "inside\n");
        let bounds = Bounds { read: Reach::Beneath(vec![cell.ws("")]), ..cell.bounds() };
        let script = "cat file; cat $OUT/secret; cat /etc/shadow; ls $OUT; cat /proc/self/root$OUT/secret; \
                      ls /root /home /var/log; python3 -c 'print(1 + 1)'; echo x > /dev/null && echo done";
        let exit = cell.run_in(bounds, script).await;
        assert_eq!(exit.stdout.text(), "inside\n2\ndone\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn a_command_without_read_access_still_runs() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("file", "inside\n");
        let bounds = Bounds { read: Reach::Nothing, ..cell.bounds() };
        let exit = cell.run_in(bounds, "cat file; echo bad > new; echo done").await;
        assert_eq!(exit.stdout.text(), "done\n", "{kind:?}");
        assert!(!cell.ws("new").exists(), "unreadable directories cannot be written");
    }
}

#[tokio::test]
async fn sockets_and_secrets_of_services_are_not_there() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        assert_eq!(cell.run("ls -A /run").await.stdout.text(), "", "{kind:?}");
    }
}

#[tokio::test]
async fn a_directory_of_ones_own_hides_no_directory_to_work_in() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        cell.file("below/file", "here\n");
        let bounds = Bounds { write: Reach::Nothing, ..cell.bounds() };
        let mut exec = cell.exec(bounds, "pwd; cat file");
        exec.cwd = "below".into();
        let exit = cell.stage.run(exec).await;
        let expected = format!("{}\nhere\n", cell.ws("below").display());
        assert_eq!(exit.stdout.text(), expected, "{kind:?}: {}", exit.stderr.text());
    }
}
