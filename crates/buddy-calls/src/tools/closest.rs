//! Where a text that was not found may have been meant: help for a model that remembers a file not quite as it is.

use std::ops::Range;

/// Lines of a file that are compared at most.
const MAX_LINES: usize = 50_000;
/// Lines that are shown.
const MAX_SHOWN: usize = 12;
/// How alike the closest place must be to be worth showing.
const ALIKE: f32 = 0.5;

/// The hint about a text that is not in the file.
pub(crate) fn hint_for_missing(text: &str, wanted: &str) -> String {
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let wanted_lines: Vec<&str> = wanted.lines().collect();
    if let Some(at) = find(&lines, &wanted_lines, squeezed) {
        let place = shown(&lines, at..at + wanted_lines.len());
        return format!("it differs in white space only; the file has:\n{place}");
    }
    let is_escaped = wanted.contains("\\n") || wanted.contains("\\t");
    match closest(&lines, &wanted_lines) {
        Some(at) => format!("the closest lines are:\n{}", shown(&lines, at..at + wanted_lines.len())),
        None if is_escaped => {
            "it has a backslash sequence; if a line break or a tab is meant, give a real one".to_owned()
        }
        None => "read the file again; nothing in it is like this".to_owned(),
    }
}

/// The first place where all lines are the same once both are put through `form`.
pub(crate) fn find(lines: &[&str], wanted: &[&str], form: fn(&str) -> String) -> Option<usize> {
    if wanted.is_empty() || wanted.len() > lines.len() {
        return None;
    }
    let wanted: Vec<String> = wanted.iter().map(|line| form(line)).collect();
    let formed: Vec<String> = lines.iter().map(|line| form(line)).collect();
    formed.windows(wanted.len()).position(|window| window == wanted)
}

/// A line without any white space.
pub(crate) fn squeezed(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// Where the line that says most about the wanted text has its best match.
fn closest(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (offset, anchor) = wanted.iter().enumerate().max_by_key(|(_, line)| squeezed(line).len())?;
    let anchor = squeezed(anchor);
    let likeness = |line: &str| bigram_likeness(&anchor, &squeezed(line));
    let scored = lines.iter().enumerate().map(|(at, line)| (at, likeness(line)));
    let (at, score) = scored.max_by(|first, second| first.1.total_cmp(&second.1))?;
    (score >= ALIKE).then(|| at.saturating_sub(offset))
}

/// How many pairs of letters two lines share, from 0 to 1.
fn bigram_likeness(first: &str, second: &str) -> f32 {
    let pairs = |text: &str| {
        let letters: Vec<char> = text.chars().take(400).collect();
        let mut pairs: Vec<(char, char)> =
            letters.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))).collect();
        pairs.sort_unstable();
        pairs
    };
    let (first, second) = (pairs(first), pairs(second));
    let all = first.len() + second.len();
    if all == 0 {
        return 0.0;
    }
    let mut rest = second.as_slice();
    let mut shared = 0_u16;
    for pair in &first {
        while let Some((head, tail)) = rest.split_first().filter(|(head, _)| *head <= pair) {
            rest = tail;
            if head == pair {
                shared += 1;
                break;
            }
        }
    }
    f32::from(shared) * 2.0 / f32::from(u16::try_from(all).unwrap_or(u16::MAX))
}

fn shown(lines: &[&str], range: Range<usize>) -> String {
    let picked = lines.iter().enumerate().skip(range.start).take(range.len().clamp(1, MAX_SHOWN));
    let numbered: Vec<String> = picked.map(|(at, line)| format!("{}: {line}", at + 1)).collect();
    numbered.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn main() {\n\tlet count = compute(3);\n\tprintln!(\"{count}\");\n}\n";

    #[test]
    fn white_space_is_named_as_the_reason() {
        let hint = hint_for_missing(TEXT, "    let count = compute(3);");
        assert!(hint.contains("white space") && hint.contains("2: \tlet count"), "{hint}");
    }

    #[test]
    fn the_closest_lines_are_shown() {
        let hint = hint_for_missing(TEXT, "let counter = compute(4);");
        assert!(hint.contains("closest") && hint.contains("2: \tlet count = compute(3);"), "{hint}");
        let hint = hint_for_missing(TEXT, "something else altogether, sir");
        assert!(hint.contains("read the file again"), "{hint}");
    }
}
