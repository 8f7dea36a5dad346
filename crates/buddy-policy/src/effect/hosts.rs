//! Hosts that a command would reach, read off its words. A table has the syntax of each program; a host that
//! cannot be read is unknown, and so is every host that a file or a variable decides.

mod table;

use std::path::Path;

use url::Url;

use self::table::{HostReading, SENDERS, Sender};
use super::TouchReach;
use crate::decide::Destination;
use crate::shell::ShellWord;
use crate::trail::{host_named, host_of};

/// Subcommands of git that reach another repository.
const GIT: &[&str] = &[
    "clone",
    "fetch",
    "pull",
    "push",
    "ls-remote",
    "remote",
    "submodule",
    "archive",
    "request-pull",
    "fetch-pack",
    "send-pack",
    "config",
    "subtree",
];
/// Types and classes of records, which are no names.
const RECORDS: &[&str] = &[
    "a", "aaaa", "any", "axfr", "caa", "cname", "ds", "hinfo", "https", "in", "mx", "ns", "ptr", "soa",
    "srv", "svcb", "txt", "hosts", "ahosts", "ahostsv4", "query",
];

/// Programs that go out by the proxy that their variables name.
const PROXIED: &[&str] = &[
    "argocd",
    "aria2c",
    "aws",
    "curl",
    "curlie",
    "elinks",
    "flux",
    "grpcurl",
    "helm",
    "http",
    "https",
    "kubectl",
    "lynx",
    "oc",
    "w3m",
    "wget",
    "wget2",
    "xh",
    "xhs",
    "yt-dlp",
    "youtube-dl",
    "gallery-dl",
];

/// Whether a program asks the proxy that its variables name for a destination. A wrong yes only keeps the program from it: no
/// other way is open then.
pub(crate) fn goes_by_proxy(program: &str, destination: &Destination) -> bool {
    let program = program.rsplit('/').next().unwrap_or(program);
    let sender = SENDERS.iter().find(|sender| sender.programs.contains(&program));
    let is_packages = |sender: &Sender| {
        matches!(sender.reading, HostReading::Packages | HostReading::Links | HostReading::Modules)
    };
    let has_other_scheme = destination.address.is_some() && !destination.is_http();
    match program {
        "git" => destination.is_http(),
        _ => (PROXIED.contains(&program) || sender.is_some_and(is_packages)) && !has_other_scheme,
    }
}

/// The hosts that a simple command would reach.
pub(crate) fn destinations(program: &str, words: &[ShellWord]) -> Vec<Destination> {
    let program = program.rsplit('/').next().unwrap_or(program);
    let Some(sender) = SENDERS.iter().find(|sender| sender.programs.contains(&program)) else {
        return Vec::new();
    };
    let words = words.get(1..).unwrap_or_default();
    let given = HostWords::read(words, sender);
    let mut found = given.option_hosts(sender);
    let operands = given.operands.iter();
    match sender.reading {
        HostReading::Addresses => found.extend(operands.map(|word| address(word))),
        HostReading::Hosts => {
            found.extend(operands.take(first_only(program)).filter_map(|word| one_host(word)));
        }
        HostReading::Copies => found.extend(operands.filter_map(|word| copy(word))),
        HostReading::Lookups if program == "getent" && !names_hosts(&given.operands) => {}
        HostReading::Lookups => found.extend(operands.filter_map(|word| lookup(word))),
        HostReading::Peers => found.extend(peers(words)),
        HostReading::Sockets => found.extend(operands.filter_map(|word| socket_address(word))),
        HostReading::Git => found.extend(git(&given, words)),
        HostReading::Links => found.extend(links(words)),
        HostReading::Connects => found.extend(connected(&given)),
        HostReading::Options => found.extend(databases(words)),
        HostReading::Keys => found.extend(keys(&given, words)),
        HostReading::Packages => found.extend(links(words).chain(packages(program, &given.operands))),
        HostReading::Modules => found.extend(links(words).chain(modules(&given.operands))),
        HostReading::Images => found.extend(links(words).chain(images(&given.operands))),
        HostReading::Archive => found.extend(archive(words)),
        HostReading::Debugger => found.extend(words.iter().filter_map(debugged)),
        HostReading::Request => found.extend(operands.take(2).find_map(|word| request(word))),
        HostReading::Shares => found.extend(operands.filter_map(|word| share(word))),
        HostReading::Anywhere => found.push(Destination::unknown()),
    }
    found.dedup();
    let has_body = given.has_any(sender.bodies);
    for destination in &mut found {
        destination.has_body = has_body;
    }
    found
}

/// The host of a path that the shell takes for a connection, such as `/dev/tcp/example.org/80`.
pub(crate) fn socket(reach: &TouchReach) -> Option<Destination> {
    let path = match reach {
        TouchReach::Path(path) | TouchReach::Beneath(path) => path.as_path(),
        TouchReach::Unknown(words) => {
            let is_socket = words.contains("/dev/tcp") || words.contains("/dev/udp");
            return is_socket.then(Destination::unknown);
        }
    };
    let rest = path.strip_prefix("/dev/tcp").or_else(|_| path.strip_prefix("/dev/udp")).ok()?;
    let host = rest.components().next()?.as_os_str().to_str()?;
    Some(host_named(host).map_or_else(Destination::unknown, Destination::host))
}

/// For programs that take one host, the number of operands that are hosts.
fn first_only(program: &str) -> usize {
    let takes_all = matches!(
        program,
        "ping"
            | "ping6"
            | "fping"
            | "nmap"
            | "zmap"
            | "masscan"
            | "mail"
            | "mailx"
            | "mutt"
            | "sendmail"
            | "msmtp"
            | "ssh-keyscan"
    );
    if takes_all { usize::MAX } else { 1 }
}

/// The words of a command, told apart.
#[derive(Default)]
struct HostWords<'a> {
    operands: Vec<&'a ShellWord>,
    options: Vec<(String, Option<ShellWord>)>,
}

impl<'a> HostWords<'a> {
    fn read(words: &'a [ShellWord], sender: &Sender) -> Self {
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
            } else if sender.reading == HostReading::Connects {
                let value = sender.hosts.contains(&option).then(|| words.next().cloned()).flatten();
                given.options.push((option.to_owned(), value));
            } else if let Some(long) = option.strip_prefix('-') {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let value = match value {
                    Some(value) => Some(part(word, value)),
                    None if is_among(name, sender.long) || is_among(name, sender.hosts) => {
                        words.next().cloned()
                    }
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
        word: &ShellWord,
        sender: &Sender,
        words: &mut impl Iterator<Item = &'a ShellWord>,
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
        self.options.iter().any(|(name, _)| is_among(name, names))
    }

    fn values(&self) -> Vec<&ShellWord> {
        self.options.iter().filter_map(|(_, value)| value.as_ref()).collect()
    }

    /// The hosts that the options name.
    fn option_hosts(&self, sender: &Sender) -> Vec<Destination> {
        let hosts = self.options.iter().filter(|(name, _)| is_among(name, sender.hosts));
        let mut found: Vec<Destination> = hosts
            .flat_map(|(_, value)| match value {
                // A jump goes over several hosts.
                Some(ShellWord::Literal(text)) => {
                    text.split(',').map(|one| address(&ShellWord::Literal(one.to_owned()))).collect()
                }
                Some(word) => vec![address(word)],
                None => Vec::new(),
            })
            .collect();
        // A value that the shell could make several words of can hold anything.
        let is_open = sender.reading.takes_hosts_anywhere() && self.values().iter().any(|word| is_many(word));
        if self.has_any(sender.unknown) || is_open {
            found.push(Destination::unknown());
        }
        found
    }
}

/// Whether an option is one of these. Most programs take a beginning of a long name for it.
fn is_among(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| *known == name || (name.len() > 2 && known.starts_with(name)))
}

/// A part of a word, as certain as the word is.
fn part(word: &ShellWord, text: &str) -> ShellWord {
    match word {
        ShellWord::Literal(_) => ShellWord::Literal(text.to_owned()),
        _ => ShellWord::Unknown(text.to_owned()),
    }
}

/// Whether the shell could make any number of words of this one: it is computed, and not quoted as a whole.
fn is_many(word: &ShellWord) -> bool {
    let ShellWord::Unknown(source) = word else { return false };
    !(source.contains('"') && source.matches('"').count() == 2 && source.ends_with('"'))
        || source.contains('@')
}

/// The part before the first computed one.
fn certain(word: &ShellWord) -> Option<(String, bool)> {
    match word {
        ShellWord::Literal(text) => Some((text.clone(), true)),
        ShellWord::Unknown(source) if !is_many(word) => {
            let text = source.trim_matches('"');
            Some((text.split(['$', '`', '\\']).next().unwrap_or_default().to_owned(), false))
        }
        ShellWord::Glob(text) => {
            Some((text.split(['*', '?', '[']).next().unwrap_or_default().to_owned(), false))
        }
        ShellWord::Unknown(_) | ShellWord::Home { .. } => None,
    }
}

/// The destination of a word that is an address, with or without a scheme.
fn address(word: &ShellWord) -> Destination {
    let Some((text, is_whole)) = certain(word) else { return Destination::unknown() };
    let text = if text.contains("://") { text } else { format!("http://{text}") };
    // A host that continues where the certain part ends is not known.
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
fn one_host(word: &ShellWord) -> Option<Destination> {
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
fn copy(word: &ShellWord) -> Option<Destination> {
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

/// The destination of a name that is looked up: the look-up itself tells the name to the server that answers
/// for it.
fn lookup(word: &ShellWord) -> Option<Destination> {
    let Some((text, true)) = certain(word) else { return Some(Destination::unknown()) };
    if text.starts_with('+') || RECORDS.contains(&text.to_ascii_lowercase().as_str()) {
        return None;
    }
    Some(host_named(text.trim_start_matches('@')).map_or_else(Destination::unknown, Destination::host))
}

/// The hosts by which connections are chosen.
fn peers(words: &[ShellWord]) -> Vec<Destination> {
    let mut found = Vec::new();
    let mut is_next = false;
    for word in words
        .iter()
        .flat_map(|word| word.unexpanded().split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    {
        let peer = match (&*word, word.split_once('@')) {
            ("dst" | "src", _) => {
                is_next = true;
                None
            }
            ("=" | "==" | "!=" | "eq" | "neq" | "(" | ")", _) => None,
            (_, Some((_, peer))) => Some(peer.to_owned()),
            (peer, None) => std::mem::take(&mut is_next).then(|| peer.to_owned()),
        };
        let named = peer.filter(|peer| peer.contains(|letter: char| letter.is_alphabetic()));
        found.extend(named.map(|peer| {
            let name = peer.split(':').next().unwrap_or_default();
            host_named(name).map_or_else(Destination::unknown, Destination::host)
        }));
    }
    found
}

/// The destination of an address of socat. `None` for one that listens, or stays on this machine.
fn socket_address(word: &ShellWord) -> Option<Destination> {
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
fn link(word: &ShellWord) -> Option<Destination> {
    let text = word.unexpanded();
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.rsplit(['+', '=', '@', '"']).next().unwrap_or(scheme);
    // The value of an option may be joined to its letter.
    let joined = ["https", "http", "ssh", "git", "ftp"].iter().find(|known| scheme.ends_with(*known));
    let scheme = joined.copied().filter(|_| scheme.starts_with('-')).unwrap_or(scheme);
    if scheme == "file" {
        return None;
    }
    Some(address(&part(word, &format!("{scheme}://{rest}"))))
}

/// The destinations of all words that hold an address, in options too.
fn links(words: &[ShellWord]) -> impl Iterator<Item = Destination> {
    words.iter().filter_map(|word| {
        let text = word.unexpanded();
        let is_copy = text.split_once(':').is_some_and(|(before, after)| {
            let host = before.split_once('@').map(|(_, host)| host);
            host.is_some_and(|host| host.contains('.'))
                && !before.contains(|letter: char| letter == '/' || letter.is_whitespace())
                && !after.starts_with("//")
        });
        if is_copy { copy(word) } else { link(word) }
    })
}

/// The destinations of words that are addresses or descriptions of a database. Statements can hold addresses that are only text.
fn databases(words: &[ShellWord]) -> Vec<Destination> {
    let is_statement = |word: &&ShellWord| word.unexpanded().contains(char::is_whitespace);
    let plain: Vec<ShellWord> = words.iter().filter(|word| !is_statement(word)).cloned().collect();
    links(&plain).chain(words.iter().filter_map(setting)).collect()
}

/// The destination of a setting such as `host=a.test` in a description of a database.
fn setting(word: &ShellWord) -> Option<Destination> {
    let text = word.unexpanded();
    let mut parts = text.split([' ', '\'', '"', '&', '?']);
    let value =
        parts.find_map(|part| part.strip_prefix("host=").or_else(|| part.strip_prefix("hostaddr=")))?;
    if value.is_empty() || value.starts_with('/') {
        return None;
    }
    Some(one_host(&part(word, value)).unwrap_or_else(Destination::unknown))
}

/// The destination of a protocol's client that takes `host:port` as a word too.
fn connected(given: &HostWords<'_>) -> Option<Destination> {
    let [first, rest @ ..] = given.operands.as_slice() else { return None };
    let is_client = matches!(first.literal(), Some("s_client" | "s_time"));
    rest.iter().filter(|_| is_client).map(|word| address(word)).next()
}

/// The destinations of `gpg`: uses of a key server that the words do not name reach the configured one.
fn keys(given: &HostWords<'_>, words: &[ShellWord]) -> Vec<Destination> {
    const USES: &[&str] = &[
        "recv-keys",
        "receive-keys",
        "search-keys",
        "send-keys",
        "refresh-keys",
        "locate-keys",
        "locate-external-keys",
        "auto-key-locate",
        "auto-key-retrieve",
    ];
    let mut found: Vec<Destination> = links(words).collect();
    if given.has_any(USES) && !given.has_any(&["keyserver"]) {
        found.push(Destination::unknown());
    }
    found
}

fn has_ending(text: &str, ending: &str) -> bool {
    Path::new(text).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Short forms of packages that are repositories: `github:owner/name`, and `owner/name` if a package is
/// expected.
fn packages(program: &str, operands: &[&ShellWord]) -> Vec<Destination> {
    const HOSTS: &[(&str, &str)] = &[
        ("github:", "github.com"),
        ("gitlab:", "gitlab.com"),
        ("bitbucket:", "bitbucket.org"),
        ("gist:", "gist.github.com"),
    ];
    let verb = operands.first().and_then(|word| word.literal()).unwrap_or_default();
    let takes_all = matches!(program, "npx" | "pnpx" | "bunx");
    let takes = matches!(verb, "install" | "i" | "add" | "exec" | "x" | "dlx" | "update" | "up");
    let asked = match (takes_all, takes) {
        (true, _) => operands.get(..1),
        (_, true) => operands.get(1..),
        _ => None,
    };
    let is_name = |text: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
            && !text.is_empty()
    };
    let short = |text: &str| {
        let named = HOSTS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, host)| *host);
        let (owner, name) = text.split('#').next()?.split_once('/').unwrap_or_default();
        let is_file = text.starts_with('.') || has_ending(text, "tgz") || has_ending(text, "gz");
        let is_owned = is_name(owner) && is_name(name) && !is_file;
        named.or(is_owned.then_some("github.com"))
    };
    let asked = asked.unwrap_or_default().iter().filter_map(|word| word.literal());
    asked.filter_map(short).map(|host| Destination::host(host.to_owned())).collect()
}

/// Modules that are fetched: all that `go get` names, and those that `go run` and `go install` name with a
/// version.
fn modules(operands: &[&ShellWord]) -> Vec<Destination> {
    let [verb, rest @ ..] = operands else { return Vec::new() };
    let host = |word: &&ShellWord| {
        let text = word.literal()?;
        let (first, _) = text.split_once(['/', '@']).unwrap_or((text, ""));
        let is_remote = first.contains('.') && !first.starts_with('.') && !has_ending(text, "go");
        let is_fetched = match verb.literal() {
            Some("get") => true,
            Some("run" | "install" | "mod") => text.contains('@'),
            _ => false,
        };
        (is_remote && is_fetched)
            .then(|| host_named(first).map_or_else(Destination::unknown, Destination::host))
    };
    rest.iter().filter_map(host).collect()
}

/// Registries that images are named by, and the one of Docker if a pull or a push names none.
fn images(operands: &[&ShellWord]) -> Vec<Destination> {
    let registry = |word: &&ShellWord| {
        let text = word.literal()?;
        let (first, _) = text.split_once('/')?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-:".contains(letter);
        let is_host = first.contains(['.', ':']) && !first.starts_with('.') && first.chars().all(is_plain);
        let host = first.split(':').next().unwrap_or(first);
        is_host.then(|| host_named(host).map_or_else(Destination::unknown, Destination::host))
    };
    let mut found: Vec<Destination> = operands.iter().filter_map(registry).collect();
    let place = operands
        .iter()
        .position(|word| matches!(word.literal(), Some("pull" | "push" | "login" | "logout" | "search")));
    if let Some(place) = place {
        let server = operands
            .get(place + 1)
            .filter(|_| operands.get(place).is_some_and(|word| word.literal() == Some("login")));
        found.extend(server.and_then(|word| one_host(word)));
        if found.is_empty() {
            found.push(Destination::host("docker.io".to_owned()));
        }
    }
    found
}

/// An archive on another machine: `tar cf host:file` goes there by itself.
fn archive(words: &[ShellWord]) -> Option<Destination> {
    let texts: Vec<String> = words.iter().map(ShellWord::unexpanded).collect();
    if texts.iter().any(|text| text == "--force-local") {
        return None;
    }
    let remote = |word: &ShellWord, text: &str| {
        let (host, _) = text.split_once(':')?;
        let is_path = host.contains('/') || host.is_empty() || host.starts_with('-');
        (!is_path).then(|| copy(&part(word, text))).flatten()
    };
    words.iter().zip(&texts).enumerate().find_map(|(at, (word, text))| {
        if let Some(value) = text.strip_prefix("--file=").or_else(|| text.strip_prefix("-f")) {
            return if value.is_empty() {
                remote(words.get(at + 1)?, texts.get(at + 1)?)
            } else {
                remote(word, value)
            };
        }
        // In a cluster the letters take the words behind it in their order.
        let is_cluster = (at == 0 || text.starts_with('-')) && !text.starts_with("--");
        let takes = is_cluster && text.contains(['f', 'F', 'O', 'I']) || matches!(text.as_str(), "--file");
        let next = words.iter().zip(&texts).skip(at + 1).take(if takes { 2 } else { 0 });
        next.into_iter().find_map(|(word, text)| remote(word, text))
    })
}

/// The host in a command of a debugger.
fn debugged(word: &ShellWord) -> Option<Destination> {
    const COMMANDS: &[&str] =
        &["target remote", "target extended-remote", "gdb-remote", "connect://", "remote-linux"];
    let text = word.unexpanded();
    let (_, rest) = COMMANDS.iter().find_map(|command| text.split_once(command))?;
    let host = rest.split_whitespace().next().and_then(|place| place.split(':').next()).unwrap_or_default();
    if rest.trim_start().starts_with(['|', '/']) {
        return Some(Destination::unknown()).filter(|_| rest.trim_start().starts_with('|'));
    }
    // Without a host it is this machine.
    if host.is_empty() { None } else { one_host(&part(word, host)) }
}

/// The address of a request, behind the method.
fn request(word: &ShellWord) -> Option<Destination> {
    let text = word.unexpanded();
    let is_method = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_uppercase());
    if is_method {
        return None;
    }
    // `:3000/x` is this machine.
    let text = if text.starts_with([':', '/']) { format!("localhost{text}") } else { text };
    Some(address(&part(word, &text)))
}

/// The host of `//host/share` or `\\\\host\\share`.
fn share(word: &ShellWord) -> Option<Destination> {
    let text = word.unexpanded().replace('\\', "/");
    let host = text.strip_prefix("//")?.split('/').next().unwrap_or_default().to_owned();
    one_host(&part(word, &host))
}

/// Whether `getent` is asked for hosts.
fn names_hosts(operands: &[&ShellWord]) -> bool {
    let first = operands.first().map(|word| word.unexpanded()).unwrap_or_default();
    matches!(first.as_str(), "hosts" | "ahosts" | "ahostsv4" | "ahostsv6" | "netgroup")
        || first.starts_with('$')
}

/// The destinations of git: a repository that is named by its address. One that is named by a remote is the
/// user's own.
fn git(given: &HostWords<'_>, words: &[ShellWord]) -> Vec<Destination> {
    let place = given.operands.iter().position(|word| word.literal().is_some_and(|text| GIT.contains(&text)));
    let Some((subcommand, rest)) = place.and_then(|place| given.operands.get(place..)?.split_first()) else {
        return Vec::new();
    };
    let is_remote = matches!(subcommand.literal(), Some("remote" | "submodule" | "config" | "subtree"));
    // A setting before the subcommand, or the value of an option, can name another place too.
    let before = words.iter().take_while(|word| word != subcommand);
    let mut found: Vec<Destination> = before.chain(given.values()).filter_map(link).collect();
    let names_place = matches!(rest.first().and_then(|word| word.literal()), Some("add" | "set-url"));
    for (at, word) in rest.iter().enumerate() {
        let text = word.unexpanded();
        let is_copy = text.split_once(':').is_some_and(|(before, _)| {
            !before.contains('/') && (before.contains('@') || (is_remote && names_place && at > 0))
        });
        let is_first = at == 0 && !is_remote;
        if text.contains("://") && !text.starts_with("file:") {
            found.extend(link(word));
        } else if is_copy || (is_first && !text.starts_with(['/', '.', '~']) && text.contains(':')) {
            found.extend(copy(word));
        } else if is_first && word.is_unknown() {
            found.push(Destination::unknown());
        }
    }
    // The hosts of submodules stand in a file of the repository.
    let updates =
        subcommand.literal() == Some("submodule") && rest.iter().any(|word| word.literal() == Some("update"));
    if updates {
        found.push(Destination::unknown());
    }
    found
}

#[cfg(test)]
mod tests;
