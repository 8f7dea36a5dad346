//! The table of protected places as a page for people.

use std::fmt::Write as _;

use super::{Keeps, PROTECTED};
use crate::other_sessions::{KEPT_AGENTS, OTHER_SESSIONS, Reached};

const HEAD: &str = "# Protected places

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

buddy keeps two kinds of files apart, in every mode, and [your other sessions](#other-sessions) in production. [Rules and grants](../how-to/rules-and-grants.md) says how you open one.

- **Orders**: a program takes orders from the file without being told to. Changing it asks you each time.
- **Secrets**: the file can hold a key or a password. Its name is listed. Reading, changing or removing it asks you each time.
  Keys and password stores outside of your projects, and buddy's own files, are closed: no answer opens them, only a rule of yours.

A name without a leading slash counts wherever it stands, in any spelling of upper and lower case. `*` stands for any part of a
name. A directory counts with everything in it.

A file or directory that git's settings name counts as an order too, wherever it is: `core.hooksPath`, `core.attributesFile`,
`include.path`, `includeIf.*.path`, `init.templateDir`, and programs in commands such as `core.fsmonitor`, `core.sshCommand`,
`credential.helper`, `filter.*`, `diff.*`, `merge.*` and aliases with `!`. buddy reads the settings of the repositories in and around the
workspace, and your own.
";

/// The page, in Markdown.
pub fn protected_places_page() -> String {
    let mut page = HEAD.to_owned();
    section(&mut page, "Orders", "Changing these asks you.", |keeps| {
        matches!(keeps, Keeps::Orders | Keeps::OrdersIn(_))
    });
    let keys = "Outside of a project these are closed. In a project, reading them asks you.";
    section(&mut page, "Secrets", keys, |keeps| keeps == Keeps::Secrets);
    let tools = "Reading these asks you. A command that you allow reads them too; all others find the files empty, or in a \
                 repository closed. Settings such as `.npmrc` that have no credential in them, only a registry or `${NPM_TOKEN}`, are open to every command.";
    section(&mut page, "Secrets that tools need", tools, |keeps| keeps == Keeps::ToolSecrets);
    let files = "Reading files of these names asks you. A directory of such a name is not protected.";
    section(&mut page, "Files that hold secrets by convention", files, |keeps| keeps == Keeps::SecretFiles);
    let plain = "These look like the names above and hold no secrets. buddy reads them without a question.";
    section(&mut page, "Exceptions", plain, |keeps| keeps == Keeps::NoSecrets);
    sessions(&mut page);
    page
}

const SESSIONS: &str = "
## Other sessions

In production no command reaches these, whether you approved it or not: they type for whoever reaches them, or start programs outside of
the jail. `{uid}` and `{user}` are your account, and a name after `$` is a variable that names the socket. buddy also finds the
sockets of the listed processes wherever they are. In development commands reach only the local
sockets that they make themselves, and make none in the listed directories of `/tmp` that are there.

| program | places | processes | reached |
|---|---|---|---|
";

const KEPT: &str = "
These stay, because `git push` and signed commits need them: ";

fn sessions(page: &mut String) {
    page.push_str(SESSIONS);
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    for row in OTHER_SESSIONS {
        let reached = match row.reached {
            Reached::Never => "never",
            Reached::OnceAllowed => "once you allow the command",
        };
        let (places, listeners) = (quoted(row.places), quoted(row.listeners));
        let _ = writeln!(page, "| {} | {places} | {listeners} | {reached} |", row.of);
    }
    let _ = writeln!(page, "{KEPT}{}.", quoted(KEPT_AGENTS));
}

fn section(page: &mut String, title: &str, text: &str, is_wanted: impl Fn(Keeps) -> bool) {
    let _ = write!(page, "\n## {title}\n\n{text}\n\n| name | used by |\n|---|---|\n");
    for row in PROTECTED.iter().filter(|row| is_wanted(row.keeps)) {
        let _ = writeln!(page, "| `{}` | {} |", row.name, row.of);
        if let Keeps::OrdersIn(parts) = row.keeps {
            let parts: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
            let _ =
                writeln!(page, "| | commands may write in `{}`, but not {} |", row.name, parts.join(", "));
        }
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
