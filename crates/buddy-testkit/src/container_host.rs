//! A real container on this machine, run by podman from a small Debian image.
//!
//! No image registry is reachable, so the image is built once from Debian packages and kept in the user's
//! cache. A container has its own name and is removed when it is dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, flock};

/// The Debian release of the image.
const RELEASE: &str = "bookworm";
/// The name of the image. A change of its contents needs a new name.
const IMAGE: &str = "localhost/buddy-test:2";

/// A running container.
pub struct ContainerHost {
    name: String,
    folder: PathBuf,
}

impl ContainerHost {
    /// Starts a container that waits for commands. `cache` is the folder for images.
    ///
    /// # Errors
    /// When podman is not installed, or the image cannot be made.
    pub fn start(cache: &Path) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = cache.join("machine");
        fs::create_dir_all(&folder)?;
        let name = format!("buddy-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let host = Self { name, folder };
        host.write_settings()?;
        host.ensure_image()?;
        host.podman(&["run", "--detach", "--init=false", "--name", &host.name, IMAGE, "sleep", "infinity"])?;
        Ok(host)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The variables that reach its engine.
    pub fn env(&self) -> Vec<(String, String)> {
        let path = |name: &str| self.folder.join(name).to_string_lossy().into_owned();
        vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into()),
            ("HOME".into(), self.folder.to_string_lossy().into_owned()),
            ("CONTAINERS_CONF".into(), path("containers.conf")),
            ("CONTAINERS_STORAGE_CONF".into(), path("storage.conf")),
        ]
    }

    /// Stops it without removing it.
    ///
    /// # Errors
    /// When podman fails.
    pub fn stop(&self) -> Result<()> {
        self.podman(&["stop", "--time", "0", &self.name])
    }

    fn write_settings(&self) -> Result<()> {
        // Settings for nested and restricted machines: no systemd, no new networks, limits below those of the
        // machine.
        let containers = "[containers]\nnetns = \"none\"\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n",
            self.folder.join("storage").display(),
            self.folder.join("run").display(),
        );
        replace(&self.folder.join("containers.conf"), containers)?;
        replace(&self.folder.join("storage.conf"), &storage)
    }

    fn ensure_image(&self) -> Result<()> {
        let lock = File::create(self.folder.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        if self.podman(&["image", "exists", IMAGE]).is_ok() {
            return Ok(());
        }
        let archive = self.folder.join(format!("{RELEASE}-shells.tar.gz"));
        if !archive.is_file() {
            make_archive(&archive)?;
        }
        self.podman(&["import", &archive.to_string_lossy(), IMAGE])
    }

    fn podman(&self, arguments: &[&str]) -> Result<()> {
        let mut command = program("podman");
        command.args(arguments).env_clear().envs(self.env()).stdin(Stdio::null());
        let output = command.output().context("cannot start podman; is it installed?")?;
        if !output.status.success() {
            bail!("podman {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }
}

impl Drop for ContainerHost {
    fn drop(&mut self) {
        let _ = self.podman(&["rm", "--force", "--time", "0", &self.name]);
    }
}

/// Builds the archive under a temporary name, so that a partial one is never taken for whole.
fn make_archive(archive: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    run(program("debootstrap")
        .args(["--variant=minbase", "--include=tmux,zsh,busybox", RELEASE])
        .arg(&root))?;
    let draft = archive.with_extension("draft");
    run(program("tar")
        .arg("--create")
        .arg("--gzip")
        .arg("--file")
        .arg(&draft)
        .arg("--directory")
        .arg(&root)
        .arg("."))?;
    fs::rename(&draft, archive)?;
    Ok(())
}

fn replace(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    fs::write(&draft, text)?;
    Ok(fs::rename(&draft, path)?)
}

fn run(command: &mut Command) -> Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the container stands in for another machine")]
fn program(name: &str) -> Command {
    Command::new(name)
}
