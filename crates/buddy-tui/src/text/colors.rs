//! The depth of colour of a terminal.

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colors {
    /// None, and no other attribute either.
    None,
    /// None, but bold, dim, underlined and reversed text.
    Mono,
    /// The sixteen of every terminal.
    Sixteen,
    /// The 256 of xterm.
    Palette,
    /// All.
    True,
}
