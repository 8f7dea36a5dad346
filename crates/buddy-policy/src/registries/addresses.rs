//! Addresses in the settings of package managers. What is not understood names no host, and the host is asked for by itself.

use serde_json::Value as Json;
use toml::Value as Toml;
use url::Url;

use super::row::SettingsForm;

/// Settings whose value may be a bare name of a host.
const BARE: &[&str] = &["GOSUMDB"];

/// Addresses of one file that are read. A file with more is not the settings of one user.
const MAX_ADDRESSES: usize = 200;

/// The hosts, with their ports, that a file in this form names.
pub(super) fn in_file(text: &str, form: SettingsForm) -> Vec<(String, u16)> {
    let mut found = match form {
        SettingsForm::Lines(keys) => lines(text, "=", keys),
        SettingsForm::Pairs(keys) => lines(text, ":", keys),
        SettingsForm::Toml(keys) => {
            let mut found = Vec::new();
            if let Ok(value) = toml::from_str::<Toml>(text) {
                walk(&value, "", keys, &mut found);
            }
            found
        }
        SettingsForm::Xml(parents) => elements(text, parents),
        SettingsForm::Quoted(words) => quoted(text, words),
    };
    found.truncate(MAX_ADDRESSES);
    found
}

/// The hosts that the `config.json` of cargo's copy of an index hands out.
pub(super) fn in_index(text: &str) -> Vec<(String, u16)> {
    let Ok(config) = serde_json::from_str::<Json>(text) else { return Vec::new() };
    ["dl", "api"]
        .iter()
        .filter_map(|key| config[*key].as_str())
        .flat_map(|value| in_value("", value))
        .collect()
}

/// The hosts that the links of a page lead to.
pub(super) fn in_links(page: &str) -> Vec<(String, u16)> {
    let links = page.split("href=").skip(1).take(MAX_ADDRESSES);
    let value = |rest: &str| {
        let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        Some(rest.get(1..)?.split(quote).next()?.to_owned())
    };
    links.filter_map(value).flat_map(|address| in_value("", &address)).collect()
}

/// The hosts in the value of a setting or a variable: one address, or several.
pub(super) fn in_value(key: &str, value: &str) -> Vec<(String, u16)> {
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, ',' | '|' | '"' | '\'');
    // Files of properties escape the colon.
    let value = value.replace("\\:", ":");
    value.split(is_between).filter_map(|piece| in_piece(key, piece)).collect()
}

fn in_piece(key: &str, piece: &str) -> Option<(String, u16)> {
    let begin = ["https://", "http://"].iter().filter_map(|scheme| piece.find(scheme)).min();
    let address = match begin {
        Some(begin) => piece.get(begin..)?.to_owned(),
        None if BARE.contains(&key) => {
            format!("https://{}", piece.split('+').next().filter(|name| name.contains('.'))?)
        }
        None => return None,
    };
    let url = Url::parse(&address).ok()?;
    Some((url.host()?.to_string(), url.port_or_known_default()?))
}

/// Whether a key is one of these, in which a `*` stands for anything.
pub(super) fn is_among(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|wanted| match wanted.split_once('*') {
        Some((begin, end)) => {
            key.len() >= begin.len() + end.len() && key.starts_with(begin) && key.ends_with(end)
        }
        None => key == *wanted,
    })
}

/// Lines of a key and a value. A line that is indented goes on with the value before it, unless it has a key of its own.
fn lines(text: &str, between: &str, keys: &[&str]) -> Vec<(String, u16)> {
    let mut found = Vec::new();
    let mut current = "";
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        let pair = line.split_once(between).filter(|(key, _)| !key.contains("://"));
        let value = match pair {
            Some((key, value)) => {
                current = key.trim().trim_matches('"');
                value
            }
            None if line.starts_with(char::is_whitespace) => line,
            None => {
                current = "";
                continue;
            }
        };
        if is_among(current, keys) {
            found.extend(in_value(current, value));
        }
    }
    found
}

/// Strings at these keys, anywhere in a table; a key with dots is meant from the top.
fn walk(value: &Toml, path: &str, keys: &[&str], found: &mut Vec<(String, u16)>) {
    match value {
        Toml::Table(table) => {
            for (name, below) in table {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                walk(below, &path, keys, found);
            }
        }
        Toml::Array(values) => values.iter().for_each(|below| walk(below, path, keys, found)),
        Toml::String(text) => {
            let name = path.rsplit('.').next().unwrap_or_default();
            if is_among(name, keys) || is_among(path, keys) {
                found.extend(in_value(name, text));
            }
        }
        _ => {}
    }
}

/// The text of every `url` directly in one of these elements.
fn elements(text: &str, parents: &[&str]) -> Vec<(String, u16)> {
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        if let Some(comment) = after.strip_prefix("!--") {
            let Some((_, after)) = comment.split_once("-->") else { break };
            rest = after;
            continue;
        }
        let Some((tag, after)) = after.split_once('>') else { break };
        rest = after;
        let name = tag.trim_matches('/').split_whitespace().next().unwrap_or_default();
        if tag.starts_with('/') {
            open.pop();
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) {
            let is_inside = open.last().is_some_and(|parent| parents.contains(parent));
            if name == "url" && is_inside {
                found.extend(in_value(name, after.split('<').next().unwrap_or_default()));
            }
            open.push(name);
        }
    }
    found
}

/// Addresses in the quotes of lines that have one of these words: settings that are programs.
fn quoted(text: &str, words: &[&str]) -> Vec<(String, u16)> {
    let has_word = |line: &&str| words.iter().any(|word| line.contains(word));
    let code = text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with('#'));
    code.filter(has_word).flat_map(|line| in_value("", line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: SettingsForm, text: &str, expected: &[&str]) {
        let found: Vec<String> =
            in_file(text, form).iter().map(|(host, port)| format!("{host}:{port}")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn each_form_names_its_hosts_and_no_others() {
        let npm = SettingsForm::Lines(&["registry", "*:registry"]);
        check(
            npm,
            "; a comment\nregistry=https://Npm.Test/a/\n@corp:registry = http://corp.test:81\n//npm.test/:_authToken=x\nproxy=http://p.test",
            &["npm.test:443", "corp.test:81"],
        );
        let pip = SettingsForm::Lines(&["index-url", "extra-index-url"]);
        check(
            pip,
            "[global]\nindex-url = https://u:p@a.test/simple\nextra-index-url =\n    https://b.test\n    https://c.test/x=y\ntimeout = 1\n",
            &["a.test:443", "b.test:443", "c.test:443"],
        );
        let cargo = SettingsForm::Toml(&["registry", "index"]);
        check(
            cargo,
            "[source.m]\nregistry = \"sparse+https://i.test/x/\"\n[registries.own]\nindex = \"https://o.test\"\n[net]\nother = \"https://n.test\"",
            &["o.test:443", "i.test:443"],
        );
        check(
            SettingsForm::Toml(&["tool.uv.index.url"]),
            "[project.urls]\nHome = \"https://h.test\"\n[[tool.uv.index]]\nurl = \"https://u.test\"",
            &["u.test:443"],
        );
        check(
            SettingsForm::Pairs(&["npmRegistryServer"]),
            "npmRegistryServer: \"https://y.test\"\nother: \"https://z.test\"\n",
            &["y.test:443"],
        );
        check(
            SettingsForm::Xml(&["mirror", "repository"]),
            "<?xml?><settings><!-- <mirror><url>https://x.test</url></mirror> --><url>https://home.test</url>\
             <mirrors><mirror><id>a</id><url>https://m.test/r</url></mirror></mirrors></settings>",
            &["m.test:443"],
        );
        check(
            SettingsForm::Quoted(&["url", "maven"]),
            "maven { url 'https://g.test/r' }\n// url 'https://no.test'\nmaven(\"https://k.test\")\nhomepage 'https://h.test'",
            &["g.test:443", "k.test:443"],
        );
        check(
            SettingsForm::Lines(&["distributionUrl"]),
            "distributionUrl=https\\://d.test/x.zip",
            &["d.test:443"],
        );
        check(
            SettingsForm::Lines(&["GOPROXY", "GOSUMDB"]),
            "GOPROXY=https://p.test,direct\nGOSUMDB=sum.test\n",
            &["p.test:443", "sum.test:443"],
        );
    }

    #[test]
    fn an_index_names_where_its_packages_are() {
        let text = r#"{"dl": "https://dl.test/{crate}/{version}", "api": "https://api.test"}"#;
        assert_eq!(in_index(text), [("dl.test".to_owned(), 443), ("api.test".to_owned(), 443)]);
        assert_eq!(in_index("no json"), []);
    }
}
