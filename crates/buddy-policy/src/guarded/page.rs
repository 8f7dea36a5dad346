//! The table of protected places as a page for people.

use std::fmt::Write as _;

use super::{Keeps, PROTECTED};
use crate::other_sessions::{KEPT_AGENTS, OTHER_SESSIONS, Reached};

const HEAD: &str = "# Protected places

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

buddy protects these files in every mode, and [your other sessions](#other-sessions) in production.

| kind | tools | commands in development |
|---|---|---|
| [files that run code later](#files-that-run-code-later): hooks, start-up files, editor settings | asks before each change | cannot change them until you approve a command that names one; never `.git/hooks` and the like |
| [keys and password stores](#keys-and-password-stores), outside your projects; buddy's own files | refused | cannot see them |
| [logins of tools](#logins-of-tools), [files that hold secrets by convention](#files-that-hold-secrets-by-convention) | asks before it reads or changes one | see names, not contents, until you approve the command |

To change that, write a [rule](../how-to/rules-and-grants.md) in your `rules.toml`. No rule lifts the question about a file that runs code later.

```toml
allow = [
  { read = \"~/.ssh/config\" },           # lets tools read it; in production commands too
  { read = \"deploy/secrets.yaml\" },     # its name matches, but it has no secrets
]
deny = [{ read = \"~/private/**\" }]      # for tools, and for commands that name the path; the jail does not enforce it
```

A name without a leading slash matches in every directory, in upper and lower case. `*` matches any part of a name. A directory
includes everything in it. A match can start above the directory that you opened, but must end inside it: in `~/.config`, `git/config` is
protected, but a project in `~/.config/nvim` is not protected by the name of its own directory.

A copy of a file or directory with secrets is protected like the original: `server.pem.bak`, `terraform.tfstate.backup`, `.aws.old`,
`id_rsa~`, `.env.swp`, `prod.key-20260131`, `store.jks (1)`. The name must end with the mark of a backup or an editor, a number or a date.

A link protects its target, wherever that is. If `~/.config/git/config` or a file in `~/.config/fish` leads into your dotfiles, commands
cannot change the file there. If `~/.ssh/id_work` leads to `~/Sync/key`, that file is hidden too. In a folder that you opened, the target
of a link with a secret's name, such as `.env`, asks before it is read. A program in your project that `~/.local/bin` links to is protected as well, so a
build of the agent cannot replace it ([why](../decisions/0198-a-link-protects-its-target.md)).

A link can also be the start of a name. If `.cargo` leads to `conf`, then `conf/config.toml` is `.cargo/config.toml` and protected like it. A command
that makes such a link finds it in quarantine ([why](../decisions/0370-a-name-counts-through-every-link.md)).

Files and directories that git's settings name run code later too, wherever they are: `core.hooksPath`, `core.attributesFile`,
`include.path`, `includeIf.*.path`, `init.templateDir`, and programs in commands such as `core.fsmonitor`, `core.sshCommand`,
`credential.helper`, `filter.*`, `diff.*`, `merge.*` and aliases with `!`. buddy reads the settings of the repositories in and around the
workspace, and your own. A module after `python -m` counts as its files. A program counts by the end of its path too, as in `$PWD/tools/x.sh` or `cd tools && ./x.sh`, if such a file is in the
work tree. The targets of links in a directory that settings name count too. A relative place in your own settings is protected in every directory, like the names below.
";

/// The page, in Markdown.
pub fn protected_places_page() -> String {
    let mut page = HEAD.to_owned();
    let orders = "buddy's tools ask you before they change one of these. In development, a command cannot change them: you have to \
                  approve a command that names the file, and even then `.git/hooks` and the like stay as they are. In production, a \
                  command asks you if its command line shows that it changes one.";
    section(&mut page, "Files that run code later", orders, |keeps| {
        matches!(keeps, Keeps::Orders | Keeps::OrdersIn(_) | Keeps::OrderFiles)
    });
    let keys = "Outside your projects, only your own allow rule opens these; an answer does not. In a project, buddy asks before it reads one.";
    section(&mut page, "Keys and password stores", keys, |keeps| keeps == Keeps::Secrets);
    let tools = "Reading these asks you. A command that you approve reads them too. Other commands find them empty, or in a \
                 repository unreadable. Settings without a credential, such as an `.npmrc` with only a registry or `${NPM_TOKEN}`, are open to every command.";
    section(&mut page, "Logins of tools", tools, |keeps| keeps == Keeps::ToolSecrets);
    let files = "Reading files with these names asks you. Directories with these names are not protected.";
    section(&mut page, "Files that hold secrets by convention", files, |keeps| keeps == Keeps::SecretFiles);
    let plain = "These match the names above but hold no secrets. buddy reads them without asking.";
    section(&mut page, "Exceptions", plain, |keeps| keeps == Keeps::NoSecrets);
    sessions(&mut page);
    page
}

const SESSIONS: &str = "
## Other sessions

These programs accept input from every process that reaches them, or start programs outside the jail.

- **In production** no command reaches one marked *never*, even if you approved the command.
- **In development** a command reaches only sockets that it made itself. It cannot make one in a directory of `/tmp` that is listed
  below, if that directory exists.

`{uid}` and `{user}` are your account. A name after `$` is a variable that names the socket. buddy also finds the sockets of the
listed processes, wherever they are.

| program | places | processes | reached |
|---|---|---|---|
";

const KEPT: &str = "
Production commands reach these, because `git push` and signed commits need them: ";

fn sessions(page: &mut String) {
    page.push_str(SESSIONS);
    for row in OTHER_SESSIONS {
        let reached = match row.reached {
            Reached::Never => "never",
            Reached::OnceAllowed => "once you allow the command",
        };
        let (places, listeners) = (codes(row.places), codes(row.listeners));
        let _ = writeln!(page, "| {} | {places} | {listeners} | {reached} |", row.of);
    }
    let _ = writeln!(page, "{KEPT}{}.", codes(KEPT_AGENTS));
}

fn codes(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn section(page: &mut String, title: &str, text: &str, is_wanted: impl Fn(Keeps) -> bool) {
    let _ = write!(page, "\n## {title}\n\n{text}\n\n| used by | names |\n|---|---|\n");
    // One line for each program, in the order of the table.
    let mut programs: Vec<(&str, Vec<String>)> = Vec::new();
    for row in PROTECTED.iter().filter(|row| is_wanted(row.keeps)) {
        let name = match row.keeps {
            Keeps::OrdersIn(parts) => {
                format!("`{}` (commands may write in it, but not {})", row.name, codes(parts))
            }
            Keeps::OrderFiles => format!("`{}` (if it is a file)", row.name),
            _ => format!("`{}`", row.name),
        };
        match programs.iter_mut().find(|(of, _)| *of == row.of) {
            Some((_, names)) => names.push(name),
            None => programs.push((row.of, vec![name])),
        }
    }
    for (of, names) in programs {
        let _ = writeln!(page, "| {of} | {} |", names.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let committed = include_str!("../../../../docs/reference/protected-places.md");
        assert!(
            protected_places_page() == committed,
            "docs/reference/protected-places.md is out of date: run `cargo xtask codegen`"
        );
    }
}
