//! The modes in which buddy is measured.

use anyhow::{Result, ensure};

/// A set of options for `buddy exec`.
#[derive(Debug)]
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    /// Options of `buddy exec`.
    pub(crate) words: &'static [&'static str],
    /// Whether commands run without a jail.
    pub(crate) is_production: bool,
    /// Whether buddy neither asks nor uses a jail: no goal is set for that.
    pub(crate) is_open: bool,
    /// A line of the help output that shows support for this mode.
    needs: Option<&'static str>,
}

const PLAIN: Mode = Mode { name: "default", words: &[], is_production: false, is_open: false, needs: None };

const MODES: &[Mode] = &[
    PLAIN,
    Mode { name: "edits", words: &["--approve", "edits"], is_production: false, is_open: false, needs: None },
    Mode { name: "all", words: &["--approve", "all"], is_production: false, is_open: false, needs: None },
    Mode { name: "plan", words: &["--plan"], is_production: false, is_open: false, needs: None },
    Mode {
        name: "auto",
        words: &["--permission-mode", "auto"],
        is_production: false,
        is_open: false,
        needs: Some("- auto:"),
    },
    Mode { name: "production", words: &[], is_production: true, is_open: false, needs: None },
    Mode {
        name: "production-all",
        words: &["--approve", "all"],
        is_production: true,
        is_open: true,
        needs: None,
    },
];

impl Mode {
    /// buddy without any options.
    pub(crate) fn plain() -> &'static Self {
        &PLAIN
    }
}

/// The modes with these names, or all. Prints and leaves out modes that the help output lacks.
pub(crate) fn choose(names: &[String], help: &str) -> Result<Vec<&'static Mode>> {
    for name in names {
        let known: Vec<&str> = MODES.iter().map(|mode| mode.name).collect();
        ensure!(known.contains(&name.as_str()), "no mode `{name}`; there are {}", known.join(", "));
    }
    let is_wanted = |mode: &&Mode| names.is_empty() || names.iter().any(|name| name == mode.name);
    let is_known = |mode: &&Mode| {
        let is_known = mode.needs.is_none_or(|line| help.contains(line));
        if !is_known {
            println!("{}: this buddy does not have the mode; it is left out", mode.name);
        }
        is_known
    };
    Ok(MODES.iter().filter(is_wanted).filter(is_known).collect())
}
