//! The table tested with the real programs: each example runs on a scratch tree, and the table must announce
//! each change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::row::RowCondition;
use super::untried::{UNTRIED, UNTRIED_USES};
use super::{FileRow, rows};
use crate::Places;
use crate::effect::{
    CommandEffect, CommandExamination, GIT_READERS, TELLING, TouchAccess, TouchReach, examine,
};

/// Makes the scratch tree. Every program that an example needs is used or found here, so that a missing one fails.
const TREE: &str = r"set -e
mkdir -p dir/sub empty nest/in/most m home
printf 'one\ntwo\nthree\n' > a.txt
printf 'beta\n' > b.txt
printf 'gamma\n' > dir/c.txt
printf 'x = 1\n' > dir/e.py; printf '{}\n' > one.json
ssh-keygen -q -t ed25519 -N '' -f ssh
printf 'delta\n' > dir/sub/d.txt
printf 'x\r\n' > crlf.txt
printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh
ln -s a.txt link
printf 'int main(void) { return 0; }\n' > x.c
gcc -c x.c -o x.o; gcc -S x.c -o x.s
printf 'member\n' > m/one.txt
tar cf t.tar m; zip -qr t.zip m; find m | cpio -o --quiet > t.cpio; ar rc lib.a a.txt
rm -r m
mkdir -p deb/DEBIAN; printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x <a@b>\nDescription: x\n' > deb/DEBIAN/control
printf 'packed\n' > deb/packed; chmod -R u=rwX,go=rX deb; dpkg-deb -b deb t.deb > home/told; rm -r deb home/told
printf g > g; gzip g; printf h > h; bzip2 h; printf i > i; xz i
printf j > j; zstd -q --rm j; printf k > k; lz4 -q --rm k k.lz4; printf l > l; brotli -j l
printf '%s\n' '--- a.txt' '+++ a.txt' '@@ -1 +1 @@' '-one' '+uno' > p.patch
sed -i 's/@@ -1 +1 @@/@@ -1,3 +1,3 @@/' p.patch; printf ' two\n three\n' >> p.patch
printf '%s\n' '--- c.txt' '+++ c.txt' '@@ -1 +1 @@' '-gamma' '+mu' > c.patch
xxd a.txt > hex.txt
sqlite3 data.db 'create table t(x); insert into t values(1)'
";

/// Makes a repository, for the examples that need one.
const REPOSITORY: &str = r"set -e
mkdir home
git init -q repo; cd repo
git config user.email x@example.org; git config user.name x
printf 'one\n' > one.txt; printf 'two\n' > two.txt; git add .; git commit -qm first
git branch other; git checkout -q other; printf 'other\n' > two.txt; git commit -qam second; git checkout -q -
printf 'changed\n' > one.txt; printf 'new\n' > new.txt
git diff other~1 other > two.diff
git clone -q --bare --no-hardlinks . ../bare.git
";

/// A path of the tree as it is: kind and rights, content, and the time of its last change.
type State = BTreeMap<PathBuf, (u32, Vec<u8>, i64)>;

fn state(root: &Path) -> State {
    let mut state = State::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let kind = metadata.file_type();
            let (content, changed) = match () {
                () if kind.is_dir() => (Vec::new(), 0),
                () if kind.is_symlink() => {
                    (fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(), 0)
                }
                () if kind.is_file() => {
                    (fs::read(&path).unwrap(), metadata.mtime_nsec() + metadata.mtime() * 1_000_000_000)
                }
                () => (Vec::new(), 0),
            };
            if kind.is_dir() && path.file_name().is_none_or(|name| name != ".git") {
                open.push(path.clone());
            }
            state.insert(path, (metadata.permissions().mode(), content, changed));
        }
    }
    state
}

#[expect(clippy::disallowed_methods, reason = "the test holds the table against the real programs")]
fn bash(line: &str, root: &Path) -> (bool, String) {
    let output = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", line])
        .current_dir(root)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", root.join("home"))
        .env("LC_ALL", "C.UTF-8")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("TMPDIR", root.join("home"))
        .stdin(Stdio::null())
        .output()
        .expect("bash is needed for this test");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn bash_output(line: &str, root: &Path) -> String {
    let file = root.join("home").join("told");
    let (is_success, error) = bash(&format!("({line}) > {}", file.display()), root);
    assert!(is_success, "{line}: {error}");
    fs::read_to_string(file).unwrap()
}

/// Trees to copy for each example.
struct Templates {
    tree: tempfile::TempDir,
    repository: tempfile::TempDir,
}

fn templates() -> Templates {
    let made = |script: &str| {
        let template = tempfile::tempdir().unwrap();
        let (is_made, error) = bash(script, template.path());
        assert!(is_made, "the scratch tree cannot be made; install the programs of the table: {error}");
        template
    };
    Templates { tree: made(TREE), repository: made(REPOSITORY) }
}

#[expect(clippy::disallowed_methods, reason = "the copy keeps times and rights")]
fn copy(from: &Path, to: &Path) {
    let from = from.join(".");
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

struct Run {
    root: PathBuf,
    changed: BTreeSet<PathBuf>,
    /// New directories.
    new: BTreeSet<PathBuf>,
    is_success: bool,
    error: String,
    examination: CommandExamination,
}

fn try_out(line: &str, templates: &Templates) -> Run {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap().join("w");
    copy(templates.tree.path(), &root);
    if line.contains("repo") {
        copy(templates.repository.path(), &root);
    }
    let line = line.replace("{here}", &root.to_string_lossy());
    let places = Places { workspace: vec![root.clone()], target: "local".to_owned(), ..Places::default() };
    let examination = examine(&line, Some(&root), &places).unwrap();
    let before = state(&root);
    let (is_success, error) = bash(&line, &root);
    let after = state(&root);
    let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let is_own = |path: &Path| {
        path.components().any(|part| part.as_os_str() == ".git") || path.starts_with(root.join("home"))
    };
    let changed = all.into_iter().filter(|path| before.get(*path) != after.get(*path) && !is_own(path));
    let changed: BTreeSet<PathBuf> = changed.cloned().collect();
    let is_new = |path: &&PathBuf| !before.contains_key(*path) && path.is_dir();
    let new = changed.iter().filter(is_new).cloned().collect();
    Run { root, changed, new, is_success, error, examination }
}

impl Run {
    fn is_announced(&self, path: &Path) -> bool {
        self.examination.touches.iter().filter(|touch| touch.access != TouchAccess::Read).any(|touch| {
            match &touch.reach {
                TouchReach::Path(known) => {
                    path.starts_with(known) || (self.new.contains(path) && known.starts_with(path))
                }
                TouchReach::Beneath(known) => path.starts_with(known),
                TouchReach::Unknown(_) => false,
            }
        })
    }

    fn unannounced(&self) -> Vec<&Path> {
        self.changed
            .iter()
            .filter(|path| !self.is_announced(path))
            .map(|path| path.strip_prefix(&self.root).unwrap())
            .collect()
    }
}

/// Runs the same check on every row at once, so that one run reports all faults.
fn faults(check: impl Fn(&FileRow, &mut Vec<String>)) {
    let mut faults = Vec::new();
    rows().for_each(|row| check(row, &mut faults));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_change_by_an_example_was_announced() {
    let templates = templates();
    faults(|row, faults| {
        for line in row.changes {
            let run = try_out(line, &templates);
            if run.changed.is_empty() {
                faults.push(format!("`{line}` changed nothing: {}", run.error));
            }
            let missing = run.unannounced();
            if !missing.is_empty() {
                faults
                    .push(format!("`{line}` changed {missing:?} unannounced: {:?}", run.examination.touches));
            }
        }
    });
}

#[test]
fn examples_that_only_read_change_nothing() {
    let templates = templates();
    faults(|row, faults| {
        for line in row.reads {
            let run = try_out(line, &templates);
            if !run.is_success || !run.changed.is_empty() {
                faults.push(format!("`{line}`: {:?} {}", run.changed, run.error));
            }
        }
    });
}

/// The state of a repository: names, their targets, and its settings.
const STANDING: &str = "cd repo && git for-each-ref && cat .git/HEAD .git/config && git stash list && git notes list && git write-tree";

#[test]
fn uses_of_git_that_only_tell_something_change_neither_files_nor_names() {
    let templates = templates();
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap().join("w");
    copy(templates.repository.path(), &root);
    let told = |line: &str| bash_output(line, &root);
    let (standing, before) = (told(STANDING), state(&root.join("repo")));
    for line in GIT_READERS.iter().flat_map(|reader| reader.tried) {
        let places =
            Places { workspace: vec![root.clone()], target: "local".to_owned(), ..Places::default() };
        let examination = examine(line, Some(&root.join("repo")), &places).unwrap();
        assert_eq!(examination.leaves[0].effect, CommandEffect::Held, "{line}: {:?}", examination.concerns);
        bash(&format!("cd repo && {line}"), &root);
        assert_eq!(told(STANDING), standing, "{line}");
        let kept =
            |state: State| state.into_iter().filter(|(path, _)| !path.ends_with(".git")).collect::<State>();
        assert_eq!(kept(state(&root.join("repo"))), kept(before.clone()), "{line}");
    }
}

#[test]
fn programs_tell_their_version_and_leave_nothing_behind() {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    fs::create_dir(root.join("home")).unwrap();
    let before = state(&root);
    let mut tried = 0;
    for (programs, words) in TELLING {
        for program in *programs {
            let is_here = bash(&format!("command -v {program}"), &root).0;
            // Launchers of toolchains look for them in the home, which this one is not.
            if !is_here {
                continue;
            }
            for word in words.iter().filter(|word| !word.ends_with("help")) {
                bash(&format!("timeout 20 {program} {word}"), &root);
                tried += 1;
                let kept = |state: State| -> State {
                    state.into_iter().filter(|(path, _)| !path.starts_with(root.join("home"))).collect()
                };
                assert_eq!(kept(state(&root)), kept(before.clone()), "{program} {word}");
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

/// Whether an example that runs has a program's name as a word.
fn is_tried(name: &str) -> bool {
    let lines = rows().flat_map(|row| row.changes.iter().chain(row.reads));
    let module = name.replacen("python ", "python3 ", 1);
    let is_word = |line: &str| line.split([' ', ';', '|', '\\']).any(|word| word == name);
    lines.into_iter().any(|line| if name.contains(' ') { line.contains(&module) } else { is_word(line) })
}

/// A use that a row is about, by the word or option that marks it.
fn use_of(row: &FileRow) -> String {
    let first = |words: &[&str]| words.first().copied().unwrap_or_default().to_owned();
    let mark = match row.when {
        RowCondition::Always => String::new(),
        RowCondition::Option(words) | RowCondition::Word(words) => first(words),
        RowCondition::Pair(word, words) => format!("{word} {}", first(words)),
        RowCondition::Letters(letters) => letters.chars().take(1).collect(),
    };
    format!("{} {mark}", first(row.names)).trim_end().to_owned()
}

/// A list that is frozen may only get shorter: an entry whose program has an example now has to go, and a new program needs an example.
#[test]
fn every_program_has_an_example_that_runs_but_for_a_frozen_list() {
    let names: BTreeSet<&str> = rows().flat_map(|row| row.names.iter().copied()).collect();
    let untried: BTreeSet<&str> = names.into_iter().filter(|name| !is_tried(name)).collect();
    let listed: BTreeSet<&str> = UNTRIED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    assert_eq!(listed, untried);
    let has_none = |row: &&FileRow| row.changes.is_empty() && row.reads.is_empty();
    let known = |row: &&FileRow| !row.names.iter().all(|name| listed.contains(name));
    let uses: BTreeSet<String> = rows().filter(has_none).filter(known).map(use_of).collect();
    assert_eq!(uses, UNTRIED_USES.iter().map(|&text| text.to_owned()).collect());
}
