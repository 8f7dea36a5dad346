//! A check of edited files, as the user's configuration has it, and what a session remembers of its checks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use buddy_policy::PathPattern;

use crate::tools::path_text::show_path;

/// Stands for the edited file in the words of a check.
const FILE: &str = "{file}";

/// A check of edited files.
#[derive(Debug, Clone)]
pub struct EditCheck {
    pub(crate) name: String,
    pub(crate) files: Vec<PathPattern>,
    command: Vec<String>,
}

impl EditCheck {
    /// A check that runs a command after edits of matching files. The error says what is wrong with it.
    pub fn new(name: &str, files: &[String], command: &[String]) -> Result<Self, String> {
        let pattern = |text: &String| {
            PathPattern::parse(text).ok_or_else(|| format!("`{text}` is no pattern such as `*.py`"))
        };
        match command.first() {
            None => return Err("it has no `command`, such as `[\"ruff\", \"check\", \"{file}\"]`".to_owned()),
            Some(program) if program.is_empty() || program.contains(FILE) => {
                return Err("its `command` must begin with the name of a program".to_owned());
            }
            Some(_) => {}
        }
        if files.is_empty() {
            return Err("it has no `files`, such as `[\"*.py\"]`".to_owned());
        }
        let files = files.iter().map(pattern).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), files, command: command.to_vec() })
    }

    /// The words of the command for a file, which is absolute and so never an option.
    pub(crate) fn argv(&self, file: &Path) -> Vec<String> {
        self.command.iter().map(|word| word.replace(FILE, &show_path(file))).collect()
    }
}

/// The memory of a session about its checks.
#[derive(Default)]
pub(crate) struct EditCheckMemory(Mutex<RememberedChecks>);

#[derive(Default)]
pub(crate) struct RememberedChecks {
    /// The errors that a check found last, by its name, the target and the file.
    pub(crate) errors: HashMap<(String, String, PathBuf), Vec<String>>,
    /// Troubles that were told, by the name of the check.
    pub(crate) told: HashSet<(String, &'static str)>,
    /// Timeouts in a row, by the name of the check.
    pub(crate) timeouts: HashMap<String, u32>,
}

impl EditCheckMemory {
    pub(crate) fn lock(&self) -> MutexGuard<'_, RememberedChecks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
