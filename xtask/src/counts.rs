//! Counts of passed and failed tests, read from the output of the runners.

use std::ops::AddAssign;

/// The numbers of tests that ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The sum over nextest's `Summary` and cargo's `test result:` lines; `None` if there is no such line.
pub(crate) fn count(lines: &[String]) -> Option<Counts> {
    let mut sum = None;
    for counts in lines.iter().filter_map(|line| nextest(line).or_else(|| libtest(line))) {
        *sum.get_or_insert_with(Counts::default) += counts;
    }
    sum
}

/// `     Summary [   3.021s] 61 tests run: 58 passed (1 slow), 1 failed, 2 timed out, 0 skipped`
fn nextest(line: &str) -> Option<Counts> {
    let said = line.trim_start().strip_prefix("Summary [")?;
    let (_, said) = said.split_once("run:")?;
    let bad = ["failed", "timed out", "exec failed", "leaky-failed"];
    Some(Counts { passed: figure(said, "passed"), failed: bad.iter().map(|word| figure(said, word)).sum() })
}

/// `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`
fn libtest(line: &str) -> Option<Counts> {
    let (_, said) = line.strip_prefix("test result: ")?.split_once(". ")?;
    Some(Counts { passed: figure(said, "passed"), failed: figure(said, "failed") })
}

/// The number before a word, in a list separated by commas or semicolons.
fn figure(said: &str, word: &str) -> u64 {
    let parts = said.split([',', ';']).map(|part| part.split('(').next().unwrap_or_default().trim());
    let number = parts.filter_map(|part| part.strip_suffix(word)).find_map(|rest| rest.trim().parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: Option<(u64, u64)>) {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(count(&lines), expected.map(|(passed, failed)| Counts { passed, failed }), "{lines:?}");
    }

    #[test]
    fn nextest_is_understood() {
        check(&["     Summary [   3.021s] 61 tests run: 61 passed, 2 skipped"], Some((61, 0)));
        check(
            &["     Summary [   3.0s] 5 tests run: 2 passed (1 slow), 1 failed, 2 timed out"],
            Some((2, 3)),
        );
        check(&["     Summary [  10.0s] 3/9 tests run: 2 passed, 1 failed, 1 skipped"], Some((2, 1)));
    }

    #[test]
    fn libtest_is_understood_and_summed() {
        check(
            &[
                "running 3 tests",
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            ],
            Some((4, 2)),
        );
    }

    #[test]
    fn silence_is_no_success() {
        check(&["error: could not compile `buddy`"], None);
    }
}
