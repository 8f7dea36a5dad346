//! Going through a command line: every simple command, through wrappers and quoted scripts, with the files it
//! touches.
//!
//! Long because one state goes through all of it: the directories that the line could be in, and the findings
//! so far.

use std::path::{Path, PathBuf};

use buddy_protocol::{Climbed, ClimbedBy, RemoteQuery, RemoteUse};

use super::files::{Brought, GitPlace, Touched, WeighScope, git_words, outcome, passes_variables_on};
use super::interpreters::{
    GivenProgram, evaluates_more, given, is_interpreter, is_shell, module_program, module_words,
};
use super::launchers::{is_launcher, launched};
use super::readers::reader_of;
use super::reading::{loose_reading, never_writes, only_looks, reading};
use super::recall::{Recall, recalled};
use super::remotes::remote_meant;
use super::risky::risky_words;
use super::steps::{BringingStep, ChangingStep, Level};
use super::wrappers::{Unwrapped, is_wrapper};
use super::{
    Class, CommandConcern, CommandEffect, CommandExamination, CommandLeaf, GivenVariable, Touch, TouchAccess,
    TouchReach,
};
use super::{
    evaluated, find, git, git_reading, guards, in_place, lookalikes, names, recipes, telling, wrappers,
};
use crate::guarded::is_secret;
use crate::path::{clean, is_beneath_any};
use crate::shell::{
    self, Direction, MAX_LEAVES, MAX_WRAPPERS, ShellScript, ShellWord, Simple, UnreadableScript,
};
use crate::{Carried, Places};

/// Directories of programs that come with the system.
const SYSTEM_PROGRAMS: &[&str] = &["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"];
/// Places that only the system's owner writes to, so that programs there need no pin.
const SYSTEM: &[&str] =
    &["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/snap"];
/// Programs that fetch.
const DOWNLOADS: &[&str] =
    &["curl", "wget", "fetch", "aria2c", "http", "https", "xh", "nc", "ncat", "ftp", "lynx"];
/// Devices that take anything and do nothing with it.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr"];
/// Builtins that declare variables.
const DECLARING: &[&str] = &["export", "declare", "typeset", "local", "readonly", "unset"];

/// Programs that run a command once for each word that they read.
const FEEDING: &[&str] = &["xargs", "parallel", "sem", "watch"];

/// Programs after which the command that they run goes on by itself.
const LEAVING: &[&str] = &[
    "coproc",
    "setsid",
    "daemon",
    "daemonize",
    "start-stop-daemon",
    "systemd-run",
    "dtach",
    "tmux",
    "screen",
    "at",
    "batch",
];

/// The program that makes links.
const LINK_MAKER: &str = "ln";
/// The most directories that a command may be in after `cd`; with more it is not known.
const MAX_CWDS: usize = 8;

/// Examines one command whose words are passed on as they are, without a shell.
pub(crate) fn examine_words(
    words: &[String],
    cwd: Option<&Path>,
    places: &Places,
) -> Result<CommandExamination, UnreadableScript> {
    let mut examiner = Examiner::new(cwd, places);
    let words = words.iter().cloned().map(ShellWord::Literal).collect();
    examiner.command(&Simple { words, ..Simple::default() }, &[], 0)?;
    Ok(examiner.found)
}

/// Examines a command line that would run in this directory, or in an unknown one.
pub(crate) fn examine(
    command: &str,
    cwd: Option<&Path>,
    places: &Places,
) -> Result<CommandExamination, UnreadableScript> {
    let mut examiner = Examiner::new(cwd, places);
    let script = shell::read(command)?;
    let plain =
        (script.is_plain).then(|| script.commands.first().map(|simple| simple.words.clone())).flatten();
    let has_assignments = script.commands.iter().any(|simple| !simple.assignments.is_empty());
    examiner.found.plain = plain.filter(|words| !words.is_empty() && !has_assignments);
    examiner.script(&script, 0)?;
    Ok(examiner.found)
}

/// The relation of a command to the one that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InnerCommand {
    /// It does nothing by itself but run it.
    All,
    /// It has an effect itself, or runs nothing.
    Part,
    /// It launches it, and has an effect itself.
    Launched,
}

impl InnerCommand {
    fn all_if(is_all: bool) -> Self {
        if is_all { Self::All } else { Self::Part }
    }
}

struct Examiner<'a> {
    places: &'a Places,
    found: CommandExamination,
    /// The directory that the line begins in.
    start: Option<PathBuf>,
    cwds: Option<Vec<PathBuf>>,
    /// Whether the files that are noted now are written where they stand.
    in_place: bool,
    /// Whether a command so far makes links, which a later word can go through.
    makes_links: bool,
    /// Variables that are certain to be plain words.
    tame: Vec<String>,
    /// The place of the present command: in its script, and of that script in the ones around it.
    levels: Vec<Level>,
    /// Whether the present command is git at work in its work tree, where it goes through no link.
    is_git_tree: bool,
    /// Whether a file that the shell read may have changed the directory.
    is_moved: bool,
    /// The words that the risk of the present command comes from.
    risky: Option<String>,
}

impl<'a> Examiner<'a> {
    fn new(cwd: Option<&Path>, places: &'a Places) -> Self {
        let start = cwd.map(|cwd| places.climb(cwd, Some(cwd)).path);
        let cwds = start.clone().map(|start| vec![start]);
        let found = CommandExamination::default();
        Self {
            places,
            found,
            start,
            cwds,
            in_place: false,
            makes_links: false,
            tame: Vec::new(),
            levels: Vec::new(),
            is_git_tree: false,
            is_moved: false,
            risky: None,
        }
    }

    fn danger(&mut self, reason: impl Into<String>) {
        self.concern(Class::Danger, reason.into());
    }

    fn unclear(&mut self, reason: impl Into<String>) {
        self.concern(Class::Unclear, reason.into());
    }

    fn concern(&mut self, class: Class, reason: String) {
        self.found.risky.extend(self.risky.clone());
        let concern = CommandConcern { class, reason };
        if !self.found.concerns.contains(&concern) {
            self.found.concerns.push(concern);
        }
    }

    fn text(&mut self, text: &str, depth: usize) -> Result<(), UnreadableScript> {
        let script = shell::read(text)?;
        self.script(&script, depth + 1)
    }

    fn script(&mut self, script: &ShellScript, depth: usize) -> Result<(), UnreadableScript> {
        if depth > MAX_WRAPPERS {
            return Err(UnreadableScript::TooWrapped);
        }
        if self.found.leaves.len() + script.leaves() > MAX_LEAVES {
            return Err(UnreadableScript::TooMany);
        }
        for reason in &script.unclear {
            self.unclear(reason.clone());
        }
        self.tame.clone_from(&script.tame);
        for name in &script.bombs {
            self.danger(format!("the function `{}` calls itself", crate::display_command(name)));
        }
        let words = || script.commands.iter().flat_map(|simple| &simple.words);
        self.makes_links |=
            words().filter_map(ShellWord::literal).any(|word| program_name(word) == LINK_MAKER);
        let leaves_behind =
            words().filter_map(ShellWord::literal).any(|word| LEAVING.contains(&program_name(word)));
        self.found.steps.has_background |= script.runs_beside || leaves_behind;
        for simple in &script.commands {
            self.change_directory(simple);
        }
        // In a loop or a function, a command can run again after a later `cd`.
        let moves = |simple: &Simple| {
            let program = simple.words.first().and_then(ShellWord::literal);
            program.is_some_and(|program| {
                matches!(program, "cd" | "eval" | "source" | "." | "command" | "builtin")
            })
        };
        if script.repeats && script.commands.iter().any(moves) {
            self.cwds = None;
        }
        for (at, simple) in script.commands.iter().enumerate() {
            let upstream = simple.upstream.clone().and_then(|range| script.commands.get(range));
            self.at(Level::of(script, at), |found| {
                found.simple(simple, upstream.unwrap_or_default(), depth)
            })?;
        }
        for redirect in &script.redirects {
            let access = match redirect.direction {
                Direction::Read => TouchAccess::Read,
                Direction::Write => TouchAccess::Write,
            };
            self.in_place = true;
            self.at(Level::of(script, redirect.before), |found| found.touch(access, &redirect.file));
            self.in_place = false;
            let runs = |simple: &Simple| {
                let first = simple.words.first().and_then(ShellWord::literal).map(program_name);
                first.is_some_and(is_interpreter)
            };
            if access == TouchAccess::Read && script.commands.iter().any(runs) {
                self.pin(&redirect.file);
            }
        }
        Ok(())
    }

    /// Does something for the command at this place.
    fn at<T>(&mut self, level: Level, act: impl FnOnce(&mut Self) -> T) -> T {
        self.levels.push(level);
        let done = act(self);
        self.levels.pop();
        done
    }

    /// The directories that commands could run in after this one. A `cd` may fail, so that both are
    /// possible.
    fn change_directory(&mut self, simple: &Simple) {
        match simple.words.first().and_then(ShellWord::literal) {
            Some("popd") => self.cwds = None,
            Some("cd" | "chdir" | "pushd") => {
                let place = simple
                    .words
                    .iter()
                    .skip(1)
                    .find(|word| !matches!(word.literal(), Some("-L" | "-P" | "--")));
                let more = match place {
                    Some(ShellWord::Literal(text)) if text == "-" => None,
                    Some(word) => self.directories(word),
                    None => self.places.home.clone().map(|home| vec![home]),
                };
                self.cwds = match (self.cwds.take(), more) {
                    (Some(mut known), Some(more)) if known.len() + more.len() <= MAX_CWDS => {
                        known.extend(more);
                        known.dedup();
                        Some(known)
                    }
                    _ => None,
                };
            }
            _ => {}
        }
    }

    /// The directories that a word can mean for `cd`: a shell takes away `LINK/..` by text, and the kernel does not.
    fn directories(&mut self, word: &ShellWord) -> Option<Vec<PathBuf>> {
        self.check_climb(word);
        let mut paths = self.paths(word)?;
        for path in self.named(word)?.iter().map(|path| clean(path)) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Some(paths)
    }

    fn simple(&mut self, simple: &Simple, upstream: &[Simple], depth: usize) -> Result<(), UnreadableScript> {
        for name in &simple.assignments {
            self.assignment(name);
        }
        self.give(&simple.assignments, &simple.words);
        let outer = std::mem::replace(&mut self.risky, risky_words(&simple.words));
        let examined = self.command(simple, upstream, depth);
        self.risky = outer;
        examined
    }

    /// Notes variables that a program gets and of which no table says what it makes of them. The project's own code is as free with
    /// them as without, and programs that only read and print have no options that do more.
    fn give(&mut self, names: &[String], words: &[ShellWord]) {
        let Some(text) = words.first().and_then(ShellWord::literal) else { return };
        let program = program_name(text);
        let exports =
            |word: &ShellWord| word.literal().is_some_and(|text| text.starts_with('-') && text.contains('x'));
        let program = match DECLARING.contains(&text) {
            true if text == "export" || words.iter().any(exports) => None,
            true => return,
            false => Some(program.to_owned()),
        };
        let is_of_project = text.contains('/') && !is_of_system(text);
        if is_of_project || program.as_deref().is_some_and(is_free_of_variables) {
            return;
        }
        // `export` also takes names that were set before.
        let exported = words.iter().skip(1).filter(|_| program.is_none()).filter_map(ShellWord::literal);
        let exported =
            exported.filter(|name| evaluated::is_plain_name(&ShellWord::Literal((*name).to_owned())));
        let all = names.iter().cloned().chain(exported.map(str::to_owned));
        for name in all.filter(|name| names::is_unknown(name)) {
            let given = GivenVariable { name, program: program.clone() };
            if !self.found.given.contains(&given) {
                self.found.given.push(given);
            }
        }
    }

    fn assignment(&mut self, name: &str) {
        if names::is_dangerous(name) {
            // Under a jail it runs no more than any other program.
            self.unclear(format!(
                "it sets `{}`, which decides what other programs do",
                crate::display_command(name)
            ));
        }
    }

    fn command(
        &mut self,
        simple: &Simple,
        upstream: &[Simple],
        depth: usize,
    ) -> Result<(), UnreadableScript> {
        if depth > MAX_WRAPPERS {
            return Err(UnreadableScript::TooWrapped);
        }
        if self.found.leaves.len() >= MAX_LEAVES {
            return Err(UnreadableScript::TooMany);
        }
        let Some((first, arguments)) = simple.words.split_first() else {
            // Variables of the shell alone change nothing outside it.
            let sets = !simple.assignments.is_empty();
            self.leaf(
                String::new(),
                simple,
                if sets { CommandEffect::Held } else { CommandEffect::Unknown },
                true,
            );
            return Ok(());
        };
        let Some(first) = first.literal().filter(|text| !text.is_empty()) else {
            self.unclear(format!(
                "the program is computed: `{}`",
                crate::display_command(&first.unexpanded())
            ));
            self.leaf(first.unexpanded(), simple, CommandEffect::Unknown, false);
            return Ok(());
        };
        if let Some(spelling) = lookalikes::lookalike(first) {
            self.danger(format!("the program's name is `{spelling}`, which only looks like another"));
        }
        let program = program_name(first);
        if first.contains('/') && !is_of_system(first) {
            self.pin(&ShellWord::Literal(first.to_owned()));
        }
        // A file that has the name of a known program and lies elsewhere is another program.
        let is_elsewhere = first.contains('/') && !is_of_system(first) && !is_loader_of_system(first);
        let known = if is_elsewhere { "" } else { program };
        let is_plain = simple.assignments.iter().all(|name| names::is_harmless(name));
        self.evaluated(program, simple);
        if is_plain && self.only_tells(known, arguments) {
            self.leaf(program.to_owned(), simple, CommandEffect::Held, true);
            return Ok(());
        }
        for danger in guards::dangers(program, arguments) {
            self.danger(danger);
        }
        if let Some(danger) = guards::signal_danger(program, arguments) {
            self.concern(Class::Signal, danger.to_owned());
        }
        if program == "git" {
            for danger in git::dangers(arguments) {
                self.danger(danger);
            }
            self.recall(arguments);
        }
        self.recipes(program, arguments);
        self.state(program, simple);
        let is_read_only = self.effects(known, program, arguments);
        let reads_only = is_read_only && is_plain;
        let is_held = !reads_only && is_plain && known == "git" && git_reading::only_tells(arguments);
        let start = self.found.leaves.len();
        let inner = self.inner(known, program, arguments, simple, upstream, depth)?;
        let is_transparent = inner == InnerCommand::All;
        let effect = match (is_transparent || (reads_only && program == "cd"), reads_only) {
            (true, _) => CommandEffect::None,
            (_, true) => CommandEffect::Reads,
            _ if is_held => CommandEffect::Held,
            _ => CommandEffect::Unknown,
        };
        let is_known = self.is_known(first, known, arguments) || is_transparent || reads_only;
        self.leaf(program.to_owned(), simple, effect, is_known);
        if inner == InnerCommand::Launched {
            let outer = self.found.leaves.len() - 1;
            for leaf in self.found.leaves.iter_mut().take(outer).skip(start) {
                leaf.launcher.get_or_insert(outer);
            }
        }
        Ok(())
    }

    /// Whether a program only prints information if all its processes are held to reading; notes the files
    /// that it reads then.
    fn only_tells(&mut self, known: &str, arguments: &[ShellWord]) -> bool {
        if telling::only_tells(known, arguments) {
            return true;
        }
        if reading(known, arguments).is_some() {
            return false;
        }
        let Some(words) = loose_reading(known, arguments) else { return false };
        let access = if only_looks(known) { TouchAccess::Look } else { TouchAccess::Read };
        for word in &words {
            self.touch(access, word);
        }
        true
    }

    /// Whether a table knows the program. A program named by its path is the project's own if the path is in
    /// an open place.
    fn is_known(&self, first: &str, known: &str, arguments: &[ShellWord]) -> bool {
        if known.is_empty() {
            let is_open = |path: &PathBuf| {
                is_beneath_any(path, &self.places.workspace) || is_beneath_any(path, &self.places.scratch)
            };
            let paths = self.paths(&ShellWord::Literal(first.to_owned()));
            return paths.is_some_and(|paths| paths.iter().all(is_open));
        }
        matches!(known, "find" | "sed")
            || outcome(known, arguments).is_some()
            || reader_of(known).is_some()
            || is_interpreter(known)
            || is_wrapper(known)
            || is_launcher(known)
            || guards::always_flags(known)
    }

    fn leaf(&mut self, program: String, simple: &Simple, effect: CommandEffect, is_known: bool) {
        self.found.leaves.push(CommandLeaf {
            program,
            words: simple.words.clone(),
            effect,
            is_known,
            is_foreign: simple.words.first().is_some_and(|word| {
                word.literal().is_none_or(|text| text.contains('/') && !is_of_system(text))
            }),
            has_assignments: simple.assignments.iter().any(|name| !names::is_harmless(name)),
            cwds: self.cwds.clone(),
            launcher: None,
        });
    }

    /// Builtins that change the shell itself.
    fn state(&mut self, program: &str, simple: &Simple) {
        let declares = DECLARING.contains(&program);
        if declares {
            for text in simple.words.iter().skip(1).map(ShellWord::unexpanded) {
                let name = text.split(['=', '+']).next().unwrap_or_default();
                let is_known_flag = matches!(text.as_str(), "-x" | "-g" | "-r" | "-p" | "-f" | "-v");
                let value = text.split_once('=').map_or("", |(_, value)| value);
                self.assignment(name);
                if !shell::is_plain_setting(name, value)
                    || text.contains(['[', '$', '`'])
                    || (text.starts_with(['-', '+']) && !is_known_flag)
                {
                    self.unclear(format!(
                        "a declaration is not understood: `{}`",
                        crate::display_command(&text)
                    ));
                }
            }
        }
        if program == "let" {
            self.unclear("it computes with variables");
        }
    }

    /// Words that a builtin evaluates once more.
    fn evaluated(&mut self, program: &str, simple: &Simple) {
        let words = simple.words.get(1..).unwrap_or_default();
        let arguments = if simple.test.is_empty() { words } else { &simple.test };
        if let Some(word) = evaluated::possible_option(program, arguments, &self.tame) {
            self.unclear(format!(
                "`{program}` could take `{}` for an option that evaluates",
                crate::display_command(&word.unexpanded())
            ));
        }
        for name in evaluated::names(program, arguments) {
            if evaluated::is_plain_name(&name) && !shell::is_number_variable(&name.unexpanded()) {
                self.assignment(&name.unexpanded());
            } else {
                self.unclear(format!(
                    "the shell evaluates `{}` as the name of a variable",
                    crate::display_command(&name.unexpanded())
                ));
            }
        }
    }

    /// The files that the command itself reads and writes, and whether it only reads.
    fn effects(&mut self, known: &str, program: &str, arguments: &[ShellWord]) -> bool {
        let module = module_words(program, arguments);
        let outcome = match module {
            // A module without a row of its own is the program of its name.
            Some((name, words)) => outcome(&module_program(name), words).or_else(|| outcome(name, words)),
            None => outcome(program, arguments),
        };
        for danger in module.iter().flat_map(|(name, words)| guards::dangers(name, words)) {
            self.danger(danger);
        }
        self.in_place = in_place::writes_in_place(program, arguments);
        let shell_cwds = self.cwds.clone();
        if program == "git" {
            let (words, places) = git_words(arguments);
            let changes_store = outcome.as_ref().is_some_and(|outcome| outcome.changes_store);
            self.enter_git_places(&places, changes_store);
            self.discard(&words, outcome.as_ref().is_some_and(|outcome| outcome.discards));
            for folder in self.remote_folders(&words, RemoteUse::Push) {
                self.touch_as(TouchAccess::Write, &folder, WeighScope::Within);
            }
        }
        let brings = outcome.as_ref().is_some_and(|outcome| !outcome.brought.is_empty());
        for touched in outcome.iter().flat_map(|outcome| &outcome.touched) {
            self.is_git_tree = program == "git" && is_in_tree(touched, arguments, brings);
            self.touch_as(touched.access, &touched.word, touched.scope);
            self.is_git_tree = false;
        }
        for brought in outcome.iter().flat_map(|outcome| &outcome.brought) {
            self.bring(program, brought);
        }
        self.cwds = shell_cwds;
        self.in_place = false;
        for danger in outcome.iter().flat_map(|outcome| &outcome.dangers) {
            self.danger(*danger);
        }
        if program == "find" {
            self.find(arguments);
        }
        if program == "sed" {
            self.sed(arguments);
        }
        let Some(reading) = reading(known, arguments) else { return false };
        let access = if only_looks(known) { TouchAccess::Look } else { TouchAccess::Read };
        let here = ShellWord::Literal(".".to_owned());
        let paths = if reading.is_deep && reading.paths.is_empty() { vec![&here] } else { reading.paths };
        for word in paths {
            if reading.is_deep {
                self.touch_beneath(access, word);
            } else {
                self.touch(access, word);
            }
        }
        true
    }

    fn find(&mut self, arguments: &[ShellWord]) {
        let found = find::find(arguments);
        if found.is_unclear {
            self.unclear("a part of find's expression is not understood");
        }
        for output in &found.outputs {
            self.touch(TouchAccess::Write, output);
        }
        if found.deletes {
            let here = [ShellWord::Literal(".".to_owned())];
            let roots = if found.roots.is_empty() { &here[..] } else { &found.roots[..] };
            let follows = arguments.iter().any(|word| matches!(word.literal(), Some("-L" | "-follow")));
            let follows_roots = follows || arguments.iter().any(|word| word.literal() == Some("-H"));
            for root in roots {
                self.touch(TouchAccess::Delete, root);
                if follows_roots {
                    self.touch(TouchAccess::Followed, root);
                }
                if follows {
                    self.touch_beneath(TouchAccess::Perhaps, root);
                }
            }
        }
    }

    fn sed(&mut self, arguments: &[ShellWord]) {
        let Some(sed) = super::sed::sed(arguments) else {
            self.unclear("an option of sed is not understood");
            for word in arguments {
                self.touch(TouchAccess::Write, word);
            }
            return;
        };
        if !sed.only_prints {
            self.unclear("the program of sed is not understood");
        }
        if sed.is_in_place {
            for file in sed.files {
                self.touch(TouchAccess::Write, file);
            }
        }
    }

    /// Judges the command that it runs.
    fn inner(
        &mut self,
        known: &str,
        program: &str,
        arguments: &[ShellWord],
        simple: &Simple,
        upstream: &[Simple],
        depth: usize,
    ) -> Result<InnerCommand, UnreadableScript> {
        if program == "find" {
            for (at, words) in find::find(arguments).commands.into_iter().enumerate() {
                let inner = Simple { words, ..Simple::default() };
                self.at(Level::repeated(at), |found| found.command(&inner, &[], depth + 1))?;
            }
            return Ok(InnerCommand::Part);
        }
        if matches!(program, "source" | ".") {
            self.sourced(arguments);
            if !arguments.first().is_some_and(keeps_directory) {
                (self.cwds, self.is_moved) = (None, true);
            }
            return Ok(InnerCommand::Part);
        }
        if matches!(program, "command" | "type")
            && arguments.first().and_then(ShellWord::literal).is_some_and(|text| matches!(text, "-v" | "-V"))
        {
            return Ok(InnerCommand::all_if(!arguments.iter().any(ShellWord::is_unknown)));
        }
        let launched = launched(program, arguments);
        if let Some(given) = given(program, arguments).filter(|_| launched.is_none()) {
            let is_clear = self.interpreter(program, given, simple, upstream, depth)?;
            return Ok(InnerCommand::all_if(is_clear && !known.is_empty()));
        }
        match launched.or_else(|| wrappers::unwrap(program, arguments)) {
            Some(unwrapped) => self.unwrapped(known, program, unwrapped, simple, upstream, depth),
            None => Ok(InnerCommand::Part),
        }
    }

    /// Judges the command that a wrapper or a launcher runs.
    fn unwrapped(
        &mut self,
        known: &str,
        program: &str,
        unwrapped: Unwrapped,
        simple: &Simple,
        upstream: &[Simple],
        depth: usize,
    ) -> Result<InnerCommand, UnreadableScript> {
        if unwrapped.is_unclear {
            self.unclear(format!("what `{program}` runs is not understood"));
        }
        for name in &unwrapped.assignments {
            self.assignment(name);
        }
        for output in &unwrapped.outputs {
            self.touch(TouchAccess::Write, output);
        }
        if program == "trap" && simple.words.len() > 1 {
            self.unclear("it makes the shell run something later");
        }
        for text in &unwrapped.texts {
            match text.literal() {
                Some(text) => self.text(text, depth)?,
                None => self.unclear(format!("what `{program}` runs is computed")),
            }
        }
        for (at, words) in unwrapped.commands.into_iter().enumerate() {
            self.give(&unwrapped.assignments, &words);
            let inner = Simple { words, input: simple.input.clone(), ..Simple::default() };
            self.change_directory(&inner);
            if FEEDING.contains(&program) {
                self.at(Level::repeated(at), |found| found.command(&inner, upstream, depth + 1))?;
            } else {
                self.command(&inner, upstream, depth + 1)?;
            }
            if let Some(leaf) = self.found.leaves.last_mut().filter(|_| unwrapped.is_of_project) {
                leaf.is_known = true;
            }
        }
        if unwrapped.is_launched {
            return Ok(InnerCommand::Launched);
        }
        let sets_only_harmless = unwrapped.assignments.iter().all(|name| names::is_harmless(name));
        let is_clear = !known.is_empty() && !unwrapped.is_unclear;
        Ok(InnerCommand::all_if(is_clear && unwrapped.outputs.is_empty() && sets_only_harmless))
    }

    /// A file whose text this shell runs.
    fn sourced(&mut self, arguments: &[ShellWord]) {
        match arguments.first() {
            Some(ShellWord::Literal(text)) if text.starts_with("/dev/") || text.starts_with("/proc/") => {
                self.unclear("the text that this shell would run stands in no file");
            }
            Some(word @ (ShellWord::Literal(_) | ShellWord::Home { .. })) => self.pin(word),
            _ => self.unclear("the text that this shell would run is computed"),
        }
    }

    /// Judges the program that an interpreter runs. Returns true if it was judged to the end.
    fn interpreter(
        &mut self,
        program: &str,
        given: GivenProgram,
        simple: &Simple,
        upstream: &[Simple],
        depth: usize,
    ) -> Result<bool, UnreadableScript> {
        match given {
            GivenProgram::Text(ShellWord::Literal(text)) => {
                self.text(&text, depth)?;
                return Ok(self.is_read_as_bash(program));
            }
            GivenProgram::Text(_) | GivenProgram::Unclear => {
                self.unclear(format!("what `{program}` runs is computed"));
            }
            GivenProgram::Code => {
                self.unclear(format!("it runs inline `{program}` code"));
            }
            GivenProgram::File(word) => {
                self.pin(&word);
                for also in recipes::stands_for(program, &word) {
                    self.pin(&also);
                }
            }
            GivenProgram::Module => {}
            GivenProgram::Input => return self.reads_program(program, simple, upstream, depth),
        }
        Ok(false)
    }

    /// Whether a text does in this shell what it does in bash, as which it is judged.
    fn is_read_as_bash(&mut self, program: &str) -> bool {
        let is_certain = !evaluates_more(program);
        if !is_certain {
            self.unclear(format!("`{program}` evaluates texts that other shells take as they are"));
        }
        is_certain
    }

    fn reads_program(
        &mut self,
        program: &str,
        simple: &Simple,
        upstream: &[Simple],
        depth: usize,
    ) -> Result<bool, UnreadableScript> {
        let fetches = |earlier: &Simple| {
            earlier
                .words
                .iter()
                .filter_map(ShellWord::literal)
                .any(|text| DOWNLOADS.contains(&program_name(text)))
        };
        if upstream.iter().any(fetches) {
            self.danger(format!("what it downloads is run by `{program}` at once"));
            return Ok(false);
        }
        let text = simple.input.clone().or_else(|| printed(upstream));
        match text {
            Some(text) if is_shell(program) => {
                self.text(&text, depth)?;
                Ok(self.is_read_as_bash(program))
            }
            _ => {
                self.unclear(format!("`{program}` runs what it reads"));
                Ok(false)
            }
        }
    }

    /// Notes a file that would be run, unless the system's owner keeps it.
    fn pin(&mut self, word: &ShellWord) {
        self.check_climb(word);
        match self.paths(word) {
            Some(paths) => {
                for path in
                    paths.into_iter().filter(|path| !SYSTEM.iter().any(|place| path.starts_with(place)))
                {
                    if !self.found.pins.contains(&path) {
                        self.found.pins.push(path);
                    }
                }
            }
            None => self.unclear(unknown_file(word)),
        }
    }

    /// Asks about a word with `..` after a name that may be a link.
    fn check_climb(&mut self, word: &ShellWord) {
        let is_unknown = |path: &PathBuf| self.climb(path).by == ClimbedBy::Unknown;
        if self.named(word).iter().flatten().any(is_unknown) {
            self.unclear(unknown_file(word));
        }
    }

    /// Moves to the directories that git works in, and notes the store that it changes if `--git-dir` names one.
    fn enter_git_places(&mut self, places: &[GitPlace], changes_store: bool) {
        for place in places {
            if let GitPlace::Directory(word) = place {
                self.cwds = self.paths(word).map(deduplicated);
            }
        }
        for place in places {
            if let GitPlace::Store(word) = place
                && changes_store
            {
                // A store with the usual name is a part of the work tree that it is in.
                let is_inner = Path::new(&word.unexpanded()).file_name().is_some_and(|name| name == ".git");
                let scope = if is_inner { WeighScope::Beside } else { WeighScope::Within };
                self.touch_as(TouchAccess::Write, word, scope);
            }
        }
        for place in places {
            if let GitPlace::WorkTree(word) = place {
                let trees = self.paths(word);
                // Inside the work tree, paths are relative to the directory; otherwise to its top.
                let is_inside = self.cwds.as_ref().zip(trees.as_ref()).is_some_and(|(cwds, trees)| {
                    cwds.iter().all(|cwd| trees.iter().any(|tree| cwd.starts_with(tree)))
                });
                if !is_inside {
                    self.cwds = trees.map(deduplicated);
                }
            }
        }
    }

    /// The folders that a use of git reaches by the name of a remote, from the directories that it works in.
    fn remote_folders(&self, words: &[ShellWord], usage: RemoteUse) -> Vec<ShellWord> {
        let Some((name, _)) = remote_meant(words).filter(|(_, meant)| *meant == usage) else {
            return Vec::new();
        };
        let folders = self.cwds.iter().flatten().flat_map(|directory| {
            let query = RemoteQuery { directory, name, usage };
            self.places.remotes.folders(&query)
        });
        let words = folders.filter_map(|folder| Some(ShellWord::Literal(folder.to_str()?.to_owned())));
        words.collect()
    }

    /// Notes the changes of the work tree that git throws away.
    fn discard(&mut self, words: &[ShellWord], discards_all: bool) {
        let here = ShellWord::Literal(".".to_owned());
        match git::discarded(words) {
            Some(git::GitDiscard::Files(files)) => {
                for file in &files {
                    self.touch(TouchAccess::Discard, file);
                }
            }
            Some(git::GitDiscard::Tree) => self.touch_as(TouchAccess::Discard, &here, WeighScope::Within),
            None if discards_all => self.touch_as(TouchAccess::Discard, &here, WeighScope::Within),
            None => {}
        }
    }

    /// Notes the contents that git takes out of its store.
    fn recall(&mut self, arguments: &[ShellWord]) {
        let (words, places) = git_words(arguments);
        let recalled = recalled(&words);
        let shell_cwds = self.cwds.clone();
        for GitPlace::Directory(word) | GitPlace::WorkTree(word) | GitPlace::Store(word) in &places {
            self.check_climb(word);
        }
        self.enter_git_places(&places, false);
        let mut directories = self.cwds.clone();
        for place in &places {
            if let GitPlace::Store(word) = place {
                // A store is beside its work tree.
                let beside = |path: PathBuf| path.parent().map(Path::to_path_buf).unwrap_or(path);
                directories = self.paths(word).map(|paths| paths.into_iter().map(beside).collect());
            }
        }
        if let Some(source) = &recalled.source {
            directories = self.paths(source);
        }
        for remote in self.remote_folders(&words, RemoteUse::Fetch) {
            let recall = Recall::new(self.paths(&remote), Vec::new());
            self.found.recalls.push(recall);
        }
        self.cwds = shell_cwds;
        let within = |name: &str| -> Vec<PathBuf> {
            let known = directories.iter().flatten();
            known.map(|directory| self.climb(&directory.join(name)).path).collect()
        };
        let secrets = |word: &str| -> Vec<TouchReach> {
            let named = match &directories {
                Some(_) => within(word),
                None => vec![clean(Path::new("/").join(word).as_path())],
            };
            named.into_iter().filter(|path| is_secret(path, self.places)).map(TouchReach::Path).collect()
        };
        let read: Vec<Vec<TouchReach>> =
            recalled.files.iter().filter_map(ShellWord::literal).map(secrets).collect();
        let limits = recalled.limits.iter().flat_map(|limit| within(limit)).collect();
        for reaches in read {
            self.note(TouchAccess::Read, reaches);
        }
        if recalled.is_wide {
            self.found.recalls.push(Recall::new(directories, limits));
        }
    }

    /// Pins the files that the program runs by itself.
    fn recipes(&mut self, program: &str, arguments: &[ShellWord]) {
        if recipes::reads_recipe(program, arguments) {
            self.unclear(format!("`{program}` runs what it reads"));
        }
        for word in recipes::recipe_files(program, arguments) {
            self.check_climb(&word);
            for path in self.paths(&word).into_iter().flatten() {
                if self.found.pins.contains(&path) {
                    continue;
                }
                if self.found.pins.len() >= recipes::MAX_RECIPES {
                    return self.unclear("it runs more files than buddy can hold against a change");
                }
                self.found.pins.push(path);
            }
        }
    }

    /// Notes that everything beneath a path is touched.
    fn touch_beneath(&mut self, access: TouchAccess, word: &ShellWord) {
        self.check_climb(word);
        let reaches = match self.paths(word) {
            Some(paths) => paths.into_iter().map(TouchReach::Beneath).collect(),
            None => vec![TouchReach::Unknown(word.unexpanded())],
        };
        self.note(access, reaches);
    }

    fn touch(&mut self, access: TouchAccess, word: &ShellWord) {
        self.touch_as(access, word, WeighScope::Itself);
    }

    fn touch_as(&mut self, access: TouchAccess, word: &ShellWord, scope: WeighScope) {
        if word.literal().is_some_and(|text| text == "-" || SINKS.contains(&text)) {
            return;
        }
        self.check_climb(word);
        let is_change = !matches!(access, TouchAccess::Look | TouchAccess::Read | TouchAccess::Followed);
        if self.is_moved && is_change && self.paths(word).is_none() {
            let shown = crate::display_command(&word.unexpanded());
            self.unclear(format!(
                "a file that the shell runs can change the directory, and `{shown}` is relative to it"
            ));
        }
        // With a slash at its end a link is followed, and a pattern follows those that it matches on its way.
        let text = word.unexpanded();
        let is_entered = match word {
            ShellWord::Glob(_) => {
                text.split_once(['*', '?', '[']).is_some_and(|(_, after)| after.contains('/'))
            }
            _ => matches!(&*text, "." | "..") || ["/", "/.", "/.."].iter().any(|end| text.ends_with(end)),
        };
        if is_entered && access == TouchAccess::Delete {
            self.touch_as(TouchAccess::Perhaps, word, scope);
        }
        let goes_in = is_entered && access == TouchAccess::Write && scope == WeighScope::Itself;
        let scope = if goes_in { WeighScope::Within } else { scope };
        let beside = |path: PathBuf| path.parent().map_or(path.clone(), Path::to_path_buf);
        let reaches = match (self.paths(word), word) {
            (Some(paths), ShellWord::Literal(_) | ShellWord::Home { .. }) if scope == WeighScope::Beside => {
                paths.into_iter().map(beside).map(TouchReach::Beneath).collect()
            }
            (Some(paths), _) if scope != WeighScope::Itself => {
                paths.into_iter().map(TouchReach::Beneath).collect()
            }
            (Some(paths), ShellWord::Glob(_)) => paths.into_iter().map(TouchReach::Beneath).collect(),
            (Some(paths), _) => paths.into_iter().map(TouchReach::Path).collect(),
            (None, _) => vec![TouchReach::Unknown(word.unexpanded())],
        };
        self.note(access, reaches);
    }

    /// Notes the places where a program may leave links.
    fn bring(&mut self, program: &str, brought: &Brought) {
        // Git changes its whole work tree, wherever in it it works.
        let root = |path: &PathBuf| {
            let holding = self.places.workspace.iter().filter(|root| path.starts_with(root));
            holding.min_by_key(|root| root.components().count()).cloned()
        };
        let is_whole = program == "git" && brought.scope == WeighScope::Within;
        let reach = |path: PathBuf| match brought.scope {
            WeighScope::Within if is_whole => TouchReach::Beneath(root(&path).unwrap_or(path)),
            WeighScope::Within => TouchReach::Beneath(path),
            WeighScope::Beside => {
                TouchReach::Beneath(path.parent().map_or_else(|| path.clone(), Path::to_path_buf))
            }
            WeighScope::Itself => TouchReach::Path(path),
        };
        let mut is_unknown = brought.is_unknown;
        let mut from = Vec::new();
        for word in &brought.from {
            let kind = if matches!(word, ShellWord::Glob(_)) { Carried::Matched } else { Carried::Named };
            match self.paths(word) {
                Some(paths) => from.extend(paths.into_iter().map(kind)),
                None => is_unknown = true,
            }
        }
        let leads_to: Vec<PathBuf> =
            brought.leads_to.iter().filter_map(|word| self.paths(word)).flatten().collect();
        let steps = self.paths(&brought.to).into_iter().flatten().map(|to| BringingStep {
            at: self.levels.clone(),
            to: reach(to),
            from: from.clone(),
            is_unknown,
            leads_to: leads_to.clone(),
        });
        let steps: Vec<BringingStep> = steps.collect();
        self.found.steps.brings.extend(steps);
    }

    fn note(&mut self, access: TouchAccess, reaches: Vec<TouchReach>) {
        let is_alternative = reaches.len() > 1;
        let goes_through = matches!(
            access,
            TouchAccess::Write | TouchAccess::Perhaps | TouchAccess::Delete | TouchAccess::Followed
        );
        for reach in reaches {
            let risky = self.risky.clone();
            if goes_through && !self.is_git_tree {
                let (at, reach, risky) = (self.levels.clone(), reach.clone(), risky.clone());
                self.found.steps.changes.push(ChangingStep { at, access, reach, risky });
            }
            let touch = Touch { access, reach, in_place: self.in_place, is_alternative, risky };
            if !self.found.touches.contains(&touch) {
                self.found.touches.push(touch);
            }
        }
    }

    /// The paths that a word can mean; for a pattern, the directory that holds all its matches. `None` if
    /// they are not known.
    fn paths(&self, word: &ShellWord) -> Option<Vec<PathBuf>> {
        Some(self.named(word)?.iter().map(|path| self.climb(path).path).collect())
    }

    /// A path as the kernel resolves it. What a line does to links before is not known.
    fn climb(&self, path: &Path) -> Climbed {
        let from = self.start.as_deref();
        let climbed = self.places.climb(path, from);
        let is_hidden = self.makes_links && self.places.climb_unseen(path, from).by == ClimbedBy::Unknown;
        if is_hidden { Climbed { by: ClimbedBy::Unknown, ..climbed } } else { climbed }
    }

    /// The same as they are written, with `..`.
    fn named(&self, word: &ShellWord) -> Option<Vec<PathBuf>> {
        let text = match word {
            ShellWord::Literal(text) => text.clone(),
            ShellWord::Glob(text) => {
                let plain = text.split(['*', '?', '[']).next().unwrap_or_default();
                plain.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"))
            }
            ShellWord::Home { rest, .. } => {
                let home = self.places.home.as_ref()?;
                return Some(vec![home.join(rest.trim_start_matches('/'))]);
            }
            ShellWord::Unknown(_) => return None,
        };
        // A pattern can climb after its first star.
        if matches!(word, ShellWord::Glob(_)) && word.unexpanded().contains("..") {
            return None;
        }
        if text.starts_with('/') {
            return Some(vec![PathBuf::from(&text)]);
        }
        let cwds = self.cwds.as_ref()?;
        Some(cwds.iter().map(|cwd| cwd.join(&text)).collect())
    }
}

/// Whether git does this in the work tree that it is in, where it goes through no link. A directory that `-C` names may be behind one, but
/// for what changes the tree.
fn is_in_tree(touched: &Touched, arguments: &[ShellWord], brings: bool) -> bool {
    let (words, places) = git_words(arguments);
    let makes_one = words.first().and_then(ShellWord::literal).is_some_and(|word| word.starts_with("init"));
    let is_here = touched.scope == WeighScope::Within && touched.word.literal() == Some(".");
    (brings || places.is_empty()) && !makes_one && (is_here || touched.access == TouchAccess::Delete)
}

/// Files that set up a shell and leave it where it is.
const SETTING_UP: &[&str] =
    &["bin/activate", ".nvm/nvm.sh", ".cargo/env", ".bashrc", ".profile", ".bash_profile"];

/// Whether a file that a shell runs is one that only sets it up.
fn keeps_directory(word: &ShellWord) -> bool {
    let text = word.unexpanded();
    SETTING_UP
        .iter()
        .any(|end| text.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with('/')))
}

fn deduplicated(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}

/// Whether a command is one whose program could take orders from a variable that no table knows.
pub(crate) fn reads_variables(leaf: &CommandLeaf) -> bool {
    let program = leaf.program.as_str();
    !program.is_empty() && !leaf.is_foreign && !DECLARING.contains(&program) && !is_free_of_variables(program)
}

/// Whether a variable that no table knows gives a program no more to do: it only reads and prints, or runs code of the project,
/// which has the variable to itself.
fn is_free_of_variables(program: &str) -> bool {
    never_writes(program) || is_interpreter(program) || passes_variables_on(program)
}

fn unknown_file(word: &ShellWord) -> String {
    format!("it is not known which file `{}` is", crate::display_command(&word.unexpanded()))
}

/// The name of a program without its directory.
fn program_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

fn is_of_system(text: &str) -> bool {
    SYSTEM_PROGRAMS.iter().any(|place| text.strip_prefix(place).is_some_and(|name| !name.contains('/')))
}

/// Whether a path is that of the dynamic loader, which stands beside libraries.
fn is_loader_of_system(text: &str) -> bool {
    wrappers::is_loader(program_name(text))
        && ["/lib", "/usr/lib"].iter().any(|place| text.starts_with(place))
        && !text.contains("/../")
}

/// The output of `echo` or `printf`, if it is certain and all that feeds a pipe.
fn printed(upstream: &[Simple]) -> Option<String> {
    let [simple] = upstream else { return None };
    let words: Option<Vec<&str>> = simple.words.iter().map(ShellWord::literal).collect();
    let (program, words) = words?.split_first().map(|(program, rest)| (*program, rest.to_vec()))?;
    let is_plain = |text: &&str| !text.starts_with('-') && !text.contains(['%', '\\']);
    match program {
        "echo" => words.iter().all(is_plain).then(|| words.join(" ")),
        "printf" => match words.as_slice() {
            [text] if is_plain(text) => Some((*text).to_owned()),
            _ => None,
        },
        _ => None,
    }
}
