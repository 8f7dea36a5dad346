//! The grammar: source text to a syntax tree without errors, in bounded work.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::{MAX_BYTES, UnreadableScript};

/// The number of progress reports after which the parser is stopped. It reports about every hundred
/// operations, and an ordinary line needs a few of them for each kilobyte.
const MAX_PROGRESS: usize = 50_000;
/// The most characters of the text that an error shows.
const SHOWN: usize = 40;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(parser());
}

fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Parses a command line. A tree with a part that the grammar could not place is an error.
pub(super) fn parse(source: &str) -> Result<Tree, UnreadableScript> {
    if source.len() > MAX_BYTES {
        return Err(UnreadableScript::TooLong);
    }
    if source.contains('\0') {
        return Err(UnreadableScript::ZeroByte);
    }
    let tree = PARSER.with_borrow_mut(|parser| parser.as_mut().and_then(|parser| bounded(parser, source)));
    let tree = tree.ok_or(UnreadableScript::Grammar)?;
    if tree.root_node().has_error() {
        return Err(UnreadableScript::Syntax(first_error(tree.root_node(), source)));
    }
    Ok(tree)
}

fn bounded(parser: &mut Parser, source: &str) -> Option<Tree> {
    let mut progress = 0;
    let mut within_bounds = |_: &_| {
        progress += 1;
        if progress > MAX_PROGRESS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut within_bounds);
    let bytes = source.as_bytes();
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree
}

/// The text at the first place that the grammar could not read.
fn first_error(root: Node<'_>, source: &str) -> String {
    let mut node = root;
    loop {
        let mut cursor = node.walk();
        let Some(child) = node.children(&mut cursor).find(Node::has_error) else { break };
        if child.is_error() || child.is_missing() {
            node = child;
            break;
        }
        node = child;
    }
    let rest = source.get(node.start_byte()..).unwrap_or_default();
    let shown: String = rest.chars().take(SHOWN).collect();
    crate::display_command(&shown)
}
