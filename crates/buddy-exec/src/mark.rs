//! Marks in streams: finds one, and a possible beginning of one. Pure.

/// The position of a mark in the bytes so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It begins here.
    At(usize),
    /// It is not there; the bytes from here on could be its beginning.
    NotBefore(usize),
}

/// Looks for a mark.
pub(crate) fn look_for(mark: &[u8], bytes: &[u8]) -> Sight {
    if let Some(at) = memchr::memmem::find(bytes, mark) {
        return Sight::At(at);
    }
    let first = (bytes.len() + 1).saturating_sub(mark.len());
    let is_beginning = |at: &usize| bytes.get(*at..).is_some_and(|end| mark.starts_with(end));
    Sight::NotBefore((first..bytes.len()).find(is_beginning).unwrap_or(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_and_its_beginning_is_kept() {
        for (bytes, sight) in [
            ("", Sight::NotBefore(0)),
            ("abc", Sight::NotBefore(3)),
            ("abMARKc", Sight::At(2)),
            ("MARKMARK", Sight::At(0)),
            ("MAR", Sight::NotBefore(0)),
            ("abM", Sight::NotBefore(2)),
            ("aMARMAR", Sight::NotBefore(4)),
            ("MARX", Sight::NotBefore(4)),
        ] {
            assert_eq!(look_for(b"MARK", bytes.as_bytes()), sight, "{bytes}");
        }
        assert_eq!(look_for(b"aab", b"xaaa"), Sight::NotBefore(2), "the longest beginning counts");
    }
}
