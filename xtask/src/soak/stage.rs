//! A temporary home, a scripted model, and the release build between them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::place;
use crate::run::program;

/// The environment of a soak test. Dropping it stops the model.
pub(crate) struct Stage {
    folder: PathBuf,
    model: Child,
    url: String,
}

impl Stage {
    /// An environment with a new home, whose model answers from the script.
    pub(crate) fn new(name: &str, script: &Value) -> Result<Self> {
        let folder = place::target()?.join("soak").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("project"))?;
        let path = folder.join("script.json");
        fs::write(&path, script.to_string())?;
        let mut model = release("scripted-model")?.arg(path).stdout(Stdio::piped()).spawn()?;
        let mut url = String::new();
        BufReader::new(model.stdout.take().context("no output")?).read_line(&mut url)?;
        ensure!(url.starts_with("http"), "the scripted model did not start");
        Ok(Self { folder, model, url: url.trim().to_owned() })
    }

    /// The working directory of buddy.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// buddy in this environment.
    pub(crate) fn buddy(&self, words: &[&str]) -> Result<Command> {
        let mut command = release("buddy")?;
        command
            .args(words)
            .current_dir(self.project())
            .env("BUDDY_HOME", self.folder.join("home"))
            .env("BUDDY_BASE_URL", &self.url)
            .env("BUDDY_MODEL", "scripted")
            .env_remove("BUDDY_API_KEY")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// Runs buddy to its end and fails unless it succeeds. Returns its stdout.
    pub(crate) fn insist(&self, words: &[&str]) -> Result<String> {
        let output = self.buddy(words)?.output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "`buddy {}`: {}\n{said}{complained}",
            words.join(" "),
            output.status
        );
        Ok(said)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It may have ended already; nothing depends on it.
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

fn release(name: &str) -> Result<Command> {
    Ok(program(&place::target()?.join("release").join(name).to_string_lossy()))
}

/// The peak memory of a process so far in kilobytes; `None` once it has ended.
pub(crate) fn peak_kilobytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Processes whose command line contains the mark.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let is_marked = |process: &u32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_marked).collect()
}
