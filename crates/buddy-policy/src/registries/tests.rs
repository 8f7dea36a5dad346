//! Which hosts one question covers, from settings alone.

use std::collections::BTreeMap;

use super::*;

const HOME: &str = "/home/ann";
const PROJECT: &str = "/home/ann/src/app";

/// The hosts of the registry of a host, each with where it is named.
fn covered(wanted: &str, command: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<PathBuf, String> =
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let read = |path: &Path| files.get(path).cloned();
    let list = |path: &Path| {
        let names = files.keys().filter_map(|file| file.strip_prefix(path).ok()?.components().next());
        names.map(|name| name.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let source = SettingsSource {
        home: Some(Path::new(HOME)),
        config: Some(Path::new("/home/ann/.config")),
        project: Path::new(PROJECT),
        variables: &variables,
        read: &read,
        list: &list,
    };
    let registry = registry_of(wanted, &[command.to_owned()], &source);
    let row = |host: RegistryHost| {
        let by = if host.is_by_project { "project" } else { "person" };
        format!("{}:{} {} {by}", host.host, host.port, host.named_in)
    };
    registry.map(|registry| registry.hosts.into_iter().map(row).collect()).unwrap_or_default()
}

#[test]
fn a_registry_is_all_that_its_settings_name() {
    let files = [
        ("/home/ann/.cargo/config.toml", "[source.m]\nregistry = \"sparse+https://index.test/\""),
        ("/home/ann/.cargo/registry/index/index.test-0a/config.json", r#"{"dl": "https://dl.test/{crate}"}"#),
        ("/home/ann/.cargo/registry/index/other.test-0b/config.json", r#"{"dl": "https://no.test"}"#),
        ("/home/ann/src/app/.cargo/config.toml", "[registries.evil]\nindex = \"https://evil.test\""),
    ];
    let expected = [
        "evil.test:443 .cargo/config.toml of this project project",
        "index.test:443 ~/.cargo/config.toml person",
        "dl.test:443 ~/.cargo/registry/index person",
    ];
    assert_eq!(covered("index.test", "cargo build", &files, &[]), expected);
    assert_eq!(covered("dl.test", "cargo build", &files, &[]), expected);
    assert_eq!(covered("no.test", "cargo build", &files, &[]), [""; 0]);
}

#[test]
fn an_index_that_was_used_before_names_its_downloads_without_settings() {
    let files = [(
        "/home/ann/.cargo/registry/index/index.test-0a/config.json",
        r#"{"dl": "https://static.test/crates", "api": "https://www.test"}"#,
    )];
    let covered = covered("index.test", "cargo add x", &files, &[]);
    assert_eq!(covered.len(), 3, "{covered:?}");
    assert!(covered[0].starts_with("index.test:443"), "{covered:?}");
}

#[test]
fn the_package_manager_of_the_command_goes_first_and_python_names_its_module() {
    let files = [
        ("/home/ann/.npmrc", "registry=https://all.test/npm\n@a:registry=https://a.test"),
        ("/home/ann/.config/pip/pip.conf", "[global]\nindex-url=https://all.test/pip\n"),
    ];
    assert_eq!(covered("all.test", "python3 -m pip install x", &files, &[]).len(), 1);
    assert_eq!(covered("all.test", ".venv/bin/pip install x", &files, &[]).len(), 1);
    assert_eq!(covered("all.test", "npm ci", &files, &[]).len(), 2);
    assert_eq!(covered("all.test", "make", &files, &[]).len(), 2, "a script may run it");
    assert_eq!(covered("else.test", "npm ci", &files, &[]), [""; 0]);
}

#[test]
fn variables_name_hosts_too() {
    let variables =
        [("GOPROXY", "https://p.test,direct"), ("GOSUMDB", "sum.test"), ("CARGO_REGISTRIES_A_INDEX", "x")];
    let covered = covered("p.test", "go build ./...", &[], &variables);
    assert_eq!(covered, ["p.test:443 $GOPROXY person", "sum.test:443 $GOSUMDB person"]);
}

#[test]
fn the_page_of_an_index_names_the_hosts_of_its_packages() {
    let named = |manager, page: &str| {
        let hosts = crate::download_hosts(manager, page).into_iter();
        hosts.map(|(host, port)| format!("{host}:{port}")).collect::<Vec<_>>()
    };
    let page = "<a href=\"https://files.test/a.whl#sha256=0\">a</a><a href='https://files.test/b'>b</a><a href=\"../c\">c</a>";
    assert_eq!(named("pip", page), ["files.test:443"]);
    assert_eq!(named("cargo", r#"{"dl": "https://static.test/crates"}"#), ["static.test:443"]);
    assert_eq!(named("npm", page), [""; 0], "its packages are at the registry");
    let many: Vec<String> = (0..100).map(|number| format!("<a href=\"https://{number}.test/\">")).collect();
    assert_eq!(named("uv", &many.concat()).len(), 4);
    assert_eq!(named("pip", "<a href=>x<a href"), [""; 0]);
}
