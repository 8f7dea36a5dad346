//! Installs the clients once, and runs them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn scripts() -> PathBuf {
    buddy_testkit::package().join("tests/clients")
}

/// Runs a Python script with this argument and returns its stdout.
pub(super) fn python(script: &str, argument: &str) -> String {
    let folder = installed("requirements.txt", |folder| {
        run("python3", &["-m".as_ref(), "venv".as_ref(), folder.as_ref()], folder);
        let list = scripts().join("requirements.txt");
        let install =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"].map(OsStr::new);
        run(folder.join("bin/python"), &[&install[..], &[list.as_ref()]].concat(), folder);
    });
    let script = scripts().join(script);
    run(folder.join("bin/python"), &[script.as_ref(), argument.as_ref()], &folder)
}

/// Runs a JavaScript module with this argument and returns its stdout.
pub(super) fn node(script: &str, argument: &str) -> String {
    let folder = installed("package.json", |folder| {
        fs::copy(scripts().join("package.json"), folder.join("package.json")).unwrap();
        run("npm", &["install", "--silent", "--no-audit", "--no-fund"].map(OsStr::new), folder);
    });
    // Node looks for packages beside the module, hence the copy.
    let module = folder.join(script);
    fs::copy(scripts().join(script), &module).unwrap();
    run("node", &[module.as_ref(), argument.as_ref()], &folder)
}

/// The folder with the packages of a list. Each content of the list has its own folder; a second process
/// waits for the first.
fn installed(list: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    fs::read_to_string(scripts().join(list)).unwrap().hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("clients-{:016x}", hasher.finish()));
    fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    let mark = folder.join(".installed");
    if !mark.exists() {
        install(&folder);
        File::create(mark).unwrap();
    }
    folder
}

#[expect(clippy::disallowed_methods, reason = "the clients are programs of their own")]
fn run(program: impl AsRef<OsStr>, arguments: &[&OsStr], folder: &Path) -> String {
    let program = program.as_ref();
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed in {}: {told}", program.display(), folder.display());
    String::from_utf8(output.stdout).unwrap()
}
