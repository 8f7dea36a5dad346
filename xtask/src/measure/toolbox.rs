//! The programs on the `PATH` of measured runs: buddy itself, Python with pytest, and stand-ins.
//!
//! They contain their own settings, as buddy does not pass every variable on to commands.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::account::Account;
use crate::place;
use crate::run::{program, run};

/// The package to install from the package index.
const PYTEST: &str = "pytest==8.4.2";
/// The interpreter. One from a version manager may be closed to other accounts.
const PYTHON: &str = "/usr/bin/python3";
/// A crontab stand-in whose table is a file of the home, so that no real one is touched.
const CRONTAB: &str =
    "if [ \"$1\" = -l ]; then cat \"$HOME/.crontab-table\"; else cat > \"$HOME/.crontab-table\"; fi\n";

/// The paths of the programs.
pub(crate) struct Toolbox {
    folder: PathBuf,
}

impl Toolbox {
    /// Installs everything.
    pub(crate) fn new(account: &Account, buddy: &Path) -> Result<Self> {
        let toolbox = Self { folder: account.base().join("toolbox") };
        let (site, wheels) = (toolbox.folder.join("site"), toolbox.wheels());
        for folder in ["bin", "wheels"] {
            fs::create_dir_all(toolbox.folder.join(folder))?;
        }
        if !site.join("pytest").is_dir() {
            let options = ["-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--target"];
            run(program(PYTHON).args(options).arg(&site).arg(PYTEST)).context("cannot install pytest")?;
        }
        let python = format!("PYTHONPATH='{}' exec {PYTHON} \"$@\"\n", site.display());
        let pip = format!(
            "PIP_NO_INDEX=1 PIP_FIND_LINKS='{}' PIP_BREAK_SYSTEM_PACKAGES=1 exec {PYTHON} -m pip \"$@\"\n",
            wheels.display()
        );
        for (name, text) in
            [("python", &*python), ("python3", &*python), ("pip", &*pip), ("crontab", CRONTAB)]
        {
            toolbox.stand_in(name, text)?;
        }
        // Written under another name first: a running program cannot be overwritten.
        let bin = toolbox.folder.join("bin");
        fs::copy(buddy, bin.join("buddy.new")).with_context(|| format!("cannot copy {}", buddy.display()))?;
        fs::rename(bin.join("buddy.new"), bin.join("buddy"))?;
        Ok(toolbox)
    }

    /// The only place where `pip` finds packages.
    pub(crate) fn wheels(&self) -> PathBuf {
        self.folder.join("wheels")
    }

    pub(crate) fn buddy(&self) -> String {
        self.folder.join("bin/buddy").to_string_lossy().into_owned()
    }

    pub(crate) fn path(&self) -> OsString {
        let mut path = self.folder.join("bin").into_os_string();
        path.push(":/usr/local/bin:/usr/bin:/bin");
        path
    }

    /// A program of a few shell lines.
    pub(crate) fn stand_in(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}"))?;
        Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
    }
}

/// The given program, or a new release build.
pub(crate) fn binary(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(std::path::absolute(given)?);
    }
    crate::bench::build_release(&["--package", "buddy"])?;
    Ok(place::target()?.join("release/buddy"))
}
