//! The table of caches as a page for people.

use std::fmt::Write as _;

use super::table::CACHES;

const HEAD: &str = "# Caches of package managers

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

A jailed command reads your caches. Its changes go to a layer of its workspace in `~/.cache/buddy/layers`, so a malicious download never reaches
your other projects ([how](../how-to/jail.md#package-managers)). Your own `!command` uses your caches directly: to fill them for all projects, type for
example `!cargo fetch` while no command of the agent runs.

All layers together take at most 20 GiB; buddy removes the least recently used. You can delete `~/.cache/buddy/layers` whenever no command runs.

If a cache does not exist, or the kernel cannot mount a layer over it, buddy sets the variable in the last column to a directory in the layer. Paths
below `.cache` follow `XDG_CACHE_HOME`, those below `.local/share` follow `XDG_DATA_HOME`.

| program | default path | variable that moves it | set if no layer can be mounted |
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
