//! The tables of variables as a page for people.

use std::fmt::Write as _;

use super::table::{KEPT, WITHHELD};
use super::{Withheld, session_variables};

const HEAD: &str = "# Variables that commands get

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

Commands, shared panes and background processes get the environment that you started buddy in, without the variables below. Names count in any case, and
`*` stands for any characters. `buddy doctor` lists the variables that it withholds.

To give commands one of them, list it in your `buddy.toml`. To take more away, list those:

```toml
[environment]
pass = [\"DATABASE_URL\", \"STRIPE_TEST_*\"]
hide = [\"ACME_*\"]
```

`pass` does not open variables of buddy and of other sessions. `hide` wins over `pass`. A project can add to `hide` and cannot set `pass`.

A variable with any name counts as a secret if its value has one: an address with a password (`postgres://ann:pw@host/db`), a setting such as `password=…`,
or a key of a well-known service. Variables that your model profiles take keys from (`api_key_env`) are always withheld.
";

const GROUPS: &[(Withheld, &str, &str)] = &[
    (Withheld::SecretName, "Secrets", "The names look like secrets."),
    (
        Withheld::Orders,
        "Orders",
        "They make loaders, shells, git and agents do something that the command does not say.",
    ),
    (Withheld::Terminal, "Programs for your terminal", "buddy sets `PAGER` and `GIT_PAGER` to `cat`."),
    (Withheld::Shell, "The shell's own", "Each shell sets them itself."),
    (
        Withheld::Service,
        "Services that act for you",
        "Agents that hold your keys, and engines of containers.",
    ),
    (Withheld::Session, "Other sessions", "`pass` does not open these."),
    (Withheld::Own, "buddy's own", "`pass` does not open these."),
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
    let _ = write!(page, "\n## Exceptions\n\nCommands get these all the same: {}.\n", kept.join(", "));
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
