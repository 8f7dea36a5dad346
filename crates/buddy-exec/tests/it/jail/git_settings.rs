//! Settings of git that commands change: harmless ones are kept, and others never get into the file.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use super::cell::{Cell, Kind, WITH_MOUNTS};
use super::orders::{bounds, git, give_all, repository, use_git};
use crate::stage::PATIENCE;

fn settings(cell: &Cell) -> String {
    fs::read_to_string(cell.ws(".git/config")).unwrap()
}

/// A repository with a remote.
fn cloned(kind: Kind) -> Cell {
    let cell = repository(kind);
    for words in [
        &["init", "-q", "--bare", "-b", "main", "there.git"][..],
        &["remote", "add", "origin", "./there.git"],
        &["push", "-q", "-u", "origin", "main"],
    ] {
        git(&cell, "", words);
    }
    for name in [".git", "there.git"] {
        give_all(&cell, &cell.ws(name));
    }
    cell
}

const HOME: &str = "export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@e; ";

#[tokio::test]
async fn ordinary_settings_are_kept() {
    for kind in WITH_MOUNTS {
        let cell = cloned(kind);
        let before = fs::metadata(cell.ws(".git/config")).unwrap();
        for (script, expected) in [
            ("git config user.name 'A B'", "name = A B"),
            ("git config --unset user.name && git config user.email a@example.org", "email = a@example.org"),
            ("git remote add up https://b.example/x.git", "[remote \"up\"]\n\turl = https://b.example/x.git"),
            ("git remote set-branches --add up dev", "+refs/heads/dev:refs/remotes/up/dev"),
            (
                "git checkout -q -b topic && git branch -u origin/main",
                "[branch \"topic\"]\n\tremote = origin",
            ),
            ("git checkout -q -b more --track origin/main && git branch -m more other", "[branch \"other\"]"),
            ("git checkout -q -b gone --track origin/main && git checkout -q main && git branch -d gone", ""),
            ("git fetch -q origin && git init -q . && git push -q origin other", ""),
            ("git config pull.rebase true", "rebase = true"),
        ] {
            let exit = cell.run_in(bounds(&cell), &format!("{HOME}{script}")).await;
            assert_eq!(exit.code, Some(0), "{kind:?} {script}: {} {:?}", exit.stderr.text(), exit.swept);
            assert!(settings(&cell).contains(expected), "{kind:?} {script}: {}", settings(&cell));
            assert!(exit.swept.is_empty(), "{kind:?} {script}: {:?}", exit.swept);
        }
        let after = fs::metadata(cell.ws(".git/config")).unwrap();
        assert_eq!(before.ino(), after.ino(), "the file that a mount guards is the same");
        assert!(!cell.ws(".git/config.lock").exists());
        assert_eq!(git(&cell, "", &["config", "user.email"]), "a@example.org\n");
    }
}

#[tokio::test]
async fn further_repositories_and_work_trees_work() {
    for kind in WITH_MOUNTS {
        let cell = cloned(kind);
        for (script, at) in [
            (
                "git init -q new && cd new && git config user.name n && git commit -q --allow-empty -m one",
                "new",
            ),
            (
                "git worktree add -q tree -b side && cd tree && git commit -q --allow-empty -m one && git config user.name n",
                "tree",
            ),
            (
                "git clone -q ./there.git copy && cd copy && git remote add up ../there.git && git fetch -q up",
                "copy",
            ),
            (
                "git -c protocol.file.allow=always submodule add -q $WS/there.git part && cd part && git status",
                "part",
            ),
        ] {
            let exit = cell.run_in(bounds(&cell), &format!("{HOME}{script}")).await;
            assert_eq!(exit.code, Some(0), "{kind:?} {script}: {}", exit.stderr.text());
            assert_eq!(exit.swept, [], "{kind:?} {script}");
            assert!(git(&cell, at, &["log", "--format=%s"]).starts_with("one\n"), "{kind:?} {script}");
            let exit = cell
                .run_in(bounds(&cell), &format!("cd {at}; {HOME} git status && git config user.email x@y"))
                .await;
            assert_eq!(exit.code, Some(0), "{kind:?} {script}: {}", exit.stderr.text());
        }
    }
}

/// Each of these would run `evil` at some call of git, or change where git goes.
const PLANTS: &[&str] = &[
    "git config core.fsmonitor $WS/evil",
    "git config core.hooksPath $WS/hooks; mkdir hooks; cp evil hooks/post-index-change",
    "git config alias.status '!./evil'",
    "git config diff.external $WS/evil",
    "git config core.pager $WS/evil",
    "git config filter.x.clean $WS/evil; git config filter.x.required true; echo '* filter=x' > .gitattributes",
    "git config include.path $WS/inc; printf '[core]\\n fsmonitor = %s\\n' $WS/evil > inc",
    "git config includeIf.gitdir:/.path $WS/inc; printf '[core]\\n fsmonitor = %s\\n' $WS/evil > inc",
    "git remote set-url origin https://e.example/",
    "git remote set-url --push origin https://e.example/",
    "git remote remove origin",
    "git config remote.origin.uploadpack $WS/evil",
    "git config remote.origin.vcs x",
    "git config branch.main.remote https://e.example/",
    "git remote add up https://e2.example/ && git config --unset branch.main.remote && git config branch.main.remote up",
    "git config branch.main.pushRemote up",
    "git config url.https://e.example/.insteadOf ./there",
    "git config remote.up.url 'ext::sh -c ./evil'",
    "git config core.worktree /",
    "git config core.sshCommand $WS/evil",
    "echo '[core]' > x; echo ' fsmonitor = '$WS/evil >> x; cat x >> .git/config; cp x .git/config; mv x .git/config",
    "cp .git/config .git/config.lock; git config -f .git/config.lock core.fsmonitor $WS/evil; mv .git/config.lock .git/config",
    "cp .git/config x; git config -f x core.fsmonitor $WS/evil; ln -s ../x .git/config.lock; mv -f .git/config.lock .git/config",
    "cp .git/config x; git config -f x core.fsmonitor $WS/evil; ln x .git/config.lock; mv -f .git/config.lock .git/config",
    "cp .git/config .git/config.lock; printf '[core]\\\\\\n fsmonitor = %s\\n' $WS/evil >> .git/config.lock; mv .git/config.lock .git/config",
    "cp .git/config .git/config.lock; printf '[user] name = a\\r[core]\\r fsmonitor = %s\\n' $WS/evil >> .git/config.lock; mv .git/config.lock .git/config",
    "head -c 2000000 /dev/zero | tr '\\0' '#' > .git/config.lock; printf '\\n[core]\\n fsmonitor = %s\\n' $WS/evil >> .git/config.lock; mv .git/config.lock .git/config",
    "mkdir -p other/.git; mv other/.git .git/other; git config -f .git/other/config core.fsmonitor $WS/evil",
    "mv .git gone; mkdir .git; cp -r gone/. .git/; git config core.fsmonitor $WS/evil",
    "git config -f .git/config.worktree core.fsmonitor $WS/evil; git config extensions.worktreeConfig true",
    "git config user.name n; rm -f .git/config; git config core.fsmonitor $WS/evil",
    "python3 swap.py",
];

/// Swaps the draft while its name is given away.
const SWAP: &str = "import os, threading\n\
    good = open('.git/config').read() + '[user]\\n\\tname = n\\n'\n\
    bad = good + '[core]\\n\\tfsmonitor = ' + os.environ['WS'] + '/evil\\n'\n\
    stop = False\n\
    def swap():\n\
    \x20while not stop:\n\
    \x20 for text in (bad, good):\n\
    \x20  try:\n\
    \x20   f = os.open('.git/config.lock', os.O_WRONLY); os.write(f, text.encode()); os.ftruncate(f, len(text)); os.close(f)\n\
    \x20  except OSError: pass\n\
    threading.Thread(target=swap).start()\n\
    for _ in range(300):\n\
    \x20open('.git/config.lock', 'w').write(good)\n\
    \x20try: os.rename('.git/config.lock', '.git/config')\n\
    \x20except OSError: pass\n\
    stop = True\n";

#[tokio::test]
async fn nothing_gets_in_that_runs_or_redirects() {
    // One kind is enough: the mounts are the same.
    let kind = Kind::Ordinary;
    let goes_to = |cell: &Cell| {
        git(cell, "", &["remote", "get-url", "origin"])
            + &git(cell, "", &["remote", "get-url", "--push", "origin"])
    };
    for script in PLANTS {
        let cell = cloned(kind);
        cell.file("swap.py", SWAP);
        let before = goes_to(&cell);
        cell.run_in(bounds(&cell), &format!("{HOME}{script}; exit 0")).await;
        let _ = fs::remove_file(cell.ws("ran"));
        use_git(&cell);
        assert!(!cell.ws("ran").exists(), "{script}: {}", settings(&cell));
        assert_eq!(goes_to(&cell), before, "{script}");
        let remote = git(&cell, "", &["config", "branch.main.remote"]);
        assert!(matches!(remote.as_str(), "origin\n" | ""), "{script}: {remote}");
        for word in ["evil", "e.example"] {
            assert!(!settings(&cell).contains(word), "{script}: {}", settings(&cell));
        }
    }
}

/// git takes the branches of a remote out of its settings before the remote itself, which is refused.
#[tokio::test]
async fn a_remote_is_not_removed_by_half() {
    for kind in WITH_MOUNTS {
        for script in ["git remote remove origin", "git remote -v rm origin"] {
            let cell = cloned(kind);
            let before = settings(&cell);
            let exit = cell.run_in(bounds(&cell), &format!("{HOME}{script}")).await;
            assert_ne!(exit.code, Some(0), "{kind:?} {script}");
            assert_eq!(settings(&cell), before, "{kind:?} {script}");
            assert!(git(&cell, "", &["branch", "-r"]).contains("origin/main"), "{kind:?} {script}");
            assert!(!exit.swept.is_empty(), "{kind:?} {script}");
        }
    }
}

#[tokio::test]
async fn what_was_not_written_is_told() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let exit = cell.run_in(bounds(&cell), &format!("{HOME} git config core.pager ./evil")).await;
        assert_ne!(exit.code, Some(0));
        let told: Vec<String> = exit.swept.iter().map(ToString::to_string).collect();
        let path = cell.ws(".git/config").canonicalize().unwrap();
        let expected = format!(
            "buddy left `{}` as it was, because `core.pager` may run a program or lead git elsewhere",
            path.display()
        );
        assert_eq!(told, [expected], "{kind:?}");
    }
}

#[tokio::test]
async fn what_a_person_opened_is_written_whatever_it_is() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let mut bounds = bounds(&cell);
        bounds.opened = vec![cell.ws(".git/config")];
        let exit = cell.run_in(bounds, &format!("{HOME} git config core.pager less")).await;
        assert_eq!(
            (exit.code, exit.swept.as_slice()),
            (Some(0), &[][..]),
            "{kind:?}: {}",
            exit.stderr.text()
        );
        assert!(settings(&cell).contains("pager = less"), "{kind:?}");
    }
}

/// A user's own git puts another file at the name, which takes the mount away that stood over the old one.
#[tokio::test]
async fn settings_that_a_person_changes_meanwhile_are_guarded_too() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let script = format!(
            "{HOME} touch ready; while [ ! -e go ]; do sleep 0.05; done; \
             printf '[core]\\n fsmonitor = %s\\n' $WS/evil >> .git/config; git config core.pager $WS/evil; true"
        );
        let outside = async {
            let since = Instant::now();
            while !cell.ws("ready").exists() && since.elapsed() < PATIENCE {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            git(&cell, "", &["config", "user.name", "person"]);
            git(&cell, "", &["remote", "add", "mine", "https://m.example/x"]);
            give_all(&cell, &cell.ws(".git/config"));
            cell.file("go", "");
        };
        let (exit, ()) = tokio::join!(cell.run_in(bounds(&cell), &script), outside);
        let _ = fs::remove_file(cell.ws("ran"));
        use_git(&cell);
        assert!(!cell.ws("ran").exists(), "{kind:?}: {}", settings(&cell));
        assert!(!settings(&cell).contains("evil"), "{kind:?}: {}", settings(&cell));
        // The user's own change stays, and the rest is told.
        assert_eq!(git(&cell, "", &["remote", "get-url", "mine"]), "https://m.example/x\n", "{kind:?}");
        assert_eq!(git(&cell, "", &["config", "user.name"]), "person\n", "{kind:?}");
        assert!(exit.swept.iter().any(|note| note.moved().is_some()), "{kind:?}: {:?}", exit.swept);
    }
}
