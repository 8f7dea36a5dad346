//! Programs that run another program. The program that they run is judged as if it stood alone, and they are
//! judged too.

use super::flags::{FlagOrder, Flags, Split, split};
use crate::shell::ShellWord;

/// The commands that a wrapper runs.
#[derive(Debug, Default)]
pub(crate) struct Unwrapped {
    /// Commands by their words.
    pub(crate) commands: Vec<Vec<ShellWord>>,
    /// Commands as text that a shell reads.
    pub(crate) texts: Vec<ShellWord>,
    /// Variables that are set for it.
    pub(crate) assignments: Vec<String>,
    /// Files that it writes itself.
    pub(crate) outputs: Vec<ShellWord>,
    /// Whether a part of it is not understood.
    pub(crate) is_unclear: bool,
    /// Whether the program does more than run it, such as fetching it first.
    pub(crate) is_launched: bool,
    /// Whether a name that no table knows is a script of the project.
    pub(crate) is_of_project: bool,
}

/// The way that the words after a wrapper's options become a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrapperForm {
    /// They are its words.
    Words,
    /// They are its words, and more come from elsewhere when it runs.
    Fed,
    /// They are joined to text for a shell.
    Joined,
    /// They are joined to text for a shell, and more comes from elsewhere; without them, all of it does.
    FedJoined,
}

struct Wrapper {
    names: &'static [&'static str],
    flags: Flags,
    /// Operands that come before the command.
    skip: usize,
    form: WrapperForm,
}

const fn wrapper(names: &'static [&'static str], flags: Flags, skip: usize, form: WrapperForm) -> Wrapper {
    Wrapper { names, flags, skip, form }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        &["sudo"],
        Flags::of("AbEHKkPnSisV", "ugphCTrtDRU").long(
            &[
                "askpass",
                "background",
                "preserve-env",
                "set-home",
                "non-interactive",
                "stdin",
                "login",
                "shell",
            ],
            &["user", "group", "prompt", "host", "chdir", "chroot", "role", "type", "preserve-env"],
        ),
        0,
        WrapperForm::Words,
    ),
    wrapper(&["doas"], Flags::of("nsL", "uC"), 0, WrapperForm::Words),
    wrapper(&["pkexec"], Flags::NONE.long(&["disable-internal-agent"], &["user"]), 0, WrapperForm::Words),
    wrapper(&["runuser", "gosu", "su-exec"], Flags::of("l", "ug"), 1, WrapperForm::Words),
    wrapper(
        &["xargs"],
        Flags::of("0prtxo", "InPLdEsa").long(
            &["null", "no-run-if-empty", "verbose", "exit", "interactive"],
            &["max-args", "max-procs", "max-lines", "delimiter", "replace", "arg-file", "max-chars"],
        ),
        0,
        WrapperForm::Fed,
    ),
    wrapper(
        &["parallel", "sem"],
        Flags::of("kmX0", "jNI").long(&["keep-order", "dry-run", "bar"], &["jobs", "colsep"]),
        0,
        WrapperForm::FedJoined,
    ),
    wrapper(
        &["timeout"],
        Flags::of("v", "sk").long(&["foreground", "preserve-status", "verbose"], &["signal", "kill-after"]),
        1,
        WrapperForm::Words,
    ),
    wrapper(&["nice"], Flags::of("0123456789", "n").long(&[], &["adjustment"]), 0, WrapperForm::Words),
    wrapper(
        &["ionice"],
        Flags::of("t", "cn").long(&["ignore"], &["class", "classdata"]),
        0,
        WrapperForm::Words,
    ),
    wrapper(&["nohup", "fakeroot", "unbuffer"], Flags::NONE, 0, WrapperForm::Words),
    wrapper(&["setsid"], Flags::of("cfw", "").long(&["ctty", "fork", "wait"], &[]), 0, WrapperForm::Words),
    wrapper(
        &["stdbuf"],
        Flags::of("", "ioe").long(&[], &["input", "output", "error"]),
        0,
        WrapperForm::Words,
    ),
    wrapper(
        &["time"],
        Flags::of("pv", "f").long(&["portability", "verbose"], &["format"]),
        0,
        WrapperForm::Words,
    ),
    wrapper(&["command"], Flags::of("p", ""), 0, WrapperForm::Words),
    wrapper(&["exec"], Flags::of("lc", "a"), 0, WrapperForm::Words),
    wrapper(&["busybox", "toybox", "coproc"], Flags::NONE, 0, WrapperForm::Words),
    wrapper(
        &["watch"],
        Flags::of("bcdegtxw", "nq").long(&["color", "differences", "no-title"], &["interval"]),
        0,
        WrapperForm::Joined,
    ),
    wrapper(&["chroot"], Flags::NONE.long(&["skip-chdir"], &["userspec", "groups"]), 1, WrapperForm::Words),
    wrapper(
        &["unshare"],
        Flags::of("mnpufircCUT", "").long(&["fork", "map-root-user", "pid", "net", "mount-proc"], &[]),
        0,
        WrapperForm::Words,
    ),
    wrapper(&["nsenter"], Flags::of("amnpuiCUrFZ", "tSG").long(&["all"], &["target"]), 0, WrapperForm::Words),
    wrapper(
        &["strace"],
        Flags::of("fcCtTvqyix", "eEosSuaP").long(&["follow-forks"], &["output", "trace"]),
        0,
        WrapperForm::Words,
    ),
    wrapper(&["ltrace"], Flags::of("fcCiLSt", "eosua"), 0, WrapperForm::Words),
    wrapper(&["taskset"], Flags::of("ac", ""), 1, WrapperForm::Words),
    wrapper(&["chrt"], Flags::of("bfior", ""), 1, WrapperForm::Words),
    wrapper(
        &["setarch", "linux32", "linux64", "i386", "x86_64", "aarch64", "uname26"],
        Flags::of("BFILRSTXZ3", ""),
        0,
        WrapperForm::Words,
    ),
    wrapper(&[LOADER], LOADER_FLAGS, 0, WrapperForm::Words),
    // Their options are many: with one, each word may begin the command.
    wrapper(
        &[
            "bwrap",
            "capsh",
            "choom",
            "chpst",
            "daemon",
            "daemonize",
            "dtach",
            "gdb",
            "nocache",
            "proot",
            "scl",
            "setpriv",
            "softlimit",
            "start-stop-daemon",
            "systemd-run",
            "trickle",
        ],
        Flags::NONE,
        0,
        WrapperForm::Words,
    ),
    wrapper(&["ssh"], Flags::of("46AaCfGgKkMNnqsTtVvXxYy", "bcDEeFIiJLlmOpQRSWw"), 1, WrapperForm::Joined),
];
/// Wrappers whose syntax is beyond the table.
const SPECIAL: &[&str] = &[
    "env", "su", "script", "flock", "find", "docker", "podman", "nerdctl", "kubectl", "oc", "eval", "trap",
    "jobs", "builtin",
];

/// The name under which the table has the dynamic loader, which runs the program that it is given.
const LOADER: &str = "ld.so";
/// Options that choose the libraries choose what runs, so they are not listed.
const LOADER_FLAGS: Flags =
    Flags::NONE.long(&["inhibit-cache"], &["argv0", "inhibit-rpath", "glibc-hwcaps-mask"]);

/// Whether a name is one of the dynamic loader's: `ld-linux-x86-64.so.2`, `ld-musl-aarch64.so.1`, `ld64.so.2`, `ld-2.31.so`, `ld.so`.
pub(super) fn is_loader(program: &str) -> bool {
    let is_name = |name: &str| name.is_empty() || name == "64" || name.starts_with('-');
    program
        .strip_prefix("ld")
        .and_then(|rest| rest.split_once(".so"))
        .is_some_and(|(name, after)| is_name(name) && (after.is_empty() || after.starts_with('.')))
}

/// Emulators of one program: `qemu-x86_64`, `qemu-arm-static`. Those of a whole machine run no command of this one.
fn is_emulator(program: &str) -> bool {
    let of_machine = ["qemu-system", "qemu-img", "qemu-nbd", "qemu-io", "qemu-storage"];
    program.starts_with("qemu-") && !of_machine.iter().any(|machine| program.starts_with(machine))
}

/// Whether a program runs other programs that it is given.
pub(crate) fn is_wrapper(program: &str) -> bool {
    is_loader(program)
        || is_emulator(program)
        || SPECIAL.contains(&program)
        || WRAPPERS.iter().any(|wrapper| wrapper.names.contains(&program))
}

/// The commands that a program with these words runs; `None` if it is no wrapper.
pub(crate) fn unwrap(program: &str, arguments: &[ShellWord]) -> Option<Unwrapped> {
    match program {
        "env" => Some(env(arguments)),
        "su" => Some(valued(arguments, &["-c", "--command"])),
        "script" => Some(script(arguments)),
        "flock" => Some(flock(arguments)),
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => Some(container(arguments)),
        "eval" => Some(joined(arguments)),
        "jobs" => Some(jobs(arguments)),
        "builtin" => Some(builtin(arguments)),
        "trap" => Some(Unwrapped {
            texts: arguments.first().cloned().into_iter().collect(),
            ..Unwrapped::default()
        }),
        _ if is_loader(program) && program != LOADER => unwrap(LOADER, arguments),
        _ if is_emulator(program) => Some(best_guess(arguments)),
        _ => WRAPPERS
            .iter()
            .find(|wrapper| wrapper.names.contains(&program))
            .map(|wrapper| wrapper.unwrap(arguments)),
    }
}

/// `jobs -x COMMAND` runs a command; a computed word can be that option.
fn jobs(arguments: &[ShellWord]) -> Unwrapped {
    for (at, word) in arguments.iter().enumerate() {
        match word.literal() {
            None => return unclear(),
            Some(text) if text == "--" || !text.starts_with('-') => break,
            Some(text) if text.contains('x') => {
                let is_marked = arguments.get(at + 1).and_then(ShellWord::literal) == Some("--");
                let rest = arguments.get(at + 1 + usize::from(is_marked)..).unwrap_or_default();
                let commands = if rest.is_empty() { Vec::new() } else { vec![rest.to_vec()] };
                return Unwrapped { commands, ..Unwrapped::default() };
            }
            Some(_) => {}
        }
    }
    Unwrapped::default()
}

/// `builtin COMMAND` runs a builtin. An option, as in another shell `-f`, loads code.
fn builtin(arguments: &[ShellWord]) -> Unwrapped {
    let is_marked = arguments.first().and_then(ShellWord::literal) == Some("--");
    let rest = arguments.get(usize::from(is_marked)..).unwrap_or_default();
    match rest.first() {
        None => Unwrapped::default(),
        Some(word) if word.unexpanded().starts_with('-') => unclear(),
        Some(_) => Unwrapped { commands: vec![rest.to_vec()], ..Unwrapped::default() },
    }
}

pub(super) fn unclear() -> Unwrapped {
    Unwrapped { is_unclear: true, ..Unwrapped::default() }
}

pub(super) fn joined(words: &[ShellWord]) -> Unwrapped {
    let texts: Option<Vec<&str>> = words.iter().map(ShellWord::literal).collect();
    match texts {
        Some(texts) if texts.is_empty() => Unwrapped::default(),
        Some(texts) => Unwrapped { texts: vec![ShellWord::Literal(texts.join(" "))], ..Unwrapped::default() },
        None => unclear(),
    }
}

impl Wrapper {
    fn unwrap(&self, arguments: &[ShellWord]) -> Unwrapped {
        let Some(Split { before, given, .. }) = split(arguments, &self.flags, FlagOrder::First) else {
            return best_guess(arguments);
        };
        let mut rest = arguments.get(before + self.skip..).unwrap_or_default().to_vec();
        let mut assignments = Vec::new();
        if matches!(self.names, ["sudo" | "doas"]) {
            while let Some((name, _)) = rest.first().and_then(ShellWord::literal).and_then(assigned) {
                assignments.push(name.to_owned());
                rest.remove(0);
            }
        }
        let replaced = given
            .iter()
            .find(|(name, _)| name == "I" || name == "replace")
            .and_then(|(_, value)| value.clone());
        let mut unwrapped = match self.form {
            WrapperForm::Joined => joined(&rest),
            WrapperForm::FedJoined => fed_text(&rest),
            WrapperForm::Words | WrapperForm::Fed if rest.is_empty() => Unwrapped::default(),
            WrapperForm::Words => Unwrapped { commands: vec![rest], ..Unwrapped::default() },
            WrapperForm::Fed => {
                Unwrapped { commands: vec![fed(rest, replaced.as_deref())], ..Unwrapped::default() }
            }
        };
        let writes = |(name, value): &(String, Option<String>)| {
            let is_output =
                (self.names == ["strace"] || self.names == ["ltrace"]) && (name == "o" || name == "output");
            is_output.then(|| value.clone().map(ShellWord::Literal)).flatten()
        };
        unwrapped.outputs = given.iter().filter_map(writes).collect();
        unwrapped.assignments = assignments;
        unwrapped
    }
}

/// With options that are not known, the command may begin at any word: each is judged as if it did.
pub(super) fn best_guess(arguments: &[ShellWord]) -> Unwrapped {
    const MOST: usize = 4;
    let is_start = |at: &usize| arguments.get(*at).is_some_and(|word| !word.unexpanded().starts_with('-'));
    let starts = (0..arguments.len()).filter(is_start).take(MOST);
    let commands = starts.filter_map(|at| arguments.get(at..).map(<[ShellWord]>::to_vec)).collect();
    Unwrapped { commands, ..unclear() }
}

/// Text for a shell that gets more words. If it could begin with one of them, the command is not known.
fn fed_text(words: &[ShellWord]) -> Unwrapped {
    let end = words.iter().position(|word| word.literal().is_some_and(|text| text.starts_with(":::")));
    let words = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
    if words.first().is_none_or(|first| first.unexpanded().starts_with('{')) {
        return unclear();
    }
    let Unwrapped { texts, is_unclear, .. } = joined(words);
    let has_mark = |text: &str| text.contains("{}") || text.contains("{.}") || text.contains("{/");
    let feed =
        |text: &str| if has_mark(text) { text.replace('{', "$more{") } else { format!("{text} $more") };
    let texts =
        texts.iter().filter_map(ShellWord::literal).map(|text| ShellWord::Literal(feed(text))).collect();
    Unwrapped { texts, is_unclear, ..Unwrapped::default() }
}

/// The words of a command that gets more of them, at its end or in the place of a mark.
fn fed(mut words: Vec<ShellWord>, mark: Option<&str>) -> Vec<ShellWord> {
    let more = ShellWord::Unknown("…".to_owned());
    match mark {
        Some(mark) => {
            for word in &mut words {
                if word.literal().is_some_and(|text| text.contains(mark)) {
                    *word = more.clone();
                }
            }
        }
        None => words.push(more),
    }
    words
}

/// A word of the form `NAME=value`.
pub(crate) fn assigned(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_name = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    is_name.then_some((name, value))
}

fn env(arguments: &[ShellWord]) -> Unwrapped {
    const FLAGS: Flags =
        Flags::of("i0v", "uS").long(&["ignore-environment", "null", "debug"], &["unset", "split-string"]);
    let Some(split) = split(arguments, &FLAGS, FlagOrder::First) else { return best_guess(arguments) };
    let mut rest = arguments.get(split.before..).unwrap_or_default();
    if let Some(text) = split.value("S").or(split.value("split-string")) {
        return split_string(text, rest);
    }
    let mut assignments = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        match first.literal().and_then(assigned) {
            Some((name, _)) => assignments.push(name.to_owned()),
            None => break,
        }
        rest = after;
    }
    let commands = if rest.is_empty() { Vec::new() } else { vec![rest.to_vec()] };
    Unwrapped { commands, assignments, ..Unwrapped::default() }
}

/// `env -S` splits by rules of its own. Plain words are the same in both; the rest is not understood.
fn split_string(text: &str, rest: &[ShellWord]) -> Unwrapped {
    let is_plain = !text.contains(['\\', '$', '#']);
    let mut words: Vec<ShellWord> = text.split_whitespace().map(ShellWord::decode).collect();
    words.extend(rest.iter().cloned());
    let mut unwrapped = env(&words);
    unwrapped.is_unclear |= !is_plain;
    unwrapped
}

/// The command that is the value of one of these options; other words are names of accounts and the like.
fn valued(arguments: &[ShellWord], options: &[&str]) -> Unwrapped {
    let mut words = arguments.iter();
    let mut texts = Vec::new();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return unclear() };
        for option in options {
            let joined = match option.strip_prefix("--") {
                Some(_) => text.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')),
                None => text.strip_prefix(option).filter(|rest| !rest.is_empty()),
            };
            if text == *option {
                texts.extend(words.next().cloned());
                break;
            } else if let Some(joined) = joined {
                texts.push(ShellWord::Literal(joined.to_owned()));
            }
        }
    }
    Unwrapped { texts, ..Unwrapped::default() }
}

fn script(arguments: &[ShellWord]) -> Unwrapped {
    const FLAGS: Flags = Flags::of("aefq", "c").long(&["append", "return", "flush", "quiet"], &["command"]);
    let Some(split) = split(arguments, &FLAGS, FlagOrder::Mixed) else {
        return Unwrapped { is_unclear: true, ..valued(arguments, &["-c", "--command"]) };
    };
    let text = split.value("c").or(split.value("command")).map(|text| ShellWord::Literal(text.to_owned()));
    let outputs = split.operands.iter().map(|word| (*word).clone()).collect();
    // Without a command it is a shell that reads its input.
    Unwrapped {
        is_unclear: text.is_none(),
        texts: text.into_iter().collect(),
        outputs,
        ..Unwrapped::default()
    }
}

fn flock(arguments: &[ShellWord]) -> Unwrapped {
    const FLAGS: Flags = Flags::of("enosxuFv", "wEc")
        .long(&["nonblock", "shared", "exclusive", "unlock"], &["wait", "command"]);
    let Some(split) = split(arguments, &FLAGS, FlagOrder::First) else { return best_guess(arguments) };
    let rest = arguments.get(split.before..).unwrap_or_default();
    let outputs: Vec<ShellWord> = rest.first().cloned().into_iter().collect();
    let command = rest.get(1..).unwrap_or_default();
    let texts: Vec<ShellWord> =
        split.value("c").map(|text| ShellWord::Literal(text.to_owned())).into_iter().collect();
    match command.first().and_then(ShellWord::literal) {
        Some("-c" | "--command") => Unwrapped {
            texts: command.get(1).cloned().into_iter().collect(),
            outputs,
            ..Unwrapped::default()
        },
        _ if command.is_empty() => Unwrapped { texts, outputs, ..Unwrapped::default() },
        _ => Unwrapped { commands: vec![command.to_vec()], texts, outputs, ..Unwrapped::default() },
    }
}

/// `docker exec box rm x`: options of the many subcommands are not listed here, so every word that could
/// begin the command is taken to do so. Nothing is lost by that, as a command that runs elsewhere always
/// asks.
fn container(arguments: &[ShellWord]) -> Unwrapped {
    let runs = |word: &ShellWord| matches!(word.literal(), Some("exec" | "run" | "create"));
    let Some(at) = arguments.iter().position(runs) else { return Unwrapped::default() };
    let rest = arguments.get(at + 1..).unwrap_or_default();
    let after_dashes =
        rest.iter().position(|word| word.literal() == Some("--")).and_then(|at| rest.get(at + 1..));
    match after_dashes {
        Some(command) if !command.is_empty() => {
            Unwrapped { commands: vec![command.to_vec()], ..Unwrapped::default() }
        }
        _ => Unwrapped { is_unclear: false, ..best_guess(rest) },
    }
}
