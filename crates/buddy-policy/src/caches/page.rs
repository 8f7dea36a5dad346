//! The table of caches as a page for people.

use std::fmt::Write as _;

use super::table::CACHES;

const HEAD: &str = "# Caches of package managers

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

A command in the jail reads these caches of yours, and its changes go to a layer that belongs to its workspace: `~/.cache/buddy/layers`. A download that
turns out to be malicious stays there and does not reach your other projects ([how](../how-to/jail.md#package-managers)).

If the cache does not exist, or the kernel cannot put a layer over it, buddy sets the variable in the last column and the program uses a directory in the
layer. A place below `.cache` moves with `XDG_CACHE_HOME`, one below `.local/share` with `XDG_DATA_HOME`.

| program | default place | variable that names it | set where there is no layer over it |
|---|---|---|---|
";

/// The page, in Markdown.
pub fn caches_page() -> String {
    let mut page = HEAD.to_owned();
    for row in CACHES {
        let named = row.variable.map(|(name, below)| match below {
            "" => format!("`{name}`"),
            _ => format!("`{name}`, in it `{below}`"),
        });
        let redirect = row.redirect.map(|(name, value)| format!("`{name}={}`", value.replace("{}", "…")));
        let (named, redirect) = (named.unwrap_or_default(), redirect.unwrap_or_default());
        let _ = writeln!(page, "| {} | `~/{}` | {named} | {redirect} |", row.of, row.default);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let committed = include_str!("../../../../docs/reference/caches.md");
        assert!(
            caches_page() == committed,
            "docs/reference/caches.md is out of date: run `cargo xtask codegen`"
        );
    }
}
