//! Writing: everything in the workspace, nothing outside of it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use buddy_exec::{Bounds, Reach};

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};

/// Ways to write to `$OUT`.
const WRITES: &[&str] = &[
    "echo x > $OUT/sentinel",
    "echo x >> $OUT/sentinel",
    "echo x > $OUT/new",
    "echo x | tee $OUT/sentinel",
    "echo x | tee -a $OUT/sentinel",
    "echo x > file; cp file $OUT/sentinel",
    "echo x > file; cp --remove-destination file $OUT/sentinel",
    "echo x > file; install file $OUT/new",
    "echo x > file; mv file $OUT/new",
    "echo x > file; mv file $OUT/sentinel",
    "mv $OUT/sentinel $WS/taken",
    "mv $OUT/sentinel $OUT/renamed",
    "rm -f $OUT/sentinel",
    "mkdir $OUT/directory",
    "mkfifo $OUT/pipe",
    "mknod $OUT/node p",
    "ln $OUT/sentinel $OUT/other",
    "ln -s /etc/passwd $OUT/link",
    "ln -sf /etc/passwd $OUT/sentinel",
    "truncate -s 0 $OUT/sentinel",
    "truncate -s 1M $OUT/sentinel",
    "dd if=/dev/zero of=$OUT/sentinel bs=1 count=1 conv=notrunc",
    "fallocate -l 4096 $OUT/sentinel",
    "touch $OUT/new",
    "sed -i s/s/x/ $OUT/sentinel",
    "tar cf $OUT/new.tar /etc/hostname",
    "python3 -c 'import os; open(os.environ[\"OUT\"] + \"/sentinel\", \"w\").write(\"x\")'",
    "python3 -c 'import os; os.truncate(os.environ[\"OUT\"] + \"/sentinel\", 0)'",
    "python3 -c 'import os; os.rename(os.environ[\"OUT\"] + \"/sentinel\", \"taken\")'",
    "python3 -c 'import os; os.replace(\"/proc/self/root\" + os.environ[\"OUT\"] + \"/sentinel\", \"taken\")'",
    // By a name in the workspace that leads out.
    "ln -s $OUT out; echo x > out/sentinel; rm -f out/secret; touch out/new",
    "ln -s $OUT/sentinel link; echo x > link",
    "ln $OUT/sentinel hard && echo x > hard",
    "python3 -c 'import os; os.link(os.environ[\"OUT\"] + \"/sentinel\", \"hard\"); open(\"hard\", \"w\").write(\"x\")'",
    "echo x > ../$(basename $OUT)/sentinel",
    // By another way to the root.
    "echo x > /proc/self/root$OUT/sentinel",
    "echo x > /proc/1/root$OUT/sentinel",
    "echo x > /proc/$PPID/root$OUT/sentinel",
    "echo x > /proc/self/cwd/../$(basename $OUT)/sentinel",
    "cd $OUT; echo x > /proc/self/cwd/sentinel",
    "exec 3< $OUT/sentinel; echo x > /proc/self/fd/3",
    "exec 3< $OUT; echo x > /dev/fd/3/sentinel",
    // By namespaces of the command's own, in which it would be root.
    "unshare --user --map-root-user --mount sh -c 'mount -o remount,rw / ; mount -o remount,bind,rw $OUT; echo x > $OUT/sentinel'",
    "unshare --mount sh -c 'mount --bind $OUT $WS; echo x > $WS/sentinel'",
    "mount --bind $OUT $WS; echo x > $WS/sentinel",
    "mount -o remount,rw /; echo x > $OUT/sentinel",
    "umount -l $WS; echo x > $OUT/sentinel",
    "chroot / sh -c 'echo x > $OUT/sentinel'",
    // By another account's rights.
    "su -c 'echo x > $OUT/sentinel' root < /dev/null",
    "nsenter -t 1 -a sh -c 'echo x > $OUT/sentinel'",
];

#[tokio::test]
async fn no_way_of_writing_reaches_outside() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for script in WRITES {
            let exit = cell.run(script).await;
            cell.assert_outside_untouched(script);
            assert_eq!(exit.survivors, 0, "{script}");
            cell.run("rm -rf $WS/*").await;
        }
    }
}

#[tokio::test]
async fn everything_can_be_done_in_the_workspace() {
    let script = "set -e; mkdir -p a/b; echo one > a/b/file; echo two >> a/b/file; cp a/b/file copy; mv copy moved; \
                  ln moved hard; ln -s moved soft; mkfifo pipe; chmod 700 moved; touch -d 2001-02-03 moved; \
                  truncate -s 3 hard; mv a c; mv c/b/file .; rmdir c/b; echo x | tee tee > /dev/null; \
                  python3 -c 'open(\"py\", \"w\").write(\"p\")'; (exec 3<>file; echo y >&3); rm py; cat moved; ls";
    for kind in ALL {
        let cell = Cell::new(kind);
        let exit = cell.run(script).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        let expected = "onec\nfile\nhard\nmoved\npipe\nsoft\ntee\n";
        assert_eq!(exit.stdout.text(), expected, "{kind:?}");
        let moved = fs::metadata(cell.ws("moved")).unwrap();
        assert_eq!((moved.len(), moved.mode() & 0o777), (3, 0o700));
    }
}

#[tokio::test]
async fn links_that_were_there_before_lead_nowhere() {
    for kind in ALL {
        let cell = Cell::new(kind);
        symlink(cell.out(""), cell.ws("out")).unwrap();
        symlink(cell.out("sentinel"), cell.ws("link")).unwrap();
        cell.run("echo x > link; echo x > out/new; rm -f out/sentinel; cp /etc/passwd out/").await;
        cell.assert_outside_untouched("a link from before");
    }
}

#[tokio::test]
async fn modes_owners_times_and_attributes_outside_stay() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let look = || {
            let found = fs::metadata(cell.out("sentinel")).unwrap();
            (found.mode(), found.uid(), found.gid(), found.mtime(), found.mtime_nsec(), found.atime())
        };
        let before = look();
        let script = "chmod 777 $OUT/sentinel; chown 1:1 $OUT/sentinel; chgrp 1 $OUT/sentinel; \
                      touch -m -d 2001-02-03 $OUT/sentinel; touch -a -d 2001-02-03 $OUT/sentinel; \
                      python3 -c 'import os\nos.chmod(os.open(os.environ[\"OUT\"] + \"/sentinel\", os.O_RDONLY), 0o777)'; \
                      python3 -c 'import os\nos.setxattr(os.environ[\"OUT\"] + \"/sentinel\", \"user.x\", b\"x\")'; true";
        assert_eq!(cell.run(script).await.code, Some(0));
        assert_eq!(look(), before, "{kind:?}");
        let size = rustix::fs::getxattr(cell.out("sentinel"), "user.x", &mut [0_u8; 8]);
        assert!(size.is_err(), "{kind:?}");
    }
}

#[tokio::test]
async fn without_bubblewrap_owners_and_attributes_stay_all_the_same() {
    for kind in [Kind::Bare, Kind::OrdinaryBare] {
        let cell = Cell::new(kind);
        let before = fs::metadata(cell.out("sentinel")).unwrap();
        let script = "chown 1:1 $OUT/sentinel; chgrp 1 $OUT/sentinel; \
                      python3 -c 'import os\nos.setxattr(os.environ[\"OUT\"] + \"/sentinel\", \"user.x\", b\"x\")'; true";
        assert_eq!(cell.run(script).await.code, Some(0));
        let after = fs::metadata(cell.out("sentinel")).unwrap();
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{kind:?}");
        assert!(rustix::fs::getxattr(cell.out("sentinel"), "user.x", &mut [0_u8; 8]).is_err(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_read_only_command_changes_nothing() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("kept", "kept\n");
        let bounds = Bounds { write: Reach::Nothing, ..cell.bounds() };
        let exit = cell
            .run_in(bounds, "cat kept; echo x > new; rm -f kept; echo x > kept; echo x > $OUT/new; ls")
            .await;
        assert_eq!(exit.stdout.text(), "kept\nkept\n", "{kind:?}: {}", exit.stderr.text());
        assert_eq!(fs::read_to_string(cell.ws("kept")).unwrap(), "kept\n");
        cell.assert_outside_untouched("a read-only command");
    }
}

#[tokio::test]
async fn a_read_only_command_sees_temporary_files_of_others_and_has_memory_of_its_own() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let bounds = Bounds { write: Reach::Nothing, ..cell.bounds() };
        let there = tempfile::NamedTempFile::with_prefix_in("buddy-seen-", "/tmp").unwrap();
        fs::set_permissions(there.path(), fs::Permissions::from_mode(0o644)).unwrap();
        let script = format!(
            "ls {0}; echo x > {0}; f=$(mktemp -p /dev/shm) && echo inside > $f && cat $f && echo $f",
            there.path().display()
        );
        let exit = cell.run_in(bounds, &script).await;
        let said = exit.stdout.text();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..2], [there.path().to_str().unwrap(), "inside"], "{}", exit.stderr.text());
        assert!(!fs::exists(lines[2]).unwrap() && fs::read(there.path()).unwrap().is_empty(), "{said}");
    }
}

#[tokio::test]
async fn several_roots_are_all_writable() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("one/file", "");
        cell.file("two/file", "");
        cell.file("three/file", "");
        let roots = vec![cell.ws("one"), cell.ws("two"), cell.ws("missing")];
        let bounds = Bounds { write: Reach::Beneath(roots), ..cell.bounds() };
        let script = "echo x > one/new; echo x > two/new; echo x > three/new; mkdir missing; mv one/new two/moved; ls *";
        let exit = cell.run_in(bounds, script).await;
        let expected = "one:\nfile\n\nthree:\nfile\n\ntwo:\nfile\nmoved\nnew\n";
        assert_eq!(exit.stdout.text(), expected, "{kind:?}: {}", exit.stderr.text());
    }
}
