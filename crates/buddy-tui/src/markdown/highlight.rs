//! Colours for code by its language.
//!
//! The grammars are read when the first code with a language is shown, never before, and once a process.

use std::sync::OnceLock;

use anstyle::Style;
use syntect::easy::ScopeRegionIterator;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::text::{Paint, Span, StyledLine, TerminalLook};

/// How many lines of a block are coloured. The rest of a longer one is plain, as nobody reads it for its colours.
const MOST_LINES: usize = 2_000;
/// The longest line that is coloured, in bytes: grammars take their time over a long one.
const LONGEST_LINE: usize = 1_000;

static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();

/// Reads the grammars, so that the first block of code need not wait for it. It takes a moment of the processor's time and
/// belongs on a thread that may block.
pub(crate) fn load_syntaxes() {
    syntaxes();
}

fn syntaxes() -> &'static SyntaxSet {
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

/// Where a block of code is in its grammar.
#[derive(Clone)]
pub(super) struct Highlighter {
    parser: ParseState,
    scopes: ScopeStack,
    lines: usize,
}

impl Highlighter {
    /// A highlighter for a language, if there is one.
    pub(super) fn of(language: &str) -> Option<Self> {
        let syntax = (!language.is_empty()).then(|| syntaxes().find_syntax_by_token(language))??;
        Some(Self { parser: ParseState::new(syntax), scopes: ScopeStack::new(), lines: 0 })
    }

    /// The next line in colours. `None` when it is beyond the bounds or the grammar fails: the rest of the block is plain.
    pub(super) fn line(&mut self, text: &str, look: &TerminalLook) -> Option<StyledLine> {
        self.lines += 1;
        if self.lines > MOST_LINES || text.len() > LONGEST_LINE {
            return None;
        }
        let whole = format!("{text}\n");
        let changes = self.parser.parse_line(&whole, syntaxes()).ok()?;
        let mut line = StyledLine::default();
        for (piece, change) in ScopeRegionIterator::new(&changes, &whole) {
            self.scopes.apply(change).ok()?;
            line.push(Span::new(piece.trim_end_matches('\n'), style(&self.scopes, look)));
        }
        Some(line)
    }
}

/// The style of the innermost scope that has one.
fn style(scopes: &ScopeStack, look: &TerminalLook) -> Style {
    let kinds = KINDS.get_or_init(kinds);
    let paint = scopes.scopes.iter().rev().find_map(|scope| {
        kinds.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, paint)| *paint)
    });
    paint.flatten().map(|paint| look.style(paint)).unwrap_or_default()
}

static KINDS: OnceLock<Vec<(Scope, Option<Paint>)>> = OnceLock::new();

/// Which paint the parts of a program have, the more special before the more general.
fn kinds() -> Vec<(Scope, Option<Paint>)> {
    let names = [
        ("comment", Some(Paint::Dim)),
        ("string", Some(Paint::Good)),
        ("constant", Some(Paint::Number)),
        ("entity.name.function", Some(Paint::Code)),
        ("entity.name.tag", Some(Paint::Keyword)),
        ("entity.name", Some(Paint::Code)),
        ("support.function", Some(Paint::Code)),
        ("support.macro", Some(Paint::Code)),
        ("support", Some(Paint::Code)),
        ("variable.function", Some(Paint::Code)),
        ("keyword.operator", None),
        ("keyword", Some(Paint::Keyword)),
        ("storage", Some(Paint::Keyword)),
        ("markup.inserted", Some(Paint::Good)),
        ("markup.deleted", Some(Paint::Bad)),
        ("markup.heading", Some(Paint::Heading)),
        ("invalid", Some(Paint::Bad)),
    ];
    names.into_iter().filter_map(|(name, paint)| Some((Scope::new(name).ok()?, paint))).collect()
}
