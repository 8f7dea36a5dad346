//! The tables of variables as a page for people.

use std::fmt::Write as _;

use super::table::{KEPT, WITHHELD};
use super::{Withheld, session_variables};

const HEAD: &str = "# Variables that commands get

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

Commands, shared panes and background processes get the environment that you started buddy in, such as `PATH` and `HOME`, without the
variables below. Upper and lower case do not matter, and `*` matches any characters. `buddy doctor` lists the variables that it withholds.

A command whose connections go through [buddy's proxy](../how-to/jail.md#hosts) sees that proxy in `HTTPS_PROXY` and the like, instead of yours.

To pass or hide a variable, list it in your `buddy.toml`. Export one that you pass before you start buddy:

```toml
[environment]
pass = [\"DATABASE_URL\", \"STRIPE_TEST_*\"]
hide = [\"ACME_*\"]
```

`pass` does not pass variables of buddy and of other sessions. `hide` wins over `pass`. A project can add to `hide` and cannot set `pass`.

A variable with any name is withheld if its value has a secret: an address with a password (`postgres://ann:pw@host/db`), a setting such as `password=…`,
or a key of a well-known service. Variables that your model profiles take keys from (`api_key_env`) are always withheld.
";

const GROUPS: &[(Withheld, &str, &str)] = &[
    (Withheld::SecretName, "Secrets", "Their names look like secrets."),
    (
        Withheld::Orders,
        "Variables that run code",
        "They make loaders, shells, git and agents do something that the command does not say.",
    ),
    (
        Withheld::Terminal,
        "Programs for your terminal",
        "buddy sets `PAGER` and `GIT_PAGER` to `cat`, and `EDITOR`, `VISUAL` and `GIT_EDITOR` to a command that fails with a hint, except in panes.",
    ),
    (Withheld::Shell, "The shell's own", "Each shell sets them itself."),
    (Withheld::Service, "Services that act for you", "Addresses of ssh-agent, gpg-agent, Docker and Podman."),
    (Withheld::Session, "Other sessions", "`pass` does not pass these."),
    (Withheld::Own, "buddy's own", "`pass` does not pass these."),
];

/// The page, in Markdown.
pub fn variables_page() -> String {
    let mut page = HEAD.to_owned();
    for (why, title, text) in GROUPS {
        let rows = WITHHELD.iter().filter(|row| row.why == *why).map(|row| row.pattern);
        let further = session_variables().filter(|(_, further)| further == why).map(|(name, _)| name);
        let names: Vec<String> = rows.chain(further).map(|name| format!("`{name}`")).collect();
        let _ = write!(page, "\n## {title}\n\n{text}\n\n{}\n", names.join(", "));
    }
    let kept: Vec<String> = KEPT.iter().map(|name| format!("`{name}`")).collect();
    let _ = write!(page, "\n## Exceptions\n\nCommands still get these: {}.\n", kept.join(", "));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let committed = include_str!("../../../../docs/reference/variables.md");
        assert!(
            variables_page() == committed,
            "docs/reference/variables.md is out of date: run `cargo xtask codegen`"
        );
    }
}
