//! Markdown of an answer as rows, while it is still being written.
//!
//! Text comes in by any pieces. [`UnreadSource`](source::UnreadSource) makes lines of it, [`BlockReader`](blocks::BlockReader) keeps the quotes and
//! lists that are open and cuts the lines into pieces that will not change any more, and the painter makes rows of these.
//! Inside a paragraph, a heading or a table, pulldown-cmark reads the signs. Every decision is taken on a whole line, or
//! at a space of a long one that nothing behind it reaches over, so how the text was cut on its way here changes nothing.

mod blocks;
mod highlight;
mod inline;
mod paint;
mod piece;
mod prose;
mod source;
mod spacing;
mod starts;
mod stream;
mod table;

pub(crate) use highlight::load_syntaxes;
pub(crate) use stream::Markdown;

#[cfg(test)]
mod tests;
