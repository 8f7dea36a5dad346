//! Commands in one line.

/// A command as rows and lists show it: its first line, and how many lines follow. A document that a command writes is read in its
/// details.
pub fn folded_command(command: &str) -> String {
    let (first, more) = first_line(command);
    match more {
        0 => first.to_owned(),
        1 => format!("{first} … 1 more line"),
        more => format!("{first} … {more} more lines"),
    }
}

/// The first line of a command that is not empty, and how many lines follow it.
pub fn first_line(command: &str) -> (&str, usize) {
    let mut lines = command.trim().lines();
    let first = lines.next().unwrap_or_default().trim_end();
    (first, lines.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_are_counted() {
        assert_eq!(folded_command("cargo test"), "cargo test");
        assert_eq!(folded_command("\ncat <<E\na\n"), "cat <<E … 1 more line");
        assert_eq!(folded_command("cat > a <<'E'\nb\n\nE\n"), "cat > a <<'E' … 3 more lines");
        assert_eq!(folded_command(""), "");
    }
}
