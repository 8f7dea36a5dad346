//! The text for the shell on the host, and the marks of its answers.

use std::time::Duration;

use super::quote::quote_line;
use crate::random::{nonce, random};
use crate::{Exec, Stdin};

/// Reads lines up to one with a dot alone, and runs them; without that line nothing is run. Without single
/// quotes, so that it can stand in them. `read` takes no byte more than the line, so the rest is still there
/// for the script.
pub(super) const READER: &str = r#"n=$(printf "\n.");n=${n%.};s=;while IFS= read -r l||exit;do [ "$l" = . ]&&break;s=$s$l$n;done;eval "$s""#;

/// The text that a shell can read before there is a command: the functions that supervise one.
pub(super) fn prelude() -> String {
    compact(SUPERVISED)
}

const SUPERVISED: &str = include_str!("scripts/supervised.sh");
const LEAVING: &str = include_str!("scripts/leaving.sh");

/// The text of a script without comments and indentation: the shell on the host reads it byte by
/// byte.
fn compact(text: &str) -> String {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The pause between two checks of a shell whether processes are gone.
const POLL_MS: u128 = 20;

/// The marks of one call. The second is shown to no process before the end, so that none can forge it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nonces {
    pub(super) start: String,
    pub(super) end: String,
    /// The number by which the processes of a command are recognised.
    tag: u64,
}

impl Nonces {
    /// Fresh marks from the kernel.
    pub(super) fn new() -> std::io::Result<Self> {
        // Above any number that is set by hand, and within the range of shells.
        let tag = (1 << 52) | (u64::from_ne_bytes(random()?) >> 12);
        Ok(Self { start: nonce()?, end: nonce()?, tag })
    }
}

/// Everything that is sent to the shell before orders.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) nonces: Nonces,
    /// The lines, up to and with the dot. Those of a supervised command need [`prelude`] before them.
    pub(super) text: Vec<u8>,
    /// The input behind them.
    pub(super) input: Vec<u8>,
    /// Whether the functions of the prelude are used.
    pub(super) is_supervised: bool,
    /// The script of a second connection, which takes the orders: the first is the command's stdin.
    pub(super) listener: Option<Box<Script>>,
}

/// A command under supervision.
pub(super) fn supervised(exec: &Exec, grace: Duration, nonces: Nonces) -> Script {
    let text = format!("{}supervise \"$@\"\n.\n", head(exec, grace, &nonces)).into_bytes();
    let listener = (exec.stdin == Stdin::Piped).then(|| Box::new(listener(grace, nonces.clone())));
    Script { nonces, text, input: input(exec).unwrap_or_default().to_vec(), is_supervised: true, listener }
}

/// The orders for a command whose own connection is its stdin.
fn listener(grace: Duration, nonces: Nonces) -> Script {
    let text = format!("K={} T={} G={}\nlisten\n.\n", nonces.start, nonces.tag, polls(grace)).into_bytes();
    Script { nonces, text, input: Vec::new(), is_supervised: true, listener: None }
}

/// A command that is run to leave background processes: neither it nor its children are marked, and none is
/// killed, neither at its own end nor at that of the connection.
pub(super) fn leaving(exec: &Exec, grace: Duration, nonces: Nonces) -> Script {
    let text = format!("{}{}.\n", head(exec, grace, &nonces), compact(LEAVING)).into_bytes();
    Script {
        nonces,
        text,
        input: input(exec).unwrap_or_default().to_vec(),
        is_supervised: false,
        listener: None,
    }
}

fn input(exec: &Exec) -> Option<&[u8]> {
    match &exec.stdin {
        Stdin::Null | Stdin::Piped => None,
        Stdin::Bytes(bytes) => Some(bytes),
    }
}

/// The number of checks of a shell within this time.
fn polls(grace: Duration) -> u128 {
    (grace.as_millis() / POLL_MS).min(u128::from(u16::MAX))
}

/// The command and the marks of its call, as variables and words of the script that follows.
fn head(exec: &Exec, grace: Duration, nonces: &Nonces) -> String {
    let env = exec.env.iter().map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = env.chain(exec.argv.iter().cloned()).map(|word| quote_line(&word)).collect();
    let path = exec.env.iter().find(|(name, _)| name == "PATH").map_or("/usr/bin:/bin", |(_, path)| path);
    let program = exec.argv.first().map_or("", String::as_str);
    let length = match &exec.stdin {
        Stdin::Null => String::new(),
        Stdin::Bytes(bytes) => bytes.len().to_string(),
        Stdin::Piped => "piped".to_owned(),
    };
    format!(
        "K={} Z={} T={} G={} N={length} D={} X={} Q={}\nset -- {}\n",
        nonces.start,
        nonces.end,
        nonces.tag,
        polls(grace),
        quote_line(&exec.cwd.to_string_lossy()),
        quote_line(program),
        quote_line(path),
        words.join(" "),
    )
}

/// A script of buddy's own, which reads its input to the end.
pub(super) fn plain(body: &str, arguments: &[&str], input: &[u8], nonces: Nonces) -> Script {
    let words: Vec<String> = arguments.iter().map(|word| quote_line(word)).collect();
    let text = format!(
        "K={start} Z={end}\nset -- {words}\nprintf '%sstarted 0\\n' \"$K\"\nprintf '%sstarted 0\\n' \"$K\" >&2\n\
         (\n{body}\n)\ns=$?\nprintf '%sexited 0 0 0 0 0\\n' \"$Z\"\nprintf '%sexited %s 0 0 0 0\\n' \"$Z\" $s >&2\n.\n",
        start = nonces.start,
        end = nonces.end,
        words = words.join(" "),
    );
    Script { nonces, text: text.into_bytes(), input: input.to_vec(), is_supervised: false, listener: None }
}
