//! The table of package managers' caches: places in the home that jailed commands change in a layer of their
//! workspace.
//!
//! Pure: the home and the variables come in, and places come out.

mod page;
mod table;

use std::path::{Path, PathBuf};

pub use page::caches_page;
use table::{CACHES, CacheRow};

/// A cache on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCache {
    /// Its name in a layer.
    pub name: &'static str,
    /// Its path.
    pub at: PathBuf,
    /// A variable that leads the program elsewhere, and its value with `{}` for the directory.
    pub redirect: Option<(&'static str, &'static str)>,
    /// Settings in it.
    pub linked: &'static [&'static str],
}

/// Directories of the home that a variable can move, and their usual places.
const MOVED: &[(&str, &str)] = &[(".cache", "XDG_CACHE_HOME"), (".local/share", "XDG_DATA_HOME")];

/// All caches of an account, by its home and variables.
pub fn cache_places(home: &Path, variable: impl Fn(&str) -> Option<String>) -> Vec<FoundCache> {
    let absolute = |name: &str| {
        let value = variable(name)?;
        // Some of them are lists.
        let first = Path::new(value.split(':').next()?).to_owned();
        first.is_absolute().then_some(first)
    };
    let default = |row: &CacheRow| {
        let moved = MOVED.iter().find_map(|(usual, name)| {
            Some(absolute(name)?.join(Path::new(row.default).strip_prefix(usual).ok()?))
        });
        moved.unwrap_or_else(|| home.join(row.default))
    };
    let place = |row: &CacheRow| {
        let named = row.variable.and_then(|(name, below)| Some(absolute(name)?.join(below)));
        let at = named.unwrap_or_else(|| default(row));
        FoundCache { name: row.name, at, redirect: row.redirect, linked: row.linked }
    };
    CACHES.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn at(name: &str, variables: &[(&str, &str)]) -> PathBuf {
        let variable = |wanted: &str| {
            variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
        };
        let found = cache_places(Path::new("/home/ann"), variable);
        found.into_iter().find(|cache| cache.name == name).unwrap().at
    }

    #[test]
    fn variables_say_where_a_cache_is() {
        assert_eq!(at("cargo", &[]), Path::new("/home/ann/.cargo"));
        assert_eq!(at("cargo", &[("CARGO_HOME", "/opt/cargo")]), Path::new("/opt/cargo"));
        assert_eq!(at("cargo", &[("CARGO_HOME", "relative")]), Path::new("/home/ann/.cargo"));
        assert_eq!(at("go", &[("GOPATH", "/go:/other")]), Path::new("/go/pkg"));
        assert_eq!(at("pip", &[("XDG_CACHE_HOME", "/big")]), Path::new("/big/pip"));
        assert_eq!(at("pip", &[("XDG_CACHE_HOME", "/big"), ("PIP_CACHE_DIR", "/pip")]), Path::new("/pip"));
    }

    #[test]
    fn names_are_used_once_and_redirects_name_the_directory() {
        let names: BTreeSet<&str> = CACHES.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), CACHES.len());
        let redirects: Vec<_> = CACHES.iter().filter_map(|row| row.redirect).collect();
        let variables: BTreeSet<&str> = redirects.iter().map(|(name, _)| *name).collect();
        assert_eq!(variables.len(), redirects.len());
        assert!(redirects.iter().all(|(_, value)| value.contains("{}")));
    }

    /// What a package manager does to its cache, by the variable that leads it elsewhere, or by its place in the home.
    fn check(of: &str, home_path: &str, variable: Option<&str>) {
        let found = cache_places(Path::new("/home/ann"), |_| None);
        let at = Path::new("/home/ann").join(home_path);
        let cache = found.iter().find(|cache| cache.at == at);
        let cache = cache.unwrap_or_else(|| panic!("{of}: no row has {}", at.display()));
        assert_eq!(cache.redirect.map(|(name, _)| name), variable, "{of}");
        let row = CACHES.iter().find(|row| row.name == cache.name).unwrap();
        assert!(row.of.split(", ").any(|name| name.starts_with(of)), "{of}: {}", row.of);
        // The variable by which the user moved the cache says where it is.
        if let Some((name, below)) = row.variable {
            let moved =
                cache_places(Path::new("/home/ann"), |wanted| (wanted == name).then(|| "/moved".to_owned()));
            let moved = moved.iter().find(|cache| cache.name == row.name).unwrap();
            assert_eq!(moved.at, Path::new("/moved").join(below), "{of}");
        }
    }

    /// Places and variables as the documentation of each package manager has them, for Linux.
    #[test]
    fn package_managers_have_the_rows_of_their_documentation() {
        check("cargo", ".cargo", Some("CARGO_HOME"));
        check("rustup", ".rustup", None);
        // `npx` keeps its packages in the cache of npm, in `_npx`.
        check("npm", ".npm", Some("npm_config_cache"));
        check("npx", ".npm", Some("npm_config_cache"));
        check("pnpm", ".local/share/pnpm", Some("PNPM_HOME"));
        check("pnpm", ".cache/pnpm", Some("pnpm_config_cache_dir"));
        check("pnpm", ".local/state/pnpm", Some("pnpm_config_state_dir"));
        check("yarn", ".cache/yarn", Some("YARN_CACHE_FOLDER"));
        check("yarn", ".yarn/berry", Some("YARN_GLOBAL_FOLDER"));
        check("pip", ".cache/pip", Some("PIP_CACHE_DIR"));
        check("uv", ".cache/uv", Some("UV_CACHE_DIR"));
        check("uv", ".local/share/uv/python", Some("UV_PYTHON_INSTALL_DIR"));
        check("uv", ".local/share/uv/tools", Some("UV_TOOL_DIR"));
        check("go", "go/pkg", Some("GOPATH"));
        check("go", "go/pkg/mod", None);
        check("go", ".cache/go-build", Some("GOCACHE"));
        check("Maven", ".m2", Some("MAVEN_OPTS"));
        check("Gradle", ".gradle", Some("GRADLE_USER_HOME"));
    }
}
