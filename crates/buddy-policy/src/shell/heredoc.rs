//! Here-documents: text that is data only as long as its end is where the shell sees it.

use tree_sitter::Node;

/// The input that a here-document gives to its command.
pub(super) struct Document {
    /// The text, if nothing in it expands.
    pub(super) text: Option<String>,
    /// Whether the text may contain a substitution that runs a command.
    pub(super) may_run: bool,
}

/// Parses the parts of a `heredoc_redirect`. `None` if the end that the grammar found is not certainly the
/// shell's.
pub(super) fn document(node: Node<'_>, source: &str) -> Option<Document> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let of = |kind: &str| children.iter().find(|child| child.kind() == kind);
    let slice = |node: &Node<'_>| source.get(node.byte_range());
    let strips_tabs = of("<<-").is_some();
    let (delimiter, is_quoted) = delimiter(slice(of("heredoc_start")?)?)?;
    let end = of("heredoc_end")?;
    if slice(end)?.trim_start_matches('\t') != delimiter {
        return None;
    }
    let (from, to) = of("heredoc_body")
        .map_or((end.start_byte(), end.start_byte()), |body| (body.start_byte(), end.start_byte()));
    // The document begins on a line of its own and its end stands alone on one.
    if !source.get(..from)?.trim_end_matches('\t').ends_with('\n')
        || !source.get(..to)?.trim_end_matches('\t').ends_with('\n')
        || !matches!(source.get(end.end_byte()..)?.chars().next(), None | Some('\n'))
    {
        return None;
    }
    let body = source.get(from..to)?;
    let stripped =
        |line: &str| if strips_tabs { line.trim_start_matches('\t').to_owned() } else { line.to_owned() };
    if body.lines().any(|line| stripped(line) == delimiter) {
        return None;
    }
    // A second document on the same line would begin before this one ends.
    if source.get(node.start_byte()..from)?.matches("<<").count() != 1 {
        return None;
    }
    let expands = !is_quoted && body.contains(['$', '`', '\\']);
    let may_run =
        !is_quoted && (body.contains("$(") || body.contains("${") || body.contains(['`', '[']) && expands);
    let text = (!expands).then(|| body.split_inclusive('\n').map(stripped).collect());
    Some(Document { text, may_run })
}

/// The word that ends the document and whether it was quoted, for words that are plain enough to be certain of.
fn delimiter(start: &str) -> Option<(String, bool)> {
    let quoted = ['\'', '"'].iter().find_map(|quote| start.strip_prefix(*quote)?.strip_suffix(*quote));
    let word = quoted.unwrap_or(start);
    let is_plain = !word.is_empty()
        && word.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    is_plain.then(|| (word.to_owned(), quoted.is_some()))
}
