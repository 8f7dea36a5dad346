//! A fresh home and workspace for each run, with buddy between them and the server.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::judge::{Judged, RunCost, RunRecord};
use super::task::{Effect, SmallTask};
use crate::local_model::Peer;
use crate::measure::account::Account;
use crate::measure::toolbox::Toolbox;

/// The timeout of the first run, in which the server reads the system prompt for the first time.
const WARM_UP_SECONDS: u32 = 600;
/// Seconds after which a run is killed that did not heed its timeout.
const KILL_SECONDS: u32 = 15;
/// The limit of model calls in a run. Every task needs at most three.
const MOST_TURNS: &str = "8";

/// Bytes of a file that are judged, far more than any task asks for.
const MOST_BYTES: u64 = 64 * 1024;

/// The environment of runs. Dropping it removes every home and stops the server.
pub(super) struct Stage<'a> {
    account: &'a Account,
    toolbox: &'a Toolbox,
    peer: Peer,
    model: &'a str,
    /// Settings of buddy for every run, `KEY=VALUE`.
    settings: &'a [String],
    folder: PathBuf,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        account: &'a Account,
        toolbox: &'a Toolbox,
        peer: Peer,
        model: &'a str,
        settings: &'a [String],
    ) -> Result<Self> {
        let folder = account.base().join("small-model");
        let stage = Self { account, toolbox, peer, model, settings, folder };
        stage.clean()?;
        Ok(stage)
    }

    fn clean(&self) -> Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        Ok(())
    }

    /// Lets the server read the system prompt and the tools, which it keeps for the runs. The answer counts for nothing.
    pub(super) fn warm_up(&self) -> Result<()> {
        let home = self.folder.join("warm-up");
        self.plant(&home, &[])?;
        let record = self.exec(&home, "Hello", 1, WARM_UP_SECONDS)?;
        ensure!(record.model_calls > 0, "buddy called no model: exit code {:?}", record.code);
        Ok(())
    }

    /// Runs a task and judges it.
    pub(super) fn run(&self, task: &SmallTask, run: u32, timeout_seconds: u32) -> Result<Judged> {
        let home = self.folder.join(format!("{}-{run}", task.id));
        let files: Vec<(&str, &str)> = task.files.iter().map(|(path, text)| (&**path, &**text)).collect();
        self.plant(&home, &files)?;
        let (started, cpu) = (Instant::now(), self.peer.cpu_time()?);
        let record = self.exec(&home, &task.prompt, run, timeout_seconds)?;
        let cost = RunCost {
            seconds: started.elapsed().as_secs_f64(),
            cpu: self.peer.cpu_time()?.saturating_sub(cpu).as_secs_f64(),
        };
        let file = match &task.effect {
            Effect::File { path, .. } => read_start(&workspace(&home).join(path)),
            Effect::Answer(_) => None,
        };
        fs::remove_dir_all(&home)?;
        Ok(Judged::new(task, run, cost, record, file.as_deref()))
    }

    fn plant(&self, home: &Path, files: &[(&str, &str)]) -> Result<()> {
        fs::create_dir_all(workspace(home))?;
        for (path, text) in files {
            let path = workspace(home).join(path);
            fs::create_dir_all(path.parent().context("a file without a folder")?)?;
            fs::write(path, text)?;
        }
        self.account.give(home)
    }

    fn exec(&self, home: &Path, prompt: &str, seed: u32, seconds: u32) -> Result<RunRecord> {
        let settings = home.join("buddy.toml");
        fs::write(&settings, configuration(self.peer.address(), self.model, seed))?;
        let mut command = self.account.command(&self.toolbox.buddy(), seconds + KILL_SECONDS, home);
        command
            .arg("--config")
            .arg(settings)
            .args(["--model", "small", "exec", "--json", "--trust", "--max-turns", MOST_TURNS])
            .args(["--timeout", &format!("{seconds}s"), prompt])
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]))
            .current_dir(workspace(home))
            .env("PATH", self.toolbox.path());
        let output = command.output()?;
        // `timeout` kills a run that outlasts its own timeout, and then ends by a signal or without a result.
        Ok(RunRecord::read(output.status.code(), &String::from_utf8_lossy(&output.stdout)))
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // The next run also begins by removing them.
        let _ = self.clean();
    }
}

/// The beginning of a regular file. The model made it, so it may be a pipe or endless.
fn read_start(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn workspace(home: &Path) -> PathBuf {
    home.join("workspace")
}

/// The sampling that the makers of the model advise, with a seed of its own for each run. The rest is buddy's default.
fn configuration(address: &str, model: &str, seed: u32) -> String {
    format!(
        "[agent]
temperature = 0.2

[models.small]
api_base_url = 'http://{address}/v1'
auth = 'none'
model = '{model}'
api = 'completions'
max_output_tokens = 128
extra = {{ seed = {seed}, top_p = 0.9 }}
"
    )
}
