//! Settings of tools that can hold a secret and do not: package managers need them, as a registry often stands there.
//!
//! A file counts as plain only if nothing in it looks like a credential. References to variables (`${NPM_TOKEN}`) are none.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use buddy_protocol::NameSet;
use rustix::fs::OFlags;

/// More bytes than settings ever have.
const MAX_BYTES: u64 = 256 * 1024;

/// Files that have nothing but credentials, by a part of their name.
const NEVER_PLAIN: &[&str] = &[
    "credential",
    ".pypirc",
    "auth.json",
    "settings-security",
    // Their keys or their form do not show which value is a secret.
    "hex.config",
    ".aider.conf",
    ".renviron",
];

/// Parts of a key whose value is a secret.
const SECRET_WORDS: &[&str] =
    &["auth", "token", "password", "passwd", "passphrase", "secret", "credential", "key", "cert", "pwd"];

/// Options of `curl` that carry a login, by a part of their name, and their letters.
const CURL_WORDS: &[&str] =
    &["user", "header", "cookie", "oauth", "bearer", "pass", "-u", "-h", "-b", "-e", "-k", "netrc"];

/// The beginnings of tokens that say themselves what they are.
const TOKENS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "npm_",
    "pypi-",
    "sk-",
    "xoxb-",
    "xoxp-",
    "akia",
    "hf_",
    "dop_v1_",
    "dckr_pat_",
];

/// The fewest characters of a token after its beginning.
const TOKEN_LENGTH: usize = 16;

/// The beginnings of settings in XML and JSON.
const MARKUP: &[&str] = &["<?xml", "<settings", "<configuration", "{"];

/// Values that are no secrets.
const HARMLESS: &[&str] =
    &["", "true", "false", "null", "always", "never", "auto", "import", "subprocess", "disabled"];

/// Whether a file with a name of `names` holds no secret, as far as its content tells.
pub(super) fn is_plain(path: &Path, names: &NameSet) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    if !names.covers(path) || NEVER_PLAIN.iter().any(|part| name.contains(part)) {
        return false;
    }
    let is_of_curl = name.contains("curlrc");
    let is_open = |text: &str| is_settings(text) && !has_secret(text) && !(is_of_curl && has_login(text));
    read(path).is_some_and(|text| is_open(&text))
}

fn read(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > MAX_BYTES {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Whether a text has the form of settings. Anything else is not judged.
fn is_settings(text: &str) -> bool {
    let is_markup = MARKUP.iter().any(|start| text.trim_start().starts_with(start));
    let is_setting = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with(['#', ';', '!', '[', '-']) || line.contains(['=', ':'])
    };
    is_markup || text.lines().all(is_setting)
}

fn has_secret(text: &str) -> bool {
    let text = without_references(&text.to_lowercase());
    text.contains("-----begin")
        || has_password_in_address(&text)
        || has_token(&text)
        || SECRET_WORDS.iter().any(|word| is_set(&text, word))
}

/// References to variables stand for values that are not in the file.
fn without_references(text: &str) -> String {
    let mut parts = text.split("${");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) if !name.contains(['\n', ':']) => plain.extend(["true", rest]),
            _ => plain.extend(["${", part]),
        }
    }
    plain
}

fn has_password_in_address(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', '"', '\'', '<']).next().unwrap_or_default();
        let authority = authority.split_whitespace().next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user != "true:true" && user != "git")
    })
}

/// Whether a word is a token, by its beginning, or a part of an address as Anaconda has it: `https://host/t/TOKEN/channel`.
fn has_token(text: &str) -> bool {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let words = text.split(|letter| !is_of_word(letter));
    let is_token = |word: &str| {
        TOKENS.iter().any(|start| word.strip_prefix(start).is_some_and(|rest| rest.len() >= TOKEN_LENGTH))
    };
    words.into_iter().any(is_token) || text.split("://").skip(1).any(|rest| rest.contains("/t/"))
}

/// Whether settings of `curl` have an option that carries a login.
fn has_login(text: &str) -> bool {
    let text = text.to_lowercase();
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.into_iter().any(|line| CURL_WORDS.iter().any(|word| line.contains(word)))
}

/// Whether a key with this word in its name has a value.
fn is_set(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = text.get(at..).unwrap_or_default();
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        let after = after.trim_start_matches(is_of_name).trim_start_matches(['"', '\'', ' ', '\t']);
        let value = if let Some(inside) = after.strip_prefix('>') {
            inside.trim_start().split('<').next()
        } else {
            let value = after.strip_prefix(['=', ':']);
            value.and_then(|value| value.lines().next()).map(str::trim)
        };
        value.is_some_and(|value| !HARMLESS.contains(&value.trim_matches(['"', '\'', ' ', ',', '\n', '\r'])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_without_a_credential_are_plain() {
        for text in [
            "",
            "registry=https://mirror.example/npm/\nfund=false\nalways-auth=true\n",
            "//r.example/:_authToken=${NPM_TOKEN}\nregistry=https://r.example/author/\n",
            "npmRegistryServer: \"https://r.example\"\nnpmAuthToken: \"${TOKEN}\"\n",
            "<settings><mirrors><mirror><url>https://m.example/maven2</url></mirror></mirrors></settings>",
            "<settings><server><id>a</id><password>${env.PW}</password></server></settings>",
            "org.gradle.jvmargs=-Xmx2g\norg.gradle.caching=true\n",
            "[global]\nindex-url = https://mirror.example/simple\nextra-index-url =\n    https://b.example/simple\n",
            "[[index]]\nurl = \"https://m.example/simple\"\nauthenticate = \"always\"\nkeyring-provider = \"subprocess\"\n",
            "channels:\n  - conda-forge\nssl_verify: true\nchannel_alias: https://conda.example/\n",
        ] {
            assert!(is_settings(text) && !has_secret(text), "{text}");
        }
    }

    #[test]
    fn settings_with_a_credential_are_not() {
        for text in [
            "//r.example/:_authToken=npm_abc\n",
            "//r.example/:_authToken = npm_abc\n",
            "_auth=YWJj\n",
            "registry=https://ann:pw@r.example/\n",
            "registry=https://sometoken@r.example/\n",
            "key=\"-----BEGIN PRIVATE KEY-----\\nabc\"\n",
            "npmAuthToken: \"abc\"\n",
            "npmAuthIdent: ann:pw\n",
            "<server><password>\n  abc\n</password></server>",
            "<privateKey>/home/ann/key</privateKey>",
            "signing.password=abc\n",
            "_authToken=${A}abc\n",
            "[global]\nindex-url = https://ann:pw@m.example/simple\n",
            "channels:\n  - https://ann:pw@conda.example/c\n",
            "channels:\n  - https://conda.example/t/ab-0123/c\n",
            "pat = ghp_0123456789abcdef0123\n",
            "_password=${unclosed\n",
            "token: ${TOKEN:-abc}\n",
            "{\"auths\": {\"r.example\": {\"auth\": \"YWJj\"}}}",
        ] {
            assert!(has_secret(text), "{text}");
        }
    }

    #[test]
    fn only_settings_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let names = NameSet::trees([".npmrc", ".cargo/credentials.toml"]);
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        assert!(is_plain(&path(".npmrc", "fund=false\n"), &names));
        assert!(!is_plain(&path("a/.npmrc", "_auth=x\n"), &names));
        assert!(!is_plain(&path("c/.npmrc", "no form at all\n"), &names));
        assert!(!is_plain(&path(".env", "fund=false\n"), &names));
        let more = NameSet::trees([".curlrc", ".renviron", ".hex/hex.config", ".aider.conf.yml"]);
        assert!(is_plain(&path(".curlrc", "--silent\nproxy = http://p.example:3128\n"), &more));
        assert!(!is_plain(&path("d/.curlrc", "user = ann:pw\n"), &more));
        assert!(!is_plain(&path("e/.curlrc", "-u ann:pw\n"), &more));
        assert!(!is_plain(&path(".Renviron", "GITHUB_PAT=abc\n"), &more));
        assert!(!is_plain(&path(".hex/hex.config", "{'$write_key',<<\"abc\">>}.\n"), &more));
        assert!(!is_plain(&path(".aider.conf.yml", "api-key:\n  - openai=abc\n"), &more));
        assert!(!is_plain(&path(".cargo/credentials.toml", ""), &names));
        std::os::unix::fs::symlink(folder.path().join(".npmrc"), folder.path().join("a/link")).unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        std::os::unix::fs::symlink(folder.path().join(".env"), folder.path().join("b/.npmrc")).unwrap();
        assert!(!is_plain(&folder.path().join("b/.npmrc"), &names));
    }
}
