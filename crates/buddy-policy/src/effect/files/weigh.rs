//! A row applied to words: the files that are touched.

use super::brought::{Brought, brought};
use super::parse::{Parsed, parse};
use super::row::{Does, FileRow, OperandForm, RowCondition, RowOperands};
use super::touched::{Touched, WeighScope};
use super::{git, git_options, passes_variables_on, rows, runners};
use crate::effect::TouchAccess;
use crate::shell::ShellWord;

/// The effect of a program with its words on files.
#[derive(Debug, Default)]
pub(crate) struct WeighOutcome {
    pub(crate) touched: Vec<Touched>,
    pub(crate) dangers: Vec<&'static str>,
    /// The places to which it brings links, if it is given any.
    pub(crate) brought: Vec<Brought>,
    /// Whether git throws away changes of the work tree.
    pub(crate) discards: bool,
    /// Whether git changes the store that `--git-dir` names.
    pub(crate) changes_store: bool,
}

/// The outcome by the table; `None` if no row is about this use of the program.
pub(crate) fn outcome(program: &str, arguments: &[ShellWord]) -> Option<WeighOutcome> {
    let arguments = if program == "git" { git::stripped(arguments).0 } else { arguments.to_vec() };
    let arguments = arguments.as_slice();
    if program == "git" && !git_options::are_known(arguments) {
        return None;
    }
    let only_tells = |word: &ShellWord| matches!(word.literal(), Some("--version" | "--help"));
    if rows().any(|row| row.names.contains(&program)) && arguments.iter().all(only_tells) {
        let needs_words = arguments.is_empty() && program != "git";
        if !needs_words {
            return Some(WeighOutcome::default());
        }
    }
    let (row, parsed) = rows()
        .filter(|row| row.names.contains(&program))
        .find_map(|row| row.fits(arguments).map(|parsed| (row, parsed)))
        .or_else(|| {
            let is_runner = runners::runs_project_code(program, arguments);
            is_runner.then(|| (&runners::ROW, parse(&runners::ROW, arguments)))
        })?;
    let mut weigher = Weigher { row, parsed, outcome: WeighOutcome::default() };
    weigher.weigh();
    let is_by_runners = row.names.is_empty();
    if is_by_runners && passes_variables_on(program) {
        // Nobody lists what all the options of such programs write, so each path that a word names may be written.
        for word in arguments.iter().flat_map(named_in) {
            weigher.touch(TouchAccess::Named, &word, WeighScope::Itself);
        }
        for word in arguments.iter().flat_map(followed_in) {
            weigher.touch(TouchAccess::Followed, &word, WeighScope::Itself);
        }
    }
    weigher.outcome.brought = brought(program, row, arguments, &weigher.parsed, &weigher.outcome.touched);
    if program == "git" {
        weigher.store();
    }
    weigher
        .outcome
        .dangers
        .extend(row.check.and_then(|check| check(&weigher.parsed.operands, &weigher.parsed.names)));
    Some(weigher.outcome)
}

impl FileRow {
    /// The words, if the row is about this use.
    fn fits(&self, arguments: &[ShellWord]) -> Option<Parsed> {
        let mut parsed = parse(self, arguments);
        let first = || parsed.operands.first().and_then(ShellWord::literal).map(str::to_owned);
        let could_be = |given: &str, wanted: &str| {
            given == wanted || (given.chars().count() > 1 && wanted.starts_with(given))
        };
        let fits = match self.when {
            RowCondition::Always => true,
            RowCondition::Option(wanted) => {
                parsed.names.iter().any(|given| wanted.iter().any(|wanted| could_be(given, wanted)))
            }
            RowCondition::Word(words) => first().is_some_and(|first| words.contains(&first.as_str())),
            RowCondition::Pair(wanted, words) => {
                let second = parsed.operands.get(1).and_then(ShellWord::literal);
                first().is_some_and(|first| first == wanted)
                    && second.is_some_and(|second| words.contains(&second))
            }
            RowCondition::Letters(letters) => {
                // `ar -r` and `ar r` are the same, so the first word is checked before options are.
                let first = arguments.first().and_then(ShellWord::literal);
                first.is_some_and(|first| {
                    let first = first.strip_prefix('-').unwrap_or(first);
                    first.chars().all(|letter| letter.is_ascii_alphabetic())
                        && first.contains(|letter| letters.contains(letter))
                })
            }
        };
        match self.when {
            RowCondition::Word(_) if fits => drop(parsed.operands.remove(0)),
            RowCondition::Pair(..) if fits => drop(parsed.operands.drain(..2)),
            RowCondition::Letters(_) if fits => parsed = parse(self, arguments.get(1..).unwrap_or_default()),
            _ => {}
        }
        fits.then_some(parsed)
    }

    fn may_remove(&self) -> bool {
        let removes = matches!(
            self.operands,
            RowOperands::Each(TouchAccess::Delete)
                | RowOperands::MoveTo
                | RowOperands::Replaced
                | RowOperands::Patterns
        );
        removes || self.options.iter().any(|(_, does)| matches!(does, Does::Takes | Does::Removes))
    }
}

struct Weigher {
    row: &'static FileRow,
    parsed: Parsed,
    outcome: WeighOutcome,
}

impl Weigher {
    fn weigh(&mut self) {
        if self.parsed.has_unlisted {
            return self.anything();
        }
        self.operands();
        self.options();
        for word in self.parsed.loose.clone().iter().flat_map(named_in) {
            self.touch(TouchAccess::Perhaps, &word, WeighScope::Itself);
        }
    }

    fn options(&mut self) {
        let mut given = self.parsed.given.clone();
        // It depends on the files that the others touch.
        given.sort_by_key(|(does, _)| matches!(does, Does::Base | Does::Backs));
        for (does, value) in given {
            self.option(does, value);
        }
    }

    fn touch(&mut self, access: TouchAccess, word: &ShellWord, scope: WeighScope) {
        let touched = Touched { access, word: word.clone(), scope };
        if !self.outcome.touched.contains(&touched) {
            self.outcome.touched.push(touched);
        }
        if access == TouchAccess::Delete && !self.row.keeps_targets {
            self.touch(TouchAccess::Followed, word, scope);
        }
    }

    fn each(&mut self, access: TouchAccess, words: &[ShellWord]) {
        for word in words {
            self.touch(access, word, WeighScope::Itself);
        }
    }

    fn here(&mut self, access: TouchAccess) {
        self.touch(access, &ShellWord::Literal(".".to_owned()), WeighScope::Within);
    }

    /// With an option that is not listed, every word can be anything.
    fn anything(&mut self) {
        let words: Vec<ShellWord> = self.parsed.operands.iter().chain(&self.parsed.loose).cloned().collect();
        self.each(TouchAccess::Write, &words);
        if self.row.may_remove() {
            self.each(TouchAccess::Delete, &words);
        }
        if self.row.operands != RowOperands::Text {
            self.here(TouchAccess::Write);
        }
        self.options();
    }

    fn operands(&mut self) {
        let operands = self.parsed.operands.clone();
        let has = |does| self.parsed.has(does);
        // A program that prints its result removes its source all the same.
        let read = if has(Does::Takes) { TouchAccess::Delete } else { TouchAccess::Read };
        if has(Does::OnlyReads) {
            if !matches!(self.row.operands, RowOperands::Text | RowOperands::Members | RowOperands::StoreOf) {
                self.each(read, &operands);
            }
            return;
        }
        let is_placed = has(Does::WritesWithin) || has(Does::Base) || has(Does::Writes);
        match self.row.operands {
            RowOperands::Text if self.row.form == OperandForm::Assigned => {
                self.each(TouchAccess::Write, &operands);
            }
            RowOperands::Text => {}
            RowOperands::Each(TouchAccess::Read) => self.each(read, &operands),
            RowOperands::Each(access) => self.each(access, &operands),
            RowOperands::AfterFirst(access) => self.each(access, operands.get(1..).unwrap_or_default()),
            RowOperands::First(TouchAccess::Write) if operands.is_empty() && !is_placed => {
                self.here(TouchAccess::Write);
            }
            RowOperands::First(access) => {
                self.each(access, operands.get(..1).unwrap_or_default());
                self.each(read, operands.get(1..).unwrap_or_default());
            }
            RowOperands::CopyTo => self.copy(&operands, read),
            RowOperands::LinkTo => {
                self.copy(&operands, read);
                self.lead_to(&operands);
            }
            RowOperands::MoveTo => self.copy(&operands, TouchAccess::Delete),
            RowOperands::InOut => {
                self.each(read, operands.get(..1).unwrap_or_default());
                self.each(TouchAccess::Write, operands.get(1..).unwrap_or_default());
            }
            RowOperands::Replaced | RowOperands::Beside => self.replace(&operands),
            RowOperands::Pack => {
                self.each(TouchAccess::Write, operands.get(..1).unwrap_or_default());
                self.each(read, operands.get(1..).unwrap_or_default());
            }
            RowOperands::Members if is_placed => {}
            RowOperands::StoreOf if operands.is_empty() => {}
            RowOperands::Members | RowOperands::Store | RowOperands::StoreOf => self.here(TouchAccess::Write),
            RowOperands::StoreAndFirst => self.send_to(operands.first()),
            RowOperands::Unpack => {
                self.each(read, operands.get(..1).unwrap_or_default());
                if !is_placed {
                    self.here(TouchAccess::Write);
                }
            }
            RowOperands::UnpackTo => {
                self.each(read, operands.get(..1).unwrap_or_default());
                match operands.get(1) {
                    Some(place) => self.touch(TouchAccess::Write, place, WeighScope::Within),
                    None => self.here(TouchAccess::Write),
                }
            }
            RowOperands::Here => {
                self.each(read, &operands);
                if !is_placed {
                    self.here(TouchAccess::Write);
                }
            }
            RowOperands::Prefix => {
                self.each(read, operands.get(..1).unwrap_or_default());
                match operands.get(1) {
                    Some(prefix) => self.touch(TouchAccess::Write, prefix, WeighScope::Beside),
                    None => self.here(TouchAccess::Write),
                }
            }
            RowOperands::CloneTo => self.clone_to(&operands),
            RowOperands::Fixed(access, names) => {
                for name in names {
                    self.touch(access, &ShellWord::Literal((*name).to_owned()), WeighScope::Itself);
                }
            }
            RowOperands::Patterns => self.move_matches(&operands),
        }
    }

    /// Files that patterns match get other names.
    fn move_matches(&mut self, patterns: &[ShellWord]) {
        for word in patterns {
            self.touch(TouchAccess::Write, word, WeighScope::Beside);
            self.touch(TouchAccess::Delete, word, WeighScope::Beside);
        }
    }

    /// The store here is changed, and a folder that is sent to.
    fn send_to(&mut self, address: Option<&ShellWord>) {
        self.here(TouchAccess::Write);
        if let Some(folder) = address.and_then(folder) {
            self.touch(TouchAccess::Write, &folder, WeighScope::Within);
        }
    }

    fn clone_to(&mut self, operands: &[ShellWord]) {
        let Some(source) = operands.first() else { return self.here(TouchAccess::Write) };
        if !git::is_address(source) {
            self.touch(TouchAccess::Read, source, WeighScope::Itself);
        }
        let is_bare = self.parsed.names.iter().any(|name| matches!(name.as_str(), "bare" | "mirror"));
        match operands.get(1).cloned().or_else(|| git::cloned_name(source, is_bare)) {
            Some(place) => self.touch(TouchAccess::Write, &place, WeighScope::Itself),
            None => self.here(TouchAccess::Write),
        }
    }

    fn copy(&mut self, operands: &[ShellWord], before: TouchAccess) {
        if self.parsed.has(Does::Into) || self.parsed.has(Does::InPlace) {
            return self.each(before, operands);
        }
        let Some((last, sources)) = operands.split_last() else { return };
        self.each(before, sources);
        if sources.is_empty() {
            // With one word alone, a link to it is made here.
            self.each(TouchAccess::Read, operands);
            return self.here(TouchAccess::Write);
        }
        self.touch(TouchAccess::Write, last, WeighScope::Itself);
        if self.parsed.has(Does::Prunes) {
            self.touch(TouchAccess::Delete, last, WeighScope::Itself);
        }
    }

    /// A later part of the line can change the target through a link.
    fn lead_to(&mut self, operands: &[ShellWord]) {
        let is_alone = operands.len() < 2 || self.parsed.has(Does::Into);
        let sources =
            if is_alone { operands } else { operands.split_last().map_or(operands, |(_, sources)| sources) };
        self.each(TouchAccess::Perhaps, sources);
    }

    fn replace(&mut self, operands: &[ShellWord]) {
        let goes = self.row.operands == RowOperands::Replaced && !self.parsed.has(Does::Keeps);
        let access =
            if goes || self.parsed.has(Does::Takes) { TouchAccess::Delete } else { TouchAccess::Read };
        self.each(access, operands);
        // Links are followed to the packed files.
        self.each(TouchAccess::Perhaps, operands);
        if !self.parsed.has(Does::Writes) {
            for word in operands {
                self.touch(TouchAccess::Write, word, WeighScope::Beside);
            }
        }
    }

    fn option(&mut self, does: Does, value: Option<ShellWord>) {
        if does == Does::WritesJoined && value.is_none() {
            return;
        }
        let value = value.unwrap_or_else(|| ShellWord::Literal(".".to_owned()));
        let operands = self.parsed.operands.clone();
        match does {
            Does::Writes | Does::AlsoWrites | Does::WritesJoined => {
                self.touch(TouchAccess::Write, &value, WeighScope::Itself);
            }
            Does::WritesWithin | Does::Into => self.touch(TouchAccess::Write, &value, WeighScope::Within),
            Does::WritesBeside => self.touch(TouchAccess::Write, &value, WeighScope::Beside),
            Does::Removes => self.touch(TouchAccess::Delete, &value, WeighScope::Itself),
            Does::Base => self.base(&value),
            Does::InPlace => self.each(TouchAccess::Write, &operands),
            Does::Here => self.here(TouchAccess::Write),
            Does::Links => self.lead_to(&operands),
            Does::Backs => self.backs(),
            // Without `-x` git leaves the files that it ignores, and the rest counts as thrown away.
            Does::Discards if operands.is_empty() => {
                let takes_ignored = self.parsed.names.iter().any(|name| matches!(name.as_str(), "x" | "X"));
                self.here(if takes_ignored { TouchAccess::Delete } else { TouchAccess::Write });
            }
            Does::Discards => self.each(TouchAccess::Delete, &operands),
            Does::Anywhere => {
                let word = ShellWord::Unknown("the names that it reads".to_owned());
                self.touch(TouchAccess::Write, &word, WeighScope::Itself);
            }
            Does::Runs => self.outcome.dangers.push("an option makes it run other programs"),
            Does::Parents => {
                for word in operands {
                    self.parents(&word);
                }
            }
            Does::OnlyReads | Does::Keeps | Does::Takes | Does::Prunes => {}
        }
    }

    /// For every changed file, one beside it is written too.
    fn backs(&mut self) {
        let changed = self.outcome.touched.iter().filter(|touched| touched.access != TouchAccess::Read);
        let words: Vec<ShellWord> = changed.map(|touched| touched.word.clone()).collect();
        for word in words {
            self.touch(TouchAccess::Write, &word, WeighScope::Beside);
        }
    }

    /// The repository that git works in changes with the files.
    fn store(&mut self) {
        let is_discarding =
            self.row.discards.is_some_and(|check| check(&self.parsed.operands, &self.parsed.names));
        self.outcome.discards = is_discarding;
        self.outcome.changes_store = match self.row.operands {
            RowOperands::Text | RowOperands::Members => false,
            RowOperands::StoreOf => !self.outcome.touched.is_empty(),
            _ => true,
        };
        if self.outcome.changes_store && !self.row.leaves_store {
            self.here(TouchAccess::Write);
        }
    }

    /// The operands lie in another directory: accesses to them happen there.
    fn base(&mut self, directory: &ShellWord) {
        let changing = [TouchAccess::Write, TouchAccess::Delete].into_iter().filter(|access| {
            self.outcome
                .touched
                .iter()
                .any(|touched| touched.access == *access && self.parsed.operands.contains(&touched.word))
        });
        let changing: Vec<TouchAccess> = changing.collect();
        for access in changing {
            self.touch(access, directory, WeighScope::Within);
        }
        let unpacks =
            matches!(self.row.operands, RowOperands::Unpack | RowOperands::Here | RowOperands::Members);
        if unpacks && !self.parsed.has(Does::OnlyReads) {
            self.touch(TouchAccess::Write, directory, WeighScope::Within);
        }
    }

    fn parents(&mut self, word: &ShellWord) {
        let text = word.unexpanded();
        let mut end = text.trim_end_matches('/');
        while let Some((parent, _)) = end.rsplit_once('/') {
            end = parent.trim_end_matches('/');
            let parent = match (word, end) {
                (_, "") => break,
                (ShellWord::Literal(_), end) => ShellWord::Literal(end.to_owned()),
                _ => ShellWord::Unknown(text.clone()),
            };
            self.touch(TouchAccess::Delete, &parent, WeighScope::Itself);
        }
    }
}

/// The paths that a word can name: alone, or after a name as in `-Xlog:gc:/tmp/log`.
fn named_in(value: &ShellWord) -> Vec<ShellWord> {
    let (text, part_of): (&str, fn(String) -> ShellWord) = match value {
        ShellWord::Literal(text) => (text, ShellWord::Literal),
        ShellWord::Glob(text) => (text, ShellWord::Glob),
        ShellWord::Home { .. } => return vec![value.clone()],
        ShellWord::Unknown(text) => return may_lead_out(text).then(|| value.clone()).into_iter().collect(),
    };
    let starts = text.match_indices([':', '=', ',']).map(|(at, _)| at + 1);
    let starts = std::iter::once(0).chain(starts).filter(|start| !follows_scheme(text, *start));
    let parts = starts.filter_map(|start| text.get(start..));
    let is_path = |part: &&str| part.starts_with(['/', '.']) || part.contains("/../");
    parts.filter(is_path).map(|part| part_of(part.to_owned())).collect()
}

/// The names in this directory and below that a word can have: alone, as the value of an option, or joined to one as in `-Cdir`.
fn followed_in(value: &ShellWord) -> Vec<ShellWord> {
    let ShellWord::Literal(text) = value else { return Vec::new() };
    let joined = (text.starts_with('-') && !text.starts_with("--")).then_some(2);
    let starts = text.match_indices([':', '=', ',']).map(|(at, _)| at + 1);
    let parts = std::iter::once(0).chain(joined).chain(starts).filter_map(|start| text.get(start..));
    let parts = parts.filter(|part| !part.is_empty() && !part.starts_with(['-', '/', '.']));
    parts.map(|part| ShellWord::Literal(part.to_owned())).collect()
}

/// Whether a word that is computed can be a path outside. Of the output of a command, only the paths that the command names are known.
fn may_lead_out(text: &str) -> bool {
    let is_output = text.contains("$(") || text.contains('`');
    let is_mark = |letter: char| letter.is_whitespace() || "\"'`$(){}=:,;|&<>".contains(letter);
    let leads_out = |part: &str| {
        part.starts_with(['/', '~']) || part == ".." || part.contains("../") || part.ends_with("/..")
    };
    if is_output { text.split(is_mark).any(leads_out) } else { text.contains('/') }
}

/// Whether the part of a word that starts here is the rest of an address on the network, such as `//docs.rs` of `https://docs.rs`.
fn follows_scheme(text: &str, start: usize) -> bool {
    const SCHEMES: &[&str] = &[
        "http",
        "https",
        "ssh",
        "git",
        "ws",
        "wss",
        "redis",
        "postgres",
        "postgresql",
        "mysql",
        "mongodb",
        "amqp",
    ];
    let (before, rest) = text.split_at(start);
    let scheme = before
        .strip_suffix(':')
        .and_then(|before| before.rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next());
    rest.starts_with("//") && scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
}

/// The folder that the address of a repository names; none for the name of a remote and for one that is elsewhere, which git tells by
/// the same marks.
fn folder(address: &ShellWord) -> Option<ShellWord> {
    let text = address.unexpanded();
    if let Some(path) = text.strip_prefix("file://") {
        return address.literal().map(|_| ShellWord::Literal(path.to_owned()));
    }
    let before = text.split('/').next().unwrap_or_default();
    (text.contains('/') && !before.contains(':') || text == "." || text == "..").then(|| address.clone())
}
