//! Judges the texts that git leaves for a later command: options, steps, names.

use memchr::memmem;

/// The text without what runs programs or writes elsewhere, or none if nothing does.
pub(crate) type StepFilter = fn(&str) -> Option<String>;

/// Strategies that are part of git. Any other one is the name of a program.
const BUILT_IN_STRATEGIES: &[&str] = &["octopus", "ort", "ours", "recursive", "resolve", "subtree"];

/// Options of the built-in strategies; one that ends with `=` has a value.
const STRATEGY_OPTIONS: &[&str] = &[
    "diff-algorithm=",
    "find-renames",
    "find-renames=",
    "histogram",
    "ignore-all-space",
    "ignore-cr-at-eol",
    "ignore-space-at-eol",
    "ignore-space-change",
    "minimal",
    "no-renames",
    "no-renormalize",
    "ours",
    "patience",
    "rename-threshold=",
    "renormalize",
    "subtree",
    "subtree=",
    "theirs",
];

/// Options of `git apply` that `git am` and `git rebase` pass on, and that write nothing but the patch. Values are checked apart.
const APPLY_OPTIONS: &[&str] = &[
    "--directory=",
    "--exclude=",
    "--ignore-space-change",
    "--ignore-whitespace",
    "--include=",
    "--reject",
    "--whitespace=",
    "-q",
    "-v",
];

/// Options of `git apply` with a number right behind them.
const NUMBERED_APPLY_OPTIONS: &[&str] = &["-C", "-p"];

/// Branches, and the place of those that exist only during a rebase.
const BRANCHES: &str = "refs/heads/";
const TEMPORARY: &str = "refs/rewritten/";

/// The place of references by which git takes one object for another.
const REPLACEMENTS: &[u8] = b" refs/replace/";

/// The lines of a list of steps that neither run a program nor set anything but branches; none when all are such.
pub(super) fn without_orders(steps: &str) -> Option<String> {
    let is_order = |line: &&str| {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("exec" | "x") => true,
            Some("update-ref" | "u") => !words.next().is_some_and(|name| name.starts_with(BRANCHES)),
            _ => false,
        }
    };
    without_lines(steps, is_order)
}

/// The lines of a list of references to remove that name those of a rebase; none when all do.
pub(super) fn without_temporary(names: &str) -> Option<String> {
    without_lines(names, |line| !line.trim().is_empty() && !line.starts_with(TEMPORARY))
}

/// The options of a cherry-pick in the exact form in which git writes them, or none when there are no others. Other forms could hide a
/// strategy.
pub(super) fn with_plain_options(options: &str) -> Option<String> {
    without_lines(options, |line| {
        let Some((key, value)) = line.strip_prefix('\t').and_then(|line| line.split_once(" = ")) else {
            return *line != "[options]";
        };
        let is_word = |text: &str| {
            let is_usual = |letter: char| letter.is_ascii_alphanumeric() || "-_=.%".contains(letter);
            !text.is_empty() && text.chars().all(is_usual)
        };
        let is_built_in = !key.eq_ignore_ascii_case("strategy") || BUILT_IN_STRATEGIES.contains(&value);
        !(is_word(key) && is_word(value) && is_built_in)
    })
}

/// The lines of packed references that replace objects.
pub(crate) fn replacements(packed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let has_any = memmem::find(packed, REPLACEMENTS).is_some();
    let lines = packed.split(|byte| *byte == b'\n').filter(move |_| has_any);
    lines.filter(|line| memmem::find(line, REPLACEMENTS).is_some())
}

/// Packed references without replacements of objects but those that `was_there` knows; none when there are no others. Names need not be
/// text.
pub(crate) fn without_replacements(packed: &[u8], was_there: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    if replacements(packed).all(&was_there) {
        return None;
    }
    let mut is_out = false;
    let kept = packed.split_inclusive(|byte| *byte == b'\n').filter(|line| {
        // A line that begins so belongs to the one before it.
        if !line.starts_with(b"^") {
            let bare = line.strip_suffix(b"\n").unwrap_or(line);
            is_out = memmem::find(bare, REPLACEMENTS).is_some() && !was_there(bare);
        }
        !is_out
    });
    Some(kept.collect::<Vec<_>>().concat())
}

fn without_lines(text: &str, mut is_out: impl FnMut(&&str) -> bool) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let kept: Vec<&str> = lines.iter().filter(|line| !is_out(line)).copied().collect();
    (kept.len() < lines.len()).then(|| kept.iter().flat_map(|line| [line, "\n"]).collect())
}

pub(super) fn is_built_in_strategy(text: &str) -> bool {
    let name = text.trim();
    name.is_empty() || BUILT_IN_STRATEGIES.contains(&name)
}

pub(super) fn has_plain_strategy_options(text: &str) -> bool {
    quoted_words(text).is_some_and(|words| {
        words.iter().all(|word| has_option(word.strip_prefix("--").unwrap_or(word), STRATEGY_OPTIONS))
    })
}

pub(super) fn has_plain_apply_options(text: &str) -> bool {
    let is_plain = |word: &String| {
        let is_numbered = |option: &str| {
            let number = word.strip_prefix(option).filter(|number| !number.is_empty());
            number.is_some_and(|number| number.chars().all(|digit| digit.is_ascii_digit()))
        };
        NUMBERED_APPLY_OPTIONS.iter().any(|option| is_numbered(option)) || has_option(word, APPLY_OPTIONS)
    };
    quoted_words(text).is_some_and(|words| words.iter().all(is_plain))
}

/// Whether a word is one of these options. A value is no path that leads out of the work tree.
fn has_option(word: &str, options: &[&str]) -> bool {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let is_inside = |value: &str| !value.starts_with('/') && !value.split('/').any(|part| part == "..");
    match value {
        None => options.contains(&name),
        Some(value) => {
            is_inside(value) && options.iter().any(|option| option.strip_suffix('=') == Some(name))
        }
    }
}

/// The words of a line in the two forms in which git quotes them; none for any other form.
fn quoted_words(text: &str) -> Option<Vec<String>> {
    let is_usual = |letter: char| letter.is_ascii_alphanumeric() || "-_=./*%".contains(letter);
    let word = |quoted: &str| {
        let inside = |quote: char| quoted.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        let word = inside('\'').or_else(|| inside('"')).unwrap_or(quoted);
        word.chars().all(is_usual).then(|| word.to_owned())
    };
    text.split_ascii_whitespace().map(word).collect()
}

/// An option to sign commits, with the key by its number or its owner.
pub(super) fn is_plain_signature(text: &str) -> bool {
    let is_usual = |letter: char| letter.is_ascii_alphanumeric() || "@._+-".contains(letter);
    let text = text.trim();
    text.is_empty() || text.strip_prefix("-S").is_some_and(|key| key.chars().all(is_usual))
}

pub(super) fn is_rerere_option(text: &str) -> bool {
    matches!(text.trim(), "" | "--rerere-autoupdate" | "--no-rerere-autoupdate")
}

/// The author of a commit in the form of a shell script, which old versions of git run.
pub(super) fn is_author(text: &str) -> bool {
    let is_value = |quoted: &str| {
        let inside = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        // Quotes and exclamation marks stand outside of the quotes.
        inside.is_some_and(|inside| !inside.replace("'\\''", "").replace("'\\!'", "").contains('\''))
    };
    let is_line = |line: &str| {
        let names = ["GIT_AUTHOR_NAME=", "GIT_AUTHOR_EMAIL=", "GIT_AUTHOR_DATE="];
        names.iter().find_map(|name| line.strip_prefix(name)).is_some_and(is_value)
    };
    text.lines().all(is_line)
}

/// The branch that a rebase works on.
pub(super) fn is_branch_name(text: &str) -> bool {
    let name = text.trim_end();
    name.is_empty() || name == "detached HEAD" || (name.starts_with(BRANCHES) && name.lines().count() == 1)
}

/// The place of references, and that of those by which git takes one object for another.
const REFERENCES: &[u8] = b"refs";
const REPLACING: &[u8] = b"replace";

/// Whether the file of a reference names an object, or another reference that is one. git follows any name in its own directory, and writes
/// there.
pub(crate) fn is_plain_reference(text: &[u8]) -> bool {
    let Some(named) = text.strip_prefix(b"ref:") else { return true };
    let names: Vec<&[u8]> = named.trim_ascii().split(|byte| *byte == b'/').collect();
    let is_name = |name: &&[u8]| {
        !matches!(*name, b"" | b"." | b"..") && name.iter().all(|byte| *byte > b' ' && *byte != 127)
    };
    let is_below = matches!(&names[..], [first, second, ..] if *first == REFERENCES && !second.eq_ignore_ascii_case(REPLACING));
    is_below && names.iter().all(is_name)
}

/// Branches that a rebase is to set, each with two objects.
pub(super) fn updates_branches(text: &str) -> bool {
    text.lines().enumerate().all(|(number, line)| match number % 3 {
        0 => line.starts_with(BRANCHES),
        _ => line.chars().all(|digit| digit.is_ascii_hexdigit()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_git_pass_and_those_that_write_elsewhere_do_not() {
        for text in
            ["", "\n", " '-C2' '--whitespace=fix' '--directory=x' '--exclude=y*'\n", " '-p1' '--reject'\n"]
        {
            assert!(has_plain_apply_options(text), "{text}");
        }
        for text in [
            " '--build-fake-ancestor=/home/ann/.zshenv'\n",
            " '--directory=../x'\n",
            " '--directory=/x'\n",
            " '--unsafe-paths'\n",
            " '-C2\n--build-fake-ancestor=x'\n",
            " '-C'\\''2'\n",
            "file\n",
        ] {
            assert!(!has_plain_apply_options(text), "{text}");
        }
        for text in ["\"patience\"\n", " '--ours' '--find-renames=40%'\n", "theirs"] {
            assert!(has_plain_strategy_options(text), "{text}");
        }
        assert!(!has_plain_strategy_options("\"evil\"") && !has_plain_strategy_options("subtree=/x"));
        assert!(is_built_in_strategy("ort\n") && !is_built_in_strategy("../evil\n"));
        assert!(is_plain_signature("-S\n") && is_plain_signature("-Sa@example.org\n"));
        assert!(!is_plain_signature("-S/home/key\n") && !is_plain_signature("--exec\n"));
    }

    #[test]
    fn steps_without_programs_and_other_references() {
        assert_eq!(without_orders("pick a\n# exec\nupdate-ref refs/heads/x\n"), None);
        assert_eq!(without_orders("pick a\nexec sh\n x y\npick b\n").as_deref(), Some("pick a\npick b\n"));
        assert_eq!(without_orders("u refs/replace/x\npick b\n").as_deref(), Some("pick b\n"));
        assert!(updates_branches("refs/heads/a\n00\n01\n") && !updates_branches("refs/replace/a\n00\n01\n"));
        assert!(is_branch_name("refs/heads/a\n") && is_branch_name("detached HEAD\n"));
        assert!(!is_branch_name("refs/replace/a\n") && !is_branch_name("refs/heads/a\nrefs/replace/b\n"));
        assert_eq!(without_temporary("refs/rewritten/a\n"), None);
        assert_eq!(without_temporary("refs/heads/a\n").as_deref(), Some(""));
    }

    #[test]
    fn authors_are_quoted() {
        assert!(is_author(
            "GIT_AUTHOR_NAME='O'\\''Hara'\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='@1 +0000'\n"
        ));
        for text in ["GIT_AUTHOR_NAME='a'; id; 'b'\n", "GIT_AUTHOR_NAME=$(id)\n", "PATH='x'\n", "id\n"] {
            assert!(!is_author(text), "{text}");
        }
    }

    #[test]
    fn a_cherry_pick_without_its_programs() {
        let plain =
            "[options]\n\tno-commit = true\n\tmainline = 1\n\tstrategy = ort\n\tstrategy-option = ours\n";
        assert_eq!(with_plain_options(plain), None);
        for line in [
            "\tstrategy = x/evil",
            "\tStrategy = evil",
            "\tstrategy = \"evil\"",
            "\tstrategy = or\\",
            "strategy = evil",
            "[options] strategy = evil",
            "\tstrategy=evil",
            "[include]\n\tpath = /x",
        ] {
            let text = format!("{plain}{line}\n");
            let rest = with_plain_options(&text).unwrap();
            assert!(
                !rest.contains("evil") && !rest.contains("/x") && rest.starts_with(plain),
                "{line}: {rest}"
            );
        }
    }

    #[test]
    fn a_reference_names_another_one_and_no_other_file() {
        for text in [
            "0123abc\n",
            "",
            "ref: refs/heads/main\n",
            "ref:refs/remotes/o/main",
            "ref: refs/heads/.invalid\n",
            "tree\n",
        ] {
            assert!(is_plain_reference(text.as_bytes()), "{text}");
        }
        for text in [
            "ref: commondir\n",
            "ref:\thooks/post-commit",
            "ref: refs\n",
            "ref: refs/replace/00\n",
            "ref: refs/Replace/00\n",
            "ref: refs/../hooks/x\n",
            "ref: refs/heads/./x\n",
            "ref: refs//x\n",
            "ref: refs/heads/x\nrefs/heads/y\n",
            "ref:\n",
            "ref: MERGE_AUTOSTASH\n",
            "ref: worktrees/t/HEAD\n",
        ] {
            assert!(!is_plain_reference(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn new_replacements_leave_packed_references() {
        let old = b"# pack-refs\naa refs/heads/main\nbb refs/replace/cc\ndd refs/tags/v\n^ee\n";
        assert_eq!(without_replacements(old, |line| line == b"bb refs/replace/cc"), None);
        let new = b"aa refs/heads/\xff\nff refs/replace/gg\n^hh\ndd refs/tags/v\n^ee\n";
        let rest = without_replacements(new, |_| false);
        assert_eq!(rest.as_deref(), Some(&b"aa refs/heads/\xff\ndd refs/tags/v\n^ee\n"[..]));
    }
}
