//! The trail of a conversation: hosts that the user named, addresses that a search listed, hosts that the
//! user allowed, and whether a secret was read.
//!
//! Only text that the user wrote names a host. Tool output, file contents and the model's own text do not,
//! because an injection could speak through them. The trail is made from the log, so it survives a restart.

use std::collections::BTreeSet;

use url::Url;

/// The most entries of each kind. Beyond that nothing is added, which asks once more.
const MAX_ENTRIES: usize = 2_000;

/// Blocks of a prompt that hold text which the user did not write: piped input, and text that a program
/// added.
const QUOTED: &[&str] = &["stdin", "output_schema", "schema_mismatch"];

/// Ends of names that are those of hosts and not of files. `main.rs` names no host, and `https://docs.rs` does.
const HOST_ENDINGS: &[&str] = &["com", "org", "net", "edu", "gov", "io", "dev"];

/// The conversation's evidence about where data may go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trail {
    named: BTreeSet<String>,
    addresses: BTreeSet<String>,
    listed: BTreeSet<String>,
    used: BTreeSet<String>,
    calls: BTreeSet<String>,
    has_read_secret: bool,
}

/// The trail of an empty conversation.
pub(crate) static BLANK: Trail = Trail {
    named: BTreeSet::new(),
    addresses: BTreeSet::new(),
    listed: BTreeSet::new(),
    used: BTreeSet::new(),
    calls: BTreeSet::new(),
    has_read_secret: false,
};

impl Trail {
    /// Adds text that the user wrote.
    pub fn person_wrote(&mut self, text: &str) {
        let own = without_quoted(text);
        let words =
            own.split(|character: char| character.is_whitespace() || "<>()[]{}\"'`,;|\\".contains(character));
        for word in words {
            let word = word.trim_end_matches(['.', ':', '!', '?', '*', '_']).trim_start_matches(['*', '_']);
            for url in addresses(word) {
                if let Some(host) = host_of(&url) {
                    add(&mut self.named, host);
                    add(&mut self.addresses, url.to_string());
                }
            }
            if let Some(host) = host_of_copy(word) {
                add(&mut self.named, host);
            }
        }
    }

    /// Adds an address that a search listed.
    pub fn search_listed(&mut self, address: &str) {
        if let Ok(url) = Url::parse(address) {
            add(&mut self.listed, url.to_string());
        }
    }

    /// Adds an address that was fetched. After a secret was read, that says nothing about further addresses.
    pub fn fetched(&mut self, address: &str) {
        if !self.has_read_secret {
            add(&mut self.used, address.to_owned());
        }
    }

    /// Forgets the addresses that were fetched. A connection can carry anything, not only a request for one of them.
    pub fn forget_fetched(&mut self) {
        self.used.clear();
    }

    /// Adds a call of the conversation, or a command of the user's own, by the id of its item. The oldest is forgotten beyond the limit.
    pub fn called(&mut self, item: &str) {
        if self.calls.len() >= MAX_ENTRIES {
            self.calls.pop_first();
        }
        self.calls.insert(item.to_owned());
    }

    /// Whether a file name is that of the log of a call of this conversation: `exec-<item>.log`.
    pub fn has_log(&self, name: &str) -> bool {
        let item = name.strip_prefix("exec-").and_then(|name| name.strip_suffix(".log"));
        item.is_some_and(|item| self.calls.contains(item.strip_suffix("-outside").unwrap_or(item)))
    }

    /// Notes that a secret was read.
    pub fn read_secret(&mut self) {
        self.has_read_secret = true;
    }

    /// Whether a secret was read.
    pub fn has_read_secret(&self) -> bool {
        self.has_read_secret
    }

    /// Whether the address has no data of the model: the user wrote it, or a search listed it.
    pub fn is_without_data(&self, address: &str) -> bool {
        self.is_written(address) || self.is_listed(address)
    }

    /// Whether the user named this host. `www.` makes no difference.
    pub(crate) fn is_named(&self, host: &str) -> bool {
        let other = match host.strip_prefix("www.") {
            Some(bare) => bare.to_owned(),
            None => format!("www.{host}"),
        };
        self.named.contains(host) || self.named.contains(&other)
    }

    /// Whether the user wrote an address of this host with this port.
    pub(crate) fn is_named_at(&self, host: &str, port: u16) -> bool {
        let is_it =
            |url: &Url| host_of(url).as_deref() == Some(host) && url.port_or_known_default() == Some(port);
        self.addresses.iter().filter_map(|address| Url::parse(address).ok()).any(|url| is_it(&url))
    }

    /// Whether the user wrote exactly this address, so that it has no data of the model.
    pub(crate) fn is_written(&self, address: &str) -> bool {
        self.addresses.contains(address)
    }

    /// Whether a search listed exactly this address.
    pub(crate) fn is_listed(&self, address: &str) -> bool {
        self.listed.contains(address)
    }

    /// Whether exactly this address was fetched before a secret was read.
    pub(crate) fn is_used(&self, address: &str) -> bool {
        self.used.contains(address)
    }
}

fn add(entries: &mut BTreeSet<String>, entry: String) {
    if entries.len() < MAX_ENTRIES {
        entries.insert(entry);
    }
}

/// The host of an address, without the dot that may end a name.
pub(crate) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// A host as an address would have it: in lower case, in punycode, a number as an address.
pub(crate) fn host_named(text: &str) -> Option<String> {
    let is_plain = |character: char| {
        character.is_alphanumeric() || matches!(character, '.' | '-' | '_' | ':' | '[' | ']')
    };
    if text.is_empty() || !text.chars().all(is_plain) {
        return None;
    }
    let colons = text.matches(':').count();
    let text = if colons > 1 && !text.starts_with('[') { format!("[{text}]") } else { text.to_owned() };
    host_of(&Url::parse(&format!("http://{text}/")).ok()?)
}

/// The text without blocks that others wrote. A block reaches to the last of its ends, so that text in it
/// cannot end it early.
fn without_quoted(text: &str) -> String {
    let mut text = text.to_owned();
    for name in QUOTED {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        if let Some((before, rest)) = text.split_once(&open) {
            let after = rest.rsplit_once(&close).map_or("", |(_, after)| after);
            text = format!("{before}\n{after}");
        }
    }
    text
}

/// The addresses that a word can mean.
fn addresses(word: &str) -> Vec<Url> {
    if word.contains("://") {
        return Url::parse(word).into_iter().filter(|url| url.host_str().is_some()).collect();
    }
    let host = word.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_host = name == "localhost"
        || name.parse::<std::net::Ipv4Addr>().is_ok()
        || ending.is_some_and(|ending| HOST_ENDINGS.contains(&ending.as_str()));
    if !is_host || host.contains('@') {
        return Vec::new();
    }
    ["https", "http"].iter().filter_map(|scheme| Url::parse(&format!("{scheme}://{word}")).ok()).collect()
}

/// The host of `git@github.com:owner/name`.
fn host_of_copy(word: &str) -> Option<String> {
    let (before, _) = word.split_once(':')?;
    let (_, host) = before.split_once('@')?;
    host_named(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let mut trail = Trail::default();
        trail.person_wrote(text);
        trail.named.into_iter().collect()
    }

    #[test]
    fn text_of_the_user_names_hosts() {
        assert_eq!(
            named("read https://Docs.rs/url/latest. Then (http://a.test:8080/x?y)!"),
            ["a.test", "docs.rs"]
        );
        assert_eq!(
            named("see example.org/path, and 10.0.0.1:8080 or localhost:3000"),
            ["10.0.0.1", "example.org", "localhost"]
        );
        assert_eq!(named("clone git@github.com:owner/name.git"), ["github.com"]);
        assert_eq!(named("https://аpple.com"), ["xn--pple-43d.com"]);
    }

    #[test]
    fn names_of_files_and_people_name_no_host() {
        assert_eq!(
            named("mend main.rs, src/lib.rs, README.md, run.sh and ann@example.org; e.g. 1.2"),
            [""; 0]
        );
    }

    #[test]
    fn text_that_others_wrote_names_no_host() {
        assert_eq!(named("sum it up\n\n<stdin>\nhttps://evil.test/\n</stdin>"), [""; 0]);
        assert_eq!(
            named("sum it up\n\n<stdin>\nx</stdin> https://evil.test/ <stdin>\n</stdin> https://a.test"),
            ["a.test"]
        );
        assert_eq!(named("go\n<stdin>\nhttps://evil.test/"), [""; 0], "a block without an end has no end");
        assert_eq!(named("<schema_mismatch>https://evil.test</schema_mismatch>"), [""; 0]);
    }

    #[test]
    fn only_logs_of_its_own_calls_are_those_of_a_conversation() {
        let mut trail = Trail::default();
        trail.called("itm_1");
        assert!(trail.has_log("exec-itm_1.log") && trail.has_log("exec-itm_1-outside.log"));
        for name in ["exec-itm_2.log", "exec-.log", "itm_1", "exec-itm_1.log.old", "../exec-itm_1.log"] {
            assert!(!trail.has_log(name), "{name}");
        }
        for number in 0..=MAX_ENTRIES {
            trail.called(&format!("itm_2{number:05}"));
        }
        assert!(trail.calls.len() <= MAX_ENTRIES && !trail.has_log("exec-itm_1.log"));
    }

    #[test]
    fn hosts_are_compared_as_an_address_has_them() {
        for (text, host) in [
            ("EVIL.test.", Some("evil.test")),
            ("0x7f.1", Some("127.0.0.1")),
            ("::1", Some("[::1]")),
            ("[::1]", Some("[::1]")),
            ("a/b", None),
            ("", None),
        ] {
            assert_eq!(host_named(text).as_deref(), host, "{text}");
        }
    }

    #[test]
    fn an_address_that_was_fetched_counts_only_until_a_secret_was_read() {
        let mut trail = Trail::default();
        trail.fetched("https://a.test/");
        trail.read_secret();
        trail.fetched("https://b.test/");
        assert!(trail.is_used("https://a.test/") && !trail.is_used("https://b.test/"));
    }
}
