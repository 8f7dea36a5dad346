//! Files and directories that git takes orders from because its settings name them: hooks kept elsewhere,
//! included settings, and programs of filters, drivers, aliases and the like.
//!
//! One parser for all: policy asks before such a file is changed, the file tools guard it, and so does the
//! jail. Nothing is run; conditions of includes are taken to be true.

mod python_modules;
mod settings;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use buddy_protocol::{NameSet, climb};

use crate::link_look::look_at_link;
use python_modules::{files_of_module, modules_run};
pub(crate) use settings::Setting as OwnSetting;
use settings::{Setting, settings};

/// The largest file of settings that is read, and the most such files. A command can make many repositories, so nothing is guarded beyond: the
/// caller is told.
const MAX_BYTES: u64 = 1024 * 1024;
const MAX_FILES: usize = 10_000;

/// The most settings of one repository that are looked at.
const MAX_SETTINGS: usize = 10_000;

/// The most paths that are found. One module of Python has a hundred.
const MAX_FOUND: usize = 50_000;

/// Settings of the whole machine.
const SYSTEM: &str = "/etc/gitconfig";

/// The settings of a repository.
const CONFIGS: [&str; 2] = ["config", "config.worktree"];

/// The beginning of a file that says where the own directory of a repository is.
const GITFILE: &str = "gitdir:";

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
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
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
        let Some(named) = text.strip_prefix(GITFILE) else { return Vec::new() };
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
pub(crate) fn named_by(repositories: &BTreeSet<Repository>, home: GitHome<'_>) -> NamedFiles {
    let tops = || repositories.iter().map(|repository| repository.top.clone()).collect::<BTreeSet<_>>();
    let mut reader =
        Reader { home: home.home, found: BTreeSet::new(), read: BTreeSet::new(), is_whole: true };
    if !repositories.is_empty() {
        for file in user_files(home) {
            reader.read(&file, &tops());
        }
    }
    for repository in repositories {
        let top = BTreeSet::from([repository.top.clone()]);
        for name in CONFIGS {
            reader.read(&repository.git.join(name), &top);
        }
    }
    NamedFiles { files: reader.found, is_whole: reader.is_whole }
}

/// Files that settings name.
#[derive(Debug)]
pub(crate) struct NamedFiles {
    pub(crate) files: BTreeSet<PathBuf>,
    /// Whether no bound cut the search.
    pub(crate) is_whole: bool,
}

/// The most names that a user's settings give.
const MAX_NAMES: usize = 100;

/// Names that a user's own settings give relative to the repository that git works in: in every repository, and in every directory
/// that becomes one, git takes orders from them.
pub fn git_order_names(home: GitHome<'_>) -> NameSet {
    let mut found = UserSettings { home: home.home, settings: Vec::new(), read: BTreeSet::new() };
    for file in user_files(home) {
        found.read(&file);
    }
    let names = found.settings.iter().flat_map(|Setting { key, value, .. }| relative_names(key, value));
    let names: BTreeSet<String> = names.take(MAX_NAMES).collect();
    NameSet::trees(names.iter().map(String::as_str))
}

fn relative_names(key: &str, value: &str) -> Vec<String> {
    let section = key.split('.').next().unwrap_or_default();
    if key == HOOKS_PATH {
        let Some(directory) = relative_name(value) else { return Vec::new() };
        // A plain name such as `hooks` stands for much else, so only the hooks in it count.
        return if directory.contains('/') || directory.starts_with('.') {
            vec![directory]
        } else {
            HOOKS.iter().map(|hook| format!("{directory}/{hook}")).collect()
        };
    }
    if PATHS.contains(&key) {
        return relative_name(value).into_iter().collect();
    }
    let is_alias = section == "alias";
    let is_command = COMMANDS.contains(&key) || COMMANDS.contains(&section);
    if !is_command || (is_alias && !value.trim_start().starts_with('!')) {
        return Vec::new();
    }
    let program = words(value).next().filter(|word| word.contains('/'));
    program.and_then(relative_name).into_iter().collect()
}

/// The names of a path that is relative, without those that lead up. None if git reads the place anyway, or none is left.
fn relative_name(value: &str) -> Option<String> {
    let value = value.trim();
    if value.starts_with(['/', '~', '%', ':']) {
        return None;
    }
    let names: Vec<&str> = value.split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
    let is_known = |name: &&str| name.eq_ignore_ascii_case(".git") || *name == ".gitattributes";
    let has_pattern = names.iter().any(|name| name.contains('*'));
    let is_own = names.is_empty() || names.first().is_some_and(is_known) || has_pattern;
    (!is_own).then(|| names.join("/"))
}

/// Settings of the machine and of a user, with those that they include.
struct UserSettings<'a> {
    home: Option<&'a Path>,
    settings: Vec<Setting>,
    read: BTreeSet<PathBuf>,
}

impl UserSettings<'_> {
    fn read(&mut self, file: &Path) {
        if self.read.len() >= MAX_FILES || !self.read.insert(file.to_owned()) {
            return;
        }
        for setting in read(file).map(|text| settings(&text)).unwrap_or_default() {
            if INCLUDES.contains(&setting.key.as_str()) {
                let base = file.parent().unwrap_or(file);
                if let Some(path) = path_in_setting(self.home, base, &setting.value) {
                    self.read(&path);
                }
            } else {
                self.settings.push(setting);
            }
        }
    }
}

/// The files with settings for all repositories of a user.
fn user_files(home: GitHome<'_>) -> impl Iterator<Item = PathBuf> {
    let config = home.config.map(Path::to_owned).or_else(|| home.home.map(|home| home.join(".config")));
    let own = config.map(|config| config.join("git/config"));
    [Some(SYSTEM.into()), own, home.home.map(|home| home.join(".gitconfig"))].into_iter().flatten()
}

/// The settings that name where git fetches from and pushes to.
const REMOTES: &[&str] = &["remote.url", "remote.pushurl"];

/// Settings that have the name of a remote or, with a slash in it, an address.
const REMOTE_NAMES: &[&str] = &["branch.remote", "branch.pushremote", "remote.pushdefault"];

/// The values of these settings in these repositories, with the repository.
pub(crate) fn remotes_of(repositories: &BTreeSet<Repository>) -> Vec<(&Repository, String)> {
    let mut found = Vec::new();
    let is_remote = |Setting { key, value, .. }: &Setting| {
        REMOTES.contains(&key.as_str()) || (REMOTE_NAMES.contains(&key.as_str()) && value.contains('/'))
    };
    for (repository, name) in repositories.iter().flat_map(|one| CONFIGS.map(|name| (one, name))) {
        let Some(text) = read(&repository.git.join(name)) else { continue };
        let remotes = settings(&text).into_iter().filter(is_remote);
        found.extend(remotes.take(MAX_FOUND).map(|setting| (repository, setting.value)));
    }
    found
}

/// The settings of a repository itself, without those that they include.
pub(crate) fn own_settings(repository: &Repository) -> Vec<OwnSetting> {
    let texts = CONFIGS.iter().filter_map(|name| read(&repository.git.join(name)));
    texts.flat_map(|text| settings(&text)).take(MAX_SETTINGS).collect()
}

/// The text of a small file, such as `HEAD`.
pub(crate) fn read_small(file: &Path) -> Option<String> {
    read(file)
}

/// The settings of a text, without those that it includes.
pub(crate) fn own_settings_in(text: &str) -> Vec<OwnSetting> {
    settings(text)
}

/// The last value of a setting in a text.
pub(crate) fn value_of(text: &str, key: &str) -> Option<String> {
    settings(text).into_iter().rev().find(|setting| setting.key == key).map(|setting| setting.value)
}

/// The endings that git tries at a path which is to be a repository (`enter_repo`).
const ENDINGS: [&str; 4] = ["/.git", "", ".git/.git", ".git"];

/// The places where git would look for a repository that is said to be at a path. Links are not followed.
pub(crate) fn entries_to(path: &Path) -> Vec<PathBuf> {
    let with = |ending: &str| {
        let mut text = path.as_os_str().to_owned();
        text.push(ending);
        PathBuf::from(text)
    };
    ENDINGS.into_iter().map(with).collect()
}

/// The directory that a file of any name leads git to, if git would read it as the address of a repository.
pub(crate) fn gitfile_target(file: &Path) -> Option<PathBuf> {
    if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let text = read(file)?;
    let named = text.strip_prefix(GITFILE)?.trim();
    Some(clean(&file.parent()?.join(named)))
}

/// Reads settings and those that they include.
struct Reader<'a> {
    home: Option<&'a Path>,
    found: BTreeSet<PathBuf>,
    /// Files that were read, with the directories that paths in them are relative to.
    read: BTreeSet<(PathBuf, BTreeSet<PathBuf>)>,
    is_whole: bool,
}

impl Reader<'_> {
    fn read(&mut self, file: &Path, tops: &BTreeSet<PathBuf>) {
        self.is_whole &= self.read.len() < MAX_FILES;
        if !self.is_whole || !self.read.insert((file.to_owned(), tops.clone())) {
            return;
        }
        let Some(text) = read(file) else { return };
        for Setting { key, value, .. } in settings(&text) {
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
            for top in tops {
                for file in meant_files(value, top) {
                    self.find(file);
                }
                // Python looks for a module where it runs before it looks where modules are installed.
                for file in module_files(value, top).into_iter().filter(|file| is_command || file.is_file()) {
                    self.find(file);
                }
            }
        }
    }

    fn find(&mut self, path: PathBuf) {
        self.is_whole &= self.found.len() < MAX_FOUND;
        if self.is_whole {
            self.found.insert(path);
        }
    }

    fn path(&self, base: &Path, text: &str) -> Option<PathBuf> {
        path_in_setting(self.home, base, text)
    }
}

/// A path as git reads it: from a directory, or from the home.
fn path_in_setting(home: Option<&Path>, base: &Path, text: &str) -> Option<PathBuf> {
    let text = text.trim();
    let path = match text.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None if text.is_empty() || text.starts_with(['~', '%']) => return None,
        None => base.join(text),
    };
    Some(clean(&path))
}

/// The most words of one command whose ends are looked for in a work tree, and the most directories that it could be in.
const MAX_WORDS: usize = 64;
const MAX_BASES: usize = 8;

/// Files of the work tree that words of a command can mean: a variable or a command can stand before a path, as in `$PWD/tools/x`, and a
/// command can go into a directory first.
fn meant_files(value: &str, top: &Path) -> BTreeSet<PathBuf> {
    let ends = ends_of(value);
    let bases = bases_of(&ends, top);
    let files = bases.iter().flat_map(|base| ends.iter().map(|end| clean(&base.join(end))));
    files.filter(|path| path.starts_with(top) && path.is_file()).collect()
}

/// Files that `python -m MODULE` in a command runs, if the module is in the work tree.
fn module_files(value: &str, top: &Path) -> BTreeSet<PathBuf> {
    let modules = modules_run(words_and_options(value).take(MAX_WORDS));
    if modules.is_empty() {
        return BTreeSet::new();
    }
    let bases = bases_of(&ends_of(value), top);
    let files: Vec<String> = modules.into_iter().flat_map(files_of_module).collect();
    let files = bases.iter().flat_map(|base| files.iter().map(|file| clean(&base.join(file))));
    files.filter(|path| path.starts_with(top)).collect()
}

/// The ends of the paths in a command.
fn ends_of(value: &str) -> BTreeSet<PathBuf> {
    words(value).take(MAX_WORDS).flat_map(ends).collect()
}

/// The directories that a command in a work tree can be in: the work tree, and those that its words name.
fn bases_of(ends: &BTreeSet<PathBuf>, top: &Path) -> Vec<PathBuf> {
    let entered = ends.iter().map(|end| top.join(end)).filter(|path| path.is_dir());
    std::iter::once(top.to_owned()).chain(entered).take(MAX_BASES).collect()
}

/// The ends of a path: `a/b/c`, `b/c` and `c`.
fn ends(word: &str) -> Vec<PathBuf> {
    let names: Vec<&str> = word.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    (0..names.len()).filter_map(|at| Some(names.get(at..)?.iter().collect())).collect()
}

/// Credentials in the settings of the repositories that these directories are in, and in the user's own: names with passwords in addresses, and
/// values of headers.
pub fn git_credentials(directories: &[PathBuf], home: GitHome<'_>) -> BTreeSet<String> {
    let around = directories.iter().filter_map(|directory| {
        directory.ancestors().map(|above| above.join(".git")).find(|git| git.symlink_metadata().is_ok())
    });
    let repositories: BTreeSet<Repository> = around
        .flat_map(|git| if git.is_dir() { vec![Repository::of(&git)] } else { Repository::behind(&git) })
        .collect();
    let own = repositories.iter().flat_map(own_settings);
    let mut of_user = UserSettings { home: home.home, settings: Vec::new(), read: BTreeSet::new() };
    user_files(home).for_each(|file| of_user.read(&file));
    own.chain(of_user.settings).take(MAX_SETTINGS).flat_map(|setting| credentials_in(&setting)).collect()
}

/// The shortest part of a credential that is one by itself: a shorter one could be any word.
const MIN_CREDENTIAL: usize = 8;
/// The shortest name without a password that is a token.
const MIN_TOKEN: usize = 20;

fn credentials_in(Setting { key, of, value }: &Setting) -> Vec<String> {
    if key == "http.extraheader" {
        let token = value.split_whitespace().next_back().filter(|token| token.len() >= MIN_CREDENTIAL);
        return token.map(str::to_owned).into_iter().collect();
    }
    let users = [of, value].into_iter().filter_map(|text| {
        let (_, rest) = text.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        Some(authority.rsplit_once('@')?.0.to_owned())
    });
    users
        .flat_map(|user| match user.split_once(':') {
            Some((_, password)) if !password.is_empty() => {
                let password = Some(password.to_owned()).filter(|password| password.len() >= MIN_CREDENTIAL);
                std::iter::once(user.clone()).chain(password).collect()
            }
            None if user.len() >= MIN_TOKEN => vec![user],
            _ => Vec::new(),
        })
        .collect()
}

/// The words of a command that may be paths, as a shell would part them.
fn words(value: &str) -> impl Iterator<Item = &str> {
    words_and_options(value).filter(|word| !word.starts_with('-'))
}

/// The words of a command with its options, as a shell would part them.
fn words_and_options(value: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| letter.is_whitespace() || "'\"();|&<>$`{}=,!:".contains(letter);
    value.split(is_between).filter(|word| !word.is_empty())
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
    use super::python_modules::forms_of_module;
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
        let named = named_by(&repositories, GitHome { home: Some(&home), config: None });
        assert!(named.is_whole);
        let found = named.files;
        let found: Vec<_> = found.iter().filter_map(|path| path.strip_prefix(&top).ok()).collect();
        assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>(), "{config}");
    }

    #[test]
    fn credentials_are_found_and_plain_names_are_none() {
        let check = |config: &str, expected: &[&str]| {
            let found: BTreeSet<String> = settings(config).iter().flat_map(credentials_in).collect();
            assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect(), "{config}");
        };
        check("[remote \"o\"]\n\turl = https://ann:hunter22@h/x\n", &["ann:hunter22", "hunter22"]);
        check("[remote \"o\"]\n\turl = https://ann:x@h/x\n", &["ann:x"]);
        check(
            "[remote \"o\"]\n\turl = https://ghp_0123456789abcdefghij@h/x\n",
            &["ghp_0123456789abcdefghij"],
        );
        check("[remote \"o\"]\n\turl = ssh://git@h/x\n", &[]);
        check("[remote \"o\"]\n\turl = git@h:x\n", &[]);
        check("[url \"https://u:secret99@h/\"]\n\tinsteadOf = https://h/\n", &["secret99", "u:secret99"]);
        check("[http \"https://h/\"]\n\textraheader = AUTHORIZATION: basic abcdefgh\n", &["abcdefgh"]);
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
        let top = "\\\"$(git rev-parse --show-toplevel)/tools/x.py\\\"";
        check(&format!("[filter \"a\"]\n\tclean = {top}\n"), &["tools/x.py"]);
        check("[filter \"a\"]\n\tclean = $PWD/tools/x.py\n", &["PWD/tools/x.py", "tools/x.py"]);
        check("[filter \"a\"]\n\tclean = \"cd tools && ./x.py\"\n", &["tools/x.py", "x.py"]);
    }

    /// All forms of these modules, in order.
    fn forms(names: &[&str]) -> Vec<String> {
        let mut forms: Vec<String> = names.iter().flat_map(|name| forms_of_module(name)).collect();
        forms.sort_by(|one, other| Path::new(one).cmp(Path::new(other)));
        forms
    }

    #[test]
    fn modules_that_python_runs_are_files() {
        let check_forms = |config: &str, names: &[&str]| {
            let forms = forms(names);
            check(config, &forms.iter().map(String::as_str).collect::<Vec<_>>());
        };
        let named = ["tools", "tools/__init__", "tools/x", "tools/x/__init__", "tools/x/__main__"];
        check_forms("[filter \"a\"]\n\tclean = python3 -m tools.x %f\n", &named);
        check_forms("[diff \"a\"]\n\ttextconv = /usr/bin/python -Im tools.x\n", &named);
        let installed = ["strip", "strip/__init__", "strip/__main__"];
        check_forms("[filter \"a\"]\n\tclean = \"\\\"/usr/bin/python3\\\" -mstrip\"\n", &installed);
        check_forms("[alias]\n\tx = !python3 -m tools.x\n", &named);
        check("[unknown]\n\tx = python3 -m tools.x\n", &["tools/x.py"]);
        let below = ["tools/x", "tools/x/__init__", "tools/x/__main__", "x", "x/__init__", "x/__main__"];
        check_forms("[filter \"a\"]\n\tclean = PYTHONPATH=tools python3 -m x\n", &below);
        check("[filter \"a\"]\n\tclean = grep -m 1\n", &[]);
    }

    #[test]
    fn a_search_that_a_bound_cuts_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        fs::write(&config, "[filter \"a\"]\n\tclean = tools/x\n").unwrap();
        let top = |at: usize| BTreeSet::from([folder.path().join(at.to_string())]);
        let mut reader = Reader { home: None, found: BTreeSet::new(), read: BTreeSet::new(), is_whole: true };
        (0..300).for_each(|at| reader.read(&config, &top(at)));
        assert!(reader.is_whole && reader.found.contains(&folder.path().join("299/tools/x")));
        reader.read.extend((0..MAX_FILES).map(|at| (PathBuf::new(), top(at))));
        reader.read(&config, &top(300));
        assert!(!reader.is_whole);
    }

    #[test]
    fn settings_that_run_nothing_are_left_alone() {
        check("[core]\n\texcludesFile = docs/a\n\tpager = less\n[commit]\n\ttemplate = docs/a\n", &[]);
        check("[remote \"o\"]\n\turl = ../w\n[alias]\n\tx = !make docs\n[unknown]\n\tkey = no/where\n", &[]);
        check("[user]\n\tname = run.sh\n", &[]);
    }

    #[test]
    fn relative_places_of_a_user_count_by_name() {
        let home = tempfile::tempdir().unwrap();
        let names = |config: &str| {
            fs::write(home.path().join(".gitconfig"), config).unwrap();
            git_order_names(GitHome { home: Some(home.path()), config: Some(home.path()) })
        };
        for (config, path) in [
            ("[core]\n\thooksPath = tools/ghooks\n", "n/tools/ghooks/pre-commit"),
            ("[core]\n\thooksPath = ./.ghooks/\n", "n/.ghooks/x"),
            ("[core]\n\thooksPath = ../hooks\n", "n/hooks/pre-push"),
            ("[core]\n\tattributesFile = conf/attributes\n", "n/conf/attributes"),
            ("[init]\n\ttemplateDir = conf/template\n", "conf/template/hooks/pre-commit"),
            ("[core]\n\tfsmonitor = tools/watch --all\n", "tools/watch"),
            ("[filter \"x\"]\n\tclean = ./clean.d/run %f\n", "a/clean.d/run"),
            ("[alias]\n\tx = !./tools/x origin/main\n", "tools/x"),
            ("[include]\n\tpath = more\n", "n/from/include/x"),
        ] {
            fs::write(home.path().join("more"), "[core]\n\thooksPath = from/include\n").unwrap();
            assert!(names(config).covers(Path::new(path)), "{config}");
        }
        for (config, path) in [
            ("[core]\n\thooksPath = hooks\n", "src/hooks/use.ts"),
            ("[core]\n\thooksPath = ~/hooks\n", "hooks/pre-commit"),
            ("[core]\n\thooksPath = /x/hooks\n", "x/hooks/pre-commit"),
            ("[core]\n\thooksPath = .git/hooks\n\tpager = less\n", ".git/hooks/x"),
            ("[alias]\n\tx = !git log origin/main\n\ty = log a/b\n", "origin/main"),
            ("[commit]\n\ttemplate = docs/a\n", "docs/a"),
        ] {
            assert!(!names(config).covers(Path::new(path)), "{config}");
        }
    }

    #[test]
    fn a_work_tree_is_never_guarded_as_a_whole() {
        let hooks: Vec<&str> = HOOKS.to_vec();
        check("[core]\n\thooksPath = .\n", &hooks);
        check("[core]\n\tattributesFile = ..\n\tfsmonitor = ./\n", &[]);
    }
}
