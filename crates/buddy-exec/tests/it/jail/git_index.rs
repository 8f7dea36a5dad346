//! An index that a command leaves, judged as the tree that it describes: links, modes and sparse directories count as git would write them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use buddy_exec::{Bounds, Exit};
use sha1::{Digest, Sha1};

use super::cell::{ALL, Cell, WITH_MOUNTS};
use super::orders::{bounds, git, give_all, repository};

const HOME: &str = "export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; \
    export GIT_EDITOR=true; ";

const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_000;
const DIRECTORY: u32 = 0o040_000;

/// An index of a repository, to be written with other entries.
struct ForgedIndex {
    entries: Vec<(String, u32, String)>,
    extensions: Vec<u8>,
}

impl ForgedIndex {
    /// The present entries.
    fn of(cell: &Cell) -> Self {
        let listed = git(cell, "", &["ls-files", "--stage"]);
        let entry = |line: &str| {
            let (facts, path) = line.split_once('\t').unwrap();
            let facts: Vec<&str> = facts.split(' ').collect();
            (path.to_owned(), u32::from_str_radix(facts[0], 8).unwrap(), facts[1].to_owned())
        };
        // git gives advice about a sparse index.
        let lines = listed.lines().filter(|line| line.contains('\t'));
        Self { entries: lines.map(entry).collect(), extensions: Vec::new() }
    }

    fn without(mut self, beginning: &str) -> Self {
        self.entries.retain(|(path, ..)| !path.starts_with(beginning));
        self
    }

    fn with(self, path: &str, mode: u32, object: &str) -> Self {
        let mut changed = self.without(path);
        changed.entries.push((path.to_owned(), mode, object.trim().to_owned()));
        changed
    }

    /// Has a command write it, and returns how that ended.
    async fn leave(mut self, cell: &Cell, bounds: Bounds) -> Exit {
        self.entries.sort();
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(self.entries.len()).unwrap().to_be_bytes());
        for (path, mode, object) in &self.entries {
            let digits = |at: usize| u8::from_str_radix(object.get(2 * at..2 * at + 2).unwrap(), 16).unwrap();
            let mut entry = vec![0; 24];
            entry.extend(mode.to_be_bytes());
            entry.extend([0; 12]);
            entry.extend((0..20).map(digits));
            entry.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
            entry.extend(path.as_bytes());
            entry.resize(entry.len() + 8 - entry.len() % 8, 0);
            bytes.extend(entry);
        }
        bytes.extend(self.extensions);
        bytes.extend(Sha1::digest(&bytes));
        fs::write(cell.ws("forged"), bytes).unwrap();
        cell.give(&cell.ws("forged"));
        cell.run_in(bounds, "cat forged > .git/index; rm forged").await
    }
}

/// Writes an object.
fn object(cell: &Cell, text: &str) -> String {
    fs::write(cell.ws(".git/text"), text).unwrap();
    let name = git(cell, "", &["hash-object", "-w", ".git/text"]);
    fs::remove_file(cell.ws(".git/text")).unwrap();
    give_all(cell, &cell.ws(".git/objects"));
    name.trim().to_owned()
}

/// A program that leaves a mark when it runs, as an object.
fn evil(cell: &Cell) -> String {
    git(cell, "", &["rev-parse", "HEAD:evil"])
}

fn commit_all(cell: &Cell) {
    git(cell, "", &["add", "-A"]);
    git(cell, "", &["commit", "-qm", "all"]);
    give_all(cell, &cell.ws(".git"));
}

/// The user drops changes of the work tree and goes on.
fn use_git(cell: &Cell) {
    for words in [&["restore", "."][..], &["add", "-A"], &["commit", "-q", "--allow-empty", "-m", "mine"]] {
        git(cell, "", words);
    }
}

#[tokio::test]
async fn no_link_of_an_index_takes_the_place_of_a_directory_that_programs_run_code_from() {
    for kind in ALL {
        for (setting, kept, link, planted) in [
            ("core.hooksPath=t2/githooks", "t2/githooks/README", "t2", "githooks/pre-commit"),
            ("filter.f.clean=tools2/clean.sh", "tools2/clean.sh", "tools2", "clean.sh"),
            ("a.b=c", "kept", ".cargo", "config.toml"),
            ("a.b=c", "sub/.cargo/README", "sub/.cargo", "config.toml"),
        ] {
            let cell = repository(kind);
            cell.file(kept, "ours\n");
            cell.file(".gitattributes", "*.txt filter=f\n");
            cell.file("a.txt", "a\n");
            commit_all(&cell);
            let (key, value) = setting.split_once('=').unwrap();
            git(&cell, "", &["config", key, value]);
            give_all(&cell, &cell.ws(".git/config"));
            // A file of no special name.
            let place = if link.contains('/') { "sub/x" } else { "x" };
            cell.file(&format!("{place}/{planted}"), &fs::read_to_string(cell.ws("evil")).unwrap());
            fs::set_permissions(cell.ws(place).join(planted), fs::Permissions::from_mode(0o755)).unwrap();
            let index = ForgedIndex::of(&cell).without(link).with(link, LINK, &object(&cell, "x"));
            let exit = index.leave(&cell, bounds(&cell)).await;
            fs::write(cell.ws("a.txt"), "mine\n").unwrap();
            git(&cell, "", &["restore", "."]);
            fs::write(cell.ws("a.txt"), "mine\n").unwrap();
            use_git(&cell);
            let told = format!("{kind:?}: {link}: {:?}", exit.swept);
            assert!(!cell.ws("ran").exists(), "{told}");
            assert!(!cell.ws(link).join("config.toml").exists(), "{told}");
            assert_eq!(fs::read_to_string(cell.ws(kept)).unwrap(), "ours\n", "{told}");
        }
    }
}

/// Files that programs run code from because of a link: its place, its target, and an entry with new contents.
const BEHIND_LINKS: &[(&str, &str, &str)] = &[
    ("gh/pre-commit", "../sc/pc.sh", "sc/pc.sh"),
    ("gh/pre-commit", "../mid", "sc/pc.sh"),
    (".git/hooks", "../githooks", "githooks/pre-commit"),
    (".cargo", "conf", "conf/config.toml"),
    (".cargo", "./a/../conf", "conf/config.toml"),
    ("sub/.cargo", "../conf", "conf/config.toml"),
];

#[tokio::test]
async fn an_index_has_no_new_contents_for_the_target_of_a_link_that_programs_run_code_from() {
    for kind in ALL {
        for (link, to, target) in BEHIND_LINKS {
            let cell = repository(kind);
            cell.file("a/README", "ours\n");
            cell.file("gh/README", "ours\n");
            cell.file("sub/README", "ours\n");
            cell.file(target, "#!/bin/sh\n");
            fs::set_permissions(cell.ws(target), fs::Permissions::from_mode(0o755)).unwrap();
            if *link == ".git/hooks" {
                fs::remove_dir_all(cell.ws(link)).unwrap();
                fs::rename(cell.ws(target), cell.ws("githooks/README")).unwrap();
            } else if link.starts_with("gh/") {
                git(&cell, "", &["config", "core.hooksPath", "gh"]);
            }
            symlink(to, cell.ws(link)).unwrap();
            if to.ends_with("mid") {
                symlink("sc/pc.sh", cell.ws("mid")).unwrap();
            }
            commit_all(&cell);
            let index = ForgedIndex::of(&cell).with(target, PROGRAM, &evil(&cell));
            let exit = index.leave(&cell, bounds(&cell)).await;
            use_git(&cell);
            let told = format!("{kind:?}: {link} -> {to}: {:?}", exit.swept);
            assert!(!cell.ws("ran").exists(), "{told}");
            let text = fs::read_to_string(cell.ws(target)).unwrap_or_default();
            assert!(!text.contains("touch"), "{told}");
        }
    }
}

/// The link is only in the index: neither of the two is in the work tree, and the user restores both.
#[tokio::test]
async fn a_link_that_only_the_index_has_counts() {
    for kind in ALL {
        let cell = repository(kind);
        cell.file("conf/config.toml", "ours\n");
        symlink("conf", cell.ws(".cargo")).unwrap();
        commit_all(&cell);
        fs::remove_file(cell.ws(".cargo")).unwrap();
        let index = ForgedIndex::of(&cell).with("conf/config.toml", FILE, &evil(&cell));
        let exit = index.leave(&cell, bounds(&cell)).await;
        use_git(&cell);
        let text = fs::read_to_string(cell.ws(".cargo/config.toml")).unwrap_or_default();
        assert!(!text.contains("touch"), "{kind:?}: {:?}", exit.swept);
    }
}

/// A place elsewhere leads to a file in the work tree, as a link in `~/.local/bin` does.
#[tokio::test]
async fn an_index_has_no_new_contents_for_a_file_that_is_guarded_by_its_place() {
    for kind in ALL {
        for is_there in [true, false] {
            let cell = repository(kind);
            cell.file("sc/README", "ours\n");
            if is_there {
                cell.file("sc/tool.sh", "ours\n");
            }
            commit_all(&cell);
            let bounds = Bounds { guarded: vec![cell.ws("sc/tool.sh")], ..bounds(&cell) };
            let exit =
                ForgedIndex::of(&cell).with("sc/tool.sh", PROGRAM, &evil(&cell)).leave(&cell, bounds).await;
            use_git(&cell);
            let text = fs::read_to_string(cell.ws("sc/tool.sh")).unwrap_or_default();
            assert!(!text.contains("touch"), "{kind:?} {is_there}: {:?}", exit.swept);
        }
    }
}

#[tokio::test]
async fn an_index_makes_no_link_and_no_program_of_a_file_that_programs_run_code_from() {
    for kind in ALL {
        let cell = repository(kind);
        cell.file(".envrc", "evil");
        cell.file("gh/pre-commit", &fs::read_to_string(cell.ws("evil")).unwrap());
        git(&cell, "", &["config", "core.hooksPath", "gh"]);
        commit_all(&cell);
        for (path, mode) in [(".envrc", LINK), ("gh/pre-commit", PROGRAM)] {
            let of_file = git(&cell, "", &["rev-parse", &format!("HEAD:{path}")]);
            let exit = ForgedIndex::of(&cell).with(path, mode, &of_file).leave(&cell, bounds(&cell)).await;
            use_git(&cell);
            let found = fs::symlink_metadata(cell.ws(path)).unwrap();
            assert!(
                found.is_file() && found.permissions().mode() & 0o111 == 0,
                "{kind:?}: {path}: {:?}",
                exit.swept
            );
            assert!(!cell.ws("ran").exists(), "{kind:?}: {path}: {:?}", exit.swept);
        }
    }
}

/// Where a file begins to be one that programs run code from above the repository, the name counts.
#[tokio::test]
async fn names_begin_above_the_work_tree() {
    for kind in ALL {
        let cell = repository(kind);
        cell.file(".cargo/README", "ours\n");
        for words in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "one"]] {
            git(&cell, ".cargo", words);
        }
        give_all(&cell, &cell.ws(".cargo"));
        let plant = "cd .cargo; o=$(echo planted | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$o,config.toml";
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}{plant}")).await;
        git(&cell, ".cargo", &["restore", "."]);
        assert!(!cell.ws(".cargo/config.toml").exists(), "{kind:?}: {:?}", exit.swept);
    }
}

/// A file that the sweep moves away does not come back from the index, and other work stays in it.
#[tokio::test]
async fn a_planted_file_leaves_the_index_too() {
    for kind in ALL {
        let cell = repository(kind);
        let plant = "echo planted > .envrc; ln -s x .vscode; echo b > b; git add -A; git commit -qm b; echo c > c; git add c";
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}{plant}")).await;
        git(&cell, "", &["restore", "."]);
        let listed = git(&cell, "", &["ls-files"]);
        for name in [".envrc", ".vscode"] {
            assert!(fs::symlink_metadata(cell.ws(name)).is_err(), "{kind:?}: {name}: {:?}", exit.swept);
            assert!(!listed.contains(name), "{kind:?}: {listed}");
        }
        // Without mounts, git does not work everywhere.
        if !WITH_MOUNTS.contains(&kind) {
            continue;
        }
        assert!(listed.contains("b\nc\n"), "{kind:?}: {listed}");
        assert_eq!(git(&cell, "", &["status", "--short"]), "D  .envrc\nD  .vscode\nA  c\n", "{kind:?}");
    }
}

/// In a linked work tree, entries are compared with its files.
#[tokio::test]
async fn contents_of_files_enter_the_index_of_a_linked_work_tree() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        git(&cell, "", &["worktree", "add", "-q", "-b", "t", "tree"]);
        cell.file("tree/.envrc", "ours\n");
        give_all(&cell, &cell.ws(""));
        let exit =
            cell.run_in(bounds(&cell), &format!("{HOME}cd tree; git add .envrc; git commit -qm envrc")).await;
        assert_eq!((exit.code, &exit.swept[..]), (Some(0), &[][..]), "{kind:?}: {}", exit.stderr.text());
        let plant = "cd tree; o=$(echo planted | git hash-object -w --stdin); git update-index --cacheinfo 100644,$o,.envrc";
        let exit = cell.run_in(bounds(&cell), &format!("{HOME}{plant}")).await;
        git(&cell, "tree", &["restore", "."]);
        assert_eq!(
            fs::read_to_string(cell.ws("tree/.envrc")).unwrap(),
            "ours\n",
            "{kind:?}: {:?}",
            exit.swept
        );
    }
}

/// A tree with one file.
fn tree(cell: &Cell, path: &str, object: &str) -> String {
    let index = cell.ws(".git/other-index");
    fs::remove_file(&index).unwrap_or_default();
    let script = format!(
        "export GIT_INDEX_FILE={}; g='git -c safe.directory=*'; $g update-index --add --cacheinfo 100644,{object},{path}; $g write-tree; rm $GIT_INDEX_FILE",
        index.display()
    );
    let told = super::git_state::as_user(cell, &script);
    let name =
        told.lines().find(|line| line.len() == 40 && line.chars().all(|digit| digit.is_ascii_hexdigit()));
    name.unwrap_or_else(|| panic!("{told}")).to_owned()
}

#[tokio::test]
async fn files_of_a_sparse_directory_count_one_by_one() {
    for kind in ALL {
        for path in [".envrc", "deep/er/.husky/pre-commit"] {
            for is_sparse in [false, true] {
                let cell = repository(kind);
                cell.file("in/README", "ours\n");
                cell.file("out/README", "ours\n");
                commit_all(&cell);
                if is_sparse {
                    git(&cell, "", &["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
                }
                let planted = tree(&cell, path, evil(&cell).trim());
                give_all(&cell, &cell.ws(".git"));
                let mut index = ForgedIndex::of(&cell).without("out/").with("out/", DIRECTORY, &planted);
                index.extensions = b"sdir\0\0\0\0".to_vec();
                let exit = index.leave(&cell, bounds(&cell)).await;
                for words in [
                    &["stash", "-q"][..],
                    &["stash", "pop", "-q"],
                    &["commit", "-q", "--allow-empty", "-m", "mine"],
                    &["sparse-checkout", "disable"],
                    &["restore", "."],
                ] {
                    git(&cell, "", words);
                }
                let committed = git(&cell, "", &["ls-tree", "-r", "--name-only", "HEAD"]);
                let told = format!("{kind:?} {is_sparse}: {path}: {committed} {:?}", exit.swept);
                assert!(!cell.ws("out").join(path).exists() && !committed.contains(path), "{told}");
                assert!(committed.contains("out/README"), "{told}");
            }
        }
    }
}

/// Ordinary work with links, in all of a work tree.
const WORK: &[&str] = &[
    "mkdir -p docs/v1 docs/v2; echo 1 > docs/v1/f; echo 2 > docs/v2/f; ln -s v1 docs/latest; git add docs; git commit -qm docs; \
     ln -sfn v2 docs/latest; git add docs; git commit -qm latest; git rm -q docs/latest; git commit -qm gone; git revert --no-edit HEAD",
    "ln -s file link; git add link; git stash -q; git stash pop -q; git commit -qm link; git mv link moved; git commit -qm moved; \
     git rm -q moved; mkdir moved; echo x > moved/x; git add moved; git commit -qm directory; git reset -q --hard HEAD~; git clean -qfd; \
     git checkout -qb side HEAD~; echo s > s; git add s; git commit -qm s; git rebase -q main; git checkout -q main; git merge -q side",
    "git checkout -qb side; mkdir -p in out/deep; echo a > in/a; echo b > out/deep/b; git add .; git commit -qm side; \
     git checkout -q main; echo c > in/c; git add in; git commit -qm main; git merge -q side; git checkout -q side; git rebase -q main",
];

/// Ordinary work in a part of a work tree.
const WORK_IN_PART: &[&str] = &[
    "echo o > conf/o; git add conf; git commit -qm o; git mv conf/o conf/p; git commit -qm p",
    "echo new > in/new; git add in; git commit -qm in; git switch -q wide; git switch -q main; git merge -q wide; git log --stat; \
     git checkout -qb more HEAD~; echo m > in/m; git add in; git commit -qm m; git rebase -q main; echo w > in/w; git stash -q; git stash pop -q; git add in; \
     git commit -qm w; git gc -q; git switch -q main; git reset -q --hard wide; git merge -q more; git cherry-pick main~1; git status",
];

#[tokio::test]
async fn work_with_links_and_sparse_checkouts_goes_on_without_a_word() {
    for kind in WITH_MOUNTS {
        for is_sparse in [false, true] {
            let whole = WORK.iter().filter(|_| !is_sparse);
            for work in whole.chain(WORK_IN_PART) {
                let cell = repository(kind);
                for name in ["in/README", "out/README", "out/deep/README", "conf/config.toml"] {
                    cell.file(name, "ours\n");
                }
                // The user's own links and orders.
                cell.file("out/.envrc", "ours\n");
                symlink("conf", cell.ws(".cargo")).unwrap();
                commit_all(&cell);
                git(&cell, "", &["switch", "-qc", "wide"]);
                cell.file("out/deep/wide", "ours\n");
                commit_all(&cell);
                git(&cell, "", &["switch", "-q", "main"]);
                if is_sparse {
                    git(&cell, "", &["sparse-checkout", "set", "--cone", "--sparse-index", "in", "conf"]);
                }
                give_all(&cell, &cell.ws(""));
                let exit = cell.run_in(bounds(&cell), &format!("{HOME}{work}")).await;
                let told =
                    format!("{kind:?} {is_sparse}: {work}: {}{}", exit.stdout.text(), exit.stderr.text());
                assert_eq!(exit.swept, [], "{told}");
                assert!(!exit.stderr.text().contains("fatal"), "{told}");
                let rest = git(&cell, "", &["fsck", "--no-dangling"]);
                assert!(!rest.contains("error"), "{told}: {rest}");
            }
        }
    }
}

/// The user leaves the sparse checkout and changes it, before and after a command.
#[tokio::test]
async fn an_index_may_name_directories_and_then_files_again() {
    for kind in WITH_MOUNTS {
        let cell = repository(kind);
        for name in ["in/README", "out/README", "out/.envrc"] {
            cell.file(name, "ours\n");
        }
        commit_all(&cell);
        git(&cell, "", &["sparse-checkout", "set", "--cone", "in"]);
        let directories = || git(&cell, "", &["ls-files", "--sparse"]);
        assert!(directories().contains("out/README"), "{kind:?}: {}", directories());
        git(&cell, "", &["config", "index.sparse", "true"]);
        give_all(&cell, &cell.ws(""));
        // git replaces the files by their directory.
        let exit =
            cell.run_in(bounds(&cell), &format!("{HOME}echo x > in/x; git add in; git commit -qm x")).await;
        assert_eq!(exit.swept, [], "{kind:?}");
        assert!(directories().contains("out/\n"), "{kind:?}: {}", directories());
        let exit =
            cell.run_in(bounds(&cell), &format!("{HOME}git -c index.sparse=false commit -q --allow-empty -m y; git -c index.sparse=false add -A"))
                .await;
        assert_eq!(exit.swept, [], "{kind:?}");
        git(&cell, "", &["sparse-checkout", "disable"]);
        assert_eq!(fs::read_to_string(cell.ws("out/.envrc")).unwrap(), "ours\n", "{kind:?}");
    }
}
