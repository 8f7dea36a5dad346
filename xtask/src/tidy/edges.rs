//! The permitted dependencies between crates. The table is that of ARCHITECTURE.md; any other edge is an
//! offence.

use super::offence::Offence;
use super::tree::{SourceFile, Tree};

/// A crate and the crates of the project that it may depend on.
struct Allowed {
    name: &'static str,
    /// The crates that its code may use.
    uses: &'static [&'static str],
}

const TABLE: &[Allowed] = &[
    Allowed { name: "buddy-protocol", uses: &[] },
    Allowed { name: "buddy-policy", uses: &["buddy-protocol"] },
    Allowed { name: "buddy-model", uses: &["buddy-protocol"] },
    Allowed { name: "buddy-exec", uses: &["buddy-notify", "buddy-protocol"] },
    Allowed { name: "buddy-notify", uses: &[] },
    Allowed { name: "buddy-store", uses: &["buddy-protocol"] },
    Allowed { name: "buddy-web", uses: &[] },
    Allowed { name: "buddy-calls", uses: &["buddy-exec", "buddy-policy", "buddy-protocol", "buddy-web"] },
    Allowed {
        name: "buddy-agent",
        uses: &["buddy-calls", "buddy-exec", "buddy-model", "buddy-policy", "buddy-protocol", "buddy-web"],
    },
    Allowed { name: "buddy-bridge", uses: &["buddy-calls", "buddy-exec", "buddy-policy", "buddy-protocol"] },
    Allowed { name: "buddy-hub", uses: &["buddy-protocol"] },
    Allowed { name: "buddy-server", uses: &["buddy-hub", "buddy-protocol"] },
    Allowed { name: "buddy-tui", uses: &["buddy-protocol"] },
    Allowed {
        name: "buddy",
        uses: &[
            "buddy-agent",
            "buddy-bridge",
            "buddy-calls",
            "buddy-exec",
            "buddy-hub",
            "buddy-model",
            "buddy-policy",
            "buddy-protocol",
            "buddy-server",
            "buddy-store",
            "buddy-tui",
            "buddy-web",
        ],
    },
    Allowed { name: "buddy-testkit", uses: &["buddy-protocol"] },
    Allowed {
        name: "xtask",
        uses: &[
            "buddy-exec",
            "buddy-hub",
            "buddy-model",
            "buddy-policy",
            "buddy-protocol",
            "buddy-store",
            "buddy-testkit",
        ],
    },
];

/// The crates that tests of any crate may use in addition: scripted peers, and a real log.
const FOR_TESTS: &[&str] = &["buddy-testkit", "buddy-store"];

/// External crates that only some crates may use: SQL stays in the store, connections to models in the model
/// crate, and all other connections in the web crate.
const OWNED: &[(&str, &[&str])] =
    &[("rusqlite", &["buddy-store"]), ("reqwest", &["buddy-model", "buddy-web"])];

/// Dependencies that are not in the table, and crates that it does not list.
pub(crate) fn unknown_edges(tree: &Tree) -> Vec<Offence> {
    let is_member = |file: &&SourceFile| {
        let parts: Vec<&str> = file.path.split('/').collect();
        matches!(parts[..], ["crates", _, "Cargo.toml"] | ["xtask", "Cargo.toml"])
    };
    tree.files.iter().filter(is_member).flat_map(offences).collect()
}

fn offences(file: &SourceFile) -> Vec<Offence> {
    let dependencies = dependencies(&file.text);
    let name = package_name(&file.text).unwrap_or_default();
    let Some(allowed) = TABLE.iter().find(|allowed| allowed.name == name) else {
        return vec![format!("{}: crate `{name}` is not in the table of ARCHITECTURE.md", file.path)];
    };
    let is_wrong = |edge: &&Edge| match OWNED.iter().find(|(owned, _)| *owned == edge.to) {
        Some((_, owners)) => !owners.contains(&&*name) && !edge.is_for_tests,
        None if !edge.to.starts_with("buddy") => false,
        None => {
            let is_for_tests = edge.is_for_tests && FOR_TESTS.contains(&&*edge.to);
            !(is_for_tests || allowed.uses.contains(&&*edge.to))
        }
    };
    let tell = |edge: &Edge| format!("{}: `{name}` must not depend on `{}`", file.path, edge.to);
    dependencies.iter().filter(is_wrong).map(tell).collect()
}

/// A line of a manifest that names a dependency.
struct Edge {
    to: String,
    is_for_tests: bool,
}

/// The dependencies of a manifest. Manifests here are plain: one dependency per line, or a separate table.
fn dependencies(manifest: &str) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut section = String::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            head.clone_into(&mut section);
            if let Some((table, to)) = head.rsplit_once('.')
                && table.ends_with("dependencies")
            {
                edges.push(Edge { to: to.to_owned(), is_for_tests: table.contains("dev-") });
            }
        } else if section.ends_with("dependencies") {
            let to: String = line.chars().take_while(|&letter| is_of_name(letter)).collect();
            if !to.is_empty() {
                edges.push(Edge { to, is_for_tests: section.contains("dev-") });
            }
        }
    }
    edges
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
}

fn package_name(manifest: &str) -> Option<String> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(value.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, body: &str, expected: &[&str]) {
        let path = format!("crates/{name}/Cargo.toml");
        let manifest = format!("[package]\nname = \"{name}\"\n\n{body}");
        assert_eq!(unknown_edges(&Tree::of(&[(&path, &manifest)])), expected, "{body}");
    }

    #[test]
    fn edges_of_the_table_pass() {
        check(
            "buddy-hub",
            "[dependencies]\nbuddy-protocol.workspace = true\nfutures.workspace = true\n",
            &[],
        );
        check("buddy-model", "[dev-dependencies]\nbuddy-testkit.workspace = true\n", &[]);
    }

    #[test]
    fn edges_upwards_and_sideways_fail() {
        let told = "crates/buddy-hub/Cargo.toml: `buddy-hub` must not depend on `buddy-agent`";
        check("buddy-hub", "[dependencies]\nbuddy-agent = { workspace = true }\n", &[told]);
        check("buddy-hub", "[dependencies.buddy-agent]\nworkspace = true\n", &[told]);
        check("buddy-hub", "[dev-dependencies]\nbuddy-agent.workspace = true\n", &[told]);
        check("buddy-hub", "[target.'cfg(unix)'.dependencies]\nbuddy-agent.workspace = true\n", &[told]);
    }

    #[test]
    fn tests_of_a_crate_may_use_scripted_peers_and_its_code_may_not() {
        let told = "crates/buddy-tui/Cargo.toml: `buddy-tui` must not depend on `buddy-testkit`";
        check("buddy-tui", "[dependencies]\nbuddy-testkit.workspace = true\n", &[told]);
    }

    #[test]
    fn sql_stays_in_the_store() {
        let told = "crates/buddy-hub/Cargo.toml: `buddy-hub` must not depend on `rusqlite`";
        check("buddy-hub", "[dependencies]\nrusqlite.workspace = true\n", &[told]);
        check("buddy-store", "[dependencies]\nrusqlite.workspace = true\n", &[]);
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        let told = "crates/buddy-misc/Cargo.toml: crate `buddy-misc` is not in the table of ARCHITECTURE.md";
        check("buddy-misc", "", &[told]);
    }
}
