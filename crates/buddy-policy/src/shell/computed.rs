//! Places in a command line where bash computes: variables that hold numbers, subscripts, offsets and names of descriptors. The
//! computation reads names and subscripts anew, and a subscript can run commands.

use super::ShellWord;

/// Variables whose values bash computes when they are set, or that its manual calls numbers and other versions compute.
const NUMBERS: &[&str] = &[
    "BASHPID",
    "BASH_SUBSHELL",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "HISTCMD",
    "LINENO",
    "OPTERR",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "UID",
];

/// Whether the shell computes the value of a variable when it is set.
pub(crate) fn is_number_variable(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// Whether setting a variable computes nothing but a number.
pub(crate) fn is_plain_setting(name: &str, value: &str) -> bool {
    !is_number_variable(name) || value.chars().all(|letter| letter.is_ascii_digit())
}

pub(crate) fn is_plain_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Whether a text begins with a subscript that is no number: `[x]=1` in `y=([x]=1)`.
pub(super) fn has_computed_subscript(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    rest.split_once(']').is_none_or(|(inner, _)| !is_plain_subscript(inner))
}

fn is_plain_subscript(inner: &str) -> bool {
    matches!(inner, "@" | "*") || inner.chars().all(|letter| letter.is_ascii_digit())
}

/// Whether the word `{name}` that ends a text, right before a redirection, has more in it than a name. The shell sets that variable to
/// the number of a descriptor.
pub(super) fn has_computed_descriptor(before: &str) -> bool {
    let Some((outer, name)) = before.strip_suffix('}').and_then(|text| text.rsplit_once('{')) else {
        return false;
    };
    // `${x}` is an expansion, which is judged as one.
    !outer.ends_with('$') && !is_plain_name(name)
}

/// Whether all that `${…}` does is in a short list: a value, an element by its number, a default, a part by patterns or numbers.
pub(super) fn is_plain_expansion(expansion: &str) -> bool {
    let inner = expansion.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
    let Some(inner) = inner else { return false };
    let is_length = inner.strip_prefix('#').is_some_and(|rest| rest.starts_with(is_name_letter));
    let inner = if is_length { inner.get(1..).unwrap_or_default() } else { inner };
    let named = inner.trim_start_matches(is_name_letter);
    let special = |letter: char| "@*#?-$".contains(letter);
    let rest = if named.len() == inner.len() { inner.strip_prefix(special) } else { Some(named) };
    let Some(rest) = rest else { return false };
    let rest = match rest.strip_prefix('[') {
        Some(subscript) => match subscript.split_once(']') {
            Some((inner, rest)) if is_plain_subscript(inner) => rest,
            _ => return false,
        },
        None => rest,
    };
    match rest.strip_prefix(':') {
        Some(offset) => {
            offset.starts_with(['-', '=', '?', '+'])
                || offset.chars().all(|letter| letter.is_ascii_digit() || " -:".contains(letter))
        }
        None => rest.is_empty() || rest.starts_with(['-', '=', '?', '+', '%', '#', '/', '^', ',']),
    }
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Whether a value is one word that no program takes for an option or for several words: a number, a plain word, or what bash counts.
pub(super) fn is_tame_value(value: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:@%+,-".contains(letter);
    match ShellWord::decode(value) {
        ShellWord::Literal(text) => !text.starts_with('-') && text.chars().all(is_plain),
        _ => is_counted(value),
    }
}

/// Whether a word is a number that bash keeps itself.
pub(crate) fn is_counted(source: &str) -> bool {
    matches!(source.trim_matches('"'), "$!" | "$?" | "$$" | "$#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansions_that_compute_are_not_plain() {
        for plain in [
            "${x}",
            "${x:-$y}",
            "${x%.*}",
            "${x##*/}",
            "${x//a/b}",
            "${#x}",
            "${#x[@]}",
            "${x[0]}",
            "${x:1:2}",
            "${x: -3}",
            "${1:-a}",
            "${@}",
            "${?}",
            "${x^^}",
            "${x[@]:1}",
            "${#}",
        ] {
            assert!(is_plain_expansion(plain), "{plain}");
        }
        for computed in [
            "${x:y}",
            "${x:0:y}",
            "${-:y}",
            "${?:y}",
            "${$:y}",
            "${x[y]}",
            "${x[$y]}",
            "${x:(y)}",
            "${x:1?y:1}",
            "${x:\"$y\"}",
            "${!x}",
            "${x@P}",
            "${#x[y]}",
            "${x[0]:y}",
            "${*:y}",
            "${#:y}",
        ] {
            assert!(!is_plain_expansion(computed), "{computed}");
        }
    }

    #[test]
    fn a_name_before_a_redirection_is_a_plain_one() {
        assert!(has_computed_descriptor(": {y[x]}"));
        assert!(!has_computed_descriptor(": {y}"));
        assert!(!has_computed_descriptor("ls ${y[0]}"));
        assert!(!has_computed_descriptor("ls "));
    }
}
