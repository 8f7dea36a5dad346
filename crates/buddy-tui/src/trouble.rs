//! Which lines of a program's output say why it failed.
//!
//! A failed test prints its name long before its reason. The table has the forms in which compilers and test runners print the
//! reason itself, the surest first; without any of them the first line that names a failure has to do.

/// A form of a reason.
struct TroubleForm {
    /// Whether a line has it.
    is_it: fn(&str) -> bool,
    /// Where the shown lines begin.
    begin: Begin,
}

/// Where the lines begin that are shown, seen from the line that has the form.
#[derive(Clone, Copy)]
enum Begin {
    Before,
    Here,
    Behind,
}

/// The forms, the surest first.
const FORMS: [TroubleForm; 6] = [
    // Rust: `thread 'x' panicked at src/lib.rs:3:5:`, and the message on the next line.
    TroubleForm { is_it: |line| line.contains("panicked at ") && line.ends_with(':'), begin: Begin::Behind },
    TroubleForm { is_it: |line| line.contains("panicked at "), begin: Begin::Here },
    // pytest.
    TroubleForm { is_it: |line| line.starts_with("E   "), begin: Begin::Here },
    // rustc, and many others.
    TroubleForm { is_it: is_compiler_error, begin: Begin::Here },
    // Python: the statement, then `AssertionError: 1 != 2`.
    TroubleForm { is_it: |line| is_exception(line) && !line.contains('['), begin: Begin::Before },
    // node: `AssertionError [ERR_ASSERTION]: …`, indented by its test runner.
    TroubleForm { is_it: |line| is_exception(line.trim_start()), begin: Begin::Here },
];

/// The first of the lines to show, of those that are not empty.
pub(crate) fn find_trouble(lines: &[&str]) -> usize {
    for form in &FORMS {
        if let Some(at) = lines.iter().position(|line| (form.is_it)(line)) {
            return match form.begin {
                Begin::Before => at.saturating_sub(1),
                Begin::Here => at,
                Begin::Behind => at + 1,
            };
        }
    }
    lines.iter().position(|line| names_trouble(line)).unwrap_or(0)
}

/// Whether a line is an error of a compiler, and not only the summary at its end.
fn is_compiler_error(line: &str) -> bool {
    let summaries =
        ["error: test failed", "error: could not compile", "error: aborting", "error: process didn't"];
    (line.starts_with("error: ") || line.starts_with("error["))
        && !summaries.iter().any(|summary| line.starts_with(summary))
        && !line.ends_with("target failed:")
}

/// Whether a line begins with the name of an exception: `KeyError: 'a'`.
fn is_exception(line: &str) -> bool {
    let name = line.split([':', ' ']).next().unwrap_or_default();
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '.' || letter == '_');
    is_name && (name.ends_with("Error") || name.ends_with("Exception")) && line.len() > name.len()
}

/// Whether a line names a failure.
fn names_trouble(line: &str) -> bool {
    let line = line.to_lowercase();
    let words = ["error", "panicked", "fatal", "failed", "exception", "not found", "denied", "cannot"];
    words.iter().any(|word| line.contains(word)) && !line.contains(" 0 failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, first: &str) {
        let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(lines.get(find_trouble(&lines)).copied(), Some(first));
    }

    #[test]
    fn the_reason_of_a_failed_rust_test_is_found() {
        check(
            "running 1 test\ntest tests::ten_percent ... FAILED\n\nfailures:\n\n---- tests::ten_percent stdout ----\n\
             thread 'tests::ten_percent' (7) panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 90\n right: 100\n\
             test result: FAILED. 0 passed; 1 failed\nerror: test failed, to rerun pass `--lib`",
            "assertion `left == right` failed",
        );
        check(
            "   Compiling shop v0.1.0\nwarning: unused\nerror[E0308]: mismatched types\n --> src/lib.rs:2:5\nerror: could not compile `shop`",
            "error[E0308]: mismatched types",
        );
    }

    #[test]
    fn the_reason_of_a_failed_python_test_is_found() {
        check(
            "F\n======\nFAIL: test_greet (test_a.A)\n------\nTraceback (most recent call last):\n  File \"test_a.py\", line 5, in test_greet\n\
             \x20   self.assertEqual(greet(), \"hi\")\nAssertionError: 'hello' != 'hi'\n- hello\n+ hi\n------\nFAILED (failures=1)",
            "    self.assertEqual(greet(), \"hi\")",
        );
        check(
            "=== FAILURES ===\n____ test_a ____\n    def test_a():\n>       assert one() == 2\nE       assert 1 == 2\nE        +  where 1 = one()\n\
             FAILED test_a.py::test_a - assert 1 == 2",
            "E       assert 1 == 2",
        );
    }

    #[test]
    fn the_reason_of_a_failed_node_test_is_found() {
        check(
            "> shop@1.0.0 test\n> node test.js\nnode:assert:126\n  throw new AssertionError(obj);\n  ^\n\
             AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n1 !== 2\n    at Object.<anonymous>",
            "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
        );
        check(
            "not ok 1 - adds\n  TypeError: add is not a function\n      at test.js:3:1",
            "  TypeError: add is not a function",
        );
    }

    #[test]
    fn without_a_known_form_the_first_line_that_names_a_failure_has_to_do() {
        check("building\nld: cannot find -lz\nmake: *** [all] Error 1", "ld: cannot find -lz");
        check("all is well\nand ends", "all is well");
        check("ok: 0 failed", "ok: 0 failed");
    }
}
