//! Programs of projects that run a command which they are given: `npx`, `uv run`, `bundle exec`.
//!
//! The command that they run is judged as if it stood alone. They do more than run it, such as fetching it
//! first, so each has an effect of its own. An option that a row does not list could take the next word, so
//! then each word may begin the command.

mod table;

use std::path::Path;

use self::table::{LAUNCHERS, Launcher, LauncherForm, PNPM_ELSE, PNPM_OWN};
use super::flags::{FlagOrder, Split, split};
use super::wrappers::{Unwrapped, assigned, best_guess, joined, unclear};
use crate::shell::ShellWord;

/// The command that a program with these words launches; `None` if no row is about this use of it.
pub(crate) fn launched(program: &str, arguments: &[ShellWord]) -> Option<Unwrapped> {
    let rows = || LAUNCHERS.iter().filter(|launcher| launcher.names.contains(&program));
    let found = rows().find_map(|launcher| launcher.unwrap(arguments));
    // A subcommand that is computed could be the one that runs a command.
    let could_run = arguments.first().is_some_and(ShellWord::is_unknown)
        && rows().any(|launcher| {
            !matches!(launcher.form, LauncherForm::Options | LauncherForm::Texts) && program != "git"
        });
    found.or_else(|| could_run.then(|| Unwrapped { is_launched: true, ..unclear() }))
}

/// Whether a program is known to run others in one of its uses.
pub(crate) fn is_launcher(program: &str) -> bool {
    LAUNCHERS.iter().any(|launcher| launcher.names.contains(&program) && launcher.verbs.is_empty())
}

/// The uses that run a command, for people: each program with the words that make it run one.
pub(crate) fn launcher_uses() -> Vec<String> {
    let uses = LAUNCHERS.iter().filter(|launcher| launcher.verbs != PNPM_ELSE).flat_map(|launcher| {
        launcher.names.iter().flat_map(|name| {
            let verbs: &[&str] = if launcher.verbs.is_empty() { &[""] } else { launcher.verbs };
            verbs.iter().map(move |verb| format!("{name} {verb}").trim_end().to_owned())
        })
    });
    let mut uses: Vec<String> = uses.collect();
    uses.sort();
    uses.dedup();
    uses
}

impl Launcher {
    fn unwrap(&self, arguments: &[ShellWord]) -> Option<Unwrapped> {
        let (rest, texts) = self.after_verbs(arguments)?;
        let before_verbs = arguments.get(..arguments.len() - rest.len()).unwrap_or_default();
        let is_shelled_before = self.is_shelled(before_verbs);
        let Some(Split { before, given, .. }) = split(rest, &self.flags, FlagOrder::First) else {
            return Some(self.marked(self.unread(rest)));
        };
        let words = rest.get(before + self.skip..).unwrap_or_default();
        let words = match words.split_first() {
            Some((first, after)) if self.skip > 0 && first.literal() == Some("--") => after,
            _ => words,
        };
        let is_given = |names: &[&str]| given.iter().any(|(name, _)| names.contains(&name.as_str()));
        let mut unwrapped = match self.form {
            LauncherForm::Joined => joined(words),
            _ if is_given(self.shelled) || is_shelled_before => joined(words),
            LauncherForm::Texts => Unwrapped { texts: words.to_vec(), ..Unwrapped::default() },
            LauncherForm::Package if words.is_empty() => Unwrapped::default(),
            LauncherForm::Package => unclear(),
            LauncherForm::Options => self.by_option(rest),
            LauncherForm::Of(program) => command(program, words),
            LauncherForm::Coverage | LauncherForm::Python if is_given(&["m", "module"]) => {
                command("python -m", words)
            }
            LauncherForm::Coverage => command("python", words),
            LauncherForm::Python if is_given(&["s", "script", "gui-script"]) || is_python(words) => {
                command("python", words)
            }
            LauncherForm::Words | LauncherForm::Script | LauncherForm::Python => plain(words),
        };
        let given_texts = given.iter().filter(|(name, _)| self.texts.contains(&name.as_str()));
        let values = given_texts.filter_map(|(_, value)| value.clone()).map(ShellWord::Literal);
        unwrapped.texts.extend(texts.into_iter().chain(values));
        Some(self.marked(unwrapped))
    }

    /// Whether an option among these words hands the command to a shell: `pnpm -rc exec`.
    fn is_shelled(&self, words: &[ShellWord]) -> bool {
        let gives = |text: &str| {
            let is_long = |name: &&str| name.len() > 1 && text.trim_start_matches("--") == *name;
            let is_letter = |name: &&str| name.len() == 1 && !text.starts_with("--") && text.contains(*name);
            self.shelled.iter().any(|name| is_long(name) || is_letter(name))
        };
        words.iter().map(ShellWord::unexpanded).filter(|text| text.starts_with('-')).any(|text| gives(&text))
    }

    fn marked(&self, unwrapped: Unwrapped) -> Unwrapped {
        Unwrapped { is_launched: true, is_of_project: self.form == LauncherForm::Script, ..unwrapped }
    }

    /// With an option that is not listed it is not known which word begins the command. A script of the
    /// project may do anything.
    fn unread(&self, rest: &[ShellWord]) -> Unwrapped {
        match self.form {
            LauncherForm::Script => Unwrapped { is_unclear: false, ..best_guess(rest) },
            LauncherForm::Options => self.by_option(rest),
            _ => best_guess(rest),
        }
    }

    /// The words behind the verbs, and texts that options before them hold. `None` if the verbs do not stand
    /// there.
    fn after_verbs<'a>(&self, arguments: &'a [ShellWord]) -> Option<(&'a [ShellWord], Vec<ShellWord>)> {
        if self.verbs.is_empty() {
            return Some((arguments, Vec::new()));
        }
        self.verbs.iter().find_map(|verbs| {
            let mut rest = arguments;
            let mut texts = Vec::new();
            for verb in verbs.split(' ') {
                let at = match split(rest, &self.before, FlagOrder::First) {
                    Some(split) => {
                        let of_text =
                            split.given.iter().filter(|(name, _)| self.texts.contains(&name.as_str()));
                        texts.extend(of_text.filter_map(|(_, value)| value.clone()).map(ShellWord::Literal));
                        split.before
                    }
                    None if verb == "*" => return Some((rest, texts)),
                    // Behind an option that is not listed, the first word that could be the verb is.
                    None => rest.iter().position(|word| word.literal() == Some(verb))?,
                };
                let word = rest.get(at)?;
                let is_else = verb == "*" && word.literal().is_some_and(|text| !PNPM_OWN.contains(&text));
                if is_else {
                    return Some((rest.get(at..)?, texts));
                }
                if word.literal() != Some(verb) {
                    return None;
                }
                rest = rest.get(at + 1..).unwrap_or_default();
            }
            Some((rest, texts))
        })
    }

    /// Text and commands behind options, in any place: `nix shell x -c make`, `nodemon --exec 'make'`.
    fn by_option(&self, rest: &[ShellWord]) -> Unwrapped {
        let mut found = Unwrapped::default();
        for (at, word) in rest.iter().enumerate() {
            let text = word.unexpanded();
            let (name, value) =
                text.split_once('=').map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
            let is_long = name.starts_with("--");
            let Some(name) = name.strip_prefix("--").or_else(|| name.strip_prefix('-')) else { continue };
            let joined =
                text.strip_prefix('-').filter(|_| !is_long).and_then(|text| text.split_at_checked(1));
            if self.texts.contains(&name) {
                let value = value.map(|value| ShellWord::Literal(value.to_owned()));
                found.texts.extend(value.or_else(|| rest.get(at + 1).cloned()));
            } else if let Some((_, value)) = joined.filter(|(letter, _)| self.texts.contains(letter)) {
                found.texts.push(ShellWord::Literal(value.to_owned()));
            } else if self.texts.is_empty() && matches!(name, "c" | "command") {
                let words = rest.get(at + 1..).unwrap_or_default();
                found.commands.extend((!words.is_empty()).then(|| words.to_vec()));
                break;
            }
        }
        found
    }
}

fn is_python(words: &[ShellWord]) -> bool {
    words
        .first()
        .and_then(ShellWord::literal)
        .is_some_and(|text| text == "-" || Path::new(text).extension().is_some_and(|ending| ending == "py"))
}

fn plain(words: &[ShellWord]) -> Unwrapped {
    let mut assignments = Vec::new();
    let mut rest = words;
    while let Some((name, after)) =
        rest.split_first().and_then(|(first, after)| Some((assigned(first.literal()?)?.0, after)))
    {
        assignments.push(name.to_owned());
        rest = after;
    }
    let commands = if rest.is_empty() { Vec::new() } else { vec![rest.to_vec()] };
    Unwrapped { commands, assignments, ..Unwrapped::default() }
}

fn command(program: &str, words: &[ShellWord]) -> Unwrapped {
    let program = program.split(' ').map(|word| ShellWord::Literal(word.to_owned()));
    Unwrapped { commands: vec![program.chain(words.iter().cloned()).collect()], ..Unwrapped::default() }
}
