//! Numbers of things, as people say them.

/// So many of something whose name gets an `s` where there is not one of them.
pub fn counted(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        assert_eq!([0u64, 1, 2].map(|count| counted(count, "turn")), ["0 turns", "1 turn", "2 turns"]);
    }
}
