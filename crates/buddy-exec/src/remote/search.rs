//! Searching on another host: names by its `find`, text by its `rg`, or by its `grep` if there is none.
//!
//! A search runs as a command under supervision, so that dropping it ends it on the host too. Results come
//! back as lines, and this module sorts them, cuts them and compares them with rules and bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use grep_matcher::Matcher as _;

use super::ere::ere;
use super::fence::Access;
use super::files::{Files, Judged, Rules, Spot};
use crate::search::{cut, matcher, name_pattern};
use crate::{
    Bounds, Ended, Exec, Exit, FileMatches, GlobQuery, GlobResult, GrepQuery, GrepResult, MatchedLine,
    OutputLimits, Stdin, Target, TargetError,
};

/// The time limit of a search.
const LIMIT: Duration = Duration::from_mins(2);
/// The most bytes that are taken of its output. Output beyond that is reported as a cut.
const FOUND_BYTES: usize = 16 * 1024 * 1024;
/// Levels of directories whose rules are read.
const RULE_DEPTH: u32 = 12;

/// The exit code of a search that has no `rg`, and no pattern for `grep`.
const NO_WORDS: i32 = 45;

/// Prints the names of all files and links below a directory, each with a NUL behind it.
const FIND: &str = r#"cd -- "$1" || exit 43; find . -name .git -prune -o ! -type d -print0"#;

/// Prints `path NUL number separator line` for each line; `-` separates context, `:` a match. Arguments: the
/// directory, `-i` or nothing, lines of context, the pattern for `rg`, and that for `grep` behind a `=`, or
/// nothing if there is none.
const GREP: &str = r#"
case $1 in /*) ;; *) exit 44 ;; esac
if [ -d "$1" ]; then cd -- "$1" || exit 41; set -- . "$2" "$3" "$4" "$5"; else
  d=${1%/*}; f=./${1##*/}; cd -- "${d:-/}" || exit 41; set -- "$f" "$2" "$3" "$4" "$5"; fi
if command -v rg >/dev/null; then
  exec rg --no-config --color never --no-heading --with-filename --line-number --null --no-messages --hidden \
    --no-ignore --sort path $2 -C "$3" -e "$4" -- "$1"
fi
case $5 in =*) ;; *) exit 45 ;; esac
set -- "$1" "$2" "$3" "$4" "${5#=}"
LC_ALL=C.UTF-8; export LC_ALL
if grep -Z -e x /dev/null 2>/dev/null; [ $? = 1 ]; then
  exec grep -r -I -s -n -H -Z -E $2 -C "$3" -e "$5" -- "$1"
fi
find "$1" -type f -exec sh -c '
  case=$1 context=$2 pattern=$3; shift 3
  for f; do
    grep -q -E $case -e "$pattern" "$f" || continue
    [ "$(head -c 65536 "$f" | wc -c)" = "$(head -c 65536 "$f" | tr -d "\000" | wc -c)" ] || continue
    grep -n -E $case -C "$context" -e "$pattern" "$f" | while IFS= read -r l; do printf "%s\000%s\n" "$f" "$l"; done
  done' sh "$2" "$3" "$5" {} +
"#;

/// The environment that commands on the host get.
type CommandEnv = [(String, String)];

/// Finds files by their names.
pub(super) async fn glob(
    host: (&dyn Target, &CommandEnv),
    files: &Files<'_>,
    path: &Path,
    query: &GlobQuery,
) -> Result<GlobResult, TargetError> {
    let pattern = name_pattern(&query.pattern)?;
    let spot = files.spot(path, Access::Read).await?;
    require_directory(files, path).await?;
    let rules = rules(files, &spot, query.with_ignored).await?;
    let exit = run(host, FIND, &[&spot.path]).await?;
    let mut paths: Vec<PathBuf> = names(&exit).filter(|path| pattern.is_match(path)).collect();
    paths.retain(|path| rules.judge(path, false) == Judged::Shown && !spot.hides(path));
    paths.sort();
    let truncated = paths.len() > query.limit || is_cut(&exit);
    paths.truncate(query.limit);
    Ok(GlobResult { paths, truncated, unreadable: exit.stderr.text().lines().count() as u64 })
}

/// Searches the text of files.
pub(super) async fn grep(
    host: (&dyn Target, &CommandEnv),
    files: &Files<'_>,
    path: &Path,
    query: &GrepQuery,
) -> Result<GrepResult, TargetError> {
    let matcher = matcher(query)?;
    let names = query.names.as_deref().map(name_pattern).transpose()?;
    let posix = ere(&query.pattern);
    let for_grep = posix.as_ref().map(|pattern| format!("={pattern}")).unwrap_or_default();
    let spot = files.spot(path, Access::Read).await?;
    let is_directory = match require_directory(files, path).await {
        Err(TargetError::NotADirectory { .. }) => false,
        found => found.map(|()| true)?,
    };
    let rules = if is_directory { rules(files, &spot, query.with_ignored).await? } else { Rules::default() };
    let context = if query.files_only { 0 } else { query.context };
    let case = if query.ignore_case { "-i" } else { "" };
    let words = [spot.path.as_str(), case, &context.to_string(), &query.pattern, &for_grep];
    let exit = run(host, GREP, &words).await?;
    if let (Some(NO_WORDS), Err(lack)) = (exit.code, &posix) {
        return Err(TargetError::BadPattern {
            reason: format!("there is no `rg` on this host, and its `grep` has no words for {lack}"),
        });
    }
    if !matches!(exit.code, Some(0 | 1)) && exit.stdout.total == 0 && exit.ended == Ended::Exited {
        return Err(TargetError::BadPattern { reason: crate::transport::say(&exit.stderr.text()) });
    }
    let mut found: BTreeMap<PathBuf, Vec<MatchedLine>> = BTreeMap::new();
    let mut sealed = BTreeSet::new();
    for (path, number, is_match, line) in exit.stdout.head.split(|&byte| byte == b'\n').filter_map(parse) {
        let is_wanted = names.as_ref().is_none_or(|names| names.is_match(path))
            && (!is_directory || rules.judge(path, false) == Judged::Shown)
            && !spot.hides(path);
        if is_wanted && spot.seals(path, is_directory) {
            sealed.insert(path.to_owned());
        } else if is_wanted {
            let at = matcher.find(line).ok().flatten().map(|found| found.start());
            // The host may interpret the pattern in another way.
            let Some(at) = at.or((!is_match).then_some(0)) else { continue };
            let text = cut(line, if is_match { at } else { 0 }, query.max_line);
            found.entry(path.to_owned()).or_default().push(MatchedLine { number, text, is_match });
        }
    }
    Ok(GrepResult { sealed: sealed.len() as u64, ..first(found, query, is_cut(&exit)) })
}

/// Whether a search may be incomplete: it printed too much, or was stopped before its end.
fn is_cut(exit: &Exit) -> bool {
    exit.stdout.omitted() > 0 || exit.ended != Ended::Exited
}

/// The first matches in the order of their paths.
fn first(found: BTreeMap<PathBuf, Vec<MatchedLine>>, query: &GrepQuery, is_cut: bool) -> GrepResult {
    let mut result = GrepResult { truncated: is_cut, searched: found.len() as u64, ..GrepResult::default() };
    let mut left = query.limit;
    for (path, mut lines) in found {
        if left == 0 {
            result.truncated = true;
            break;
        }
        if query.files_only {
            left -= 1;
            lines.clear();
        } else {
            result.truncated |= crate::search::take_matches(&mut lines, &mut left);
        }
        result.files.push(FileMatches { path, lines });
    }
    result
}

/// One line of the search's output.
fn parse(line: &[u8]) -> Option<(&Path, u64, bool, &[u8])> {
    let end = memchr::memchr(0, line)?;
    let (path, rest) = (line.get(..end)?, line.get(end + 1..)?);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
    let is_match = match rest.get(digits)? {
        b':' => true,
        b'-' => false,
        _ => return None,
    };
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    let text = rest.get(digits + 1..).filter(|text| !text.contains(&0))?;
    Some((path.strip_prefix("./").unwrap_or(path), number, is_match, text))
}

async fn rules(files: &Files<'_>, spot: &Spot, with_ignored: bool) -> Result<Rules, TargetError> {
    if with_ignored { Ok(Rules::default()) } else { files.rules(spot, RULE_DEPTH).await }
}

async fn require_directory(files: &Files<'_>, path: &Path) -> Result<(), TargetError> {
    let one = crate::ListOptions { depth: 1, limit: 1, with_ignored: true };
    files.list(path, one).await.map(drop)
}

fn names(exit: &Exit) -> impl Iterator<Item = PathBuf> {
    let names = exit.stdout.head.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| {
        Path::new(std::ffi::OsStr::from_bytes(name)).strip_prefix("./").ok().map(Path::to_owned)
    })
}

/// Runs a script on the host under supervision.
async fn run(
    (target, env): (&dyn Target, &CommandEnv),
    script: &str,
    words: &[&str],
) -> Result<Exit, TargetError> {
    let argv = ["sh", "-c", script, "sh"].iter().chain(words).map(ToString::to_string).collect();
    let exec = Exec {
        argv,
        cwd: "/".into(),
        env: env.to_vec(),
        stdin: Stdin::Null,
        timeout: Some(LIMIT),
        output: OutputLimits { keep_head: FOUND_BYTES, keep_tail: 0, log: None },
        // The script is buddy's own, and its results are compared with the bounds of the call.
        bounds: Bounds::open(),
        pty: None,
        way_out: None,
        end_mark: None,
    };
    target.start(exec).await?.wait().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_was_stopped_is_not_whole() {
        let exit = |ended| Exit { ended, ..Exit::default() };
        assert!(!is_cut(&exit(Ended::Exited)));
        assert!(is_cut(&exit(Ended::TimedOut)) && is_cut(&exit(Ended::Stopped)));
    }

    #[test]
    fn lines_are_read_back_with_their_kind() {
        let (path, number, is_match, line) = parse(b"./a b/c\x0012:x:y").unwrap();
        assert_eq!((path.to_str(), number, is_match, line), (Some("a b/c"), 12, true, &b"x:y"[..]));
        assert!(!parse(b"c\x003-ctx").unwrap().2);
        assert!(parse(b"--").is_none());
    }
}
