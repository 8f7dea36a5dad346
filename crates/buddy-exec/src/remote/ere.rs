//! A pattern for a host that has only `grep`: as an extended regular expression of POSIX, or refused.
//!
//! Only syntax that means the same in both is translated. `grep` interprets a pattern that it does not know
//! in some way of its own and says nothing, so a search would miss lines in silence.

use std::fmt::Write as _;

use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, GroupKind, Literal, RepetitionKind,
    RepetitionRange, parse::Parser,
};

/// The most repetitions that POSIX promises.
const MAX_REPEATS: u32 = 255;

/// The pattern in the syntax of POSIX. The error names the part that has none.
pub(super) fn ere(pattern: &str) -> Result<String, String> {
    let ast = Parser::new().parse(pattern).map_err(|error| error.kind().to_string())?;
    let mut out = String::new();
    write(&ast, &mut out)?;
    Ok(out)
}

fn write(ast: &Ast, out: &mut String) -> Result<(), String> {
    match ast {
        Ast::Literal(literal) => literally(literal, out)?,
        Ast::Dot(_) => out.push('.'),
        Ast::Assertion(assertion) => match assertion.kind {
            AssertionKind::StartLine => out.push('^'),
            AssertionKind::EndLine => out.push('$'),
            _ => return Err("a place in a line other than `^` and `$`".to_owned()),
        },
        Ast::ClassPerl(class) => write!(out, "[{}]", perl(class)?).map_err(|error| error.to_string())?,
        Ast::ClassBracketed(class) => {
            let ClassSet::Item(item) = &class.kind else {
                return Err("classes that are computed from others".to_owned());
            };
            bracket(item, class.negated, out)?;
        }
        Ast::Repetition(repetition) => {
            // Greedy or not makes no difference to which lines match.
            if matches!(*repetition.ast, Ast::Repetition(_) | Ast::Assertion(_)) {
                return Err("repetitions of repetitions or of places".to_owned());
            }
            write(&repetition.ast, out)?;
            repeat(&repetition.op.kind, out)?;
        }
        Ast::Group(group) => {
            if let GroupKind::NonCapturing(flags) = &group.kind
                && !flags.items.is_empty()
            {
                return Err("flags".to_owned());
            }
            out.push('(');
            write(&group.ast, out)?;
            out.push(')');
        }
        Ast::Alternation(alternation) => {
            for (place, part) in alternation.asts.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "|" });
                write(part, out)?;
            }
        }
        Ast::Concat(concat) => {
            for part in &concat.asts {
                write(part, out)?;
            }
        }
        Ast::Empty(_) => return Err("empty groups and alternatives".to_owned()),
        Ast::Flags(_) => return Err("flags".to_owned()),
        Ast::ClassUnicode(_) => return Err("classes of Unicode".to_owned()),
    }
    Ok(())
}

fn literally(literal: &Literal, out: &mut String) -> Result<(), String> {
    if literal.c.is_control() && literal.c != '\t' {
        return Err("control characters".to_owned());
    }
    if r"\.[]{}()*+?^$|".contains(literal.c) {
        out.push('\\');
    }
    out.push(literal.c);
    Ok(())
}

/// The bracket expression for a class that Perl has a letter for.
fn perl(class: &ClassPerl) -> Result<&'static str, String> {
    match (&class.kind, class.negated) {
        (ClassPerlKind::Digit, false) => Ok("0-9"),
        (ClassPerlKind::Digit, true) => Ok("^0-9"),
        (ClassPerlKind::Space, false) => Ok("[:space:]"),
        (ClassPerlKind::Space, true) => Ok("^[:space:]"),
        (ClassPerlKind::Word, _) => Err(r"`\w` and `\W`".to_owned()),
    }
}

fn bracket(item: &ClassSetItem, is_negated: bool, out: &mut String) -> Result<(), String> {
    let items = match item {
        ClassSetItem::Union(union) => union.items.as_slice(),
        one => std::slice::from_ref(one),
    };
    // Brackets have no escapes: these three are literal only at their place.
    let (mut end, mut caret, mut dash, mut others) = ("", "", "", String::new());
    for item in items {
        match item {
            ClassSetItem::Literal(literal) => match literal.c {
                ']' => end = "]",
                '^' => caret = "^",
                '-' => dash = "-",
                letter if letter.is_ascii_graphic() || matches!(letter, ' ' | '\t') => others.push(letter),
                _ => return Err("other characters than those of ASCII in brackets".to_owned()),
            },
            ClassSetItem::Range(range) => {
                let is_plain = |letter: char| letter.is_ascii_alphanumeric();
                if !is_plain(range.start.c) || !is_plain(range.end.c) {
                    return Err("ranges of other characters than letters and digits".to_owned());
                }
                others.extend([range.start.c, '-', range.end.c]);
            }
            ClassSetItem::Perl(class) if !class.negated => others.push_str(perl(class)?),
            _ => return Err("classes within classes".to_owned()),
        }
    }
    if ["[:", "[.", "[="].iter().any(|opening| others.replace("[:space:]", "").contains(opening)) {
        return Err("`[` before `:`, `.` or `=` in brackets".to_owned());
    }
    let is_caret_first = !is_negated && end.is_empty() && others.is_empty() && !caret.is_empty();
    match (is_caret_first, dash) {
        (true, "") => out.push_str(r"\^"),
        (true, _) => out.push_str("[-^]"),
        (false, _) => {
            let negation = if is_negated { "^" } else { "" };
            out.push_str(&["[", negation, end, &others, caret, dash, "]"].concat());
        }
    }
    Ok(())
}

fn repeat(kind: &RepetitionKind, out: &mut String) -> Result<(), String> {
    let text = match kind {
        RepetitionKind::ZeroOrOne => "?".to_owned(),
        RepetitionKind::ZeroOrMore => "*".to_owned(),
        RepetitionKind::OneOrMore => "+".to_owned(),
        RepetitionKind::Range(RepetitionRange::Exactly(count)) if *count <= MAX_REPEATS => {
            format!("{{{count}}}")
        }
        RepetitionKind::Range(RepetitionRange::AtLeast(least)) if *least <= MAX_REPEATS => {
            format!("{{{least},}}")
        }
        RepetitionKind::Range(RepetitionRange::Bounded(least, most)) if *most <= MAX_REPEATS => {
            format!("{{{least},{most}}}")
        }
        RepetitionKind::Range(_) => return Err(format!("more than {MAX_REPEATS} repetitions")),
    };
    out.push_str(&text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_posix_knows_are_translated() {
        for (pattern, expected) in [
            (r"a\d+\.rs", r"a[0-9]+\.rs"),
            (r"^fn \(x|y\)$", r"^fn \(x|y\)$"),
            (r"(?:ab|cd){2,3}?", "(ab|cd){2,3}"),
            (r"[\]a\-z^]", "[]az^-]"),
            (r"[^\]\s]", "[^][:space:]]"),
            (r"[\^]", r"\^"),
            (r"[-^]", "[-^]"),
            ("é.", "é."),
            (r"a\{b", r"a\{b"),
        ] {
            assert_eq!(ere(pattern).as_deref(), Ok(expected), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_posix_does_not_know_are_refused() {
        for pattern in [
            r"\bword\b",
            r"\w+",
            "(?i)x",
            r"\pL",
            "a|",
            "()",
            "[a&&b]",
            "[[:alpha:]]",
            "[à-é]",
            r"\Ax",
            "a\\",
            "x{300}",
        ] {
            assert!(ere(pattern).is_err(), "{pattern}");
        }
    }
}
