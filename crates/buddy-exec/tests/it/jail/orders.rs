//! Names that programs take orders from, in any directory: asserted by running the programs afterwards.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use buddy_exec::{Bounds, Exec, Reach, SweepNote, UnseenReason};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};
use crate::stage::PATIENCE;

const NAMES: &[&str] = &[
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/gitdir",
    ".git/hooks",
    ".git/info/attributes",
    ".git/objects/info/alternates",
    ".git/remotes",
    ".gitconfig",
    ".husky",
    ".claude",
    ".vscode",
    ".envrc",
    ".cargo/config.toml",
];

pub(super) fn bounds(cell: &Cell) -> Bounds {
    Bounds { guarded_names: NameSet::trees(NAMES.iter().copied()), ..cell.bounds() }
}

/// Runs git as a user would, outside of the jail.
#[expect(clippy::disallowed_methods, reason = "what a user runs is started by no target")]
pub(super) fn git(cell: &Cell, at: &str, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "safe.directory=*", "-C"]).arg(cell.ws(at)).args(words);
    command.env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "n").env(format!("GIT_{role}_EMAIL"), "n@example.org");
    }
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A workspace with a repository that has one commit, and a program that leaves a mark when it runs.
pub(super) fn repository(kind: Kind) -> Cell {
    let cell = Cell::new(kind);
    cell.file("file", "one\n");
    cell.file("evil", &format!("#!/bin/sh\ntouch {}\n", cell.ws("ran").display()));
    fs::set_permissions(cell.ws("evil"), fs::Permissions::from_mode(0o755)).unwrap();
    git(&cell, "", &["init", "-q", "-b", "main"]);
    git(&cell, "", &["add", "."]);
    git(&cell, "", &["commit", "-qm", "one"]);
    give_all(&cell, &cell.ws(".git"));
    cell
}

pub(super) fn give_all(cell: &Cell, path: &Path) {
    cell.give(path);
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_all(cell, &entry.unwrap().path());
        }
    }
}

/// What may run later in a repository: everything that git does by itself, here and in the directories below.
pub(super) fn use_git(cell: &Cell) {
    for at in ["", "sub", "bare", "deep/er"] {
        if cell.ws(at).is_dir() {
            for words in [&["status"][..], &["add", "."], &["diff"], &["log", "-p"], &["checkout", "-q", "."]]
            {
                git(cell, at, words);
            }
        }
    }
}

const PLANTS: &[&str] = &[
    // Settings from elsewhere.
    "mkdir other; cp -r .git/. other/; git config -f other/config core.fsmonitor $WS/evil; echo ../other > .git/commondir",
    "git config core.fsmonitor $WS/evil",
    "git config -f .git/config.worktree core.fsmonitor $WS/evil; git config extensions.worktreeConfig true",
    // Hooks.
    "cp evil .git/hooks/post-index-change; cp evil .git/hooks/post-checkout",
    "mv .git/hooks .git/gone; mkdir .git/hooks; cp evil .git/hooks/post-index-change",
    "mv .git .gone; cp -r .gone .git; git config core.fsmonitor $WS/evil",
    // Nested repositories.
    "git init -q sub; git -C sub config core.fsmonitor $WS/evil",
    "git init -q sub; cp evil sub/.git/hooks/post-index-change",
    "git init -q sub; git init -q other; git -C other config core.fsmonitor $WS/evil; rm -rf sub/.git; \
     echo gitdir: ../other/.git > sub/.git; touch sub/x",
    "mkdir -p deep; git init -q deep/er; printf '[include]\\n path = ../../../inc\\n' >> deep/er/.git/config; \
     printf '[core]\\n fsmonitor = %s\\n' $WS/evil > inc",
    "git init -q --bare bare; git -C bare config core.bare false; git -C bare config core.fsmonitor $WS/evil; \
     git -C bare config core.worktree $WS",
    "git init -q sub; mkdir t; git init -q /tmp/buddy-orders-$$; git -C /tmp/buddy-orders-$$ config core.fsmonitor $WS/evil; \
     rm -rf sub/.git; echo gitdir: /tmp/buddy-orders-$$/.git > sub/.git",
    "git worktree add -q sub -b other; git config -f .git/worktrees/sub/config.worktree core.fsmonitor $WS/evil; \
     printf $WS/evilcommon > .git/worktrees/sub/commondir; cp -r .git evilcommon; \
     git config -f evilcommon/config core.fsmonitor $WS/evil",
    // Directories that cannot be listed, entered or written.
    "mkdir -p deep; git init -q deep/er; git -C deep/er config core.fsmonitor $WS/evil; \
     cp evil deep/er/.git/hooks/post-index-change; chmod 311 deep deep/er/.git deep/er/.git/hooks",
    "mkdir -p deep; git init -q deep/er; git -C deep/er config core.fsmonitor $WS/evil; chmod 111 deep deep/er deep/er/.git",
    "mkdir -p deep; git init -q deep/er; git -C deep/er config core.fsmonitor $WS/evil; \
     cp evil deep/er/.git/hooks/post-index-change; chmod 0 deep/er/.git/hooks deep/er/.git deep/er deep",
    "git init -q sub; cp evil sub/.git/hooks/post-index-change; chmod 555 sub/.git/hooks sub/.git",
    // Directories that only look like the own directory of a repository.
    "mkdir objects refs; echo ref: refs/heads/main > HEAD; git init -q sub; git -C sub config core.fsmonitor $WS/evil",
    "mkdir -p deep/objects deep/refs; echo x > deep/HEAD; git init -q deep/er; cp evil deep/er/.git/hooks/post-index-change",
    "mkdir -p deep; echo x > deep/HEAD; echo x > deep/commondir; git init -q deep/er; git -C deep/er config core.fsmonitor $WS/evil",
];

#[tokio::test]
async fn nothing_that_a_command_plants_runs_at_the_next_git() {
    for kind in ALL {
        for script in PLANTS {
            let cell = repository(kind);
            cell.run_in(bounds(&cell), &format!("export HOME=/nonexistent; {script}")).await;
            let _ = fs::remove_file(cell.ws("ran"));
            use_git(&cell);
            assert!(!cell.ws("ran").exists(), "{kind:?}: {script}");
            assert_eq!(git(&cell, "", &["log", "--format=%s"]), "one\n", "{kind:?}: {script}");
        }
    }
}

/// Two commands: the first makes another name for a file that git takes orders from, the second writes through that name.
#[tokio::test]
async fn another_name_of_a_file_is_guarded_like_the_file() {
    let config = "printf '[core]\\n fsmonitor = %s\\n' $WS/evil";
    let script = "cat evil >";
    let steps = [
        ("git init -q sub; ln sub/.git/config alias", format!("{config} >> alias")),
        (
            "git init -q sub; ln sub/.git/config alias",
            format!("{config} > sub/x; mv sub/x moved; cat moved >> alias"),
        ),
        (
            "git init -q sub; echo : > sub/.git/hooks/post-index-change.sample; \
             ln sub/.git/hooks/post-index-change.sample alias",
            format!(
                "{script} alias; chmod 755 alias; mv sub/.git/hooks/post-index-change.sample sub/.git/hooks/post-index-change"
            ),
        ),
    ];
    for kind in ALL {
        for (first, second) in &steps {
            let cell = repository(kind);
            for command in [*first, second.as_str()] {
                cell.run_in(bounds(&cell), &format!("export HOME=/nonexistent; {command}")).await;
            }
            use_git(&cell);
            assert!(!cell.ws("ran").exists(), "{kind:?}: {first}: {second}");
        }
        // It was there before.
        let cell = repository(kind);
        fs::hard_link(cell.ws(".git/config"), cell.ws("alias")).unwrap();
        cell.run_in(bounds(&cell), &format!("{config} >> alias")).await;
        use_git(&cell);
        assert!(!cell.ws("ran").exists(), "{kind:?}");
        // The kernel guards it where the command runs, and the sweep elsewhere.
        let cell = repository(kind);
        cell.file("a/.envrc", "echo hello\n");
        fs::hard_link(cell.ws("a/.envrc"), cell.ws("alias")).unwrap();
        let exec = cell.exec(bounds(&cell), "echo planted > ../alias");
        cell.stage.run(Exec { cwd: cell.ws("a"), ..exec }).await;
        assert_eq!(fs::read_to_string(cell.ws("a/.envrc")).unwrap(), "echo hello\n", "{kind:?}");
    }
}

/// Two commands: the first plants a file where no search reaches, the second brings it up.
#[tokio::test]
async fn nothing_comes_up_from_where_nobody_looked() {
    let deep = "d=$(printf 'e/%.0s' $(seq 80)); mkdir -p D/$d; cd D/$d";
    let plant = "git init -q n; git -C n config core.fsmonitor $WS/evil; mkdir m; echo planted > m/.envrc";
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        cell.run_in(bounds(&cell), &format!("export HOME=/nonexistent; {deep}; {plant}")).await;
        cell.run_in(bounds(&cell), &format!("{deep}; mv n $WS/sub; mv m $WS/m")).await;
        use_git(&cell);
        assert!(!cell.ws("ran").exists() && !cell.ws("m/.envrc").exists(), "{kind:?}");
        // It was there before.
        let cell = repository(kind);
        let there = cell.ws("D").join("e/".repeat(80)).join("m");
        fs::create_dir_all(&there).unwrap();
        fs::write(there.join(".envrc"), "planted\n").unwrap();
        give_all(&cell, &cell.ws("D"));
        cell.run_in(bounds(&cell), &format!("{deep}; mv m $WS/m")).await;
        assert!(!cell.ws("m/.envrc").exists(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_hook_that_does_not_run_cannot_be_made_to() {
    for kind in ALL {
        let cell = repository(kind);
        let (hook, other) = (cell.ws(".git/hooks/post-index-change"), cell.ws(".git/hooks/pre-push"));
        for (path, mode) in [(&hook, 0o644), (&other, 0o755)] {
            fs::copy(cell.ws("evil"), path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            cell.give(path);
        }
        cell.run_in(bounds(&cell), "chmod 755 .git/hooks/post-index-change; chmod 644 .git/hooks/pre-push")
            .await;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&hook), mode(&other)), (0o644, 0o755), "{kind:?}");
        use_git(&cell);
        assert!(!cell.ws("ran").exists(), "{kind:?}");
    }
}

/// A file that is too large to be kept is guarded by the kernel, in any directory.
#[tokio::test]
async fn a_large_file_that_programs_take_orders_from_keeps_its_content() {
    for kind in ALL {
        let cell = repository(kind);
        let large = "#\n".repeat(300 * 1024);
        cell.file("a/b/.envrc", &large);
        cell.run_in(bounds(&cell), "echo planted >> a/b/.envrc; mv a/b/.envrc c; rm -f a/b/.envrc").await;
        assert!(fs::read_to_string(cell.ws("a/b/.envrc")).unwrap() == large, "{kind:?}");
    }
}

#[tokio::test]
async fn new_files_at_guarded_names_are_in_quarantine_at_the_end() {
    for kind in WITH_MOUNTS {
        for name in [
            ".husky/pre-commit",
            ".envrc",
            ".vscode/tasks.json",
            ".claude/settings.json",
            "a/b/.ENVRC",
            "new/.cargo/config.toml",
        ] {
            let cell = repository(kind);
            let script = format!("mkdir -p $(dirname {name}); echo planted > {name}; echo kept > beside");
            let exit = cell.run_in(bounds(&cell), &script).await;
            assert!(!cell.ws(name).exists(), "{kind:?}: {name}");
            assert_eq!(cell.stage.swept(), ["planted\n"], "{kind:?}: {name}");
            assert!(cell.ws("beside").exists());
            let told: Vec<_> = exit.swept.iter().map(|note| note.moved().unwrap().from.clone()).collect();
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(
                cell.ws(name).starts_with(&told[0])
                    && exit.swept[0].moved().unwrap().to.as_ref().unwrap().exists()
            );
        }
    }
}

#[tokio::test]
async fn closed_directories_keep_nothing_in_place_and_keep_their_mode() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        cell.file("known/.vscode/settings.json", "good\n");
        let script = "mkdir -p a/b c/.vscode; echo planted > a/b/.envrc; echo planted > c/.vscode/tasks.json; \
            mkdir c/.vscode/inner; chmod 0 c/.vscode/inner; echo bad > known/.vscode/settings.json; \
            chmod 0 a/b; chmod 311 a; chmod 500 c; chmod 100 c/.vscode; chmod 111 known known/.vscode";
        let exit = cell.run_in(bounds(&cell), script).await;
        assert!(!cell.ws("a/b/.envrc").exists() && !cell.ws("c/.vscode").exists(), "{kind:?}");
        assert_eq!(fs::read_to_string(cell.ws("known/.vscode/settings.json")).unwrap(), "good\n", "{kind:?}");
        assert_eq!(cell.stage.swept(), ["bad\n", "planted\n", "planted\n"], "{kind:?}: {:?}", exit.swept);
        for (name, mode) in
            [("a", 0o311), ("a/b", 0), ("c", 0o500), ("known", 0o111), ("known/.vscode", 0o111)]
        {
            let found = fs::metadata(cell.ws(name)).unwrap().permissions().mode() & 0o7777;
            assert_eq!(found, mode, "{kind:?}: {name}");
        }
    }
}

/// Settings of the user's own that name files in the workspace, and the changes that a command
/// makes to them.
const NAMED: &[(&str, &str)] = &[
    (
        "core.hooksPath=scripts/hooks",
        "cp evil scripts/hooks/post-index-change; cp evil scripts/hooks/post-checkout",
    ),
    ("core.hooksPath=new/hooks", "mkdir -p new/hooks; cp evil new/hooks/post-index-change"),
    ("core.hooksPath=link/hooks", "cp evil link/hooks/post-index-change"),
    (
        "core.hooksPath=link/hooks",
        "rm link; mkdir -p other/hooks; cp evil other/hooks/post-index-change; ln -s other link",
    ),
    ("core.hooksPath=link/hooks", "rm link; mkdir -p link/hooks; cp evil link/hooks/post-index-change"),
    ("core.hooksPath=.", "cp evil post-index-change; cp evil post-checkout"),
    (
        "core.hooksPath=scripts/hooks",
        "mv scripts gone; mkdir -p scripts/hooks; cp evil scripts/hooks/post-index-change",
    ),
    ("core.fsmonitor=scripts/watch", "cp evil scripts/watch"),
    (
        "core.fsmonitor=scripts/watch",
        "rm scripts/watch; cp evil scripts/watch; mv scripts/watch x; mv x scripts/watch",
    ),
    ("include.path=../more", "printf '[core]\\n fsmonitor = %s\\n' $WS/evil > more"),
    ("includeIf.gitdir:**.path=../none", "printf '[core]\\n fsmonitor = %s\\n' $WS/evil > none"),
    (
        "filter.f.clean=sh scripts/watch",
        "echo '* filter=f' > .gitattributes; cp evil scripts/watch; echo x >> file",
    ),
    ("alias.x=!scripts/watch", "cp evil scripts/watch"),
];

#[tokio::test]
async fn files_named_by_git_settings_are_guarded() {
    for kind in ALL {
        for (setting, script) in NAMED {
            let cell = repository(kind);
            for name in ["scripts/hooks/post-merge", "scripts/watch", "more", "target/hooks/post-merge"] {
                cell.file(name, "");
            }
            fs::set_permissions(cell.ws("scripts/watch"), fs::Permissions::from_mode(0o755)).unwrap();
            std::os::unix::fs::symlink("target", cell.ws("link")).unwrap();
            let (key, value) = setting.split_once('=').unwrap();
            git(&cell, "", &["config", key, value]);
            give_all(&cell, &cell.ws(".git/config"));
            cell.run_in(bounds(&cell), &format!("export HOME=/nonexistent; {script}")).await;
            let _ = fs::remove_file(cell.ws("ran"));
            use_git(&cell);
            git(&cell, "", &["x"]);
            assert!(!cell.ws("ran").exists(), "{kind:?}: {setting}: {script}");
        }
    }
}

/// A place that everybody writes, beside the workspace. Not where other tests run commands that may sweep it.
fn shared(cell: &Cell) -> (tempfile::TempDir, Bounds) {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let write = Reach::Beneath(vec![cell.ws(""), place.path().to_owned()]);
    (place, Bounds { write, ..bounds(cell) })
}

#[tokio::test]
async fn places_that_everybody_writes_are_swept_when_a_command_has_ended() {
    for kind in ALL {
        let cell = repository(kind);
        let (place, bounds) = shared(&cell);
        let top = place.path().to_str().unwrap();
        fs::create_dir(cell.ws("linked")).unwrap();
        cell.give(&cell.ws("linked"));
        git(&cell, "", &["init", "-q", &format!("{top}/known")]);
        let known = place.path().join("known/.git");
        fs::create_dir_all(known.join("hooks")).unwrap();
        fs::write(known.join("hooks/post-merge"), "mine\n").unwrap();
        fs::create_dir(place.path().join("known/own")).unwrap();
        fs::write(place.path().join("known/own/post-commit"), "mine\n").unwrap();
        git(&cell, &format!("{top}/known"), &["config", "core.hooksPath", "own"]);
        give_all(&cell, &place.path().join("known"));
        std::os::unix::fs::symlink(place.path().join("known"), cell.ws("linked/known")).unwrap();
        let script = format!(
            "export HOME=/nonexistent; cd {top}; git init -q x; git -C x config core.fsmonitor $WS/evil; \
             cp $WS/evil x/.git/hooks/post-index-change; mkdir .cargo y; echo planted > .envrc; echo p > .cargo/config.toml; \
             echo kept > y/.envrc; git init -q .; git config core.fsmonitor $WS/evil; chmod 311 x; \
             echo bad > known/.git/hooks/post-merge; git -C known config core.fsmonitor $WS/evil; \
             mkdir z; echo planted > z/.envrc; ln -s {top}/z $WS/linked/z; ln -s {top}/x $WS/linked/x; ls x/.git/hooks/post-index-change; \
             git init -q other; git -C other config core.fsmonitor mine; \
             echo bad > known/own/post-commit; git -C $WS worktree add -q {top}/tree -b t"
        );
        let exit = cell.run_in(bounds, &script).await;
        assert!(exit.stdout.text().contains("post-index-change"), "{kind:?}: {}", exit.stderr.text());
        let _ = fs::remove_file(cell.ws("ran"));
        for at in ["x", "y", "known"] {
            git(&cell, place.path().join(at).to_str().unwrap(), &["status"]);
            git(&cell, place.path().join(at).to_str().unwrap(), &["add", "."]);
        }
        assert!(!cell.ws("ran").exists(), "{kind:?}");
        for name in [".envrc", ".cargo/config.toml", "z/.envrc"] {
            assert!(!place.path().join(name).exists(), "{kind:?}: {name}");
        }
        assert_eq!(fs::read_to_string(known.join("hooks/post-merge")).unwrap(), "mine\n", "{kind:?}");
        assert_eq!(fs::read_to_string(place.path().join("y/.envrc")).unwrap(), "kept\n", "{kind:?}");
        assert!(place.path().join("x/.git/HEAD").exists(), "{kind:?}");
        let other = fs::read_to_string(place.path().join("other/.git/config")).unwrap();
        assert!(other.contains("fsmonitor = mine"), "{kind:?}: it may be another program's: {other}");
        assert_eq!(
            fs::read_to_string(place.path().join("known/own/post-commit")).unwrap(),
            "mine\n",
            "{kind:?}"
        );
        if WITH_MOUNTS.contains(&kind) {
            let tree = git(&cell, &format!("{top}/tree"), &["status"]);
            assert!(tree.contains("On branch t"), "{kind:?}: a work tree stays: {tree}");
        }
    }
}

#[tokio::test]
async fn targets_of_links_to_orders_are_guarded() {
    for kind in ALL {
        let cell = repository(kind);
        for name in ["scripts/pre-commit", "dotfiles/gitconfig", "cfg/envrc"] {
            cell.file(name, "good\n");
        }
        fs::create_dir_all(cell.ws(".git/hooks")).unwrap();
        fs::create_dir_all(cell.ws("deep/er")).unwrap();
        for (target, link) in [
            ("../../scripts/pre-commit", cell.ws(".git/hooks/pre-commit")),
            ("../../scripts/missing", cell.ws(".git/hooks/post-commit")),
            ("../../cfg/envrc", cell.ws("deep/er/.envrc")),
        ] {
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        for name in [".git/hooks", "deep", "deep/er"] {
            cell.give(&cell.ws(name));
        }
        let home = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(cell.ws("dotfiles/gitconfig"), home.path().join(".gitconfig")).unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let script = "for f in scripts/pre-commit scripts/missing dotfiles/gitconfig cfg/envrc; do echo bad > $f; done; \
             mkdir -p .git/remotes .git/rebase-merge; echo x > .git/remotes/origin; echo x > .git/rebase-merge/strategy";
        let mut exec = cell.exec(bounds(&cell), script);
        exec.env.retain(|(name, _)| name != "HOME");
        exec.env.push(("HOME".to_owned(), home.path().to_str().unwrap().to_owned()));
        let exit = cell.stage.run(exec).await;
        for name in ["scripts/pre-commit", "dotfiles/gitconfig", "cfg/envrc"] {
            let text = fs::read_to_string(cell.ws(name)).unwrap();
            assert_eq!(text, "good\n", "{kind:?}: {name}: {}", exit.stderr.text());
        }
        for name in ["scripts/missing", ".git/remotes/origin", ".git/rebase-merge/strategy"] {
            assert!(!cell.ws(name).exists(), "{kind:?}: {name}: {:?}", exit.swept);
        }
    }
}

#[tokio::test]
async fn a_name_that_is_no_text_is_swept_and_told() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let exit = cell
            .run_in(bounds(&cell), "d=$(printf 'bad\\377'); mkdir $d; echo x > $d/.envrc; echo done")
            .await;
        assert_eq!(exit.stdout.text(), "done\n", "{kind:?}");
        assert!(matches!(&exit.swept[..], [SweepNote::Moved(_)]), "{kind:?}: {:?}", exit.swept);
    }
}

#[tokio::test]
async fn unsearched_directories_are_reported() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let deep = "d/".repeat(70);
        let exit = cell.run_in(bounds(&cell), &format!("mkdir -p {deep}; echo planted > {deep}.envrc")).await;
        assert!(
            matches!(&exit.swept[..], [SweepNote::Unseen(unseen), SweepNote::Moved(moved)]
                if moved.why.contains("deep") && unseen.why == UnseenReason::TooDeep),
            "{:?}",
            exit.swept
        );
        fs::create_dir_all(cell.ws(&deep)).unwrap();
        give_all(&cell, &cell.ws("d"));
        let exit = cell.run_in(bounds(&cell), "rm -r d; mkdir e").await;
        assert!(matches!(&exit.swept[..], [SweepNote::Unseen(_)]), "the state before was not known");
        assert_eq!(cell.run_in(bounds(&cell), "true").await.swept, []);
    }
}

#[tokio::test]
async fn existing_files_keep_their_content() {
    for kind in ALL {
        let cell = repository(kind);
        for name in [".envrc", ".vscode/tasks.json", "deep/in/.envrc", "deep/.vscode/settings.json"] {
            cell.file(name, "good\n");
        }
        cell.run_in(
            bounds(&cell),
            "for f in .envrc .vscode/tasks.json deep/in/.envrc deep/.vscode/settings.json; do echo bad > $f; done; \
             echo bad > deep/.vscode/tasks.json; mv deep/in deep/out; mkdir deep/in; echo bad > deep/in/.envrc",
        )
        .await;
        for name in [".envrc", ".vscode/tasks.json", "deep/in/.envrc", "deep/.vscode/settings.json"] {
            assert_eq!(fs::read_to_string(cell.ws(name)).unwrap(), "good\n", "{kind:?}: {name}");
        }
        assert!(!cell.ws("deep/.vscode/tasks.json").exists(), "{kind:?}");
    }
}

#[tokio::test]
async fn ordinary_work_with_git_goes_on() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let script = "set -e; export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n \
            GIT_COMMITTER_EMAIL=e; \
            echo two > file; git add file; git commit -qm two; git branch side HEAD~; git stash list; \
            echo three > file; git stash -q; git stash pop -q; git checkout -q file; git checkout -q side; \
            echo s > s; git add s; git commit -qm s; git rebase -q main; git checkout -q main; git merge -q side; \
            git init -q sub; git -C sub status -s; git clone -q . copy; git -C copy fetch -q; git -C copy log --format=%s; \
            git worktree add -q tree -b t; git -C tree status -s; git gc -q; git fsck; rm -rf sub; mkdir d; mv d e";
        let exit = cell.run_in(bounds(&cell), script).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}{}", exit.stdout.text(), exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
        assert_eq!(git(&cell, "copy", &["log", "--format=%s"]), "s\ntwo\none\n", "{kind:?}");
        assert!(git(&cell, "tree", &["status"]).contains("On branch t"), "{kind:?}");
    }
}

/// Everything in a directory but the contents of `.git`.
fn work_tree(cell: &Cell) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(cell.ws(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn nothing_of_ours_is_in_the_work_tree_while_a_command_runs_and_after_it_was_killed() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let before = work_tree(&cell);
        let running = cell.stage.start_ready(cell.exec(bounds(&cell), "echo ready; sleep 1000")).await;
        assert_eq!(work_tree(&cell), before, "{kind:?}");
        assert_eq!(git(&cell, "", &["status", "-s"]), "", "{kind:?}");
        drop(running);
        let gone = Instant::now() + PATIENCE;
        while cell.ws(".git/commondir").exists() && Instant::now() < gone {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(!cell.ws(".git/commondir").exists(), "{kind:?}");
        // Files that a killed supervisor leaves.
        fs::write(cell.ws(".git/commondir"), ".\n").unwrap();
        cell.give(&cell.ws(".git/commondir"));
        fs::create_dir(cell.ws(".husky")).unwrap();
        fs::set_permissions(cell.ws(".husky"), fs::Permissions::from_mode(0o1555)).unwrap();
        cell.give(&cell.ws(".husky"));
        fs::set_permissions(cell.ws(".husky"), fs::Permissions::from_mode(0o1555)).unwrap();
        assert_eq!(git(&cell, "", &["status", "-s"]), "", "{kind:?}");
        cell.run_in(bounds(&cell), "true").await;
        assert_eq!(work_tree(&cell), before, "{kind:?}: the next one cleans up");
        assert!(!cell.ws(".git/commondir").exists(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_command_that_runs_on_is_swept_meanwhile() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let script = "echo planted > .envrc; echo ready; while :; do sleep 0.05; done";
        let mut running = cell.stage.start_ready(cell.exec(bounds(&cell), script)).await;
        let end = Instant::now() + PATIENCE;
        while cell.ws(".envrc").exists() {
            assert!(Instant::now() < end, "{kind:?}: never swept");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        running.stop();
        let exit = running.wait().await.unwrap();
        assert_eq!(exit.swept.len(), 1, "{kind:?}");
        assert_eq!(cell.stage.swept(), ["planted\n"], "{kind:?}");
    }
}

/// The one that ends first must not take the protection of the other away.
#[tokio::test]
async fn two_commands_at_once_guard_the_same_missing_names() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let waits = "echo ready; while ! [ -e go ]; do sleep 0.02; done; echo /tmp > .git/commondir; cat .git/commondir";
        let mut slow = cell.stage.start_ready(cell.exec(bounds(&cell), waits)).await;
        cell.run_in(bounds(&cell), "true").await;
        assert!(cell.ws(".git/commondir").exists(), "{kind:?}: the name is still held");
        cell.run_in(bounds(&cell), "touch go").await;
        let exit = slow.wait().await.unwrap();
        assert_eq!(exit.stdout.text(), "ready\n.\n", "{kind:?}");
        assert!(!cell.ws(".git/commondir").exists(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_rebase_that_waits_runs_no_program_later() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let script = "mkdir -p .git/rebase-merge; printf 'exec %s\\npick x\\n' $WS/evil > .git/rebase-merge/git-rebase-todo";
        cell.run_in(bounds(&cell), script).await;
        let todo = fs::read_to_string(cell.ws(".git/rebase-merge/git-rebase-todo")).unwrap();
        assert_eq!(todo, "pick x\n", "{kind:?}");
    }
}

/// A strategy that git does not know is a program, also one that stands in the work tree.
#[tokio::test]
async fn a_cherry_pick_that_waits_runs_no_program_later() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let script = "mkdir -p .git/sequencer; printf '[options]\\n\\tedit = true\\n\\tstrategy = x/evil\\n' > .git/sequencer/opts";
        let exit = cell.run_in(bounds(&cell), script).await;
        let options = fs::read_to_string(cell.ws(".git/sequencer/opts")).unwrap();
        assert_eq!(options, "[options]\n\tedit = true\n", "{kind:?}");
        assert_eq!(exit.swept.len(), 1, "{kind:?}: {:?}", exit.swept);
    }
}

#[tokio::test]
async fn steps_that_wait_are_not_behind_a_link() {
    for kind in WITH_MOUNTS {
        for name in ["rebase-merge", "rebase-apply", "sequencer"] {
            let cell = repository(kind);
            let script = format!("mkdir st; echo 'x evil' > st/git-rebase-todo; ln -s ../st .git/{name}");
            cell.run_in(bounds(&cell), &script).await;
            assert!(fs::symlink_metadata(cell.ws(&format!(".git/{name}"))).is_err(), "{kind:?} {name}");
        }
    }
}

/// A yes to `.vscode/tasks.json` opens that file, and nothing beside it.
#[tokio::test]
async fn what_a_person_opened_stays_and_nothing_else() {
    for kind in WITH_MOUNTS {
        for is_there in [false, true] {
            for at in ["", "app/", "new/er/"] {
                let cell = Cell::new(kind);
                let name = |name: &str| format!("{at}.vscode/{name}");
                if is_there {
                    cell.file(&name("tasks.json"), "old\n");
                    cell.file(&name("settings.json"), "old\n");
                }
                let mut bounds = bounds(&cell);
                bounds.opened = vec![cell.ws(&name("tasks.json"))];
                let only = format!("mkdir -p {at}.vscode; echo new > {}", name("tasks.json"));
                let exit = cell.run_in(bounds.clone(), &only).await;
                assert_eq!(exit.swept, [], "{kind:?} {is_there} {at}");
                let text = |file: &str| fs::read_to_string(cell.ws(&name(file))).unwrap_or_default();
                assert_eq!(text("tasks.json"), "new\n", "{kind:?} {is_there} {at}: {}", exit.stderr.text());
                let more = format!("echo x > {}; echo x > {}", name("settings.json"), name("launch.json"));
                cell.run_in(bounds, &more).await;
                let old = if is_there { "old\n" } else { "" };
                assert_eq!(
                    (text("settings.json"), text("launch.json")),
                    (old.into(), String::new()),
                    "{kind:?} {at}"
                );
                assert_eq!(text("tasks.json"), "new\n", "{kind:?} {is_there} {at}");
            }
        }
    }
}

/// More files than are compared one by one, in a directory that programs take orders from.
const MANY: usize = 5000;

fn fill(cell: &Cell, at: &str) {
    fs::create_dir_all(cell.ws(at)).unwrap();
    for number in 0..MANY {
        fs::write(cell.ws(at).join(format!("f{number:05}")), "kept\n").unwrap();
    }
    give_all(cell, &cell.ws(at));
}

fn evil_files(cell: &Cell, at: &str) -> usize {
    let entries = fs::read_dir(cell.ws(at)).into_iter().flatten().flatten();
    entries.filter(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text == "evil\n")).count()
}

#[tokio::test]
async fn no_file_of_a_large_directory_of_orders_is_changed_and_the_result_says_that_it_is_large() {
    for kind in ALL {
        for at in [".git/hooks", ".husky", "deep/er/.husky"] {
            let cell = repository(kind);
            fill(&cell, at);
            let script =
                format!("for f in {at}/*; do echo evil > $f; done 2>/dev/null; echo evil > {at}/new");
            let exit = cell.run_in(bounds(&cell), &script).await;
            assert_eq!(evil_files(&cell, at), 0, "{kind:?} {at}");
            let is_told = exit.swept.iter().any(|note| matches!(note, SweepNote::Unseen(_)));
            assert!(is_told, "{kind:?} {at}: {:?}", exit.swept);
        }
    }
}

#[tokio::test]
async fn a_directory_of_orders_that_a_command_fills_goes_and_its_old_files_come_back() {
    for kind in ALL {
        let cell = repository(kind);
        cell.file("deep/er/.husky/sub/old", "kept\n");
        give_all(&cell, &cell.ws("deep"));
        let script = format!(
            "cd deep/er/.husky; seq -f f%g {MANY} | xargs touch; cp f1 sub/new; echo evil > sub/old; \
                      mkdir ../../../new; cd ../../../new; git init -q; seq -f .git/hooks/f%g {MANY} | xargs touch"
        );
        let exit = cell.run_in(bounds(&cell), &script).await;
        let left: Vec<_> = fs::read_dir(cell.ws("deep/er/.husky"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(left, ["sub"], "{kind:?}: {:?}", exit.swept);
        assert_eq!(fs::read_to_string(cell.ws("deep/er/.husky/sub/old")).unwrap(), "kept\n");
        assert!(!cell.ws("deep/er/.husky/sub/new").exists());
        let hooks = fs::read_dir(cell.ws("new/.git/hooks")).map_or(0, Iterator::count);
        assert_eq!(hooks, 0, "{kind:?}: {:?}", exit.swept);
    }
}
