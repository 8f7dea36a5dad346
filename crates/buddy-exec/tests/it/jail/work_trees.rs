//! Linked work trees: git works in them as in any repository, and nothing that a command leaves in the store runs later.

use std::fs;
use std::path::Path;

use buddy_exec::{Bounds, Target, git_store};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};
use super::orders::{bounds, git, give_all, repository, use_git};

const HOME: &str = "export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@e; set -e; ";

/// Everyday work in a work tree, which ends on the branch that it began with.
const WORK: &str = "echo two > file; git add file; git commit -qm two; git branch extra HEAD~; git stash list; \
    echo three > file; git stash -q; git stash pop -q; git checkout -q file; git checkout -q -b topic HEAD~; \
    echo s > s; git add s; git commit -qm s; git rebase -q t; git cherry-pick -n HEAD; git reset -q --hard; git checkout -q t; \
    git merge -q topic; git pack-refs --all; git branch -D -q extra topic; git tag v1; git tag -d v1 >&2; git gc -q; git fsck; \
    git config user.email a@b; git status -s";

/// A workspace that is a linked work tree of a repository outside of it, and its bounds.
fn linked(kind: Kind) -> (Cell, Bounds) {
    let cell = repository(kind);
    let main = cell.out("main");
    fs::create_dir(&main).unwrap();
    for name in [".git", "file", "evil"] {
        fs::rename(cell.ws(name), main.join(name)).unwrap();
    }
    let to = |path: &Path| path.to_str().unwrap().to_owned();
    let (at, tree) = (to(&main), to(&cell.ws("")));
    // git does not make a work tree in a directory that is there and not empty.
    git(&cell, &at, &["worktree", "add", "-q", "-b", "side", &to(&cell.out("other"))]);
    git(&cell, &at, &["worktree", "add", "-q", "-b", "t", tree.trim_end_matches('/')]);
    for path in [cell.ws(""), main.clone(), cell.out("other")] {
        give_all(&cell, &path);
    }
    let store = git_store(&cell.ws("")).unwrap();
    assert!(store.is_confirmed, "{store:?}");
    let bounds = Bounds { git_stores: vec![store.at], ..bounds(&cell) };
    (cell, bounds)
}

#[tokio::test]
async fn git_works_in_a_linked_work_tree_beside_its_repository() {
    for kind in WITH_MOUNTS {
        let (cell, bounds) = linked(kind);
        let exit = cell.run_in(bounds, &format!("{HOME}{WORK}")).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}{}", exit.stdout.text(), exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
        assert_eq!(git(&cell, "", &["log", "--format=%s", "t"]), "s\ntwo\none\n", "{kind:?}");
        assert_eq!(git(&cell, cell.out("main").to_str().unwrap(), &["status", "-s"]), "", "{kind:?}");
    }
}

#[tokio::test]
async fn git_works_in_a_linked_work_tree_within_the_workspace() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        git(&cell, "", &["worktree", "add", "-q", "-b", "t", "tree"]);
        for name in [".git", "tree"] {
            give_all(&cell, &cell.ws(name));
        }
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}cd tree; {WORK}")).await;
        assert_eq!(exit.code, Some(0), "{kind:?}: {}{}", exit.stdout.text(), exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
        assert_eq!(git(&cell, "tree", &["log", "--format=%s", "t"]), "s\ntwo\none\n", "{kind:?}");
    }
}

/// Ways to leave an order in the store. `$MAIN` is the repository, `$G` the own directory of the work tree.
const PLANTS: &[&str] = &[
    "git config core.fsmonitor $WS/evil",
    "git -C $MAIN config core.fsmonitor $WS/evil",
    "printf '[core]\\n fsmonitor = %s\\n' $WS/evil >> $MAIN/.git/config",
    "printf '[core]\\n fsmonitor = %s\\n' $WS/evil > $MAIN/.git/x; mv -f $MAIN/.git/x $MAIN/.git/config",
    "printf '[core]\\n fsmonitor = %s\\n' $WS/evil > $MAIN/.git/config.worktree; git config extensions.worktreeConfig true",
    "git config extensions.worktreeConfig true; printf '[core]\\n fsmonitor = %s\\n' $WS/evil > $G/config.worktree",
    "git config extensions.worktreeConfig true; printf '[core]\\n fsmonitor = %s\\n' $WS/evil > $MAIN/.git/worktrees/other/config.worktree",
    "cp evil $MAIN/.git/hooks/post-index-change; cp evil $MAIN/.git/hooks/post-checkout",
    "mv $MAIN/.git/hooks $MAIN/.git/gone; mkdir $MAIN/.git/hooks; cp evil $MAIN/.git/hooks/post-index-change",
    "mkdir $G/hooks; cp evil $G/hooks/post-index-change",
    "cp -r $MAIN/.git own; git config -f own/config core.fsmonitor $WS/evil; echo $WS/own > $G/commondir",
    "cp -r $MAIN/.git own; git config -f own/config core.fsmonitor $WS/evil; echo $WS/own > $MAIN/.git/worktrees/other/commondir",
    "cp -r $MAIN/.git own; git config -f own/config core.fsmonitor $WS/evil; echo $WS/own > $MAIN/.git/commondir",
    "cp -r $MAIN/.git own; git config -f own/config core.fsmonitor $WS/evil; rm .git; echo gitdir: own > .git",
    "mv $G $G.gone; cp -r $G.gone $G; cp -r $MAIN/.git own; git config -f own/config core.fsmonitor $WS/evil; echo $WS/own > $G/commondir",
    "mv $MAIN/.git/worktrees $MAIN/.git/gone; cp -r $MAIN/.git/gone $MAIN/.git/worktrees; cp -r $MAIN/.git own; \
     git config -f own/config core.fsmonitor $WS/evil; for d in $MAIN/.git/worktrees/*; do echo $WS/own > $d/commondir; done",
    "mv $MAIN/.git $MAIN/gone; mkdir $MAIN/.git",
    "git init -q --bare $MAIN/.git/modules/x; git config -f $MAIN/.git/modules/x/config core.fsmonitor $WS/evil; \
     git config -f $MAIN/.git/modules/x/config core.worktree $WS",
    "echo '* filter=x' > $MAIN/.git/info/attributes; git config filter.x.clean $WS/evil",
    "mkdir -p $MAIN/.git/rebase-merge; echo 'exec ./evil' > $MAIN/.git/rebase-merge/git-rebase-todo",
    "echo planted > $MAIN/.envrc; cp evil $MAIN/file; echo planted > $OUT/planted",
];

#[tokio::test]
async fn nothing_that_a_command_plants_in_the_store_of_a_linked_work_tree_runs_at_the_next_git() {
    for kind in ALL {
        for script in PLANTS {
            let (cell, bounds) = linked(kind);
            let places = "export HOME=/nonexistent MAIN=$OUT/main G=$(git rev-parse --absolute-git-dir); ";
            cell.run_in(bounds, &format!("{places}{script}")).await;
            let main = cell.out("main");
            for ran in [cell.ws("ran"), main.join("ran")] {
                let _ = fs::remove_file(ran);
            }
            use_git(&cell);
            for at in ["main", "other"] {
                for words in [&["status"][..], &["add", "."], &["diff"], &["checkout", "-q", "."]] {
                    git(&cell, cell.out(at).to_str().unwrap(), words);
                }
            }
            assert!(!cell.ws("ran").exists(), "{kind:?}: {script}");
            assert_eq!(
                git(&cell, main.to_str().unwrap(), &["log", "--format=%s"]),
                "one\n",
                "{kind:?}: {script}"
            );
            let steps =
                fs::read_to_string(main.join(".git/rebase-merge/git-rebase-todo")).unwrap_or_default();
            assert!(!steps.contains("exec"), "{kind:?}: {script}");
            assert!(!main.join(".envrc").exists() && !cell.out("planted").exists(), "{kind:?}: {script}");
            assert_eq!(fs::read_to_string(main.join("file")).unwrap(), "one\n", "{kind:?}: {script}");
        }
    }
}

/// Makes changes that would plant a file, as git keeps them in a stash: `$W`.
const STASH: &str = "export GIT_INDEX_FILE=$WS/x; git read-tree HEAD; e=$(echo planted | git hash-object -w --stdin); \
    git update-index --add --cacheinfo 100644,$e,.envrc; T=$(git write-tree); unset GIT_INDEX_FILE; rm x; \
    I=$(git commit-tree -p HEAD -m i HEAD^{tree}); W=$(git commit-tree -p HEAD -p $I -m w $T); ";

/// Changes that wait in the store for the next git of the user: in the repository, in another work tree, and in this one.
#[tokio::test]
async fn changes_that_wait_in_the_store_of_a_linked_work_tree_are_not_applied() {
    let rebase = "mkdir $D/rebase-merge; cd $D/rebase-merge; git rev-parse HEAD | tee onto orig-head > /dev/null; \
        echo refs/heads/main > head-name; touch interactive git-rebase-todo done; echo $W > autostash";
    let rerere = "a=$(printf %040d 1); mkdir -p $MAIN/.git/rr-cache/$a; printf '%s\\t%s\\0' $a $OUT/secret > $D/MERGE_RR";
    for kind in ALL {
        for plant in ["echo $W > $D/MERGE_AUTOSTASH", rebase, rerere] {
            for directory in ["$MAIN/.git", "$MAIN/.git/worktrees/other", "$G"] {
                let (cell, bounds) = linked(kind);
                let places =
                    format!("export MAIN=$OUT/main G=$(git rev-parse --absolute-git-dir); D={directory}; ");
                cell.run_in(bounds, &format!("{}{places}{STASH}{plant}", HOME.replace("set -e;", ""))).await;
                for at in [cell.out("main"), cell.out("other"), cell.ws("")] {
                    fs::write(at.join("file"), "mine\n").unwrap();
                    for words in
                        [&["commit", "-qam", "mine"][..], &["rebase", "--continue"], &["rebase", "--abort"]]
                    {
                        git(&cell, at.to_str().unwrap(), words);
                    }
                    let what = format!("{kind:?}: {plant} in {directory}");
                    assert!(!at.join(".envrc").exists(), "{what}: {}", at.display());
                }
                let kept = git(
                    &cell,
                    cell.out("main").to_str().unwrap(),
                    &["grep", "-rl", "--no-index", "secret", ".git"],
                );
                assert!(!kept.contains("image"), "{kind:?}: {plant} in {directory}: {kept}");
            }
        }
    }
}

/// File tools do not write in the store: it is open to commands alone.
#[tokio::test]
async fn a_store_is_not_opened_to_file_tools() {
    let (cell, bounds) = linked(Kind::Full);
    let bounds = Bounds { guarded_names: NameSet::default(), ..bounds };
    let path = cell.out("main/.git/refs/heads/x");
    let written = cell.stage.target().write(&bounds, &buddy_exec::Recorder::off(), &path, b"x").await;
    assert!(written.is_err() && !path.exists());
}
