//! The tests of the adapters in `contrib/`. They need Python, but neither a network nor the benchmark that they adapt to.

use anyhow::{Context, Result, bail};

use crate::counts::Counts;
use crate::run::{hear, program};

const ADAPTERS: [&str; 2] = ["harbor", "inspect"];

/// Runs the tests of every adapter.
pub(crate) fn run_tests() -> Result<Counts> {
    let mut passed = 0;
    for adapter in ADAPTERS {
        let folder = format!("contrib/{adapter}/tests");
        let mut python = program("python3");
        python.args(["-m", "unittest", "discover", "-s", &folder]).env("PYTHONDONTWRITEBYTECODE", "1");
        let heard = hear(&mut python)?;
        let ran = count_ran(&heard.lines).with_context(|| format!("{folder}: no test was counted"))?;
        if !heard.success {
            bail!("{folder}: a test failed");
        }
        passed += ran;
    }
    Ok(Counts { passed, failed: 0 })
}

/// The number in `Ran 12 tests in 0.1s`; `None` if no test ran, which older versions of Python call a success.
fn count_ran(lines: &[String]) -> Option<u64> {
    let ran = lines.iter().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse().ok());
    ran.filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_the_adapters_are_counted() {
        let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
        assert_eq!(count_ran(&lines("...\nRan 3 tests in 0.010s\n\nOK")), Some(3));
        assert_eq!(count_ran(&lines("Ran 1 test in 0.010s")), Some(1));
        assert_eq!(count_ran(&lines("Ran 0 tests in 0.000s\n\nOK")), None);
        assert_eq!(count_ran(&lines("No module named unittest")), None);
    }
}
