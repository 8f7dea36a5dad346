//! Hosts that a command would reach, read off its words. A table says for each program how; a host that cannot be read is
//! unknown, and so is everything that a file or a variable decides.

use std::path::Path;

use url::Url;

use crate::decide::Destination;
use crate::shell::Word;
use crate::trail::{host_named, host_of};

/// How the hosts of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Operands are addresses, with or without a scheme.
    Addresses,
    /// The first operand is a host, `user@host` or an address; so are all where there are several.
    Hosts,
    /// Operands are `host:path`, addresses, or paths of this machine.
    Copies,
    /// Operands are names to look up; the server is `@name`.
    Lookups,
    /// Operands are `TYPE:host:port`.
    Sockets,
    /// A subcommand with an address or `host:path`.
    Git,
    /// Only words that are whole addresses count: the rest are names of packages and files.
    Links,
    /// The value of one option is `host:port`.
    Connects,
}

/// How one program is read.
struct Sender {
    programs: &'static [&'static str],
    reading: Reading,
    /// Options that take a value, short and long. A value that is not listed is read as an operand, which asks.
    short: &'static str,
    long: &'static [&'static str],
    /// Options whose value is a host or an address.
    hosts: &'static [&'static str],
    /// Options that take hosts from a file, or from words that are not read here.
    unknown: &'static [&'static str],
    /// Options with a body.
    bodies: &'static [&'static str],
}

const PLAIN: Sender = Sender {
    programs: &[],
    reading: Reading::Hosts,
    short: "",
    long: &[],
    hosts: &[],
    unknown: &[],
    bodies: &[],
};

const SENDERS: &[Sender] = &[
    Sender {
        programs: &["curl"],
        reading: Reading::Addresses,
        short: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        long: &[
            "user-agent",
            "cookie",
            "cookie-jar",
            "continue-at",
            "data",
            "data-raw",
            "data-binary",
            "data-ascii",
            "data-urlencode",
            "url-query",
            "dump-header",
            "referer",
            "cert",
            "cert-type",
            "form",
            "form-string",
            "header",
            "config",
            "max-time",
            "connect-timeout",
            "output",
            "output-dir",
            "range",
            "upload-file",
            "user",
            "proxy-user",
            "write-out",
            "proxy",
            "preproxy",
            "request",
            "retry",
            "retry-delay",
            "retry-max-time",
            "json",
            "url",
            "cacert",
            "capath",
            "key",
            "key-type",
            "pass",
            "ciphers",
            "limit-rate",
            "max-redirs",
            "max-filesize",
            "interface",
            "resolve",
            "connect-to",
            "doh-url",
            "dns-servers",
            "netrc-file",
            "oauth2-bearer",
            "proto",
            "proto-redir",
            "socks4",
            "socks4a",
            "socks5",
            "socks5-hostname",
            "stderr",
            "trace",
            "trace-ascii",
            "unix-socket",
            "variable",
            "aws-sigv4",
            "parallel-max",
            "speed-limit",
            "speed-time",
            "time-cond",
            "tls-max",
            "local-port",
            "mail-from",
            "mail-rcpt",
            "quote",
        ],
        hosts: &[
            "url",
            "x",
            "proxy",
            "preproxy",
            "socks4",
            "socks4a",
            "socks5",
            "socks5-hostname",
            "doh-url",
        ],
        unknown: &["K", "config", "connect-to", "resolve", "dns-servers", "variable"],
        bodies: &[
            "d",
            "data",
            "data-raw",
            "data-binary",
            "data-ascii",
            "data-urlencode",
            "F",
            "form",
            "form-string",
            "json",
            "T",
            "upload-file",
        ],
    },
    Sender {
        programs: &["wget", "wget2"],
        reading: Reading::Addresses,
        short: "oaOitTwQPUADRIXlBe",
        long: &[
            "output-document",
            "output-file",
            "append-output",
            "input-file",
            "tries",
            "timeout",
            "wait",
            "quota",
            "directory-prefix",
            "user-agent",
            "header",
            "post-data",
            "post-file",
            "body-data",
            "body-file",
            "method",
            "referer",
            "user",
            "password",
            "http-user",
            "http-password",
            "execute",
            "config",
            "base",
            "accept",
            "reject",
            "domains",
            "level",
            "load-cookies",
            "save-cookies",
            "ca-certificate",
            "limit-rate",
        ],
        hosts: &[],
        unknown: &["i", "input-file", "e", "execute", "config", "B", "base"],
        bodies: &["post-data", "post-file", "body-data", "body-file"],
    },
    Sender { programs: &["http", "https", "xh", "xhs"], reading: Reading::Links, ..PLAIN },
    Sender {
        programs: &[
            "aria2c", "axel", "lynx", "w3m", "links", "elinks", "fetch", "wsc", "websocat", "grpcurl",
        ],
        reading: Reading::Addresses,
        short: "diosxn",
        unknown: &["i", "input-file"],
        ..PLAIN
    },
    Sender {
        programs: &["ssh", "sshfs", "mosh", "autossh"],
        short: "BbcDEeFIiJLlmOopQRSWw",
        hosts: &["J", "W"],
        unknown: &["F", "o"],
        ..PLAIN
    },
    Sender {
        programs: &["ftp", "lftp", "tftp", "sftp", "telnet", "ncftp", "ncftpput"],
        short: "BbcDFiJlmoPRSuep",
        hosts: &["J"],
        unknown: &["F", "o", "f"],
        ..PLAIN
    },
    Sender {
        programs: &["ssh-copy-id", "ssh-keyscan"],
        short: "ipoFtTf",
        unknown: &["F", "o", "f"],
        ..PLAIN
    },
    Sender {
        programs: &["nc", "ncat", "netcat"],
        short: "cegGiIkmMOopPqsTVwWxX",
        hosts: &["x", "proxy"],
        long: &["proxy"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "ping",
            "ping6",
            "traceroute",
            "traceroute6",
            "tracepath",
            "mtr",
            "fping",
            "hping3",
            "whois",
        ],
        short: "ciIlmMpQsStTwWfgqhn",
        ..PLAIN
    },
    Sender { programs: &["mail", "mailx", "mutt", "sendmail", "msmtp"], short: "sabcrqFfxeHi", ..PLAIN },
    Sender {
        programs: &["scp", "rsync", "rclone"],
        reading: Reading::Copies,
        short: "cDFiJloPSXefTBM",
        long: &[
            "rsh",
            "exclude",
            "include",
            "exclude-from",
            "include-from",
            "files-from",
            "log-file",
            "port",
            "bwlimit",
        ],
        hosts: &["J"],
        unknown: &["F", "o"],
        ..PLAIN
    },
    Sender {
        programs: &["dig", "drill", "kdig", "host", "nslookup", "delv", "resolvectl", "getent"],
        reading: Reading::Lookups,
        short: "bcfkpqtyxDmNRTW",
        hosts: &["q", "x"],
        unknown: &["f"],
        ..PLAIN
    },
    Sender { programs: &["socat"], reading: Reading::Sockets, short: "bdDLlrRtTW", ..PLAIN },
    Sender { programs: &["git"], reading: Reading::Git, ..PLAIN },
    Sender {
        programs: &[
            "npm", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "cargo", "go", "gem", "deno", "brew",
            "conda",
        ],
        reading: Reading::Links,
        ..PLAIN
    },
    Sender {
        programs: &["openssl"],
        reading: Reading::Connects,
        hosts: &["connect", "proxy", "host"],
        ..PLAIN
    },
];

/// Subcommands of git that reach another repository.
const GIT: &[&str] =
    &["clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule", "archive", "request-pull"];
/// Types and classes of records, which are no names.
const RECORDS: &[&str] = &[
    "a", "aaaa", "any", "axfr", "caa", "cname", "ds", "hinfo", "https", "in", "mx", "ns", "ptr", "soa",
    "srv", "svcb", "txt", "hosts", "ahosts", "ahostsv4", "query",
];

/// The hosts that a simple command would reach.
pub(crate) fn destinations(program: &str, words: &[Word]) -> Vec<Destination> {
    let program = program.rsplit('/').next().unwrap_or(program);
    let Some(sender) = SENDERS.iter().find(|sender| sender.programs.contains(&program)) else {
        return Vec::new();
    };
    let given = Given::read(words.get(1..).unwrap_or_default(), sender);
    let mut found = given.option_hosts(sender);
    let operands = given.operands.iter();
    match sender.reading {
        Reading::Addresses => found.extend(operands.map(|word| address(word))),
        Reading::Hosts => found.extend(operands.take(first_only(program)).filter_map(|word| one_host(word))),
        Reading::Copies => found.extend(operands.filter_map(|word| copy(word))),
        Reading::Lookups => found.extend(operands.filter_map(|word| lookup(word))),
        Reading::Sockets => found.extend(operands.filter_map(|word| socket_address(word))),
        Reading::Git => found.extend(git(&given.operands)),
        Reading::Links => found.extend(operands.chain(&given.values()).filter_map(|word| link(word))),
        Reading::Connects => {}
    }
    let has_body = given.has_any(sender.bodies);
    for destination in &mut found {
        destination.has_body = has_body;
    }
    found
}

/// The host of a path that the shell takes for a connection, such as `/dev/tcp/example.org/80`.
pub(crate) fn socket(path: &Path) -> Option<Destination> {
    let rest = path.strip_prefix("/dev/tcp").or_else(|_| path.strip_prefix("/dev/udp")).ok()?;
    let host = rest.components().next()?.as_os_str().to_str()?;
    Some(host_named(host).map_or_else(Destination::unknown, Destination::host))
}

/// Of programs that take one host, how many operands are hosts.
fn first_only(program: &str) -> usize {
    let takes_all = matches!(
        program,
        "ping" | "ping6" | "fping" | "mail" | "mailx" | "mutt" | "sendmail" | "msmtp" | "ssh-keyscan"
    );
    if takes_all { usize::MAX } else { 1 }
}

/// The words of a command, told apart.
#[derive(Default)]
struct Given<'a> {
    operands: Vec<&'a Word>,
    options: Vec<(String, Option<Word>)>,
}

impl<'a> Given<'a> {
    fn read(words: &'a [Word], sender: &Sender) -> Self {
        let mut given = Self::default();
        let mut words = words.iter();
        let mut is_open = true;
        while let Some(word) = words.next() {
            let text = word.unexpanded();
            let Some(option) = text.strip_prefix('-').filter(|rest| is_open && !rest.is_empty()) else {
                given.operands.push(word);
                continue;
            };
            if option == "-" {
                is_open = false;
            } else if sender.reading == Reading::Connects {
                let value = sender.hosts.contains(&option).then(|| words.next().cloned()).flatten();
                given.options.push((option.to_owned(), value));
            } else if let Some(long) = option.strip_prefix('-') {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let value = match value {
                    Some(value) => Some(part(word, value)),
                    None if sender.long.contains(&name) => words.next().cloned(),
                    None => None,
                };
                given.options.push((name.to_owned(), value));
            } else {
                given.cluster(option, word, sender, &mut words);
            }
        }
        given
    }

    fn cluster(
        &mut self,
        cluster: &str,
        word: &Word,
        sender: &Sender,
        words: &mut impl Iterator<Item = &'a Word>,
    ) {
        let mut letters = cluster.chars();
        while let Some(letter) = letters.next() {
            if !sender.short.contains(letter) {
                self.options.push((letter.to_string(), None));
                continue;
            }
            let joined = letters.as_str();
            let value = if joined.is_empty() { words.next().cloned() } else { Some(part(word, joined)) };
            self.options.push((letter.to_string(), value));
            return;
        }
    }

    fn has_any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    fn values(&self) -> Vec<&Word> {
        self.options.iter().filter_map(|(_, value)| value.as_ref()).collect()
    }

    /// What the options say about hosts.
    fn option_hosts(&self, sender: &Sender) -> Vec<Destination> {
        let hosts = self.options.iter().filter(|(name, _)| sender.hosts.contains(&name.as_str()));
        let mut found: Vec<Destination> = hosts
            .flat_map(|(_, value)| match value {
                // A jump goes over several hosts.
                Some(Word::Literal(text)) => {
                    text.split(',').map(|one| address(&Word::Literal(one.to_owned()))).collect()
                }
                Some(word) => vec![address(word)],
                None => Vec::new(),
            })
            .collect();
        // A value that the shell could make several words of can hold anything.
        if self.has_any(sender.unknown) || self.values().iter().any(|word| is_many(word)) {
            found.push(Destination::unknown());
        }
        found
    }
}

/// A part of a word, as certain as the word is.
fn part(word: &Word, text: &str) -> Word {
    match word {
        Word::Literal(_) => Word::Literal(text.to_owned()),
        _ => Word::Unknown(text.to_owned()),
    }
}

/// Whether the shell could make any number of words of this one: it is computed, and not quoted as a whole.
fn is_many(word: &Word) -> bool {
    let Word::Unknown(source) = word else { return false };
    !(source.contains('"') && source.matches('"').count() == 2 && source.ends_with('"'))
        || source.contains('@')
}

/// What comes before the first thing that is computed.
fn certain(word: &Word) -> Option<(String, bool)> {
    match word {
        Word::Literal(text) => Some((text.clone(), true)),
        Word::Unknown(source) if !is_many(word) => {
            let text = source.trim_matches('"');
            Some((text.split(['$', '`', '\\']).next().unwrap_or_default().to_owned(), false))
        }
        Word::Glob(text) => Some((text.split(['*', '?', '[']).next().unwrap_or_default().to_owned(), false)),
        Word::Unknown(_) | Word::Home { .. } => None,
    }
}

/// The destination of a word that is an address, with or without a scheme.
fn address(word: &Word) -> Destination {
    let Some((text, is_whole)) = certain(word) else { return Destination::unknown() };
    let text = if text.contains("://") { text } else { format!("http://{text}") };
    // A host that goes on where the certain part ends is not known.
    let after = text.split_once("://").map_or("", |(_, after)| after);
    if !is_whole && !after.contains('/') {
        return Destination::unknown();
    }
    match Url::parse(&text) {
        Ok(url) if is_whole => Destination::address(url),
        Ok(url) => host_of(&url).map_or_else(Destination::unknown, Destination::host),
        Err(_) => Destination::unknown(),
    }
}

/// The destination of `host`, `user@host`, `host:port` or an address. None for a path of this machine.
fn one_host(word: &Word) -> Option<Destination> {
    let Some((text, true)) = certain(word) else { return Some(Destination::unknown()) };
    if text.starts_with(['/', '.']) {
        return None;
    }
    if text.contains("://") {
        return Some(address(word));
    }
    let host = text.rsplit('@').next().unwrap_or(&text);
    let host = host.split_once(":/").map_or(host, |(host, _)| host);
    Some(host_named(host.trim_end_matches(':')).map_or_else(Destination::unknown, Destination::host))
}

/// The destination of `host:path` or an address. None for a path of this machine.
fn copy(word: &Word) -> Option<Destination> {
    let Some((text, is_whole)) = certain(word) else { return Some(Destination::unknown()) };
    if text.contains("://") {
        return Some(address(word));
    }
    match text.split_once(':') {
        Some((before, _)) if !before.contains('/') => {
            let host = before.rsplit('@').next().unwrap_or(before);
            Some(host_named(host).map_or_else(Destination::unknown, Destination::host))
        }
        _ if is_whole || text.contains('/') => None,
        _ => Some(Destination::unknown()),
    }
}

/// The destination of a name that is looked up: the look-up itself tells the name to whoever answers for it.
fn lookup(word: &Word) -> Option<Destination> {
    let Some((text, true)) = certain(word) else { return Some(Destination::unknown()) };
    if text.starts_with('+') || RECORDS.contains(&text.to_ascii_lowercase().as_str()) {
        return None;
    }
    Some(host_named(text.trim_start_matches('@')).map_or_else(Destination::unknown, Destination::host))
}

/// The destination of an address of socat. None for what listens, or stays on this machine.
fn socket_address(word: &Word) -> Option<Destination> {
    let Some((text, true)) = certain(word) else { return Some(Destination::unknown()) };
    let mut parts = text.split(':');
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let reaches = ["tcp", "udp", "sctp", "openssl", "ssl", "socks", "proxy", "ip", "dtls", "vsock"];
    if kind.contains("listen") || kind.contains("recv") || !reaches.iter().any(|name| kind.starts_with(name))
    {
        return None;
    }
    Some(parts.next().and_then(host_named).map_or_else(Destination::unknown, Destination::host))
}

/// The destination of a word that is a whole address, also one such as `git+https://…`.
fn link(word: &Word) -> Option<Destination> {
    let text = word.unexpanded();
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.rsplit(['+', '=', '@', '"']).next().unwrap_or(scheme);
    if scheme == "file" {
        return None;
    }
    Some(address(&part(word, &format!("{scheme}://{rest}"))))
}

/// What git reaches: a repository that is named by its address. One that is named by a remote is the person's own.
fn git(operands: &[&Word]) -> Vec<Destination> {
    let place = operands.iter().position(|word| word.literal().is_some_and(|text| GIT.contains(&text)));
    let Some((subcommand, rest)) = place.and_then(|place| operands.get(place..)?.split_first()) else {
        return Vec::new();
    };
    let is_address = |text: &str| text.contains("://") && !text.starts_with("file:");
    let is_copy = |text: &str| {
        text.split_once(':').is_some_and(|(before, _)| before.contains('@') && !before.contains('/'))
    };
    let mut found: Vec<Destination> = Vec::new();
    for (at, word) in rest.iter().enumerate() {
        let text = word.unexpanded();
        let is_first = at == 0 && !matches!(subcommand.literal(), Some("remote" | "submodule"));
        if is_address(&text) {
            found.push(address(word));
        } else if is_copy(&text) || (is_first && !text.starts_with(['/', '.', '~']) && text.contains(':')) {
            found.extend(copy(word));
        } else if is_first && word.is_unknown() {
            found.push(Destination::unknown());
        }
    }
    found
}

#[cfg(test)]
mod tests;
