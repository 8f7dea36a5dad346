//! Plants where a look might not come: inside of a repository's own directory, behind links, in layers, and among commands that run at the
//! same time.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use buddy_exec::{Bounds, CacheLayers, CachePlace, Reach};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};
use super::orders::{bounds, git, give_all, repository};

/// Makes a directory with order files and a repository that would run a program, at `$P`.
const PLANT: &str = "export HOME=/nonexistent; mkdir -p $P/.vscode; echo planted > $P/.envrc; echo planted > $P/.vscode/tasks.json; \
    git init -q $P; git -C $P config core.fsmonitor $WS/evil";

/// Asserts that nothing in a directory runs a program or gives orders to one.
fn assert_harmless(cell: &Cell, at: &Path, what: &str) {
    let _ = fs::remove_file(cell.ws("ran"));
    git(cell, at.to_str().unwrap(), &["status"]);
    assert!(!cell.ws("ran").exists(), "{:?}: {what}: a program ran", cell.kind);
    for name in [".envrc", ".vscode/tasks.json"] {
        assert!(!at.join(name).exists(), "{:?}: {what}: {name}", cell.kind);
    }
}

#[tokio::test]
async fn nothing_hides_inside_of_a_repository() {
    for kind in WITH_MOUNTS {
        for place in [
            ".git/x/proj",
            ".git/objects/zz/proj",
            ".git/objects/ab",
            ".git/lfs/p",
            ".git/refs/heads/zz",
            ".git/logs/p",
        ] {
            let cell = repository(kind);
            let script = format!("P={place}; {PLANT}; ln -s {place} proj");
            let exit = cell.run_in(bounds(&cell), &script).await;
            assert_eq!(exit.code, Some(0), "{kind:?}: {place}: {}", exit.stderr.text());
            assert_harmless(&cell, &cell.ws("proj"), place);
        }
    }
}

/// Git takes the directory for no repository until somebody adds the rest.
#[tokio::test]
async fn half_a_repository_is_left_without_programs() {
    let head = "mkdir nb; echo ref: refs/heads/m > nb/HEAD";
    let config =
        "printf '[core]\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = %s\\n' $WS/evil > nb/config";
    for kind in WITH_MOUNTS {
        for half in [
            format!("{head}; {config}"),
            format!("{head}; {config}; mkdir nb/objects"),
            format!("{head}; {config}; mkdir nb/refs"),
            format!(
                "{head}; mkdir nb/hooks; cp evil nb/hooks/post-index-change; git config -f nb/config core.worktree .."
            ),
        ] {
            let cell = repository(kind);
            let exit = cell.run_in(bounds(&cell), &half).await;
            assert!(!exit.swept.is_empty(), "{kind:?}: {half}");
            for name in ["nb/objects", "nb/refs"] {
                fs::create_dir_all(cell.ws(name)).unwrap();
            }
            super::orders::give_all(&cell, &cell.ws("nb"));
            for words in [&["status"][..], &["add", "."]] {
                git(&cell, "nb", words);
            }
            assert!(!cell.ws("ran").exists(), "{kind:?}: {half}");
        }
        // Half a repository that was there before stays as it is.
        let cell = repository(kind);
        cell.file("fixture/HEAD", "ref: refs/heads/m\n");
        cell.file("fixture/config", "[core]\n\tpager = less\n");
        let exit = cell.run_in(bounds(&cell), "echo x > beside").await;
        assert!(exit.swept.is_empty(), "{kind:?}: {:?}", exit.swept);
        assert_eq!(fs::read_to_string(cell.ws("fixture/config")).unwrap(), "[core]\n\tpager = less\n");
    }
}

/// The user's own git would write to the file behind the link, or wait at a pipe.
#[tokio::test]
async fn git_writes_to_nothing_outside_through_links_in_its_own_directory() {
    for kind in WITH_MOUNTS {
        for name in [
            ".git/logs/HEAD",
            ".git/logs/refs/heads/main",
            ".git/COMMIT_EDITMSG",
            ".git/FETCH_HEAD",
            ".git/worktrees/tree/logs/HEAD",
            "sub/.git/logs/HEAD",
            "bare.git/logs/HEAD",
            "bare.git/logs/refs/heads/new",
        ] {
            let cell = repository(kind);
            for words in [
                &["worktree", "add", "-q", "tree", "-b", "side"][..],
                &["init", "-q", "-b", "main", "sub"],
                &["init", "-q", "--bare", "-b", "main", "bare.git"],
                &["push", "-q", "./bare.git", "main"],
                &["-C", "bare.git", "config", "core.logAllRefUpdates", "always"],
            ] {
                git(&cell, "", words);
            }
            for made in [".git", "sub", "bare.git", "tree"] {
                super::orders::give_all(&cell, &cell.ws(made));
            }
            let link = format!("mkdir -p $(dirname {name}); ln -sfn $OUT/sentinel {name}");
            let exit = cell.run_in(bounds(&cell), &link).await;
            assert_eq!(exit.code, Some(0), "{kind:?}: {name}: {}", exit.stderr.text());
            for at in ["", "sub", "tree"] {
                git(&cell, at, &["commit", "-q", "--allow-empty", "-m", "mine"]);
                git(&cell, at, &["fetch", "-q", "."]);
            }
            git(&cell, "bare.git", &["symbolic-ref", "-m", "mine", "HEAD", "refs/heads/main"]);
            git(&cell, "bare.git", &["update-ref", "-m", "mine", "refs/heads/new", "main"]);
            cell.assert_outside_untouched(name);
            assert!(
                exit.swept.iter().any(|note| note.to_string().contains(name)),
                "{name}: {:?}",
                exit.swept
            );
        }
        let cell = repository(kind);
        let exit =
            cell.run_in(bounds(&cell), "rm -rf .git/logs; ln -s $OUT .git/logs; mkfifo .git/MERGE_MSG").await;
        assert_eq!(exit.swept.len(), 2, "{kind:?}: {:?}", exit.swept);
        git(&cell, "", &["commit", "-q", "--allow-empty", "-m", "mine"]);
        cell.assert_outside_untouched("a directory");
    }
}

/// Links that were there before stay as they are, and a work tree inside of a bare repository may have links.
#[tokio::test]
async fn links_that_git_did_not_make_stay_where_they_were() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        fs::rename(cell.ws(".git/logs"), cell.ws("kept-logs")).unwrap();
        std::os::unix::fs::symlink("../kept-logs", cell.ws(".git/logs")).unwrap();
        git(&cell, "", &["init", "-q", "--bare", "-b", "main", "bare.git"]);
        git(&cell, "", &["push", "-q", "./bare.git", "main"]);
        super::orders::give_all(&cell, &cell.ws("bare.git"));
        let script = "git -c safe.directory=* -C bare.git worktree add -q tree main && ln -s file bare.git/tree/link \
            && git -c safe.directory=* gc -q && cp -al file more";
        let exit = cell.run_in(bounds(&cell), &format!("export HOME=/nonexistent; {script}")).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
        assert!(cell.ws(".git/logs").is_symlink() && cell.ws("bare.git/tree/link").is_symlink(), "{kind:?}");
        let exit = cell.run_in(bounds(&cell), "ln -sfn $OUT .git/logs").await;
        assert_eq!(exit.swept.len(), 1, "{kind:?}: {:?}", exit.swept);
        assert_eq!(fs::read_link(cell.ws(".git/logs")).unwrap(), Path::new("../kept-logs"), "{kind:?}");
    }
}

/// A file of any name leads git on if a remote names it. `$X` is a repository with a hook where everybody writes.
const LEADING: &[&str] = &[
    "ln -s $X real.git",
    "echo gitdir: $X > real.git",
    "echo gitdir: $X > real.git.git",
    "echo gitdir: $X > other; ln -s other real.git",
    "mkdir real.git; echo gitdir: $X > real.git/.git",
    "mkdir real.git; ln -s $X real.git/.git",
    "mkdir real.git.git; echo gitdir: $X > real.git.git/.git",
    "ln -s $X real.git.git",
    "mkdir deep; echo gitdir: $X > deep/x; ln -s deep/x real.git",
];

#[tokio::test]
async fn no_remote_leads_to_hooks_where_everybody_writes() {
    for leading in LEADING {
        for is_remote_older in [false, true] {
            let cell = repository(Kind::Full);
            let place = tempfile::tempdir_in("/var/tmp").unwrap();
            fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).unwrap();
            let write = Reach::Beneath(vec![cell.ws(""), place.path().to_owned()]);
            let bounds = || Bounds { write: write.clone(), ..bounds(&cell) };
            let make = format!(
                "export HOME=/nonexistent X={}/x.git; git init -q --bare $X; mkdir -p $X/hooks; cp evil $X/hooks/post-receive; {leading}",
                place.path().display()
            );
            let add = "git remote add backup ./real.git";
            let exit = if is_remote_older {
                git(&cell, "", &["remote", "add", "backup", "./real.git"]);
                cell.run_in(bounds(), &make).await
            } else {
                cell.run_in(bounds(), &format!("git init -q --bare real.git; {add}; rm -r real.git; {make}"))
                    .await
            };
            assert_eq!(exit.code, Some(0), "{leading}: {}", exit.stderr.text());
            let pushed = git(&cell, "", &["push", "backup", "main"]);
            assert!(!cell.ws("ran").exists(), "{leading}: {pushed} {:?}", exit.swept);
        }
    }
    // A remote beside the project that a file leads to works, as does one in it.
    let cell = repository(Kind::Full);
    let script = "export HOME=/nonexistent; git init -q --bare store.git; echo gitdir: store.git > real.git; \
        git remote add backup ./real.git; git push -q backup main";
    let exit = cell.run_in(bounds(&cell), script).await;
    assert_eq!((exit.code, &exit.swept[..]), (Some(0), &[][..]), "{}", exit.stderr.text());
    assert!(cell.ws("real.git").is_file());
}

/// Another name of a file that programs take orders from is another way to write it.
#[tokio::test]
async fn files_that_run_code_later_get_no_further_names() {
    for kind in WITH_MOUNTS {
        for name in [".git/logs/HEAD", "notes.txt"] {
            let cell = repository(kind);
            cell.file("a/deep/.envrc", "good\n");
            let exit = cell.run_in(bounds(&cell), &format!("ln -f a/deep/.envrc {name}")).await;
            // A link into another mount is refused by the kernel.
            assert!(exit.code == Some(0) || name.starts_with(".git"), "{}", exit.stderr.text());
            git(&cell, "", &["commit", "-q", "--allow-empty", "-m", "mine"]);
            fs::write(cell.ws(name), "planted\n").unwrap();
            assert_eq!(fs::read_to_string(cell.ws("a/deep/.envrc")).unwrap(), "good\n", "{kind:?}: {name}");
        }
    }
}

#[tokio::test]
async fn branches_keep_their_names() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let names = NameSet::trees([".envrc", "buddy.toml", ".git/config", ".git/hooks"]);
        let sealed = NameSet::default().with_files(["secrets.*"]);
        let bounds =
            || Bounds { guarded_names: names.clone(), sealed_names: sealed.clone(), ..cell.bounds() };
        let script = "export HOME=/nonexistent; git branch buddy.toml && git branch secrets.yml && git branch dir/buddy.toml";
        let exit = cell.run_in(bounds(), script).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
        let exit = cell
            .run_in(bounds(), "git -c safe.directory=* log -1 --format=%s secrets.yml dir/buddy.toml")
            .await;
        assert_eq!(exit.stdout.text(), "one\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn links_behind_links_are_followed() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let top = place.path().to_str().unwrap();
        let write = Reach::Beneath(vec![cell.ws(""), place.path().to_owned()]);
        let bounds = Bounds { write, ..bounds(&cell) };
        let script = format!(
            "P={top}/p; {PLANT}; mkdir {top}/z {top}/y; ln -s ../p {top}/z/in; ln -s ../z {top}/y/on; ln -s {top}/y proj; \
             P={top}/n/.git/x; {PLANT}; ln -s {top}/n/.git/x other"
        );
        let exit = cell.run_in(bounds, &script).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        assert_harmless(&cell, &cell.ws("proj/on/in"), "behind three links");
        assert_harmless(&cell, &cell.ws("other"), "inside of a directory named .git");
    }
}

#[tokio::test]
async fn nothing_hides_in_the_layers_over_caches() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        let (cache, layers) = (home.path().join("cache"), home.path().join("layers"));
        for path in [home.path(), &cache, &layers] {
            let _ = fs::create_dir(path);
            cell.give(path);
        }
        let redirect = Some(("CACHE_HOME".to_owned(), "{}".to_owned()));
        let missing = CachePlace {
            name: "missing".to_owned(),
            at: home.path().join("missing"),
            redirect,
            linked: Vec::new(),
        };
        let caches = CacheLayers { all: layers.clone(), directory: layers, places: vec![missing] };
        let script = format!("P=$CACHE_HOME/p; {PLANT}; ln -s $CACHE_HOME/p proj");
        let exit = cell.run_in(Bounds { caches: Some(caches), ..bounds(&cell) }, &script).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        assert!(cell.ws("proj").is_dir(), "{kind:?}");
        assert_harmless(&cell, &cell.ws("proj"), "in a layer");
    }
}

/// One command plants, another one starts while the plants are there and writes them again when they have been moved away.
#[tokio::test]
async fn commands_that_run_at_the_same_time_cover_nothing_for_each_other() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        cell.file("deep/.envrc", "good\n");
        let plant = "P=$WS/sub; export HOME=/nonexistent; git init -q sub; git -C sub config core.fsmonitor $WS/evil; \
            mkdir -p $WS/.vscode; echo planted > $WS/.vscode/tasks.json; echo planted > $WS/.envrc; echo planted > $WS/deep/.envrc";
        let first = format!("{plant}; touch planted; while ! [ -e started ]; do sleep 0.02; done");
        let second =
            format!("touch started; while ! [ -e again ]; do sleep 0.02; done; {plant} 2> /dev/null; true");
        let run_first = cell.run_in(bounds(&cell), &first);
        let run_second = async {
            while !cell.ws("planted").exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            cell.run_in(bounds(&cell), &second).await
        };
        let after_first = async {
            run_first.await;
            fs::write(cell.ws("again"), "").unwrap();
        };
        tokio::join!(after_first, run_second);
        for name in [".envrc", ".vscode/tasks.json"] {
            assert!(!cell.ws(name).exists(), "{kind:?}: {name}");
        }
        assert_eq!(fs::read_to_string(cell.ws("deep/.envrc")).unwrap(), "good\n", "{kind:?}");
        let _ = fs::remove_file(cell.ws("ran"));
        git(&cell, "sub", &["status"]);
        assert!(!cell.ws("ran").exists(), "{kind:?}");
    }
}

/// A command covers the files near its directory. Another one, which runs elsewhere, replaces them, so that the covers are gone, and ends.
#[tokio::test]
async fn a_cover_that_another_command_takes_away_lets_nothing_through() {
    const FILES: [&str; 3] = ["sub/.envrc", "sub/.cargo/config.toml", "sub/.vscode/tasks.json"];
    for (kind, is_first) in WITH_MOUNTS.into_iter().flat_map(|kind| [(kind, true), (kind, false)]) {
        let cell = repository(kind);
        for name in FILES {
            cell.file(name, "good\n");
        }
        let wait = |name: &str| format!("while ! [ -e $WS/{name} ]; do sleep 0.02; done;");
        let writer = format!(
            "touch $WS/covers; {} for f in {}; do echo planted > $WS/$f; done; echo planted > $WS/sub/.vscode/new.json; true",
            wait("gone"),
            FILES.join(" ")
        );
        let swapper = format!(
            "touch swapper; {} cd sub; for f in .envrc .cargo/config.toml; do mv $f $f.x; echo other > $f; done; \
             mv .vscode xv; mkdir .vscode; echo other > .vscode/tasks.json; true",
            wait("covers")
        );
        let mut writer = cell.exec(bounds(&cell), &writer);
        writer.cwd = cell.ws("sub");
        let until = async |name: &str| {
            while !cell.ws(name).exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let run_writer = async {
            if !is_first {
                until("swapper").await;
            }
            cell.stage.run(writer).await
        };
        let run_swapper = async {
            if is_first {
                until("covers").await;
            }
            cell.run_in(bounds(&cell), &swapper).await;
            fs::write(cell.ws("gone"), "").unwrap();
        };
        tokio::join!(run_writer, run_swapper);
        for name in FILES {
            assert_eq!(fs::read_to_string(cell.ws(name)).unwrap(), "good\n", "{kind:?}, {is_first}: {name}");
        }
        assert!(!cell.ws("sub/.vscode/new.json").exists(), "{kind:?}, {is_first}");
    }
}

/// An editor replaces a file when it saves it. While one command runs alone, only the user can do that below a cover.
#[tokio::test]
async fn a_file_that_the_user_saves_below_a_cover_stays() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        cell.file(".envrc", "good\n");
        let script = "touch $WS/covers; while ! [ -e $WS/gone ]; do sleep 0.02; done";
        let save = async {
            while !cell.ws("covers").exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            fs::write(cell.ws(".envrc.new"), "better\n").unwrap();
            fs::rename(cell.ws(".envrc.new"), cell.ws(".envrc")).unwrap();
            fs::write(cell.ws("gone"), "").unwrap();
        };
        tokio::join!(cell.run_in(bounds(&cell), script), save);
        assert_eq!(fs::read_to_string(cell.ws(".envrc")).unwrap(), "better\n", "{kind:?}");
    }
}

/// An earlier command can make any number of repositories, which stay.
#[tokio::test]
async fn many_repositories_hide_no_program_of_yours() {
    for kind in ALL {
        let cell = repository(kind);
        for at in 0..300 {
            cell.file(&format!("aa/{at}/.git/HEAD"), "ref: refs/heads/main\n");
            cell.file(&format!("aa/{at}/.git/config"), "[core]\n\tbare = false\n");
            for name in ["objects", "refs"] {
                fs::create_dir_all(cell.ws(&format!("aa/{at}/.git/{name}"))).unwrap();
            }
        }
        cell.file("zz/tools/x", "good\n");
        git(&cell, "zz", &["init", "-q"]);
        git(&cell, "zz", &["config", "filter.x.clean", "tools/x"]);
        give_all(&cell, &cell.ws("zz"));
        cell.run_in(bounds(&cell), "echo evil >> zz/tools/x; true").await;
        assert_eq!(fs::read_to_string(cell.ws("zz/tools/x")).unwrap(), "good\n", "{kind:?}");
    }
}

/// Only a few names count where everybody writes, so the files of other programs there are not searched, however many there are. More levels
/// than a search goes down would be reported as not searched.
#[tokio::test]
async fn files_of_other_programs_where_everybody_writes_are_not_searched() {
    for kind in ALL {
        let cell = repository(kind);
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let deep: std::path::PathBuf = std::iter::repeat_n("level", 30).collect();
        fs::create_dir_all(place.path().join(deep)).unwrap();
        let write = Reach::Beneath(vec![cell.ws(""), place.path().to_owned()]);
        let exit = cell.run_in(Bounds { write, ..bounds(&cell) }, "true").await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
    }
}

/// Names of several parts, as they are in a repository with links.
fn long_names(cell: &Cell) -> Bounds {
    let mut bounds = bounds(cell);
    let names = [".local/share/systemd", ".config/code/user", "mise/config.toml"];
    bounds.guarded_names.trees.extend(NameSet::trees(names).trees);
    bounds
}

/// Makes a link of the user's, with the directory that it is in.
fn link(cell: &Cell, target: &str, name: &str) {
    let at = cell.ws(name);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(target, at).unwrap();
    for above in Path::new(name).ancestors().skip(1).filter(|above| above.parent().is_some()) {
        cell.give(&cell.ws(above.to_str().unwrap()));
    }
}

#[tokio::test]
async fn a_new_link_at_the_start_of_a_protected_name_goes() {
    for kind in ALL {
        for (script, name, order) in [
            ("mkdir x; echo evil > x/config.toml; ln -s x .cargo", ".cargo", ".cargo/config.toml"),
            ("ln -s x .cargo; mkdir x", ".cargo", ".cargo/config.toml"),
            (
                "mkdir x sub; echo evil > x/config.toml; ln -s ../x sub/.cargo",
                "sub/.cargo",
                "sub/.cargo/config.toml",
            ),
            (
                "mkdir x; echo evil > x/config.toml; ln -s x y; ln -s $WS/y .cargo",
                ".cargo",
                ".cargo/config.toml",
            ),
            (
                "mkdir -p x/share/systemd; echo evil > x/share/systemd/a; ln -s x .local",
                ".local",
                ".local/share/systemd/a",
            ),
            (
                "mkdir -p .local x/systemd; echo evil > x/systemd/a; ln -s ../x .local/share",
                ".local/share",
                ".local/share/systemd/a",
            ),
            (
                "mkdir -p x/Code/User; echo evil > x/Code/User/tasks.json; ln -s x .Config",
                ".Config",
                ".Config/Code/User/tasks.json",
            ),
            ("mkdir x; echo evil > x/config.toml; ln -s x mise", "mise", "mise/config.toml"),
        ] {
            let cell = Cell::new(kind);
            let exit = cell.run_in(long_names(&cell), script).await;
            assert_eq!(exit.code, Some(0), "{kind:?}: {script}: {}", exit.stderr.text());
            assert!(fs::symlink_metadata(cell.ws(name)).is_err(), "{kind:?}: {script}");
            assert!(!cell.ws(order).exists(), "{kind:?}: {script}");
            assert_eq!(exit.swept.len(), 1, "{kind:?}: {script}: {:?}", exit.swept);
        }
        // A link of an everyday name with nothing of the rest behind it stays, and so does one beside the names.
        let cell = Cell::new(kind);
        let exit =
            cell.run_in(long_names(&cell), "mkdir x; ln -s x mise; ln -s x cargo; ln -s x .other").await;
        assert!(exit.swept.is_empty(), "{kind:?}: {:?}", exit.swept);
    }
}

#[tokio::test]
async fn many_links_hide_none() {
    let cell = Cell::new(Kind::Ordinary);
    let script = "mkdir x; echo evil > x/config.toml; for n in $(seq 1100); do mkdir d$n; ln -s ../x d$n/.cargo; done; \
        mkdir -p z/z; ln -s ../../x z/z/.cargo";
    let exit = cell.run_in(long_names(&cell), script).await;
    assert_eq!(exit.code, Some(0), "{}", exit.stderr.text());
    let directories = fs::read_dir(cell.ws("")).unwrap().map(|entry| entry.unwrap().path());
    let left = directories.chain([cell.ws("z/z")]).filter(|at| at.join(".cargo/config.toml").exists());
    assert_eq!(left.count(), 0, "{:?}", exit.swept.len());
}

#[tokio::test]
async fn orders_behind_a_link_of_yours_are_guarded_by_the_whole_name() {
    for kind in ALL {
        for script in [
            "echo evil > conf/cargo/config.toml",
            "rm conf/cargo/config.toml; echo evil > conf/cargo/config.toml",
            "mv conf/cargo old; mkdir conf/cargo; echo evil > conf/cargo/config.toml",
            "mv conf old; mkdir -p conf/cargo; echo evil > conf/cargo/config.toml",
            "rm .cargo; mkdir y; echo evil > y/config.toml; ln -s y .cargo",
            "rm middle; mkdir -p y/cargo; echo evil > y/cargo/config.toml; ln -s y middle",
            "mkdir -p loc/share/systemd; echo evil > loc/share/systemd/unit",
            "echo evil > shared/systemd/unit",
            "mkdir -p conf2/Code/User; echo evil > conf2/Code/User/tasks.json",
            "echo evil > new/config.toml",
            "mkdir later; echo evil > later/config.toml",
        ] {
            let cell = Cell::new(kind);
            for name in
                ["conf/cargo/config.toml", "loc/kept", "shared/systemd/kept", "conf2/kept", "new/kept"]
            {
                cell.file(name, "good\n");
            }
            for (target, name) in [
                ("middle/cargo", ".cargo"),
                ("conf", "middle"),
                ("loc", ".local"),
                ("../shared", "b/loc/share"),
                ("loc", "b/.local"),
                ("conf2", ".config"),
                ("../../new", "deep/er/.cargo"),
                ("../later", "sub/.cargo"),
            ] {
                link(&cell, target, name);
            }
            let exit = cell.run_in(long_names(&cell), script).await;
            for name in [
                ".cargo/config.toml",
                ".local/share/systemd/unit",
                "b/.local/share/systemd/unit",
                ".config/Code/User/tasks.json",
                "deep/er/.cargo/config.toml",
                "sub/.cargo/config.toml",
            ] {
                let text = fs::read_to_string(cell.ws(name)).unwrap_or_default();
                assert!(!text.contains("evil"), "{kind:?}: {script}: {name}: {}", exit.stderr.text());
            }
            for name in ["loc/kept", "shared/systemd/kept", "conf2/kept", "new/kept"] {
                assert!(cell.ws(name).exists(), "{kind:?}: {script}: {name}: {:?}", exit.swept);
            }
        }
    }
}

#[tokio::test]
async fn what_a_person_opened_behind_a_link_is_changed() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        cell.file("conf/config.toml", "old\n");
        link(&cell, "conf", ".cargo");
        let bounds = Bounds { opened: vec![cell.ws(".cargo/config.toml")], ..long_names(&cell) };
        let exit = cell.run_in(bounds, "echo new > conf/config.toml").await;
        let text = fs::read_to_string(cell.ws(".cargo/config.toml")).unwrap();
        assert_eq!(text, "new\n", "{kind:?}: {} {:?}", exit.stderr.text(), exit.swept);
    }
}

/// A directory of orders is behind a link, and in it is one more.
#[tokio::test]
async fn orders_behind_links_in_a_directory_behind_a_link_are_guarded() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let orders = ["one/x.sh", "two/x.json", "three/x.sh"];
        for name in orders {
            cell.file(name, "good\n");
        }
        for (target, name) in [
            ("conf/h", ".husky"),
            ("../../one/x.sh", "conf/h/pre-commit"),
            ("c2", ".config"),
            ("../../../two/x.json", "c2/Code/User/tasks.json"),
            ("../lib", "c2/code"),
            ("../three", "lib/user"),
            ("../..", "conf/h/all"),
        ] {
            link(&cell, target, name);
        }
        cell.file("plain/x", "");
        let script = "for f in one/x.sh two/x.json three/x.sh plain/x; do echo evil > $f; done";
        let exit = cell.run_in(long_names(&cell), script).await;
        for name in orders {
            let text = fs::read_to_string(cell.ws(name)).unwrap();
            assert_eq!(text, "good\n", "{kind:?}: {name}: {}", exit.stderr.text());
        }
        let text = fs::read_to_string(cell.ws("plain/x")).unwrap();
        assert_eq!(text, "evil\n", "{kind:?}: {} {:?}", exit.stderr.text(), exit.swept);
    }
}

#[tokio::test]
async fn hooks_behind_links_are_guarded() {
    for kind in ALL {
        let cell = repository(kind);
        for name in ["githooks/pre-commit", "sc/pc.sh", "sub/hk/pre-commit", "inf/attributes"] {
            cell.file(name, "good\n");
        }
        git(&cell, "", &["init", "-q", "sub"]);
        for name in [".git/hooks", ".git/info", "sub/.git/hooks"] {
            let _ = fs::remove_dir_all(cell.ws(name));
        }
        link(&cell, "../githooks", ".git/hooks");
        link(&cell, "../inf", ".git/info");
        link(&cell, "../hk", "sub/.git/hooks");
        link(&cell, "../sc/pc.sh", "gh/pre-commit");
        link(&cell, "../sc/missing.sh", "gh/post-commit");
        git(&cell, "", &["config", "core.hooksPath", "gh"]);
        give_all(&cell, &cell.ws(".git"));
        give_all(&cell, &cell.ws("sub"));
        let script = "for f in githooks/pre-commit sc/pc.sh sub/hk/pre-commit inf/attributes sc/missing.sh; do \
            echo bad > $f; done";
        let exit = cell.run_in(bounds(&cell), script).await;
        for name in ["githooks/pre-commit", "sc/pc.sh", "sub/hk/pre-commit", "inf/attributes"] {
            let text = fs::read_to_string(cell.ws(name)).unwrap();
            assert_eq!(text, "good\n", "{kind:?}: {name}: {}", exit.stderr.text());
        }
        assert!(!cell.ws("sc/missing.sh").exists(), "{kind:?}: {:?}", exit.swept);
    }
}
