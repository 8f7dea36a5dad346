//! The sum of a result, in one line. It is told by the shape of the result and not by the name of the tool, so that tools
//! of other agents that answer alike are shown alike.

use serde_json::Value;

/// The most characters of a text that is shown as it is.
const LONGEST: usize = 200;
/// Characters of a commit's id.
const COMMIT: usize = 8;

/// A line for people; empty where there is nothing to say.
pub(super) fn summarise_result(result: &Value) -> String {
    let known = [matches, paths, lines, page, listed, changed, answered, committed, process, time, note];
    known.iter().find_map(|line| line(result)).unwrap_or_default()
}

/// How many tests passed and failed, as the usual runners tell it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

impl TestCounts {
    pub(super) fn of(output: &str) -> Self {
        let mut counts = Self::default();
        for line in output.lines() {
            let line = line.trim_matches(|letter: char| letter == '=' || letter.is_whitespace());
            // Cargo, nextest, jest and vitest; pytest has the numbers alone.
            let is_sum = ["test result:", "Tests", "Summary ["].iter().any(|start| line.starts_with(start))
                || (line.starts_with(|letter: char| letter.is_ascii_digit()) && line.contains(" in "));
            if is_sum {
                counts.passed += before(line, "passed");
                counts.failed += before(line, "failed");
            }
        }
        counts
    }
}

/// The number that stands before a word.
fn before(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_it =
        |pair: &&[&str]| pair.last().is_some_and(|last| last.trim_end_matches([',', ';', '.']) == word);
    let pair = words.windows(2).find(is_it);
    pair.and_then(|pair| pair.first()?.parse().ok()).unwrap_or(0)
}

fn text<'a>(result: &'a Value, name: &str) -> Option<&'a str> {
    result.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn number(result: &Value, name: &str) -> Option<u64> {
    result.get(name).and_then(Value::as_u64)
}

/// A number of things; "at least" where the rest was left out.
fn counted(count: u64, one: &str, many: &str, result: &Value) -> String {
    let is_cut = result.get("truncated").and_then(Value::as_bool) == Some(true);
    let least = if is_cut { "at least " } else { "" };
    match count {
        0 => format!("no {many}"),
        1 => format!("{least}1 {one}"),
        count => format!("{least}{count} {many}"),
    }
}

fn matches(result: &Value) -> Option<String> {
    let files = number(result, "files")?;
    let found = result.get("matches").and_then(Value::as_str)?;
    let count = found.lines().filter(|line| !line.starts_with('…')).count() as u64;
    if count == files {
        return Some(
            counted(files, "file matches", "files match", result).replace("no files match", "no matches"),
        );
    }
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    Some(format!("{} in {files}", counted(count, "match", "matches", result)))
}

fn paths(result: &Value) -> Option<String> {
    result.get("paths").and_then(Value::as_str)?;
    Some(counted(number(result, "count")?, "path", "paths", result))
}

fn lines(result: &Value) -> Option<String> {
    let (Some(first), Some(count)) = (number(result, "first_line"), number(result, "lines")) else {
        let content = text(result, "content")?;
        return Some(counted(content.lines().count() as u64, "line", "lines", result));
    };
    match number(result, "total_lines") {
        Some(total) if total > count => {
            Some(format!("lines {first} to {} of {total}", (first + count).saturating_sub(1)))
        }
        _ => Some(counted(count, "line", "lines", &Value::Null)),
    }
}

/// A page from the web.
fn page(result: &Value) -> Option<String> {
    let (status, bytes) = (number(result, "status")?, number(result, "bytes")?);
    let what = text(result, "title").or_else(|| text(result, "content_type")).unwrap_or("a page");
    let size = match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    };
    let status = if status == 200 { String::new() } else { format!(", status {status}") };
    Some(format!("{}, {size}{status}", short(what)))
}

/// Lists, of which the end may have been left out.
fn listed(result: &Value) -> Option<String> {
    let names = [
        ("entries", "entry", "entries"),
        ("results", "result", "results"),
        ("videos", "video", "videos"),
        ("processes", "process", "processes"),
        ("branches", "branch", "branches"),
        ("commits", "commit", "commits"),
    ];
    names.iter().find_map(|(name, one, many)| {
        let list = result.get(name)?.as_array()?;
        let left_out = list.last().and_then(Value::as_str).and_then(left_out);
        let count = list.len() as u64 - u64::from(left_out.is_some()) + left_out.unwrap_or(0);
        Some(counted(count, one, many, result))
    })
}

/// The number in `… 12 more left out …`.
fn left_out(text: &str) -> Option<u64> {
    text.strip_prefix("… ")?.split(' ').next()?.parse().ok()
}

fn changed(result: &Value) -> Option<String> {
    if let Some(count) = number(result, "removed") {
        return Some(format!("removed {}", counted(count, "entry", "entries", result)));
    }
    result.get("diff").is_none().then_some(())?;
    let is_new = result.get("created")?.as_bool()?;
    Some(if is_new { "created" } else { "was there already" }.to_owned())
}

fn answered(result: &Value) -> Option<String> {
    text(result, "answer").map(short)
}

fn committed(result: &Value) -> Option<String> {
    // The subject stands in the row already.
    let (commit, _) = (text(result, "commit")?, text(result, "subject")?);
    Some(commit.chars().take(COMMIT).collect())
}

fn process(result: &Value) -> Option<String> {
    let condition = text(result, "condition")?;
    let id = text(result, "id")?;
    Some(format!("{id} {condition}"))
}

fn time(result: &Value) -> Option<String> {
    text(result, "iso_8601_utc").map(str::to_owned)
}

fn note(result: &Value) -> Option<String> {
    text(result, "note").map(short)
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let kept: String = line.chars().take(LONGEST).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(result: &Value, line: &str) {
        assert_eq!(summarise_result(result), line, "{result}");
    }

    #[test]
    fn searches_say_how_much_they_found() {
        check(&json!({"matches": "a:1: x\na:2: x\nb:1: x", "files": 2}), "3 matches in 2 files");
        check(
            &json!({"matches": "a:1: x\na:2: x", "files": 1, "truncated": true}),
            "at least 2 matches in 1 file",
        );
        check(&json!({"matches": "a\nb", "files": 2}), "2 files match");
        check(&json!({"matches": "", "files": 0}), "no matches");
        check(&json!({"paths": "a\nb", "count": 2}), "2 paths");
    }

    #[test]
    fn runners_of_tests_say_how_many_passed() {
        let check =
            |output: &str, passed, failed| assert_eq!(TestCounts::of(output), TestCounts { passed, failed });
        check(
            "test result: ok. 40 passed; 0 failed; 0 ignored\n\ntest result: ok. 1 passed; 0 failed",
            41,
            0,
        );
        check("     Summary [   0.718s] 6 tests run: 5 passed, 1 failed, 223 skipped", 5, 1);
        check("===== 2 failed, 39 passed in 4.20s =====", 39, 2);
        check("Tests:       1 failed, 40 passed, 41 total", 40, 1);
        check("the exam: 3 passed in vain, I said", 0, 0);
    }

    #[test]
    fn reads_say_which_lines_of_how_many() {
        check(&json!({"content": "x", "first_line": 1, "lines": 40, "total_lines": 40}), "40 lines");
        check(
            &json!({"content": "x", "first_line": 41, "lines": 10, "total_lines": 200}),
            "lines 41 to 50 of 200",
        );
        check(&json!({"content": "a\nb\n"}), "2 lines");
    }

    #[test]
    fn lists_count_what_was_left_out_too() {
        check(&json!({"entries": [{}, {}]}), "2 entries");
        check(&json!({"entries": [{}, "… 12 more left out …"], "truncated": false}), "13 entries");
        check(&json!({"results": []}), "no results");
    }

    #[test]
    fn pages_say_what_they_are() {
        let page = json!({"status": 200, "bytes": 12_345, "title": "A  page\nof it", "text": "…"});
        check(&page, "A page of it, 12 kB");
        let gone = json!({"status": 404, "bytes": 12, "content_type": "text/plain"});
        check(&gone, "text/plain, 12 bytes, status 404");
    }

    #[test]
    fn other_results_say_what_they_have_to_say() {
        check(&json!({"path": "/w/a", "created": true}), "created");
        check(&json!({"path": "/w/a", "removed": 3}), "removed 3 entries");
        check(&json!({"commit": "0123456789abcdef", "subject": "a: b"}), "01234567");
        check(&json!({"id": "proc-1", "condition": "running"}), "proc-1 running");
        check(&json!({"answer": "the blue one"}), "the blue one");
        check(&json!({"steps": 3}), "");
        check(&Value::Null, "");
    }
}
