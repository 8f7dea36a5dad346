//! The settings of a repository, as far as it takes to say that none of them makes git run a program or leads it elsewhere.
//!
//! Only lines that are known to be harmless are plain. Whatever else git may understand by a line, it is not.

use std::path::{Path, PathBuf};

use buddy_protocol::{PlainIn, is_plain_git_value, plain_git_setting};

use super::git_lines::{GitLine, read_git_line};
use super::links::without_links;
use super::write_places::WritePlaces;
use crate::git_orders::{clean, entries_to, gitfile_target, own_settings_in, read_small};

/// The largest configuration that is judged. A larger one is not plain.
pub(super) const MAX_CONFIG: u64 = 1024 * 1024;

/// Keys whose value is the address or the name of a repository.
const ADDRESSES: &[&str] = &["remote.url", "remote.pushurl", "submodule.url"];

/// The ways to servers that git goes without a helper program of its own choosing.
const PLAIN_WAYS: &[&str] = &["https", "http", "ssh", "git"];

/// The file of a work tree that declares its submodules.
const GIT_MODULES: &str = ".gitmodules";

/// The remote that git takes if none is named.
const DEFAULT_REMOTE: &str = "origin";

/// The way to a directory.
const FILE_WAY: &str = "file";

/// The place of some settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConfigPlace<'a> {
    /// The repository's own directory.
    pub(super) git: &'a Path,
    /// The places that commands write.
    pub(super) places: &'a WritePlaces,
}

/// One setting, with what stands between section and name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    key: String,
    of: Option<String>,
    value: Option<String>,
}

impl Setting {
    fn value(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// In the form that git reads: the header of its section, and its own line.
    fn written(&self) -> (String, String) {
        let (section, name) = self.key.split_once('.').unwrap_or((&self.key, ""));
        let of = self.of.as_ref().map(|of| format!(" \"{of}\"")).unwrap_or_default();
        let quoted = |value: &String| {
            let is_plain = !value.contains(['#', ';', '"', '\\']) && value.trim() == value;
            let escaped = || value.replace('\\', "\\\\").replace('"', "\\\"");
            if is_plain { format!(" = {value}") } else { format!(" = \"{}\"", escaped()) }
        };
        let value = self.value.as_ref().map(quoted).unwrap_or_default();
        (format!("[{section}{of}]\n"), format!("\t{name}{value}\n"))
    }

    /// As people write it.
    fn shown(&self) -> String {
        match (&self.of, self.key.split_once('.')) {
            (Some(of), Some((section, name))) => format!("{section}.{of}.{name}"),
            _ => self.key.clone(),
        }
    }
}

/// The lines of the configuration of a new repository, with this directory of its own, that are plain, or none when all of them are. A work tree
/// elsewhere is plain if the last says so.
pub(super) fn without_programs(
    at: &ConfigPlace<'_>,
    text: &str,
    is_work_tree: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut section = (String::new(), None);
    let mut kept = String::new();
    let mut is_plain = true;
    for line in text.lines() {
        let is_harmless = match read_git_line(line) {
            Some(GitLine::Nothing) => true,
            Some(GitLine::Section { name, of }) => {
                section = (name, of);
                true
            }
            Some(GitLine::Setting { name, value }) => {
                let key = format!("{}.{name}", section.0);
                let setting = Setting { key, of: section.1.clone(), value };
                is_plain_in_new(at, &setting)
                    || (setting.key == "core.worktree" && is_work_tree(setting.value()))
            }
            None => false,
        };
        if is_harmless {
            kept.push_str(line);
            kept.push('\n');
        } else {
            is_plain = false;
        }
    }
    (!is_plain).then_some(kept)
}

fn is_plain_in_new(at: &ConfigPlace<'_>, setting: &Setting) -> bool {
    let is_address = ADDRESSES.contains(&setting.key.as_str());
    let is_remote = setting.key == "branch.remote";
    plain_git_setting(&setting.key).is_some()
        && is_plain_git_value(setting.value())
        && (!(is_address || is_remote) || is_plain_address(at, setting.value()))
}

/// Says why a change of the settings of a repository is not harmless: it adds, changes or removes one that may run a program, or one that
/// says where git reads from and writes to at the next call of the user.
pub(super) fn judge_change(at: &ConfigPlace<'_>, old: &[u8], new: &[u8]) -> Result<(), String> {
    let (Some(old), Some(new)) = (settings(old), settings(new)) else {
        return Err("it has lines that buddy does not judge".to_owned());
    };
    let is_new = |setting: &Setting| !old.iter().any(|other| is_of_same(other, setting));
    for setting in new.iter().filter(|setting| !old.contains(setting)) {
        judge_added(at, setting, &old, is_new(setting))
            .map_err(|why| format!("`{}` {why}", setting.shown()))?;
    }
    for setting in old.iter().filter(|setting| !new.contains(setting)) {
        judge_removed(setting).map_err(|why| format!("`{}` {why}", setting.shown()))?;
    }
    // Of two settings of one name the last one counts, so the order of all that is not plain stays.
    let others = |settings: &[Setting]| -> Vec<Setting> {
        settings.iter().filter(|setting| judge_removed(setting).is_err()).cloned().collect()
    };
    let kept: Vec<Setting> = others(&new).into_iter().filter(|setting| old.contains(setting)).collect();
    if kept == others(&old) { Ok(()) } else { Err("it changes the order of settings".to_owned()) }
}

/// The old settings with those that were added and are harmless, where a change as a whole is not: the user may have made some of it. None if
/// there is nothing to add, or the text is in another form.
pub(super) fn with_harmless_additions(at: &ConfigPlace<'_>, old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let (before, after) = (settings(old)?, settings(new)?);
    let is_new = |setting: &Setting| !before.iter().any(|other| is_of_same(other, setting));
    let mut text = String::from_utf8(old.to_vec()).ok()?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let added = after.iter().filter(|setting| {
        !before.contains(setting) && judge_added(at, setting, &before, is_new(setting)).is_ok()
    });
    let mut last = String::new();
    for (header, line) in added.map(Setting::written) {
        if header != last {
            text.push_str(&header);
            last = header;
        }
        text.push_str(&line);
    }
    (!last.is_empty() && judge_change(at, old, text.as_bytes()).is_ok()).then(|| text.into_bytes())
}

const RUNS: &str = "may run a program or lead git elsewhere";
const HAS_COMMAND: &str = "has letters that a shell would take for a command";
const RUNS_HOOKS: &str = "leads git to a directory in which every program can put hooks";
const LEADS: &str = "says where git reads from and writes to";

/// Of the same remote, branch or submodule.
fn is_of_same(one: &Setting, other: &Setting) -> bool {
    let section = |setting: &Setting| setting.key.split('.').next().unwrap_or_default().to_owned();
    one.of == other.of && section(one) == section(other)
}

fn judge_added(
    at: &ConfigPlace<'_>,
    setting: &Setting,
    old: &[Setting],
    is_new: bool,
) -> Result<(), &'static str> {
    if plain_git_setting(&setting.key) != Some(PlainIn::EveryRepository) {
        return Err(RUNS);
    }
    let name = setting.of.as_deref().unwrap_or_default();
    let value = setting.value();
    if !is_plain_git_value(value) {
        return Err(HAS_COMMAND);
    }
    if ADDRESSES.contains(&setting.key.as_str()) && leads_to_shared_place(at, value) {
        return Err(RUNS_HOOKS);
    }
    match setting.key.as_str() {
        // A remote with the name of an address would be taken for it.
        "remote.url" => {
            // git takes it for the default as soon as it is there, also where it went to the only remote before.
            let is_default = name == DEFAULT_REMOTE && old.iter().any(|other| other.key == setting.key);
            is_new && !is_default && is_plain_name(name) && is_plain_address(at, value)
        }
        "submodule.url" => is_new && is_plain_address(at, value) && is_as_declared(at, name, value, old),
        "remote.fetch" => is_plain_name(name) && is_own_refspec(name, value),
        "remote.tagopt" => matches!(value, "--tags" | "--no-tags"),
        "branch.remote" => {
            // Not to any remote: an earlier command could have added it. A push without a name goes there.
            let has_one = old.iter().any(|other| other.key == setting.key && other.of == setting.of);
            let is_used = |other: &Setting| other.key == setting.key && other.value() == value;
            !has_one && (value == "." || value == DEFAULT_REMOTE || old.iter().any(is_used))
        }
        _ => true,
    }
    .then_some(())
    .ok_or(LEADS)
}

fn judge_removed(setting: &Setting) -> Result<(), &'static str> {
    match (plain_git_setting(&setting.key), setting.key.as_str()) {
        (Some(PlainIn::EveryRepository), "remote.url" | "submodule.url") => Err(LEADS),
        (Some(PlainIn::EveryRepository), _) => Ok(()),
        _ => Err(RUNS),
    }
}

/// A name of a remote that is neither an address nor a path.
fn is_plain_name(name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(is_of_name)
}

/// Whether a refspec writes only beneath `refs/remotes/` of its own remote.
fn is_own_refspec(remote: &str, refspec: &str) -> bool {
    let kept = format!("refs/remotes/{remote}/");
    refspec
        .trim_start_matches('+')
        .split_once(':')
        .is_some_and(|(from, to)| from.starts_with("refs/heads/") && to.starts_with(&kept))
}

/// All settings of a text; none where a line of it is not in the form that git writes.
fn settings(text: &[u8]) -> Option<Vec<Setting>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut section = (String::new(), None);
    let mut found = Vec::new();
    for line in text.lines() {
        match read_git_line(line)? {
            GitLine::Nothing => {}
            GitLine::Section { name, of } => section = (name, of),
            GitLine::Setting { name, value } => {
                found.push(Setting { key: format!("{}.{name}", section.0), of: section.1.clone(), value });
            }
        }
    }
    Some(found)
}

/// An address names a server or a directory. `ext::` and others like it name a program, as does a way that git does not know, and what begins
/// with a hyphen is an option.
fn is_plain_address(at: &ConfigPlace<'_>, address: &str) -> bool {
    let is_known_way = match address.split_once("://") {
        Some((way, _)) => PLAIN_WAYS.contains(&way) || way == FILE_WAY,
        None => !address.contains("::"),
    };
    is_known_way
        && !address.starts_with('-')
        && !address.contains("://-")
        && !address.contains(char::is_control)
        && !leads_to_shared_place(at, address)
}

/// Whether an address of a submodule is the one that `.gitmodules` has for it. git connects to this one instead, without a word.
fn is_as_declared(at: &ConfigPlace<'_>, name: &str, address: &str, old: &[Setting]) -> bool {
    let text = at.git.parent().and_then(|top| read_small(&top.join(GIT_MODULES)));
    let declared = text.iter().flat_map(|text| own_settings_in(text));
    let mut declared = declared.filter(|setting| setting.key == "submodule.url" && setting.of == name);
    declared.all(|declared| {
        // git takes a relative one from the remote.
        let is_relative = declared.value.starts_with("./") || declared.value.starts_with("../");
        let remotes = || old.iter().filter(|other| other.key == "remote.url").map(Setting::value);
        declared.value == address
            || (is_relative
                && (local_directory(address).is_some()
                    || remotes().any(|remote| server_part(remote) == server_part(address))))
    })
}

/// The beginning of an address up to the path on the server.
fn server_part(address: &str) -> &str {
    let start = address.find("://").map_or(0, |at| at + "://".len());
    let ends: &[char] = if start == 0 { &['/', ':'] } else { &['/'] };
    let path = address.get(start..).and_then(|rest| rest.find(ends));
    path.and_then(|path| address.get(..start + path)).unwrap_or(address)
}

/// Whether an address names a directory in a place where commands write and no hook is found. A push there runs it.
fn leads_to_shared_place(at: &ConfigPlace<'_>, address: &str) -> bool {
    let Some(directory) = local_directory(address) else { return false };
    // git decodes addresses and looks for homes; nobody writes them so.
    if directory.contains('%') && address.contains("://") || directory.starts_with('~') {
        return true;
    }
    let bases = [at.git, at.git.parent().unwrap_or(at.git)];
    let places = bases.iter().flat_map(|base| entries_to(&base.join(directory)));
    let led_to = |entry: PathBuf| [gitfile_target(&entry), Some(entry)].into_iter().flatten();
    let places: Vec<PathBuf> = places.flat_map(led_to).collect();
    let mut places = places.iter().flat_map(|place| [clean(place), without_links(place)]);
    places.any(|place| at.places.is_unsearched(&place))
}

/// The directory that an address names; none if it names a server.
pub(crate) fn local_directory(address: &str) -> Option<&str> {
    if let Some((way, _)) = address.split_once("://") {
        // A name after the two slashes is the first directory.
        return if way == FILE_WAY { address.strip_prefix("file:") } else { None };
    }
    let colon = address.find(':');
    let slash = address.find('/');
    let names_server = colon.is_some_and(|colon| slash.is_none_or(|slash| colon < slash));
    (!names_server && !address.is_empty()).then_some(address)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    /// Of a repository in a directory that one account writes.
    fn place() -> ConfigPlace<'static> {
        static PLACES: LazyLock<WritePlaces> = LazyLock::new(WritePlaces::default);
        ConfigPlace { git: Path::new("/srv/nobody/work/.git"), places: &PLACES }
    }

    #[test]
    fn what_a_clone_writes_is_plain() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                    [remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert_eq!(without_programs(&place(), text, |_| false), None);
    }

    #[test]
    fn what_may_run_a_program_is_taken_out() {
        for line in [
            "fsmonitor = ./run",
            "hooksPath = hooks",
            "pager = sh",
            "sshCommand = sh",
            "filemode = true \\",
            "[include] path = x",
            "[remote \"x\"] url = ext::sh",
            "[core \"]\"] x",
        ] {
            let text = format!("[core]\n\tbare = false\n{line}\n");
            assert_eq!(
                without_programs(&place(), &text, |_| false).as_deref(),
                Some("[core]\n\tbare = false\n"),
                "{line}"
            );
        }
        assert!(without_programs(&place(), "[include]\n\tpath = x\n", |_| false).is_some());
        assert!(without_programs(&place(), "[remote \"x\"]\n\turl = ext::sh -c x\n", |_| false).is_some());
        assert!(without_programs(&place(), "[filter \"x\"]\n\tsmudge = sh\n", |_| false).is_some());
    }

    const OLD: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://a.example/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                       [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[alias]\n\tx = !make\n";

    #[test]
    fn a_submodule_stays_at_the_address_that_is_declared() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let at = ConfigPlace { git: &git, ..place() };
        let judge = |address: &str| {
            let text = format!("{OLD}[submodule \"s\"]\n\turl = {address}\n");
            judge_change(&at, OLD.as_bytes(), text.as_bytes()).is_ok()
        };
        assert!(judge("https://b.example/s"), "nothing is declared, so git never goes there");
        for (declared, address, expected) in [
            ("https://b.example/s", "https://b.example/s", true),
            ("https://b.example/s", "https://c.example/s", false),
            ("https://b.example/s", "http://127.0.0.1:8000/s", false),
            ("../s", "https://a.example/s", true),
            ("../s", "https://a.example.evil.test/s", false),
            ("../s", "https://a.example:444/s", false),
            ("../s", "/srv/nobody/s", true),
        ] {
            let text = format!("[submodule \"s\"]\n\tpath = s\n\turl = {declared}\n");
            std::fs::write(folder.path().join(GIT_MODULES), text).unwrap();
            assert_eq!(judge(address), expected, "{declared}: {address}");
        }
    }

    #[test]
    fn ordinary_changes_are_harmless() {
        for added in [
            "",
            "[user]\n\tname = n\n\temail = \"n@example.org\"\n",
            "[remote \"up\"]\n\turl = git@b.example:x\n\tfetch = +refs/heads/*:refs/remotes/up/*\n",
            "[remote \"up\"]\n\turl = ../other\n\tfetch = +refs/heads/main:refs/remotes/up/main\n",
            "[branch \"topic\"]\n\tremote = origin\n\tmerge = refs/heads/topic\n",
            "[branch \"topic\"]\n\tremote = .\n\tmerge = refs/heads/main\n",
            "[core]\n\tsparseCheckout\n; why\r\n",
            "[submodule \"s\"]\n\turl = https://b.example/s\n\tactive = true\n",
        ] {
            assert_eq!(
                judge_change(&place(), OLD.as_bytes(), format!("{OLD}{added}").as_bytes()),
                Ok(()),
                "{added}"
            );
        }
        let without = OLD.replace("\tmerge = refs/heads/main\n", "");
        assert_eq!(judge_change(&place(), OLD.as_bytes(), without.as_bytes()), Ok(()));
    }

    #[test]
    fn a_new_remote_does_not_become_the_default_of_a_push() {
        let added = |old: &str, added: &str| {
            judge_change(&place(), old.as_bytes(), format!("{old}{added}").as_bytes())
        };
        let origin = "[remote \"origin\"]\n\turl = https://e.example/x\n";
        let other = "[remote \"up\"]\n\turl = https://e.example/x\n";
        let elsewhere = "[remote \"github\"]\n\turl = https://a.example/x\n";
        assert!(added(elsewhere, origin).is_err());
        assert_eq!(added(elsewhere, other), Ok(()));
        for first in [origin, other] {
            assert_eq!(added("[core]\n\tbare = false\n", first), Ok(()), "{first}");
        }
    }

    #[test]
    fn harmless_settings_survive_among_others() {
        let mine =
            "[remote \"up\"]\n\turl = https://b.example/x\n\tfetch = +refs/heads/*:refs/remotes/up/*\n";
        let planted = "[core]\n\tfsmonitor = ./run\n[user]\n\tname = \"A # B\"\n";
        let new = format!("{OLD}{mine}{planted}");
        let kept = with_harmless_additions(&place(), OLD.as_bytes(), new.as_bytes()).unwrap();
        let kept = String::from_utf8(kept).unwrap();
        assert!(
            kept.starts_with(OLD) && kept.contains("https://b.example/x") && kept.contains("A # B"),
            "{kept}"
        );
        assert!(!kept.contains("fsmonitor"), "{kept}");
        assert_eq!(judge_change(&place(), OLD.as_bytes(), kept.as_bytes()), Ok(()));
        let only = format!("{OLD}[core]\n\tfsmonitor = ./run\n");
        assert_eq!(with_harmless_additions(&place(), OLD.as_bytes(), only.as_bytes()), None);
        assert_eq!(with_harmless_additions(&place(), OLD.as_bytes(), b"[core\n"), None);
    }

    #[test]
    fn changes_that_run_or_redirect_are_not() {
        for added in [
            "[core]\n\tfsmonitor = ./run\n",
            "[core]\n\tfsmonitor\n",
            "[CORE]\n\tHooksPath = x\n",
            "[core]\n\tsshCommand = sh\n",
            "[core] fsmonitor = x\n",
            "[core]\n\tfileMode = true \\\n\tfsmonitor = x\n",
            "[core]\n\tfileMode = \"a\n\tfsmonitor = b\"\n",
            "[core]\r\tfsmonitor = x\n",
            "[user]\n\tname = a\r[core]\n\tfsmonitor = x\n",
            "\u{feff}[core]\n",
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = x\n",
            "[alias]\n\tst = !sh\n",
            "[url \"https://e.example/\"]\n\tinsteadOf = https://a.example/\n",
            "[filter \"x\"]\n\tclean = sh\n",
            "[remote \"up\"]\n\turl = ext::sh\n",
            "[remote \"up\"]\n\turl = ext\":\":sh\n",
            "[remote \"up\"]\n\turl = \"ex\\t::sh\"\n",
            "[remote \"up\"]\n\turl = --upload-pack=sh\n",
            "[remote \"up\"]\n\turl = /tmp/x.git\n",
            "[remote \"up\"]\n\turl = ../../../../tmp/x.git\n",
            "[remote \"up\"]\n\turl = file:///tmp/x.git\n",
            "[remote \"up\"]\n\turl = file://tmp/x.git\n",
            "[remote \"up\"]\n\turl = file:///%74mp/x.git\n",
            "[remote \"up\"]\n\turl = ~/x.git\n",
            "[remote \"up\"]\n\turl = ext://sh\n",
            "[submodule \"s\"]\n\turl = /tmp/x.git\n",
            "[remote \"up\"]\n\turl = ssh://-oProxyCommand=sh/x\n",
            "[remote \"up\"]\n\tuploadpack = sh\n",
            "[remote \"up\"]\n\tvcs = x\n",
            "[remote \"https://a.example/x\"]\n\turl = https://e.example/\n",
            "[remote \"../x\"]\n\turl = https://e.example/\n",
            "[remote \"origin\"]\n\turl = https://e.example/\n",
            "[remote \"origin\"]\n\tpushurl = https://e.example/\n",
            "[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/heads/*\n",
            "[remote.origin]\n\turl = https://e.example/\n",
            "[branch \"main\"]\n\tremote = up\n",
            "[branch \"new\"]\n\tremote = https://e.example/\n",
            "[branch \"new\"]\n\tpushRemote = up\n",
            "[remote]\n\tpushDefault = up\n",
            "[push]\n\tdefault = matching\n",
            "[submodule \"s\"]\n\tupdate = !sh\n",
            "[user]\n\tname = \"a;touch x;b\"\n",
            "[user]\n\temail = $(x)@example.org\n",
            "[branch \"main\"]\n\tdescription = \"`x`\"\n",
            "[init]\n\tdefaultBranch = a|b\n",
            "[core]\n\tworktree = /\n",
            "[extensions]\n\tpartialClone = up\n",
            "[core\n",
            "no form\n",
        ] {
            assert!(
                judge_change(&place(), OLD.as_bytes(), format!("{OLD}{added}").as_bytes()).is_err(),
                "{added}"
            );
        }
        for (from, to) in [
            ("https://a.example/x", "https://e.example/x"),
            ("\turl = https://a.example/x\n", ""),
            ("\tremote = origin\n", "\tremote = up\n"),
            ("[alias]\n\tx = !make\n", ""),
            ("!make", "!sh"),
            ("[alias]", "[user]"),
        ] {
            assert!(
                judge_change(&place(), OLD.as_bytes(), OLD.replace(from, to).as_bytes()).is_err(),
                "{from}"
            );
        }
        assert!(judge_change(&place(), OLD.as_bytes(), &[OLD.as_bytes(), b"\xff\n"].concat()).is_err());
        let twice = format!("{OLD}[alias]\n\tx = !sh\n");
        let turned = twice.replace("!make", "!x").replace("!sh", "!make").replace("!x", "!sh");
        assert!(judge_change(&place(), twice.as_bytes(), turned.as_bytes()).is_err(), "the order counts");
    }
}
