//! The table of registries as a page for people.

use std::fmt::Write as _;

use super::row::SettingsPlace;
use super::table::REGISTRIES;

const HEAD: &str = "# Registries of package managers

<!-- Made by `cargo xtask codegen` from the table in `buddy-policy`. Change the table, not this page. -->

The first download from a registry asks, also from crates.io, npmjs.org and PyPI: buddy allows no host by itself. To allow one beforehand, list it in
`[jail] hosts` ([how](../how-to/jail.md#hosts)).

If the settings below name the host, one question covers all hosts of that registry and says which setting names each. Otherwise, as with npm
without an `.npmrc`, the question lists the default hosts that the command wants at that moment; `?` shows the details. The answer can cover the
whole project. Tokens of private registries have [questions of their own](../how-to/jail.md#package-managers).

The answer also covers the hosts that an index names for downloads: after your yes, buddy reads the page in the last column from the index
([why](../decisions/0120-a-question-outlives-its-command.md)).

| package manager | programs | variables | files | page of the index |
|---|---|---|---|---|
";

/// The page, in Markdown.
pub fn registries_page() -> String {
    let mut page = HEAD.to_owned();
    for row in REGISTRIES {
        let files = row.files.iter().map(|file| display(file.at));
        let indexes =
            row.indexes.iter().map(|place| format!("{}: `config.json` of each index", display(*place)));
        let files: Vec<String> = files.chain(indexes).collect();
        let names =
            |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (programs, variables) = (names(row.programs), names(row.variables));
        let downloads = row.downloads.map(|page| format!("`{}`", page.path)).unwrap_or_default();
        let files = files.join(", ");
        let _ = writeln!(page, "| {} | {programs} | {variables} | {files} | {downloads} |", row.of);
    }
    page
}

fn display(place: SettingsPlace) -> String {
    match place {
        SettingsPlace::Home(name) => format!("`~/{name}`"),
        SettingsPlace::Config(name) => format!("`~/.config/{name}`"),
        SettingsPlace::Project(name) => format!("`{name}` of the project"),
        SettingsPlace::Above(name) => format!("`{name}` of the project and above it"),
        SettingsPlace::Variable(variable, "") => format!("`${variable}`"),
        SettingsPlace::Variable(variable, name) => format!("`${variable}/{name}`"),
        SettingsPlace::System(path) => format!("`{path}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let committed = include_str!("../../../../docs/reference/registries.md");
        assert!(
            registries_page() == committed,
            "docs/reference/registries.md is out of date: run `cargo xtask codegen`"
        );
    }
}
