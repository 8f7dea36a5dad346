//! Links that a program brings to a place where it writes: with files that it moves or copies as they are, out of an
//! archive, out of a patch, or out of the store of git.

use super::parse::Parsed;
use super::row::{Does, FileRow, RowOperands};
use super::touched::{Touched, WeighScope};
use crate::effect::TouchAccess;
use crate::shell::ShellWord;

/// A place where a program may leave links.
#[derive(Debug, Clone)]
pub(crate) struct Brought {
    pub(crate) to: ShellWord,
    pub(crate) scope: WeighScope,
    /// The files that come there with all the links that they are or hold.
    pub(crate) from: Vec<ShellWord>,
    /// The targets of links that it makes.
    pub(crate) leads_to: Vec<ShellWord>,
    /// Whether nobody can know which links come there.
    pub(crate) is_unknown: bool,
}

impl Brought {
    /// Links that no word tells.
    fn unknown(to: &ShellWord, scope: WeighScope) -> Self {
        Self { to: to.clone(), scope, from: Vec::new(), leads_to: Vec::new(), is_unknown: true }
    }
}

/// The places where a use of a program may leave links. `touched` are the files that it touches.
pub(super) fn brought(
    program: &str,
    row: &FileRow,
    arguments: &[ShellWord],
    parsed: &Parsed,
    touched: &[Touched],
) -> Vec<Brought> {
    if parsed.has(Does::OnlyReads) {
        return Vec::new();
    }
    if row.brings_links {
        if program == "git" && leaves_tree(arguments, parsed) {
            return Vec::new();
        }
        let written = touched.iter().filter(|touched| touched.access == TouchAccess::Write);
        return written.map(|touched| Brought::unknown(&touched.word, touched.scope)).collect();
    }
    match row.operands {
        RowOperands::CopyTo if copies_links(program, parsed) => carried(parsed),
        RowOperands::LinkTo if gives(parsed, "s", &["symbolic"]) => linked(parsed),
        RowOperands::MoveTo | RowOperands::LinkTo => carried(parsed),
        RowOperands::Patterns => renamed(parsed),
        _ => Vec::new(),
    }
}

/// Whether one of these letters or long names, which may be cut short, is given.
fn gives(parsed: &Parsed, letters: &str, long: &[&str]) -> bool {
    parsed.names.iter().any(|name| match name.chars().count() {
        1 => letters.contains(name.as_str()),
        _ => long.iter().any(|long| long.starts_with(name.as_str())),
    })
}

/// Whether a program copies links as links, perhaps only those in directories.
fn copies_links(program: &str, parsed: &Parsed) -> bool {
    const LONG: &[&str] = &["archive", "recursive", "no-dereference", "link", "symbolic-link"];
    match program {
        "install" => false,
        "cp" => parsed.has_unlisted || gives(parsed, "adPrRls", LONG),
        "scp" => parsed.has_unlisted || gives(parsed, "r", &[]),
        _ => true,
    }
}

/// The sources, and the places that they come to.
fn ends(parsed: &Parsed) -> (&[ShellWord], Vec<(ShellWord, WeighScope)>) {
    let into = parsed.given.iter().filter(|(does, _)| *does == Does::Into);
    let into: Vec<(ShellWord, WeighScope)> =
        into.filter_map(|(_, value)| Some((value.clone()?, WeighScope::Within))).collect();
    let operands = parsed.operands.as_slice();
    match operands.split_last() {
        _ if !into.is_empty() => (operands, into),
        Some((last, sources)) if !sources.is_empty() => (sources, vec![(last.clone(), WeighScope::Itself)]),
        _ => (operands, vec![(ShellWord::Literal(".".to_owned()), WeighScope::Within)]),
    }
}

/// Files that come to a place as they are.
fn carried(parsed: &Parsed) -> Vec<Brought> {
    let (sources, places) = ends(parsed);
    let is_elsewhere = |word: &ShellWord| {
        word.is_unknown() || word.unexpanded().split('/').next().is_some_and(|first| first.contains(':'))
    };
    let is_unknown = sources.iter().any(is_elsewhere);
    let brought =
        |(to, scope)| Brought { to, scope, from: sources.to_vec(), leads_to: Vec::new(), is_unknown };
    places.into_iter().map(brought).collect()
}

/// Links to files. A relative target counts from the directory that the link is in, so only beside the link the word tells which file
/// it is.
fn linked(parsed: &Parsed) -> Vec<Brought> {
    let (sources, places) = ends(parsed);
    let is_computed = gives(parsed, "r", &["relative"]);
    let is_certain = |source: &ShellWord, to: &ShellWord, scope: WeighScope| match source {
        ShellWord::Home { .. } => true,
        ShellWord::Literal(text) if text.starts_with('/') || is_computed => true,
        ShellWord::Literal(text) => {
            let is_here = !to.unexpanded().contains('/') && scope == WeighScope::Itself;
            is_here && to.literal().is_some() && !text.split('/').any(|part| part == "..")
        }
        ShellWord::Glob(_) | ShellWord::Unknown(_) => false,
    };
    let brought = |(to, scope): (ShellWord, WeighScope)| Brought {
        is_unknown: !sources.iter().all(|source| is_certain(source, &to, scope)),
        to,
        scope,
        from: Vec::new(),
        leads_to: sources.to_vec(),
    };
    places.into_iter().map(brought).collect()
}

/// Files that get other names in their directories.
fn renamed(parsed: &Parsed) -> Vec<Brought> {
    let from = || parsed.operands.iter().filter(|word| !word.is_unknown()).cloned().collect();
    let is_unknown = parsed.operands.iter().any(ShellWord::is_unknown);
    let brought = |to: &ShellWord| Brought {
        to: to.clone(),
        scope: WeighScope::Beside,
        from: from(),
        leads_to: Vec::new(),
        is_unknown,
    };
    parsed.operands.iter().map(brought).collect()
}

/// Whether a use of git leaves the work tree as it is, though its subcommand can change it: a new branch from here, or a change of the
/// index alone.
fn leaves_tree(arguments: &[ShellWord], parsed: &Parsed) -> bool {
    let is_given = |letters: &str, long: &[&str]| gives(parsed, letters, long);
    match arguments.first().and_then(ShellWord::literal) {
        Some("checkout") => is_given("bB", &["orphan"]) && is_new_branch_from_here(parsed),
        Some("switch") => is_given("cC", &["create", "force-create"]) && is_new_branch_from_here(parsed),
        Some("reset") => !is_given("", &["hard", "merge", "keep"]),
        Some("restore") => is_given("S", &["staged"]) && !is_given("W", &["worktree"]),
        _ => false,
    }
}

/// Whether the name of the branch is the only word, so that there is no commit to go to.
fn is_new_branch_from_here(parsed: &Parsed) -> bool {
    let joined = parsed.loose.iter().filter(|word| !parsed.operands.contains(word)).count();
    joined + parsed.operands.len() == 1
}
