//! The state that git keeps for a later command: a command in the jail leaves nothing there that makes the user's own git read or write
//! elsewhere, and a merge or a rebase that stopped can be continued by the agent and by the user.

use std::fs;

use buddy_exec::{Bounds, CacheLayers, CachePlace, Exit};
use sha1::{Digest, Sha1};

use super::cell::{ALL, Cell, WITH_MOUNTS};
use super::orders::{bounds, git, give_all, repository};

const HOME: &str = "export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; \
    export GIT_CONFIG_GLOBAL=$WS/mine GIT_EDITOR=true; ";

/// Makes changes that would plant a file, as git keeps them in a stash: `$W`.
const STASH: &str = "export GIT_INDEX_FILE=$WS/x; git read-tree HEAD; e=$(echo planted | git hash-object -w --stdin); \
    git update-index --add --cacheinfo 100644,$e,.envrc; T=$(git write-tree); unset GIT_INDEX_FILE; rm x; \
    I=$(git commit-tree -p HEAD -m i HEAD^{tree}); W=$(git commit-tree -p HEAD -p $I -m w $T); ";

/// A rebase that waits, with all that git needs to go on.
const WAITING: &str = "mkdir .git/rebase-merge; cd .git/rebase-merge; git rev-parse HEAD | tee onto orig-head > /dev/null; \
    echo refs/heads/main > head-name; touch interactive git-rebase-todo done; ";

/// Ways to steer the next git of the user.
fn plants() -> Vec<String> {
    let rerere =
        "a=$(printf %040d 1); mkdir -p .git/rr-cache/$a; printf '%s\\t%s\\0' $a $OUT/secret > .git/MERGE_RR";
    let replaced = "git replace $(git rev-parse HEAD:file) $(echo planted | git hash-object -w --stdin)";
    vec![
        rerere.to_owned(),
        format!("{STASH} echo $W > .git/MERGE_AUTOSTASH"),
        format!("{STASH} {WAITING} echo $W > autostash"),
        format!(
            "{STASH} mkdir .git/rebase-apply; cd .git/rebase-apply; touch applying; echo 1 > next; echo 0 > last; echo $W > autostash"
        ),
        replaced.to_owned(),
        format!("{replaced}; git pack-refs --all"),
        format!("{replaced}; git pack-refs --all; echo x > .git/refs/replace"),
        format!(
            "r=$(git rev-parse HEAD:file); e=$(echo planted | git hash-object -w --stdin); {WAITING} \
             printf 'refs/replace/%s\\n%040d\\n%s\\n' $r 0 $e > update-refs"
        ),
        format!(
            "r=$(git rev-parse HEAD:file); e=$(echo planted | git hash-object -w --stdin); {WAITING} \
             echo update-ref refs/replace/$r > git-rebase-todo; printf 'refs/replace/%s\\n%040d\\n%s\\n' $r 0 $e > update-refs"
        ),
    ]
}

/// The user's own git, in the repository and in a new work tree of it.
fn use_git(cell: &Cell) {
    fs::write(cell.ws("file"), "mine\n").unwrap();
    for words in [
        &["commit", "-qam", "mine"][..],
        &["rebase", "--continue"],
        &["rebase", "--abort"],
        &["am", "--abort"],
        &["checkout", "-q", "HEAD~"],
        &["worktree", "add", "-q", "fresh", "HEAD"],
    ] {
        git(cell, "", words);
    }
}

fn assert_not_steered(cell: &Cell, what: &str, exit: &Exit) {
    let kind = cell.kind;
    assert!(!cell.ws(".envrc").exists(), "{kind:?}: {what}: {:?}", exit.swept);
    let copied = git(cell, "", &["grep", "-rl", "--no-index", "secret", ".git/rr-cache"]);
    assert!(!copied.contains("postimage") && !copied.contains("preimage"), "{kind:?}: {what}: {copied}");
    for file in ["file", "fresh/file"] {
        let text = fs::read_to_string(cell.ws(file)).unwrap_or_default();
        assert!(!text.contains("planted"), "{kind:?}: {what}: {file}");
    }
    cell.assert_outside_untouched(what);
}

#[tokio::test]
async fn no_state_that_a_command_leaves_steers_the_next_git() {
    for kind in ALL {
        for plant in plants() {
            let cell = repository(kind);
            let exit = cell.run_in(bounds(&cell), &format!("{HOME}{plant}")).await;
            use_git(&cell);
            assert_not_steered(&cell, &plant, &exit);
        }
    }
}

/// An index with these paths, each with this object.
fn forged(paths: &[&str], object: &str) -> Vec<u8> {
    let object: Vec<u8> =
        (0..20).map(|at| u8::from_str_radix(object.get(2 * at..2 * at + 2).unwrap(), 16).unwrap()).collect();
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
    for path in paths {
        let mut entry = vec![0; 24];
        entry.extend(0o100_644_u32.to_be_bytes());
        entry.extend([0; 12]);
        entry.extend(&object);
        entry.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
        entry.extend(path.as_bytes());
        entry.resize(entry.len() + 8 - entry.len() % 8, 0);
        bytes.extend(entry);
    }
    bytes.extend(Sha1::digest(&bytes));
    bytes
}

#[tokio::test]
async fn an_index_leads_git_neither_out_nor_into_its_own_directory() {
    for kind in ALL {
        for path in [".git/hooks/post-checkout", "../out/secret", ".envrc", ".husky/pre-commit"] {
            let cell = repository(kind);
            let planted = git(&cell, "", &["rev-parse", "HEAD:file"]);
            let before = git(&cell, "", &["ls-files", "--stage"]);
            let mut paths = ["file", path];
            paths.sort_unstable();
            fs::write(cell.ws("forged"), forged(&paths, planted.trim())).unwrap();
            let exit = cell.run_in(bounds(&cell), "cat forged > .git/index; rm forged").await;
            for words in
                [&["restore", "."][..], &["add", "-A"], &["commit", "-qam", "mine"], &["checkout", "."]]
            {
                git(&cell, "", words);
            }
            assert!(!cell.ws(path).exists() || path.starts_with(".."), "{kind:?}: {path}: {:?}", exit.swept);
            let after = git(&cell, "", &["ls-files", "--stage"]);
            // Of an index in the form of git, only the entry goes.
            let is_back =
                after.contains(before.trim_end()) || [".envrc", ".husky/pre-commit"].contains(&path);
            assert!(is_back && !after.contains(path), "{kind:?}: {path}: {after} {:?}", exit.swept);
            cell.assert_outside_untouched(path);
        }
    }
}

#[tokio::test]
async fn contents_for_files_that_run_code_enter_the_index_from_the_work_tree_alone() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        fs::write(cell.ws(".envrc"), "mine\n").unwrap();
        let plant = "o=$(echo planted | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$o,.envrc; echo two > b; git add b";
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}{plant}")).await;
        assert_eq!(exit.swept.len(), 1, "{kind:?}: {:?}", exit.swept);
        git(&cell, "", &["checkout", "."]);
        assert_eq!(fs::read_to_string(cell.ws(".envrc")).unwrap(), "mine\n", "{kind:?}");
        let exit =
            cell.run_in(bounds(&cell), &format!("{HOME}git add .envrc file; git commit -qm all")).await;
        assert_eq!(exit.swept.len(), 0, "{kind:?}: {:?}", exit.swept);
        assert!(git(&cell, "", &["show", "HEAD:.envrc"]).contains("mine"), "{kind:?}");
        fs::write(cell.ws(".envrc"), "not added\n").unwrap();
        let exit =
            cell.run_in(bounds(&cell), &format!("{HOME}echo three > b; git add b; git commit -qm b")).await;
        assert_eq!(exit.swept.len(), 0, "{kind:?}: an entry of before stays: {:?}", exit.swept);
        assert!(git(&cell, "", &["show", "HEAD:b"]).contains("three"), "{kind:?}");
    }
}

/// Writes another tree for the directory `hooks` into what the index remembers of the last commit, or for the whole commit.
const FALSE_TREES: &str = r#"python3 -c '
import hashlib, subprocess, sys
def git(*words, text=None): return subprocess.run(["git", *words], input=text, capture_output=True, check=True).stdout
index = open(".git/index", "rb").read()[:-20]
hook = git("hash-object", "-w", "--stdin", text=b"planted").decode().strip()
part = b"100755 blob " + hook.encode() + b"	post-checkout
"
old = git("rev-parse", "HEAD:hooks").decode().strip()
new = git("mktree", text=git("ls-tree", "HEAD:hooks") + part).decode().strip()
assert index.count(bytes.fromhex(old)) == 1
index = index.replace(bytes.fromhex(old), bytes.fromhex(new))
if sys.argv[1] == "whole":
    root = git("rev-parse", "HEAD^{tree}").decode().strip()
    whole = git("mktree", text=git("ls-tree", "HEAD").replace(old.encode(), new.encode())).decode().strip()
    index = index.replace(bytes.fromhex(root), bytes.fromhex(whole))
open(".git/index", "wb").write(index + hashlib.sha1(index).digest())
' "#;

#[tokio::test]
async fn the_next_commit_of_the_user_has_the_files_that_the_index_lists() {
    for kind in ALL {
        for (part, words) in
            [("part", &["commit", "-qm", "mine"][..]), ("whole", &["commit", "-q", "--amend", "-m", "mine"])]
        {
            let cell = repository(kind);
            cell.file("hooks/README", "ours\n");
            git(&cell, "", &["add", "-A"]);
            git(&cell, "", &["commit", "-qm", "hooks"]);
            let exit = cell.run_in(bounds(&cell), &format!("{HOME}{FALSE_TREES}{part}")).await;
            if part == "part" {
                fs::write(cell.ws("file"), "mine\n").unwrap();
                git(&cell, "", &["add", "file"]);
            }
            git(&cell, "", words);
            let files = git(&cell, "", &["ls-tree", "-r", "--name-only", "HEAD"]);
            assert!(
                files.contains("hooks/README") && !files.contains("post-checkout"),
                "{kind:?} {part}: {files} {:?}",
                exit.swept
            );
            assert!(git(&cell, "", &["log", "-1", "--format=%s"]).contains("mine"), "{kind:?} {part}");
        }
    }
}

#[tokio::test]
async fn work_of_git_changes_the_index_without_a_word() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let work = "mkdir d; echo 1 > d/f; git add d; git commit -qm d; git checkout -qb side; echo 2 > d/f; git commit -qam 2; git checkout -q -; \
                    echo 3 > d/f; git commit -qam 3; git merge -q side; echo 4 > d/f; git add d; git commit -qm merged; git rm -q d/f; git status";
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}{work}")).await;
        assert_eq!(exit.swept.len(), 0, "{kind:?}: {:?}", exit.swept);
        assert!(git(&cell, "", &["log", "-1", "--format=%s"]).contains("merged"), "{kind:?}");
    }
}

/// Ways to steer the next git of the user in a submodule. `$D` is its own directory.
fn submodule_plants() -> Vec<String> {
    vec![
        format!("cd part; {STASH} echo $W > $D/MERGE_AUTOSTASH"),
        "a=$(printf %040d 1); mkdir -p $D/rr-cache/$a; printf '%s\\t%s\\0' $a $OUT/secret > $D/MERGE_RR".to_owned(),
        "git -C part replace $(git -C part rev-parse HEAD:file) $(echo planted | git -C part hash-object -w --stdin)".to_owned(),
        "printf '[core]\\n\\tfsmonitor = %s\\n' $WS/evil >> $D/config".to_owned(),
        "cp evil $D/hooks/post-index-change".to_owned(),
        "mkdir -p $D/lfs/hooks; cp evil $D/lfs/hooks/post-commit; git -C part config core.hooksPath $D/lfs/hooks".to_owned(),
    ]
}

#[tokio::test]
async fn no_state_that_a_command_leaves_steers_the_next_git_of_a_submodule() {
    for kind in ALL {
        for plant in submodule_plants() {
            let cell = repository(kind);
            for words in [
                &["init", "-q", "--bare", "-b", "main", "part.git"][..],
                &["push", "-q", "part.git", "main"],
                &["-c", "protocol.file.allow=always", "submodule", "add", "-q", "./part.git", "part"],
                &["commit", "-qm", "part"],
            ] {
                git(&cell, "", words);
            }
            for name in [".git", "part", "part.git", ".gitmodules"] {
                give_all(&cell, &cell.ws(name));
            }
            let script = format!("{HOME}export D=$WS/.git/modules/part; {plant}");
            let exit = cell.run_in(bounds(&cell), &script.replace("$WS/x", "$WS/part/x")).await;
            let _ = fs::remove_file(cell.ws("ran"));
            fs::write(cell.ws("part/file"), "mine\n").unwrap();
            for words in [&["commit", "-qam", "mine"][..], &["status"], &["checkout", "-q", "HEAD~"]] {
                git(&cell, "part", words);
            }
            let told = format!("{kind:?}: {plant}: {:?}", exit.swept);
            assert!(!cell.ws("ran").exists() && !cell.ws("part/.envrc").exists(), "{told}");
            assert_eq!(fs::read_to_string(cell.ws("part/file")).unwrap(), "one\n", "{told}");
            let copied = git(&cell, "", &["grep", "-rl", "--no-index", "secret", ".git/modules"]);
            assert!(!copied.contains("image"), "{told}: {copied}");
            cell.assert_outside_untouched(&plant);
        }
    }
}

/// The user applies patches, stops at a conflict and asks the agent for help.
#[tokio::test]
async fn options_of_a_patch_that_waits_write_to_no_other_place() {
    for kind in ALL {
        let cell = repository(kind);
        for words in [&["checkout", "-qb", "topic"][..], &["commit", "-q", "--allow-empty", "-m", "base"]] {
            git(&cell, "", words);
        }
        for text in ["two\n", "three\n"] {
            fs::write(cell.ws("file"), text).unwrap();
            git(&cell, "", &["commit", "-qam", "t"]);
        }
        git(&cell, "", &["format-patch", "-q", "-2", "-o", "patches"]);
        git(&cell, "", &["checkout", "-q", "main"]);
        fs::write(cell.ws("file"), "other\n").unwrap();
        git(&cell, "", &["commit", "-qam", "m"]);
        let patches: Vec<String> =
            ["0001-t.patch", "0002-t.patch"].map(|name| format!("patches/{name}")).into();
        git(&cell, "", &["am", "-q", &patches[0], &patches[1]]);
        give_all(&cell, &cell.ws(".git"));
        let old = fs::read_to_string(cell.ws(".git/rebase-apply/apply-opt")).unwrap();
        let plant = "echo \" '--build-fake-ancestor=$OUT/planted'\" > .git/rebase-apply/apply-opt";
        cell.run_in(bounds(&cell), plant).await;
        assert_eq!(fs::read_to_string(cell.ws(".git/rebase-apply/apply-opt")).unwrap(), old, "{kind:?}");
        fs::write(cell.ws("file"), "two\n").unwrap();
        git(&cell, "", &["add", "file"]);
        git(&cell, "", &["am", "--continue"]);
        assert_eq!(git(&cell, "", &["log", "-1", "--format=%s"]), "t\n", "{kind:?}");
        assert_eq!(fs::read_to_string(cell.ws("file")).unwrap(), "three\n", "{kind:?}");
        cell.assert_outside_untouched("apply-opt");
    }
}

/// Makes branches `main` and `topic` that change the same line, and patches of `topic`.
const BRANCHES: &str = "git checkout -qb topic; for t in 1 2 3; do echo t$t > file; git commit -qam t$t; done; \
    git format-patch -q -3 -o patches; git checkout -q main; echo m > file; git commit -qam m; git branch kept; ";

/// Commands that stop at a conflict, and those that end what they began.
const STOPPING: &[(&str, &str)] = &[
    ("git merge -q topic", "git commit -qam merged"),
    ("git merge -q --no-ff -X patience topic", "git merge --continue"),
    ("git checkout -q topic; git rebase -q main", "git -c core.editor=true rebase --continue"),
    (
        "git checkout -q topic; git rebase -q -X patience -s ort --update-refs --signoff main",
        "git -c core.editor=true rebase --continue",
    ),
    (
        "git checkout -q topic; git rebase -q --committer-date-is-author-date --no-rerere-autoupdate main",
        "git rebase --skip",
    ),
    ("git checkout -q topic; git rebase -q --apply -C1 main", "git rebase --skip"),
    ("git checkout -q topic; git rebase -q --rebase-merges --root --onto main", "git rebase --abort"),
    ("git am -q -C1 --whitespace=fix --directory=. patches/*", "git am --skip"),
    ("git am -q -3 --keep --scissors --signoff patches/*", "git am --skip"),
    ("git cherry-pick -x -X patience main..topic", "git -c core.editor=true cherry-pick --continue"),
    ("git revert --no-edit topic~1 topic~2", "git revert --abort"),
    ("git bisect start topic topic~2", "git bisect reset"),
    ("echo x > more; git add more; git stash -q", "git stash pop -q"),
    (
        "git notes add -m a; git update-ref refs/notes/o refs/notes/commits; git notes add -f -m b; \
      git update-ref -d refs/notes/commits; git notes add -m c; git notes merge -q o",
        "git notes merge --abort",
    ),
    (
        "git gc -q; git commit-graph write; git fsck --lost-found; git update-server-info; git maintenance run",
        "true",
    ),
    (
        "git fetch -q . topic; git worktree add -q tree topic; git -C tree merge -q main",
        "git -C tree commit -qam merged",
    ),
    ("git clone -q --depth 1 file://$WS/.git copy; git -C copy fetch -q --unshallow", "true"),
    (
        "git -c protocol.file.allow=always clone -q --separate-git-dir x.git . copy; git update-index --index-version 4",
        "true",
    ),
    // A submodule, whose own directory is below the one of the repository.
    (
        "git clone -q --bare . part.git; git -c protocol.file.allow=always submodule add -q -b topic ./part.git a/part; \
         git commit -qm part; cd a/part; git merge -q origin/main",
        "cd a/part && git commit -qam merged && cd ../.. && git commit -qam moved && git submodule update -q",
    ),
    // The files that Git LFS keeps.
    (
        "cd .git; mkdir -p lfs/objects/aa/bb lfs/tmp lfs/incomplete lfs/cache/locks/refs/heads/main lfs/logs; \
         echo large > lfs/objects/aa/bb/aabb; echo x > lfs/tmp/aabb-1; echo {} > lfs/cache/locks/refs/heads/main/verifiable; \
         echo x > lfs/lockcache.db; echo x > lfs/logs/1.log",
        "grep -q large .git/lfs/objects/aa/bb/aabb && git commit -qam more --allow-empty",
    ),
];

/// Settings of a user which make git leave more behind. In the jail git works without them.
const MINE: &str = "[rerere]\n\tenabled = true\n[rebase]\n\tautoStash = true\n[merge]\n\tautoStash = true\n[safe]\n\tdirectory = *\n";

/// The list of names that git writes is the one that git writes.
#[tokio::test]
async fn everything_that_git_writes_for_itself_stays() {
    for (stop, go_on) in STOPPING {
        for is_agent in [true, false] {
            let cell = repository(WITH_MOUNTS[usize::from(is_agent)]);
            cell.file("mine", MINE);
            let exit = cell.run_in(bounds(&cell), &format!("{HOME}{BRANCHES}{stop}; true")).await;
            assert_eq!(exit.swept, [], "{stop}: {}", exit.stderr.text());
            let solve = "git status --porcelain | grep -q '^\\(UU\\|AA\\)' && { echo solved > file; git add file; }; ";
            let go_on = format!("{HOME}{solve}{go_on}");
            if is_agent {
                let exit = cell.run_in(bounds(&cell), &format!("{go_on} || exit 9")).await;
                let is_again = exit.stderr.text().contains("could not apply")
                    || exit.stdout.text().contains("CONFLICT")
                    || exit.stdout.text().contains("Patch failed");
                assert!(
                    exit.code == Some(0) || is_again,
                    "{stop}: {}{}",
                    exit.stdout.text(),
                    exit.stderr.text()
                );
                assert_eq!(exit.swept, [], "{stop}: {}", exit.stderr.text());
            } else {
                let told = as_user(&cell, &go_on);
                assert!(!told.contains("fatal"), "{stop}: {told}");
            }
            let rest = git(&cell, "", &["fsck", "--no-dangling"]);
            assert!(!rest.contains("error"), "{stop}: {rest}");
        }
    }
}

/// Runs a script as the user would, outside of the jail.
#[expect(clippy::disallowed_methods, reason = "what a user runs is started by no target")]
pub(super) fn as_user(cell: &Cell, script: &str) -> String {
    let ws = cell.ws("");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script]).current_dir(&ws).env("WS", ws.to_str().unwrap().trim_end_matches('/'));
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Changes that the agent had git put aside are told, and not applied by themselves.
#[tokio::test]
async fn changes_that_git_put_aside_are_told_by_their_name() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        cell.file("mine", MINE);
        let script = format!(
            "{HOME}{BRANCHES}git checkout -q topic; echo aside > evil; git rebase -q --autostash main; true"
        );
        let exit = cell.run_in(bounds(&cell), &script).await;
        let told: Vec<String> = exit.swept.iter().map(ToString::to_string).collect();
        let [told] = &told[..] else { panic!("{kind:?}: {told:?}") };
        let (_, object) = told.split_once("git stash apply ").unwrap();
        let object: String = object.chars().take_while(char::is_ascii_hexdigit).collect();
        as_user(&cell, &format!("{HOME}git rebase --abort"));
        as_user(&cell, &format!("{HOME}git stash apply {object}"));
        assert_eq!(fs::read_to_string(cell.ws("evil")).unwrap(), "aside\n", "{kind:?}: {told}");
        // The setting alone puts nothing aside.
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}git rebase main")).await;
        assert!(exit.stderr.text().contains("unstaged changes"), "{kind:?}: {}", exit.stderr.text());
        assert_eq!(exit.swept, [], "{kind:?}");
    }
}

/// References that lead to other files in the own directory of a repository, and `$X` there.
const LEADING: &[&str] = &[
    "echo ref: refs/heads/x > .git/HEAD; echo ref: $X > .git/refs/heads/x",
    "echo ref: refs/heads/x > .git/HEAD; echo ref: refs/heads/y > .git/refs/heads/x; printf 'ref:\\t%s' $X > .git/refs/heads/y",
    "mkdir .git/lfs; mkdir .git/lfs/e; echo ref: $X > .git/lfs/e/x; mv .git/lfs/e .git/refs/heads/e; echo ref: refs/heads/e/x > .git/HEAD",
    "git update-ref refs/heads/x HEAD; git pack-refs --all; echo ref: refs/heads/x > .git/HEAD; echo ref: $X > .git/refs/heads/x",
    "echo ref: $X > .git/ORIG_HEAD",
    "echo ref: $X > .git/NOTES_MERGE_PARTIAL",
    "echo ref: $X > .git/HEAD",
    "echo ref: $X > .git/refs/heads/main",
];

/// Files that git or this repository takes orders from.
const LED_TO: &[&str] = &["commondir", "hooks/post-commit", "info/grafts"];

#[tokio::test]
async fn no_reference_leads_to_another_file_of_git() {
    for kind in ALL {
        for (leading, name) in LEADING.iter().zip(LED_TO.iter().chain(["refs/replace/$OLD"].iter()).cycle()) {
            let cell = repository(kind);
            git(&cell, "", &["commit", "-q", "--allow-empty", "-m", "two"]);
            give_all(&cell, &cell.ws(".git"));
            let script = format!("{HOME}OLD=$(git rev-parse HEAD); export X={name}; {leading}");
            let exit = cell.run_in(bounds(&cell), &script).await;
            for words in [
                &["commit", "-q", "--allow-empty", "-m", "mine"][..],
                &["reset", "-q", "HEAD"],
                &["reset", "-q", "HEAD~"],
            ] {
                git(&cell, "", words);
            }
            let told = format!("{kind:?}: {name}: {leading}: {:?}", exit.swept);
            for name in LED_TO {
                let text = fs::read_to_string(cell.ws(".git").join(name)).unwrap_or_default();
                assert!(!text.starts_with(|first: char| first.is_ascii_hexdigit()), "{told}: {text}");
            }
            assert_eq!(git(&cell, "", &["replace", "-l"]), "", "{told}");
            assert!(!git(&cell, "", &["status"]).contains("fatal"), "{told}");
        }
    }
}

/// References of git that name others are as they were.
#[tokio::test]
async fn references_that_name_others_stay() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let work = "git update-ref refs/remotes/o/main HEAD; git symbolic-ref refs/remotes/o/HEAD refs/remotes/o/main; \
             git symbolic-ref refs/heads/other refs/heads/main; git branch -q x; git switch -q x; git symbolic-ref HEAD refs/heads/new; \
             git commit -qm new --allow-empty; git worktree add -q tree main; git -C tree switch -qc y";
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}{work}")).await;
        assert_eq!((exit.code, &exit.swept[..]), (Some(0), &[][..]), "{kind:?}: {}", exit.stderr.text());
        assert_eq!(
            git(&cell, "", &["symbolic-ref", "refs/remotes/o/HEAD"]),
            "refs/remotes/o/main\n",
            "{kind:?}"
        );
        assert_eq!(git(&cell, "tree", &["symbolic-ref", "HEAD"]), "refs/heads/y\n", "{kind:?}");
    }
}

/// State of the user that was there before is as it was.
#[tokio::test]
async fn state_that_was_there_before_stays_as_it_was() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        let before = [
            (".git/rr-cache/aa/preimage", "old\n"),
            (".git/MERGE_RR", "aa\tfile\0"),
            (".git/other-tool/settings", "old\n"),
            (".git/info/grafts", ""),
        ];
        for (name, text) in before {
            cell.file(name, text);
        }
        git(&cell, "", &["replace", "--graft", "HEAD"]);
        give_all(&cell, &cell.ws(".git"));
        let replaced = git(&cell, "", &["replace", "-l"]);
        let exit = cell.run_in(bounds(&cell), "echo x > beside").await;
        assert_eq!(exit.swept, [], "{kind:?}");
        let script = "for f in .git/rr-cache/aa/preimage .git/MERGE_RR .git/other-tool/settings .git/info/grafts; do echo new > $f; done; \
            echo new > .git/rr-cache/aa/postimage; mkdir .git/more; echo new > .git/more/x; git -c safe.directory=* pack-refs --all";
        let exit = cell.run_in(bounds(&cell), script).await;
        assert_eq!(exit.swept.len(), 6, "{kind:?}: {:?}", exit.swept);
        for (name, text) in before {
            assert_eq!(fs::read_to_string(cell.ws(name)).unwrap(), text, "{kind:?}: {name}");
        }
        assert!(
            !cell.ws(".git/rr-cache/aa/postimage").exists() && !cell.ws(".git/more").exists(),
            "{kind:?}"
        );
        assert_eq!(git(&cell, "", &["replace", "-l"]), replaced, "{kind:?}: replacements of the user stay");
    }
}

/// A command finds its layer through a variable, before any other command had one.
#[tokio::test]
async fn repositories_in_layers_are_neither_remotes_nor_behind_links() {
    for kind in ALL {
        for (plant, use_it) in [
            (
                "git init -q --bare $L/x.git; cp evil $L/x.git/hooks/post-receive; git remote add origin $L/x.git",
                "push",
            ),
            (
                "git init -q $L/repo; cp evil $L/run; git -C $L/repo config core.fsmonitor $WS/evil; ln -s $L/repo vendor",
                "link",
            ),
            (
                "git init -q $L/repo; git -C $L/repo config core.fsmonitor $WS/evil; mkdir v; echo gitdir: $L/repo/.git > v/.git",
                "file",
            ),
        ] {
            let cell = repository(kind);
            let home = tempfile::tempdir_in("/var/tmp").unwrap();
            cell.give(home.path());
            let missing = CachePlace {
                name: "missing".to_owned(),
                at: home.path().join("missing"),
                redirect: Some(("L".to_owned(), "{}".to_owned())),
                linked: Vec::new(),
            };
            let all = home.path().join("layers");
            let caches = CacheLayers { directory: all.join("one"), all, places: vec![missing] };
            let bounds = Bounds { caches: Some(caches), ..bounds(&cell) };
            let exit = cell.run_in(bounds, &format!("export HOME=/nonexistent; {plant}; true")).await;
            assert_eq!(exit.code, Some(0), "{kind:?}: {}", exit.stderr.text());
            let _ = fs::remove_file(cell.ws("ran"));
            match use_it {
                "push" => drop(git(&cell, "", &["push", "origin", "main"])),
                "link" => drop(git(&cell, "vendor", &["status"])),
                _ => drop(git(&cell, "v", &["status"])),
            }
            assert!(!cell.ws("ran").exists(), "{kind:?}: {plant}: {:?}", exit.swept);
        }
    }
}
