//! Files and directories that git takes orders from because its settings name them: hooks kept elsewhere,
//! included settings, and programs of filters, drivers, aliases and the like.
//!
//! One parser for all: policy asks before such a file is changed, the file tools guard it, and so does the
//! jail. Nothing is run; conditions of includes are taken to be true.

mod settings;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use buddy_protocol::climb;

use crate::link_look::look_at_link;
use settings::{Setting, settings};

/// The largest file of settings that is read, and the most such files.
const MAX_BYTES: u64 = 1024 * 1024;
const MAX_FILES: usize = 200;

/// The most paths that are found.
const MAX_FOUND: usize = 400;

/// Settings of the whole machine.
const SYSTEM: &str = "/etc/gitconfig";

/// Settings whose value is a path. A key is `section.name` in lower case, without the part between them.
const PATHS: &[&str] = &[HOOKS_PATH, "core.attributesfile", "init.templatedir"];
const HOOKS_PATH: &str = "core.hookspath";

/// Settings whose value is a path relative to the file that it stands in, and is read as settings
/// too.
const INCLUDES: &[&str] = &["include.path", "includeif.path"];

/// Settings whose value is a command. One without a name stands for all of its section.
const COMMANDS: &[&str] = &[
    "alias",
    "browser",
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "credential.helper",
    "diff.command",
    "diff.external",
    "diff.textconv",
    "difftool",
    "filter",
    "gpg.defaultkeycommand",
    "gpg.program",
    "guitool",
    "imap.tunnel",
    "interactive.difffilter",
    "man",
    "merge.driver",
    "mergetool",
    "pager",
    "remote.receivepack",
    "remote.uploadpack",
    "sendemail",
    "sequence.editor",
    "submodule.update",
    "tar.command",
    "trailer.cmd",
    "trailer.command",
    "uploadpack.packobjectshook",
];

/// Settings that name files from which nothing is run, or no files.
const HARMLESS: &[&str] = &[
    "blame.ignorerevsfile",
    "branch",
    "color",
    "commit.template",
    "core.excludesfile",
    "core.worktree",
    "extensions",
    "fetch",
    "gui.recentrepo",
    "http",
    "mailmap.file",
    "maintenance.repo",
    "remote.fetch",
    "remote.push",
    "remote.pushurl",
    "remote.url",
    "safe.directory",
    "submodule.active",
    "submodule.path",
    "submodule.url",
    "url",
    "user",
];

/// Hooks by name, for a repository whose hooks are in its work tree.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
];

/// A repository: its own directory, and that of its files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Repository {
    pub(crate) git: PathBuf,
    pub(crate) top: PathBuf,
}

impl Repository {
    /// The repository with this directory of its own, which is in the work tree or is a bare
    /// repository.
    pub(crate) fn of(git: &Path) -> Self {
        let is_inside = git.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        let top = git.parent().filter(|_| is_inside).unwrap_or(git);
        Self { git: git.to_owned(), top: top.to_owned() }
    }

    /// The repositories that a file `.git` leads to: the work tree's own, and the one that it
    /// shares with others.
    pub(crate) fn behind(file: &Path) -> Vec<Self> {
        let Some(top) = file.parent() else { return Vec::new() };
        let Some(text) = read(file) else { return Vec::new() };
        let Some(named) = text.strip_prefix("gitdir:") else { return Vec::new() };
        let git = clean(&top.join(named.trim()));
        let shared = read(&git.join("commondir")).map(|shared| clean(&git.join(shared.trim())));
        [Some(git), shared].into_iter().flatten().map(|git| Self { git, top: top.to_owned() }).collect()
    }
}

/// The directories of a user's settings for all their repositories.
#[derive(Debug, Clone, Copy, Default)]
pub struct GitHome<'a> {
    /// The home directory.
    pub home: Option<&'a Path>,
    /// The directory of programs' settings; in the home if absent.
    pub config: Option<&'a Path>,
}

/// The paths that settings of these repositories name, as far as git takes orders from them. Links are not followed.
pub(crate) fn named_by(repositories: &BTreeSet<Repository>, home: GitHome<'_>) -> BTreeSet<PathBuf> {
    let tops = || repositories.iter().map(|repository| repository.top.clone()).collect::<BTreeSet<_>>();
    let config = home.config.map(Path::to_owned).or_else(|| home.home.map(|home| home.join(".config")));
    let own = config.map(|config| config.join("git/config"));
    let everywhere = [Some(SYSTEM.into()), own, home.home.map(|home| home.join(".gitconfig"))];
    let mut reader = Reader { home: home.home, found: BTreeSet::new(), read: BTreeSet::new() };
    if !repositories.is_empty() {
        for file in everywhere.into_iter().flatten() {
            reader.read(&file, &tops());
        }
    }
    for repository in repositories {
        let top = BTreeSet::from([repository.top.clone()]);
        for name in ["config", "config.worktree"] {
            reader.read(&repository.git.join(name), &top);
        }
    }
    reader.found
}

/// The settings that name where git fetches from and pushes to.
const REMOTES: &[&str] = &["remote.url", "remote.pushurl"];

/// The values of these settings in these repositories, with the repository.
pub(crate) fn remotes_of(repositories: &BTreeSet<Repository>) -> Vec<(&Repository, String)> {
    let mut found = Vec::new();
    for repository in repositories {
        let Some(text) = read(&repository.git.join("config")) else { continue };
        let remotes = settings(&text).into_iter().filter(|setting| REMOTES.contains(&setting.key.as_str()));
        found.extend(remotes.take(MAX_FOUND).map(|setting| (repository, setting.value)));
    }
    found
}

/// The last value of a setting in a text.
pub(crate) fn value_of(text: &str, key: &str) -> Option<String> {
    settings(text).into_iter().rev().find(|setting| setting.key == key).map(|setting| setting.value)
}

/// Reads settings and those that they include.
struct Reader<'a> {
    home: Option<&'a Path>,
    found: BTreeSet<PathBuf>,
    /// Files that were read, with the directories that paths in them are relative to.
    read: BTreeSet<(PathBuf, BTreeSet<PathBuf>)>,
}

impl Reader<'_> {
    fn read(&mut self, file: &Path, tops: &BTreeSet<PathBuf>) {
        if self.read.len() >= MAX_FILES || !self.read.insert((file.to_owned(), tops.clone())) {
            return;
        }
        let Some(text) = read(file) else { return };
        for Setting { key, value } in settings(&text) {
            self.take(file, &key, &value, tops);
        }
    }

    fn take(&mut self, file: &Path, key: &str, value: &str, tops: &BTreeSet<PathBuf>) {
        let section = key.split('.').next().unwrap_or_default();
        let is_in = |keys: &[&str]| keys.contains(&key) || keys.contains(&section);
        if INCLUDES.contains(&key) {
            let Some(path) = file.parent().and_then(|base| self.path(base, value)) else { return };
            self.find(path.clone());
            self.read(&path, tops);
        } else if PATHS.contains(&key) {
            for path in tops.iter().filter_map(|top| self.path(top, value)).collect::<Vec<_>>() {
                if tops.iter().any(|top| top.starts_with(&path)) {
                    // The work tree lies in there, so only hooks count, by name.
                    let hooks = HOOKS.iter().filter(|_| key == HOOKS_PATH);
                    hooks.for_each(|hook| self.find(path.join(hook)));
                } else {
                    self.find(path);
                }
            }
        } else if !is_in(HARMLESS) && (section != "alias" || value.trim_start().starts_with('!')) {
            let is_command = is_in(COMMANDS);
            for (word, top) in words(value).flat_map(|word| tops.iter().map(move |top| (word, top))) {
                let Some(path) = self.path(top, word) else { continue };
                let is_path = is_command && word.contains('/');
                let is_program = if path.exists() { path.is_file() } else { is_path };
                if is_program && !tops.iter().any(|top| top.starts_with(&path)) {
                    self.find(path);
                }
            }
        }
    }

    fn find(&mut self, path: PathBuf) {
        if self.found.len() < MAX_FOUND {
            self.found.insert(path);
        }
    }

    /// A path as git reads it: from a directory, or from the home.
    fn path(&self, base: &Path, text: &str) -> Option<PathBuf> {
        let text = text.trim();
        let path = match text.strip_prefix("~/") {
            Some(below) => self.home?.join(below),
            None if text.is_empty() || text.starts_with(['~', '%']) => return None,
            None => base.join(text),
        };
        Some(clean(&path))
    }
}

/// The words of a command that may be paths, as a shell would part them.
fn words(value: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| letter.is_whitespace() || "'\"();|&<>$`{}=,!:".contains(letter);
    value.split(is_between).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// The text of a small file.
pub(crate) fn read(file: &Path) -> Option<String> {
    // Opens without waiting for the other end of a pipe.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(file).ok()?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The path without `.` and `..`, as the kernel resolves it.
pub(crate) fn clean(path: &Path) -> PathBuf {
    climb(path, &look_at_link).path
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The paths below the work tree that a configuration names.
    fn check(config: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("w");
        fs::create_dir_all(top.join(".git")).unwrap();
        for name in ["run.sh", "tools/x.py", "docs/a"] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), "").unwrap();
        }
        fs::write(top.join("more"), "[core]\n\tfsmonitor = tools/x.py\n[include]\n\tpath = more\n").unwrap();
        fs::write(top.join(".git/config"), config).unwrap();
        let repositories = BTreeSet::from([Repository::of(&top.join(".git"))]);
        let home = top.join("home");
        let found = named_by(&repositories, GitHome { home: Some(&home), config: None });
        let found: Vec<_> = found.iter().filter_map(|path| path.strip_prefix(&top).ok()).collect();
        assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>(), "{config}");
    }

    #[test]
    fn paths_and_programs_are_found() {
        check("[core]\n\thooksPath = scripts/hooks\n", &["scripts/hooks"]);
        check("[core] hooksPath = \"scripts/my hooks\" ; why\n", &["scripts/my hooks"]);
        check("[CORE]\n\tHooksPath = ~/hooks\n", &["home/hooks"]);
        check("[core]\n\tattributesFile=../w/attr\n", &["attr"]);
        check("[include]\n\tpath = ../more\n", &["more", "tools/x.py"]);
        check("[includeIf \"gitdir:/x]y/\"]\n\tpath = ../none\n", &["none"]);
        check("[filter \"a b\"]\n\tclean = python3 tools/x.py --to=docs/a %f\n", &["docs/a", "tools/x.py"]);
        check("[alias]\n\tx = !sh run.sh \\\n tools/x.py\n\ty = log tools/x.py\n", &["run.sh", "tools/x.py"]);
        check("[credential \"https://x\"]\n\thelper = !'tools/new' get\n", &["tools/new"]);
        check("[unknown]\n\tkey = tools/x.py\n", &["tools/x.py"]);
    }

    #[test]
    fn settings_that_run_nothing_are_left_alone() {
        check("[core]\n\texcludesFile = docs/a\n\tpager = less\n[commit]\n\ttemplate = docs/a\n", &[]);
        check("[remote \"o\"]\n\turl = ../w\n[alias]\n\tx = !make docs\n[unknown]\n\tkey = no/where\n", &[]);
        check("[user]\n\tname = run.sh\n", &[]);
    }

    #[test]
    fn a_work_tree_is_never_guarded_as_a_whole() {
        let hooks: Vec<&str> = HOOKS.to_vec();
        check("[core]\n\thooksPath = .\n", &hooks);
        check("[core]\n\tattributesFile = ..\n\tfsmonitor = ./\n", &[]);
    }
}
