//! From the syntax tree to the parts of a command line.
//!
//! Kinds of nodes that are not named here are unclear. So is text between two nodes that is not blank: the
//! grammar skips some text that the shell does not.

use tree_sitter::Node;

use super::computed::{
    has_computed_descriptor, has_computed_subscript, is_number_variable, is_plain_expansion, is_plain_name,
    is_plain_setting, is_tame_value,
};
use super::heredoc::document;
use super::tree::parse;
use super::{Direction, MAX_DEPTH, MAX_LEAVES, Redirect, ShellScript, ShellWord, Simple, UnreadableScript};

/// Tokens that only give structure.
const TOKENS: &[&str] = &[
    ";", ";;", ";&", ";;&", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "$(", "`", "<(", ">(", "!", "if",
    "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "in", "case", "esac",
    "function", "\n",
];

/// Parses a command line.
pub(crate) fn read(source: &str) -> Result<ShellScript, UnreadableScript> {
    let tree = parse(source)?;
    let mut reader = ShellReader { source, script: ShellScript::default(), settings: Vec::new() };
    if source.chars().any(|character| character.is_control() && character != '\n' && character != '\t') {
        reader.script.doubt("it contains control characters");
    }
    let root = tree.root_node();
    reader.outside(root);
    reader.visit(root, 0)?;
    reader.note_tame();
    let mut script = reader.script;
    script.is_plain = root.child_count() == 1
        && root.child(0).is_some_and(|child| child.kind() == "command")
        && script.leaves() == 1
        && script.unclear.is_empty();
    Ok(script)
}

struct ShellReader<'a> {
    source: &'a str,
    script: ShellScript,
    /// The variables that it sets, and whether their values are plain words.
    settings: Vec<(&'a str, bool)>,
}

/// Statements that hold others. A redirection of a list or a pipeline belongs to its last command.
const BLOCKS: &[&str] =
    &["subshell", "compound_statement", "if_statement", "while_statement", "for_statement", "case_statement"];

/// Programs after which any variable can have any value.
const SETTING_ANY: &[&str] = &["eval", "source", ".", "command", "builtin"];

/// The gaps that may be between the children of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    /// Blanks and continued lines.
    Line,
    /// Line breaks too.
    Lines,
}

impl<'a> ShellReader<'a> {
    fn slice(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Doubts text before and after the part that the grammar read.
    fn outside(&mut self, root: Node<'_>) {
        let before = self.source.get(..root.start_byte()).unwrap_or_default();
        let after = self.source.get(root.end_byte()..).unwrap_or_default();
        let is_blank = |text: &str| {
            text.replace("\\\n", "").chars().all(|character| matches!(character, ' ' | '\t' | '\n'))
        };
        if !is_blank(before) || !is_blank(after) {
            self.script.doubt("a part of it is not understood");
        }
        if has_glue(self.source) {
            self.script.doubt("a line goes on in the middle of a word");
        }
    }

    /// Notes the variables that are only set to plain words. A name that stands as a word may be set by a builtin.
    fn note_tame(&mut self) {
        let words =
            || self.script.commands.iter().flat_map(|simple| &simple.words).filter_map(ShellWord::literal);
        if words().any(|word| SETTING_ANY.contains(&word)) {
            return;
        }
        let is_tame = |name: &str| {
            self.settings.iter().filter(|(set, _)| *set == name).all(|(_, is_tame)| *is_tame)
                && !words().any(|word| word == name)
        };
        let names = self.settings.iter().map(|(name, _)| *name);
        self.script.tame = names.filter(|name| is_tame(name)).map(str::to_owned).collect();
    }

    /// Doubts a redirection that sets an element of an array to its descriptor.
    fn check_descriptor(&mut self, redirect: Node<'_>) {
        let named = children(redirect).into_iter().find(|child| child.kind() == "file_descriptor");
        let end = named.map_or(redirect.start_byte(), |named| named.end_byte());
        if has_computed_descriptor(self.source.get(..end).unwrap_or_default()) {
            self.script.doubt("it computes with variables");
        }
    }

    fn visit(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        if depth > MAX_DEPTH {
            return Err(UnreadableScript::TooDeep);
        }
        if self.script.leaves() > MAX_LEAVES {
            return Err(UnreadableScript::TooMany);
        }
        self.script.repeats |=
            matches!(node.kind(), "while_statement" | "for_statement" | "function_definition");
        match node.kind() {
            "command" => self.command(node, depth),
            "pipeline" => self.pipeline(node, depth, None),
            "redirected_statement" => self.redirected(node, depth),
            "file_redirect" => self.file_redirect(node, depth),
            "herestring_redirect" => self.herestring(node, depth).map(drop),
            "heredoc_redirect" => self.heredoc(node, depth, None),
            "variable_assignment" => self.bare_assignment(node, depth),
            "declaration_command" | "unset_command" => self.declaration(node, depth),
            "test_command" => self.test(node, depth),
            "function_definition" => self.function(node, depth),
            "for_statement" => self.for_each(node, depth),
            "command_substitution" => self.substitution(node, depth),
            "comment" => {
                self.comment(node);
                Ok(())
            }
            "program"
            | "list"
            | "subshell"
            | "compound_statement"
            | "negated_command"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "case_statement"
            | "case_item"
            | "process_substitution"
            | "variable_assignments" => self.structure(node, depth),
            kind if is_word(kind) => self.word(node, depth).map(drop),
            kind => {
                self.script.doubt(format!("it contains {}", kind.replace('_', " ")));
                self.substitutions(node, depth)
            }
        }
    }

    /// A node that only holds others.
    fn structure(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.gaps(node, Gaps::Lines);
        self.script.runs_beside |= node.kind() == "process_substitution";
        for child in children(node) {
            self.script.runs_beside |= child.kind() == "&";
            if child.is_named() {
                self.visit(child, depth + 1)?;
            } else if !TOKENS.contains(&child.kind()) {
                self.script.doubt(format!("it contains `{}`", crate::display_command(self.slice(child))));
            }
        }
        Ok(())
    }

    fn command(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.gaps(node, Gaps::Line);
        let mut simple = Simple::default();
        let mut last_word_end = None;
        let own_redirects = self.script.redirects.len();
        for child in children(node) {
            let is_word_like = match child.kind() {
                "file_redirect" => {
                    self.file_redirect(child, depth + 1)?;
                    false
                }
                "herestring_redirect" => {
                    simple.input = self.herestring(child, depth + 1)?;
                    false
                }
                "variable_assignment" => {
                    let assignment = self.assignment(child, depth + 1)?;
                    simple.assignments.push(assignment);
                    true
                }
                "command_name" => {
                    let word = self.word(child, depth + 1)?;
                    simple.words.push(word);
                    true
                }
                kind if is_word(kind) => {
                    let word = self.word(child, depth + 1)?;
                    simple.words.push(word);
                    true
                }
                "=" | "==" => {
                    simple.words.push(ShellWord::Literal(self.slice(child).to_owned()));
                    true
                }
                kind => {
                    self.script.doubt(format!("a command contains {}", kind.replace('_', " ")));
                    self.substitutions(child, depth + 1)?;
                    true
                }
            };
            if is_word_like {
                if last_word_end == Some(child.start_byte()) {
                    self.script.doubt("it is not certain where a word ends");
                }
                last_word_end = Some(child.end_byte());
            }
        }
        self.open_before(own_redirects, self.script.commands.len());
        self.script.commands.push(simple);
        Ok(())
    }

    fn pipeline(
        &mut self,
        node: Node<'_>,
        depth: usize,
        feeds_from: Option<usize>,
    ) -> Result<(), UnreadableScript> {
        self.gaps(node, Gaps::Lines);
        let start = feeds_from.unwrap_or(self.script.commands.len());
        for child in children(node) {
            let before = self.script.commands.len();
            if !child.is_named() {
                continue;
            }
            self.visit(child, depth + 1)?;
            if before == start {
                continue;
            }
            for command in self.script.commands.iter_mut().skip(before) {
                command.upstream.get_or_insert(start..before);
            }
            self.script.overlaps.push((start..before, before..self.script.commands.len()));
        }
        Ok(())
    }

    fn redirected(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.gaps(node, Gaps::Line);
        let start = self.script.commands.len();
        let body = node.child_by_field_name("body");
        // A shell expands the words of a simple command first. Around a block it opens the file before all of it.
        let is_block = body.is_some_and(|body| BLOCKS.contains(&body.kind()));
        let (mut own_redirects, mut before) = (self.script.redirects.len(), start);
        for child in children(node) {
            match child.kind() {
                _ if body.is_some_and(|body| body.id() == child.id()) => {
                    self.visit(child, depth + 1)?;
                    let last = self.script.commands.len().saturating_sub(1);
                    before = if is_block { start } else { last };
                    own_redirects = self.script.redirects.len();
                }
                "heredoc_redirect" => self.heredoc(child, depth + 1, Some(start))?,
                "herestring_redirect" => {
                    let input = self.herestring(child, depth + 1)?;
                    self.feed(body, start, input);
                }
                _ => self.visit(child, depth + 1)?,
            }
        }
        self.open_before(own_redirects, before);
        Ok(())
    }

    /// Notes the command before which redirections are opened, for those from the given place on.
    fn open_before(&mut self, redirects: usize, command: usize) {
        for redirect in self.script.redirects.iter_mut().skip(redirects) {
            redirect.before = command;
        }
    }

    /// Sets the input of the one command of a redirected statement.
    fn feed(&mut self, body: Option<Node<'_>>, at: usize, input: Option<String>) {
        if body.is_some_and(|body| body.kind() == "command")
            && let Some(command) = self.script.commands.get_mut(at)
        {
            command.input = input;
        }
    }

    fn heredoc(
        &mut self,
        node: Node<'_>,
        depth: usize,
        body_at: Option<usize>,
    ) -> Result<(), UnreadableScript> {
        self.check_descriptor(node);
        let found = document(node, self.source);
        match &found {
            None => self.script.doubt("it is not certain where a here-document ends"),
            Some(document) if document.may_run => {
                self.script.doubt("a here-document runs commands or computes");
            }
            Some(_) => {}
        }
        for child in children(node) {
            match child.kind() {
                "pipeline" => {
                    self.pipeline(child, depth + 1, body_at)?;
                }
                "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_body" => self.substitutions(child, depth + 1)?,
                _ if !child.is_named() => {}
                kind if is_word(kind) => {
                    self.script.doubt("words follow a here-document");
                    self.word(child, depth + 1)?;
                }
                _ => self.visit(child, depth + 1)?,
            }
        }
        if let (Some(at), Some(document)) = (body_at, found) {
            let body = node.parent().and_then(|parent| parent.child_by_field_name("body"));
            self.feed(body, at, document.text);
        }
        Ok(())
    }

    fn herestring(&mut self, node: Node<'_>, depth: usize) -> Result<Option<String>, UnreadableScript> {
        self.check_descriptor(node);
        self.gaps(node, Gaps::Line);
        let mut input = None;
        for child in children(node).into_iter().filter(|child| is_word(child.kind())) {
            input = self.word(child, depth + 1)?.literal().map(str::to_owned);
        }
        Ok(input)
    }

    fn file_redirect(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.check_descriptor(node);
        self.gaps(node, Gaps::Line);
        let mut direction = None;
        let mut files = Vec::new();
        for child in children(node) {
            match child.kind() {
                "file_descriptor" => {}
                "<" => direction = Some((Direction::Read, false)),
                "<&" => direction = Some((Direction::Read, true)),
                ">" | ">>" | "&>" | "&>>" | ">|" => direction = Some((Direction::Write, false)),
                ">&" => direction = Some((Direction::Write, true)),
                "<&-" | ">&-" => return Ok(()),
                kind if is_word(kind) => files.push(self.word(child, depth + 1)?),
                kind => {
                    self.script.doubt(format!("a redirection contains {}", kind.replace('_', " ")));
                    self.substitutions(child, depth + 1)?;
                }
            }
        }
        if files.len() > 1 {
            self.script.doubt("words follow a redirection");
        }
        let (Some((direction, may_copy)), Some(file)) = (direction, files.into_iter().next()) else {
            self.script.doubt("a redirection is not understood");
            return Ok(());
        };
        let is_copy = may_copy && file.literal().is_some_and(is_descriptor);
        if !is_copy {
            let before = self.script.commands.len();
            self.script.redirects.push(Redirect { direction, file, before });
        }
        Ok(())
    }

    fn bare_assignment(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        let assignment = self.assignment(node, depth)?;
        self.script.commands.push(Simple { assignments: vec![assignment], ..Simple::default() });
        Ok(())
    }

    fn assignment(&mut self, node: Node<'_>, depth: usize) -> Result<String, UnreadableScript> {
        self.substitutions(node, depth)?;
        let slice = self.slice(node);
        let (name, value) = slice.split_once('=').unwrap_or((slice, ""));
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_plain_name(name) {
            self.script.doubt("it assigns to an element of an array");
        }
        let list = node.child_by_field_name("value").filter(|value| value.kind() == "array");
        let is_computed = |element: Node<'_>| has_computed_subscript(self.slice(element));
        if !is_plain_setting(name, value)
            || list.is_some_and(|list| children(list).into_iter().any(is_computed))
        {
            self.script.doubt("it computes with variables");
        }
        self.settings.push((name, is_tame_value(value)));
        Ok(name.to_owned())
    }

    /// `export`, `declare`, `local`, `readonly`, `typeset`, `unset`.
    fn declaration(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.gaps(node, Gaps::Line);
        let mut simple = Simple::default();
        let takes_lists = self.slice(node).starts_with(['d', 't', 'l']);
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => {
                    if takes_lists && self.may_hide_list(child) {
                        self.script.doubt("a declaration may evaluate its value");
                    }
                    let assignment = self.assignment(child, depth + 1)?;
                    simple.assignments.push(assignment);
                }
                kind if is_word(kind) => {
                    let word = self.word(child, depth + 1)?;
                    simple.words.push(word);
                }
                _ if !child.is_named() => simple.words.push(ShellWord::Literal(self.slice(child).to_owned())),
                kind => {
                    self.script.doubt(format!("a declaration contains {}", kind.replace('_', " ")));
                    self.substitutions(child, depth + 1)?;
                }
            }
        }
        self.script.commands.push(simple);
        Ok(())
    }

    /// Whether `declare x='(…)'` could have the list that it sets in quotes or in a variable. If `x` is an array, the shell expands such a list
    /// once more.
    fn may_hide_list(&self, assignment: Node<'_>) -> bool {
        let Some(value) = assignment.child_by_field_name("value") else { return false };
        match ShellWord::decode(self.slice(value)) {
            _ if value.kind() == "array" => false,
            ShellWord::Literal(text) => text.starts_with('('),
            word => word.is_unknown(),
        }
    }

    /// The words and operators of a test, in their order.
    fn test_words(&self, node: Node<'_>, depth: usize, words: &mut Vec<ShellWord>) {
        let inner = |child: &Node<'_>| depth <= MAX_DEPTH && !matches!(child.kind(), "[" | "]");
        for child in children(node).into_iter().filter(inner) {
            if is_word(child.kind()) || child.child_count() == 0 {
                words.push(ShellWord::decode(self.slice(child)));
            } else {
                self.test_words(child, depth + 1, words);
            }
        }
    }

    /// `[ … ]` and `[[ … ]]`, which the grammar reads as expressions.
    fn test(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.substitutions(node, depth)?;
        let slice = self.slice(node);
        let is_double = slice.starts_with("[[");
        let computes =
            |word: &str| matches!(word, "-eq" | "-ne" | "-lt" | "-gt" | "-le" | "-ge" | "-v" | "-R");
        let is_unclear = slice.contains(['`', '\n', '\\'])
            || slice.split_whitespace().any(|word| word == "-v" || (is_double && computes(word)))
            || (!is_double && slice.contains([';', '|', '&', '<', '>', '(', ')']))
            || slice.starts_with("((");
        if is_unclear {
            self.script.doubt("a test is not understood");
        }
        let mut words = vec![ShellWord::Literal("[".to_owned())];
        if slice.contains('$') {
            words.push(ShellWord::Unknown(slice.to_owned()));
        }
        let mut test = Vec::new();
        if !is_double {
            self.test_words(node, depth, &mut test);
        }
        self.script.commands.push(Simple { words, test, ..Simple::default() });
        Ok(())
    }

    fn function(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        let before = self.script.commands.len();
        let name = node.child_by_field_name("name").map(|name| self.slice(name)).unwrap_or_default();
        self.script.doubt(format!("it defines the function `{}`", crate::display_command(name)));
        for child in children(node).into_iter().filter(Node::is_named) {
            self.visit(child, depth + 1)?;
        }
        let calls_itself =
            |command: &Simple| command.words.first().and_then(ShellWord::literal) == Some(name);
        if self.script.commands.iter().skip(before).any(calls_itself) {
            self.script.bombs.push(name.to_owned());
        }
        Ok(())
    }

    fn for_each(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        self.gaps(node, Gaps::Lines);
        let values = |child: &Node<'_>| is_word(child.kind()) && child.kind() != "variable_name";
        let is_tame = |child: Node<'_>| is_tame_value(self.slice(child));
        let is_tame = children(node).into_iter().filter(values).all(is_tame);
        for child in children(node) {
            match child.kind() {
                "variable_name" => {
                    self.settings.push((self.slice(child), is_tame));
                    let assignment = self.slice(child).to_owned();
                    if is_number_variable(&assignment) {
                        self.script.doubt("it computes with variables");
                    }
                    self.script.commands.push(Simple { assignments: vec![assignment], ..Simple::default() });
                }
                _ if child.is_named() => self.visit(child, depth + 1)?,
                kind if TOKENS.contains(&kind) => {}
                _ => self.script.doubt("a loop is not understood"),
            }
        }
        Ok(())
    }

    fn substitution(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        let slice = self.slice(node);
        if slice.starts_with('`') && slice.contains('\\') {
            self.script.doubt("a substitution contains escapes");
        }
        self.structure(node, depth)
    }

    fn comment(&mut self, node: Node<'_>) {
        let slice = self.slice(node);
        // Some interactive shells read comments as commands.
        if slice.contains([';', '|', '&', '`']) || slice.contains("$(") {
            self.script.doubt("a comment contains shell syntax");
        }
    }

    fn word(&mut self, node: Node<'_>, depth: usize) -> Result<ShellWord, UnreadableScript> {
        let slice = self.slice(node);
        let word = ShellWord::decode(slice);
        if word.is_unknown() {
            if slice.chars().any(char::is_whitespace) && !slice.contains(['"', '\'', '$', '`', '(', '\\']) {
                self.script.doubt("it is not certain where a word ends");
            }
            self.substitutions(node, depth)?;
        }
        Ok(word)
    }

    /// Visits the commands that run inside a word or an expression.
    fn substitutions(&mut self, node: Node<'_>, depth: usize) -> Result<(), UnreadableScript> {
        if depth > MAX_DEPTH {
            return Err(UnreadableScript::TooDeep);
        }
        match node.kind() {
            "command_substitution" => return self.substitution(node, depth),
            "process_substitution" => return self.structure(node, depth),
            "arithmetic_expansion" if self.slice(node).contains(|c: char| c.is_alphabetic()) => {
                self.script.doubt("it computes with variables");
            }
            "subscript"
                if has_computed_subscript(self.slice(node).trim_start_matches(|c: char| c != '[')) =>
            {
                self.script.doubt("it computes with variables");
            }
            // `${x@P}` and the like run the value of the variable; `${!x}` names another variable; `${x:y}` computes with `y`.
            "expansion"
                if !is_plain_expansion(self.slice(node))
                    || (self.slice(node).contains('@') && !self.slice(node).ends_with("[@]}")) =>
            {
                self.script.doubt("an expansion is not understood");
            }
            // A pattern that `${…}` takes away is not looked into.
            "regex" | "extglob_pattern"
                if ["${", "$[", "$(("].iter().any(|start| self.slice(node).contains(start)) =>
            {
                self.script.doubt("an expansion is not understood");
            }
            // The grammar reads only the outermost text of these.
            "word" | "regex" | "extglob_pattern" | "heredoc_content" | "string_content"
                if ShellWord::decode(self.slice(node)).is_unknown()
                    && (self.slice(node).contains('`') || self.slice(node).contains("$(")) =>
            {
                self.script.doubt("a substitution is not understood");
            }
            _ => {}
        }
        for child in children(node) {
            self.substitutions(child, depth + 1)?;
        }
        Ok(())
    }

    /// Doubts text that stands between the children of a node and is not blank.
    fn gaps(&mut self, node: Node<'_>, allowed: Gaps) {
        let mut at = node.start_byte();
        let mut check = |from: usize, to: usize| {
            let gap = self.source.get(from..to).unwrap_or_default().replace("\\\n", "");
            let is_blank =
                |character| matches!(character, ' ' | '\t') || (allowed == Gaps::Lines && character == '\n');
            if !gap.chars().all(is_blank) {
                self.script.doubt("a part of it is not understood");
            }
        };
        for child in children(node) {
            check(at, child.start_byte());
            at = at.max(child.end_byte());
        }
        check(at, node.end_byte());
    }
}

/// Whether a continued line may join the text before it with the text after it: the shell reads one word
/// there, and the grammar two. Only after a blank that is not escaped can it join nothing.
fn has_glue(source: &str) -> bool {
    source.match_indices("\\\n").any(|(at, _)| {
        let before = source.get(..at).unwrap_or_default();
        let is_apart = before.is_empty() || before.ends_with([' ', '\t', '\n']);
        !is_apart || before.ends_with("\\ ") || before.ends_with("\\\t")
    })
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

fn is_word(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "translated_string"
            | "concatenation"
            | "number"
            | "simple_expansion"
            | "expansion"
            | "arithmetic_expansion"
            | "brace_expression"
            | "extglob_pattern"
            | "regex"
            | "special_variable_name"
            | "variable_name"
            | "command_substitution"
            | "process_substitution"
            | "array"
    )
}

fn is_descriptor(text: &str) -> bool {
    text == "-" || (!text.is_empty() && text.chars().all(|character| character.is_ascii_digit()))
}
