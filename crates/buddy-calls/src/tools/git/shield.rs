//! The shield: settings that stand above those of the repository, so that `git` starts no program that it names.
//!
//! Settings go in by `GIT_CONFIG_COUNT` and not by `-c`, since a driver's name may contain a `=`. A `git` that does not
//! know these variables is found out by a mark among them.

use std::collections::BTreeSet;

/// A setting of our own, looked for in what `git` lists: it is there when `git` takes the shield.
pub(super) const MARK: &str = "buddy.shield";

/// The settings that are off in every call.
const OFF: &[(&str, &str)] = &[
    (MARK, "true"),
    // Programs that watch, show, edit and page.
    ("core.fsmonitor", "false"),
    ("core.useBuiltinFSMonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("sequence.editor", "true"),
    ("core.alternateRefsCommand", "true"),
    ("interactive.diffFilter", "cat"),
    ("diff.external", ""),
    // Signatures, which are made and checked by a program.
    ("log.showSignature", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    // Work in the background.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.untrackedCache", "false"),
    // Another repository within this one has settings of its own, which no shield covers.
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("status.submoduleSummary", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.submodule", "short"),
    // A directory that only looks like a repository is none.
    ("safe.bareRepository", "explicit"),
    ("protocol.ext.allow", "never"),
];

/// The settings that are off too where nothing is to be connected to.
const OFFLINE: &[(&str, &str)] = &[
    ("core.sshCommand", "false"),
    ("core.askPass", "true"),
    ("core.gitProxy", "false"),
    ("credential.helper", ""),
];

/// The names of a driver's programs, by the section that they stand in, and the settings that take them away.
const DRIVERS: &[(&str, &[(&str, &str)])] = &[
    ("diff", &[("command", ""), ("textconv", "")]),
    ("filter", &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]),
    ("merge", &[("driver", "false")]),
    ("pager", &[]),
];

/// Protocols that a push may use. Not `git`, which may go through a program, and not those of helpers.
const PROTOCOLS: &str = "https:ssh:http:file";

/// The purpose of a call of `git`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The repository, which is only read.
    Read,
    /// The repository, which is changed.
    Write,
    /// A remote.
    Connect,
    /// The settings, as a command of the user would find them. Nothing is started that they name.
    Settings,
}

/// The environment of a call: the given one with the shield, for a repository whose settings have these names.
pub(super) fn environment(
    env: &[(String, String)],
    names: &BTreeSet<String>,
    reach: Reach,
) -> Vec<(String, String)> {
    if reach == Reach::Settings {
        return unshielded(env);
    }
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &str| settings.push((name.to_owned(), value.to_owned()));
    for (name, value) in OFF {
        add(name, value);
    }
    if reach != Reach::Connect {
        for (name, value) in OFFLINE {
            add(name, value);
        }
    }
    for (section, driver) in drivers(names) {
        let programs =
            DRIVERS.iter().filter(|(name, _)| *name == section).flat_map(|(_, programs)| *programs);
        programs.for_each(|(program, value)| add(&format!("{section}.{driver}.{program}"), value));
    }
    let is_ours =
        |name: &str| name.starts_with("GIT_") || name == "PAGER" || name == "EDITOR" || name == "VISUAL";
    let mut env: Vec<_> = env.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
    let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
    set("GIT_CONFIG_COUNT", &settings.len().to_string());
    for (number, (name, value)) in settings.iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{number}"), name);
        set(&format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    set("GIT_PAGER", "cat");
    set("GIT_EDITOR", "true");
    set("GIT_TERMINAL_PROMPT", "0");
    set("GIT_NO_LAZY_FETCH", "1");
    set("GIT_LITERAL_PATHSPECS", "1");
    set("GIT_ALLOW_PROTOCOL", if reach == Reach::Connect { PROTOCOLS } else { "none" });
    if reach == Reach::Read {
        set("GIT_OPTIONAL_LOCKS", "0");
    }
    env
}

/// The given environment, for a look at settings that must be those of a command which gets the same one.
fn unshielded(env: &[(String, String)]) -> Vec<(String, String)> {
    const QUIET: [(&str, &str); 5] = [
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];
    let is_ours = |name: &str| QUIET.iter().any(|(own, _)| *own == name);
    let given = env.iter().filter(|(name, _)| !is_ours(name)).cloned();
    given.chain(QUIET.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

/// The drivers among the names of settings: section and driver. A driver's name may have dots in it.
fn drivers(names: &BTreeSet<String>) -> BTreeSet<(&str, &str)> {
    let driver = |name: &'_ String| -> Option<(usize, usize)> {
        let first = name.find('.')?;
        let last = name.rfind('.')?;
        (first < last).then_some((first, last))
    };
    let cut = |name| {
        let (first, last) = driver(name)?;
        Some((name.get(..first)?, name.get(first + 1..last)?))
    };
    names
        .iter()
        .filter_map(cut)
        .filter(|(section, _)| DRIVERS.iter().any(|(name, _)| name == section))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(env: &[(String, String)], name: &str) -> Option<String> {
        let value =
            |name: &str| env.iter().find(|(present, _)| present == name).map(|(_, value)| value.clone());
        let count: usize = value("GIT_CONFIG_COUNT").unwrap().parse().unwrap();
        let number =
            (0..count).rfind(|number| value(&format!("GIT_CONFIG_KEY_{number}")).as_deref() == Some(name))?;
        value(&format!("GIT_CONFIG_VALUE_{number}"))
    }

    #[test]
    fn every_driver_of_the_repository_is_disarmed_whatever_its_name() {
        let names =
            ["filter.lfs.clean", "filter.a.b=c.process", "diff.X y.textconv", "user.name", "diff.external"];
        let names = names.map(str::to_owned).into_iter().collect();
        let env = environment(&[], &names, Reach::Read);
        assert_eq!(setting(&env, "filter.lfs.smudge").as_deref(), Some(""));
        assert_eq!(setting(&env, "filter.a.b=c.process").as_deref(), Some(""));
        assert_eq!(setting(&env, "diff.X y.command").as_deref(), Some(""));
        assert_eq!(setting(&env, "user.name"), None);
    }

    #[test]
    fn variables_that_steer_git_are_not_passed_on() {
        let given = [("GIT_DIR", "/x"), ("PAGER", "less"), ("PATH", "/bin")];
        let given: Vec<_> = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let env = environment(&given, &BTreeSet::new(), Reach::Write);
        assert!(env.iter().any(|(name, _)| name == "PATH"));
        assert!(
            env.iter().all(|(name, _)| name != "GIT_DIR" && name != "PAGER" && name != "GIT_OPTIONAL_LOCKS")
        );
    }

    #[test]
    fn only_a_push_reaches_out() {
        for (reach, helper) in [(Reach::Read, Some("")), (Reach::Write, Some("")), (Reach::Connect, None)] {
            let env = environment(&[], &BTreeSet::new(), reach);
            assert_eq!(setting(&env, "credential.helper").as_deref(), helper, "{reach:?}");
        }
    }
}
