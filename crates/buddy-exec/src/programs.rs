//! Programs by name: the file that a name means on a `PATH`, and whether commands of an agent can change it.
//!
//! Programs that buddy starts for itself come from here. A relative directory, and one that commands can write, is
//! skipped: a command that nobody was asked about could have put a `git` there.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::link_look::follow_links;

/// The directories that are left if all of a `PATH` is skipped.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Every account may write there.
const WRITABLE_BY_ALL: u32 = 0o002;

/// Only its owner can replace a file there.
const STICKY: u32 = 0o1000;

/// The largest program that is compared by its content.
const MAX_PROGRAM_BYTES: u64 = 16 * 1024 * 1024;

/// The longest chain of a script, its interpreter and so on, as the kernel has it.
const MAX_INTERPRETERS: usize = 4;

/// A program that exists only where commands of the agent can change it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is only at `{}`, where commands of the agent can write, so buddy does not run it. Install it elsewhere, such as in `/usr/local/bin`", file.display())]
pub struct ChangeableOnly {
    /// The name.
    pub name: String,
    /// The file that is not run.
    pub file: PathBuf,
}

/// The directories of a `PATH`, and those in which commands of the agent can write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramPath {
    directories: Vec<PathBuf>,
    changeable: Vec<PathBuf>,
    /// Directories that commands write in a layer, and the directories of `PATH`, which no layer covers.
    layered: Vec<PathBuf>,
    uncovered: Vec<PathBuf>,
    /// Whether they are on this machine, where links can be followed.
    is_here: bool,
}

impl ProgramPath {
    /// A `PATH` of this machine.
    pub fn here(path: &str, changeable: impl IntoIterator<Item = PathBuf>) -> Self {
        let named: Vec<PathBuf> = changeable.into_iter().filter(|root| root.is_absolute()).collect();
        let real: Vec<PathBuf> = named.iter().filter_map(|root| root.canonicalize().ok()).collect();
        Self { is_here: true, ..Self::elsewhere(path, named.into_iter().chain(real)) }
    }

    /// A `PATH` of another host: directories are compared by their names alone.
    pub fn elsewhere(path: &str, changeable: impl IntoIterator<Item = PathBuf>) -> Self {
        let directories = path.split(':').map(PathBuf::from).collect();
        let changeable = changeable.into_iter().collect();
        Self { directories, changeable, ..Self::default() }
    }

    /// The same for jailed commands, which write some directories in a layer. A layer covers no directory of `PATH`.
    pub fn with_layers(self, layered: impl IntoIterator<Item = PathBuf>) -> Self {
        let layered: Vec<PathBuf> = layered.into_iter().collect();
        let real = layered.iter().filter_map(|root| root.canonicalize().ok()).collect::<Vec<_>>();
        let uncovered = self.directories.iter().filter_map(|named| named.canonicalize().ok()).collect();
        Self { layered: layered.into_iter().chain(real).collect(), uncovered, ..self }
    }

    /// The word that starts a program: its path, or the name where that means nothing that commands can change. A path stays what the
    /// user named.
    pub fn find(&self, name: &str) -> Result<String, ChangeableOnly> {
        if !self.is_here || name.contains('/') {
            return Ok(name.to_owned());
        }
        let candidates = self.directories.iter().map(|directory| directory.join(name));
        let mut skipped = None;
        for file in candidates.filter(|file| is_program(file)) {
            if !self.is_skipped(&file) && !file.parent().is_some_and(|directory| self.is_skipped(directory)) {
                return Ok(file.to_string_lossy().into_owned());
            }
            skipped = skipped.or(Some(file));
        }
        match skipped {
            Some(file) => Err(ChangeableOnly { name: name.to_owned(), file }),
            // The start fails with the usual words.
            None => Ok(name.to_owned()),
        }
    }

    /// The file that a command in this directory runs by a name, if commands can change it.
    pub fn changeable(&self, name: &str, cwd: &Path) -> Option<PathBuf> {
        let files = self.directories.iter().map(|directory| cwd.join(directory).join(name));
        let first = files.into_iter().find(|file| is_program(file))?;
        self.is_changeable(&first).then_some(first)
    }

    /// A digest of a program: of the places that its path leads through, its content, and the same of the interpreters that commands can
    /// change. None if one of these cannot be read or told.
    pub fn digest(&self, file: &Path) -> Option<String> {
        let mut digest = Sha256::new();
        let mut next = Some(file.to_owned());
        for _ in 0..MAX_INTERPRETERS {
            let Some(file) = next.take() else { break };
            let real = file.canonicalize().ok()?;
            let (content, interpreter) = read_program(&real)?;
            digest.update(real.as_os_str().as_encoded_bytes());
            digest.update([0]);
            digest.update(Sha256::digest(&content));
            next = match interpreter.map(|words| self.interpreter(&words)) {
                Some(Interpreter::Changeable(file)) => Some(file),
                Some(Interpreter::Unknown) => return None,
                Some(Interpreter::Fixed) | None => None,
            };
        }
        let is_whole = next.is_none();
        let hexadecimal = |mut text: String, byte: &u8| {
            let _ = write!(text, "{byte:02x}");
            text
        };
        is_whole.then(|| digest.finalize().iter().fold(String::new(), hexadecimal))
    }

    fn interpreter(&self, words: &str) -> Interpreter {
        match self.interpreter_file(words) {
            Some(file) if self.is_changeable(&file) => Interpreter::Changeable(file),
            Some(_) => Interpreter::Fixed,
            None => Interpreter::Unknown,
        }
    }

    /// The file that the first line of a script names.
    fn interpreter_file(&self, words: &str) -> Option<PathBuf> {
        let mut words = words.split_whitespace();
        let program = PathBuf::from(words.next()?);
        let file = if program.file_name()? == "env" {
            let name = words.next().filter(|name| !name.starts_with('-') && !name.contains('='))?;
            let found = self.directories.iter().map(|directory| directory.join(name));
            found.into_iter().find(|file| is_program(file))?
        } else {
            program
        };
        Some(file).filter(|file| file.is_absolute())
    }

    /// The `PATH` without the directories that are skipped.
    pub fn value(&self) -> String {
        let kept = self.directories.iter().filter(|directory| !self.is_skipped(directory));
        let kept: Vec<&str> = kept.filter_map(|directory| directory.to_str()).collect();
        // An empty `PATH` means the working directory to some programs.
        if kept.is_empty() { SYSTEM_PATH.to_owned() } else { kept.join(":") }
    }

    /// Variables with this `PATH` in the place of theirs.
    pub fn applied_to(&self, env: &[(String, String)]) -> Vec<(String, String)> {
        let mut env = env.to_vec();
        for (_, value) in env.iter_mut().filter(|(name, _)| name == "PATH") {
            *value = self.value();
        }
        env
    }

    /// Whether buddy takes no program from a path: commands can change it, or every account can.
    fn is_skipped(&self, path: &Path) -> bool {
        self.is_changeable(path) || self.is_here && is_shared(path)
    }

    /// Whether commands can write at a path, or at a link on the way to it.
    fn is_changeable(&self, path: &Path) -> bool {
        let is_within = |at: &Path| self.changeable.iter().any(|root| at.starts_with(root));
        if !path.is_absolute() || !self.is_here {
            return !path.is_absolute() || is_within(path);
        }
        let is_layered = |at: &Path| {
            self.layered.iter().any(|root| at.starts_with(root))
                && !self.uncovered.iter().any(|place| place.starts_with(at) || at.starts_with(place))
        };
        steps(path).iter().any(|step| is_within(step) || is_layered(step))
    }
}

/// Whether every account can put a file at a path, or a directory on the way to it. A sticky directory keeps the names that are taken.
fn is_shared(path: &Path) -> bool {
    let steps = steps(path);
    let is_free = |next: Option<&PathBuf>| next.is_none_or(|next| fs::symlink_metadata(next).is_err());
    let mode = |at: &PathBuf| {
        fs::symlink_metadata(at).ok().filter(fs::Metadata::is_dir).map(|at| at.permissions().mode())
    };
    steps.iter().enumerate().skip(1).any(|(number, at)| {
        mode(at).is_some_and(|mode| {
            mode & WRITABLE_BY_ALL != 0 && (mode & STICKY == 0 || is_free(steps.get(number + 1)))
        })
    })
}

/// The interpreter of a script.
enum Interpreter {
    /// No command can change it.
    Fixed,
    /// Commands can change this file.
    Changeable(PathBuf),
    /// Nobody can tell which file it is.
    Unknown,
}

/// The content of a program, and the words of its first line after `#!`. None for what is too large.
fn read_program(file: &Path) -> Option<(Vec<u8>, Option<String>)> {
    let mut content = Vec::new();
    // Opens without waiting for the other end of a pipe.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(MAX_PROGRAM_BYTES + 1).read_to_end(&mut content).ok()?;
    if content.len() as u64 > MAX_PROGRAM_BYTES {
        return None;
    }
    let line = content.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
    let words = line.map(|line| String::from_utf8_lossy(line).trim().to_owned());
    Some((content, words))
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A path and every path on the way to it, links included.
fn steps(path: &Path) -> Vec<PathBuf> {
    std::iter::once(path.to_owned()).chain(follow_links(path).steps).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Yard {
        _folder: tempfile::TempDir,
        top: PathBuf,
    }

    impl Yard {
        /// A yard outside of directories that everybody writes.
        fn new() -> Self {
            let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
            let top = folder.path().canonicalize().unwrap();
            Self { _folder: folder, top }
        }

        fn put(&self, name: &str) -> PathBuf {
            let file = self.top.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            file
        }

        fn path(&self, directories: &[&str]) -> ProgramPath {
            let named = |name: &&str| match name.strip_prefix("./") {
                Some(relative) => relative.to_owned(),
                None => self.top.join(name).to_str().unwrap().to_owned(),
            };
            let path: Vec<String> = directories.iter().map(named).collect();
            ProgramPath::here(&path.join(":"), [self.top.join("work")])
        }
    }

    #[test]
    fn directories_that_commands_write_are_skipped() {
        let yard = Yard::new();
        yard.put("work/bin/git");
        let own = yard.put("bin/git");
        symlink("work/bin", yard.top.join("led")).unwrap();
        // A link that a command can turn, although it leads out.
        symlink("../bin", yard.top.join("work/turned")).unwrap();
        symlink("work/turned", yard.top.join("over")).unwrap();
        symlink("../work/bin/git", yard.top.join("bin/linked")).unwrap();
        let path = yard.path(&["work/bin", "led", "over", "./bin", "work/../work/bin", "work/new", "bin"]);
        assert_eq!(path.find("git").unwrap(), own.to_str().unwrap());
        assert_eq!(path.value(), yard.top.join("bin").to_str().unwrap());
        assert_eq!(yard.path(&["bin"]).find("linked").unwrap_err().file, yard.top.join("bin/linked"));
        assert_eq!(path.find("none").unwrap(), "none");
        let error = yard.path(&["led"]).find("git").unwrap_err();
        assert!(error.to_string().contains("led/git"), "{error}");
        assert_eq!(yard.path(&["work/bin"]).value(), SYSTEM_PATH);
    }

    #[test]
    fn directories_that_everybody_writes_are_skipped() {
        let yard = Yard::new();
        yard.put("shared/deep/git");
        yard.put("shared/git");
        let mode = |mode| {
            fs::set_permissions(yard.top.join("shared"), fs::Permissions::from_mode(mode)).unwrap();
        };
        let is_found = |directory| yard.path(&[directory]).find("git").is_ok();
        mode(0o755);
        assert!(is_found("shared/deep") && is_found("shared"));
        mode(0o1777);
        assert!(is_found("shared/deep") && !is_found("shared"));
        assert_eq!(yard.path(&["shared/missing", "shared"]).value(), SYSTEM_PATH);
        mode(0o777);
        assert!(!is_found("shared/deep") && !is_found("shared"));
    }

    #[test]
    fn only_the_file_that_a_command_would_run_counts() {
        let yard = Yard::new();
        let planted = yard.put("work/bin/git");
        yard.put("bin/git");
        let cwd = yard.top.join("work");
        assert_eq!(yard.path(&["work/bin", "bin"]).changeable("git", &cwd), Some(planted.clone()));
        assert_eq!(yard.path(&["bin", "work/bin"]).changeable("git", &cwd), None);
        assert_eq!(yard.path(&["./bin", "bin"]).changeable("git", &cwd), Some(planted));
        assert_eq!(yard.path(&["./bin"]).changeable("none", &cwd), None);
    }

    #[test]
    fn a_layer_counts_for_programs_that_a_link_leads_to() {
        let yard = Yard::new();
        yard.put("cache/bin/own");
        yard.put("cache/tools/x/bin/linked");
        fs::create_dir(yard.top.join("bin")).unwrap();
        symlink("../cache/tools/x/bin/linked", yard.top.join("bin/linked")).unwrap();
        let path = yard.path(&["cache/bin", "bin"]).with_layers([yard.top.join("cache")]);
        assert_eq!(path.changeable("own", &yard.top), None);
        assert_eq!(path.changeable("linked", &yard.top), Some(yard.top.join("bin/linked")));
    }

    #[test]
    fn a_program_is_the_same_with_the_same_content_and_interpreter() {
        let yard = Yard::new();
        let (file, own) = (yard.put("work/bin/tool"), yard.put("bin/sh"));
        let python = yard.put("work/bin/python");
        let path = yard.path(&["work/bin", "bin"]);
        let digest = || path.digest(&file);
        fs::write(&file, format!("#!{}\nx", python.display())).unwrap();
        let first = digest().unwrap();
        fs::write(&python, "other").unwrap();
        assert_ne!(digest().unwrap(), first, "another interpreter");
        fs::remove_file(&python).unwrap();
        symlink(&own, &python).unwrap();
        let linked = digest().unwrap();
        fs::write(&own, "other").unwrap();
        assert_ne!(digest().unwrap(), linked, "what a link leads to counts");
        for (text, is_told) in [
            (format!("#!{}\n", own.display()), true),
            ("#!/usr/bin/env python\n".to_owned(), true),
            ("#!/usr/bin/env -S python x\n".to_owned(), false),
            ("#!python\n".to_owned(), false),
            (format!("#!{}\n", file.display()), false),
            ("text".to_owned(), true),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(digest().is_some(), is_told, "{text}");
        }
        assert_eq!(path.digest(&yard.top), None, "a directory is no program");
    }

    #[test]
    fn on_another_host_names_alone_are_compared() {
        let path = ProgramPath::elsewhere("/w/.venv/bin:bin:/usr/bin", ["/w".into()]);
        assert_eq!(path.value(), "/usr/bin");
        assert_eq!(path.find("git").unwrap(), "git");
    }
}
