//! The command line of a pane's shell: directly if calls have no bounds, and else by a warden, in a jail.

use std::fs::symlink_metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::host::Host;
use super::scripts;
use crate::control::{Leftovers, Spec, StdinSource};
use crate::env::on_a_terminal;
use crate::jail;
use crate::undo::digest_of;
use crate::warden::{Task, Told, end_file, swept_file, wish_pipe};
use crate::{Bounds, Limits, PaneError, Stdin, SupervisorCommand, SweepNote, TargetError};

/// The name at a pane whose shell has no bounds.
const OPEN: &str = "open";

/// The name at a pane that waits for its first command, whose bounds are not known yet.
const WAITING: &str = "waiting";

/// What such a pane runs: a text, and then nothing until the shell takes its place.
const WAIT: &str = "echo 'buddy types its commands here.'; exec tail -f /dev/null";

/// A terminal type that tmux understands, and every system describes.
const TERMINAL_KIND: &str = "screen";

/// The way to start the shells of panes on a target.
pub(super) struct Shells {
    /// The shell and its options.
    words: Vec<String>,
    warden: Option<SupervisorCommand>,
    cwd: PathBuf,
    env: Vec<(String, String)>,
    /// Paths that no shell with bounds may see: the socket, and the files of other panes.
    hidden: Vec<PathBuf>,
    /// The directory for files that commands leave where programs take orders from them.
    pub(super) quarantine: Option<PathBuf>,
}

/// A file with secrets: its path, and its device and inode number.
pub(super) type SealedObject = (Vec<u8>, u64, u64);

/// The files that a jail with these bounds would seal if it began now.
pub(super) async fn sealed_objects(bounds: &Bounds) -> Vec<SealedObject> {
    let bounds = bounds.clone();
    let look = move || {
        let files = jail::sealed(&bounds, &bounds.anchors).into_iter();
        let object = |file: PathBuf| {
            let found = symlink_metadata(&file).ok()?;
            Some((file.as_os_str().as_bytes().to_vec(), found.dev(), found.ino()))
        };
        let mut objects: Vec<SealedObject> = files.filter_map(object).collect();
        objects.sort();
        objects
    };
    spawn_blocking(look).await.unwrap_or_default()
}

/// The command line of one pane's shell, with its bounds.
#[derive(Clone)]
pub(super) struct Shell {
    /// The command line that tmux starts.
    pub(super) words: Vec<String>,
    /// Tells its bounds from others. It is noted at the pane, where only a program that reaches the server
    /// can change it.
    pub(super) bounds: String,
    /// `None` without bounds.
    cell: Option<Cell>,
}

/// The files of a jailed shell.
#[derive(Clone)]
struct Cell {
    /// The file with the warden's task, and its content.
    task: String,
    content: Vec<u8>,
    /// The file for the warden's reports.
    told: String,
    /// The directory that the shell can read.
    directory: String,
    /// Whether the shell may do everything but look at some files.
    only_hides: bool,
}

/// The process of a pane's shell, and the prefixes of its files, for us and for the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) shell: i32,
    pub(super) outside: String,
    pub(super) inside: String,
}

impl Shells {
    pub(super) fn new(
        host: &Host,
        shell: &str,
        env: Vec<(String, String)>,
        cwd: &Path,
        warden: Option<SupervisorCommand>,
    ) -> Self {
        let mut env = on_a_terminal(env);
        env.retain(|(name, _)| !matches!(name.as_str(), "TERM" | "TMUX" | "TMUX_PANE"));
        env.push(("TERM".to_owned(), TERMINAL_KIND.to_owned()));
        Self {
            words: shell_words(shell),
            warden,
            cwd: cwd.to_owned(),
            env,
            hidden: vec![host.directory.clone()],
            quarantine: None,
        }
    }

    /// Whether shells of calls with bounds are put into a jail.
    pub(super) fn are_jailed(&self) -> bool {
        self.warden.is_some()
    }

    /// The shell of a pane for calls with these bounds, where these files are sealed from them. A jail covers the files that were there
    /// when it began, so others need another one.
    pub(super) fn shell(
        &self,
        host: &Host,
        (session, pane): (&str, &str),
        bounds: &Bounds,
        sealed: &[SealedObject],
    ) -> Result<Shell, TargetError> {
        // On another host there is no jail that could hide files from a shell.
        if bounds.is_open() || (self.warden.is_none() && bounds.only_hide() && bounds.network) {
            return Ok(Shell { words: self.open_words(host), bounds: OPEN.to_owned(), cell: None });
        }
        let Some(warden) = &self.warden else { return Err(PaneError::Bounded.into()) };
        let path = |kind: &str| host.path(&format!("{session}.{pane}.{kind}"));
        let (task, told, directory) = (path("task"), path("told"), path("files"));
        let content =
            serde_json::to_vec(&Task { spec: self.spec(bounds, &directory), tell: PathBuf::from(&told) });
        let content = content.map_err(unfit)?;
        let program = warden.program.to_str().ok_or(TargetError::BadPath { why: "is not text" })?;
        let mut words = vec![program.to_owned()];
        words.extend(warden.args.iter().cloned().chain([task.clone()]));
        let only_hides = bounds.only_hide();
        let lasting = Bounds { ways: Vec::new(), ..bounds.clone() };
        let bounds = digest_of(&serde_json::to_vec(&(lasting, sealed)).map_err(unfit)?);
        Ok(Shell { words, bounds, cell: Some(Cell { task, content, told, directory, only_hides }) })
    }

    /// The words of a shell without a jail, which tmux starts. It gets the `PATH` of the user back.
    fn open_words(&self, host: &Host) -> Vec<String> {
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        let given =
            path.filter(|path| !host.env.contains(path)).map(|(name, value)| format!("{name}={value}"));
        let prefix = given.into_iter().flat_map(|given| ["/usr/bin/env".to_owned(), given]);
        prefix.chain(self.words.iter().cloned()).collect()
    }

    fn spec(&self, bounds: &Bounds, directory: &str) -> Spec {
        let mut bounds = bounds.clone();
        bounds.hidden.extend(self.hidden.iter().cloned());
        Spec {
            argv: self.words.clone(),
            cwd: self.cwd.as_os_str().as_bytes().to_vec(),
            env: self.env.clone(),
            stdin: StdinSource::Null,
            timeout_ms: None,
            grace_ms: 0,
            bounds,
            leftovers: Leftovers::End,
            limits: Limits::usual(),
            has_terminal: true,
            pane: Some(directory.as_bytes().to_vec()),
            quarantine: self.quarantine.as_ref().map(|path| path.as_os_str().as_bytes().to_vec()),
            end_mark: None,
        }
    }
}

impl Shell {
    /// The program of a pane that waits for its first command.
    pub(super) fn waiting() -> Self {
        let words = ["/bin/sh", "-c", WAIT].map(str::to_owned).to_vec();
        Self { words, bounds: WAITING.to_owned(), cell: None }
    }

    /// The shell that was found at a pane with these bounds. With other ones than its own it cannot be restarted.
    pub(super) fn found(&self, bounds: &str) -> Self {
        if bounds == self.bounds {
            return self.clone();
        }
        Self { words: Vec::new(), bounds: bounds.to_owned(), cell: None }
    }

    /// Whether it runs in a jail.
    pub(super) fn has_bounds(&self) -> bool {
        self.cell.is_some()
    }

    /// Whether its jail confines it to some directories.
    pub(super) fn is_confined(&self) -> bool {
        self.cell.as_ref().is_some_and(|cell| !cell.only_hides)
    }

    /// Whether it runs in a jail, even if it is unknown how to restart it.
    pub(super) fn is_jailed(&self) -> bool {
        self.bounds != OPEN && !self.bounds.is_empty()
    }

    /// Writes the files that the warden needs, before tmux starts it.
    pub(super) async fn prepare(&self, host: &Host) -> Result<(), TargetError> {
        let Some(cell) = &self.cell else { return Ok(()) };
        let directory = host.directory.to_string_lossy();
        let arguments = [directory.as_ref(), &cell.task, &cell.told, &cell.directory];
        let said = host.run(scripts::CELL, &arguments, Stdin::Bytes(cell.content.clone())).await?;
        if said.text.is_empty() {
            return Ok(());
        }
        Err(PaneError::NotPrivate { path: host.directory.clone() }.into())
    }

    /// The end of the shell whose warden was `pid`: code and signal. `None` if nobody reported it.
    pub(super) async fn end(
        &self,
        host: &Host,
        pid: i32,
    ) -> Result<Option<(Option<i32>, Option<i32>)>, TargetError> {
        let Some(cell) = &self.cell else { return Ok(None) };
        Ok(match read_report(host, &end_file(Path::new(&cell.told)).to_string_lossy(), pid).await? {
            Some(Told::Ended { warden, code, signal, .. }) if warden == pid => Some((code, signal)),
            _ => None,
        })
    }

    /// Makes the warden `pid` search for files that the shell has left where programs take orders from them.
    /// Returns the notes since the last call. The warden of a shell that has ended searches by itself.
    pub(super) async fn swept(
        &self,
        host: &Host,
        pid: i32,
        has_ended: bool,
    ) -> Result<Vec<SweepNote>, TargetError> {
        let Some(cell) = self.cell.as_ref().filter(|cell| !cell.only_hides) else { return Ok(Vec::new()) };
        let tell = Path::new(&cell.told);
        let [pipe, answer, end] = [wish_pipe(tell), swept_file(tell), end_file(tell)]
            .map(|path| path.to_string_lossy().into_owned());
        let ended = if has_ended { "ended" } else { "" };
        let words = [&pipe, &answer, &end, &*pid.to_string(), ended];
        let said = host.run(scripts::SWEPT, &words, Stdin::Null).await?;
        let notes = said.text.lines().filter_map(|line| match serde_json::from_str(line).ok()? {
            Told::Swept { warden, swept } | Told::Ended { warden, swept, .. } if warden == pid => Some(swept),
            _ => None,
        });
        Ok(notes.flatten().collect())
    }

    /// The process and the files of the shell in a pane whose process is `pid`.
    pub(super) async fn seat(
        &self,
        host: &Host,
        (session, pane): (&str, &str),
        number: &str,
        pid: i32,
    ) -> Result<Seat, TargetError> {
        if !self.is_jailed() {
            let place = host.path(&format!("{number}."));
            return Ok(Seat { shell: pid, outside: place.clone(), inside: place });
        }
        let path = |kind: &str| host.path(&format!("{session}.{pane}.{kind}"));
        match read_report(host, &path("told"), pid).await? {
            Some(Told::Runs { warden, shell, directory }) if warden == pid => Ok(Seat {
                shell,
                outside: format!("{}/", path("files")),
                inside: format!("{}/", directory.display()),
            }),
            Some(Told::Refused { warden, layer, reason }) if warden == pid => {
                Err(TargetError::NotJailed { layer, reason })
            }
            _ => Err(PaneError::NoHooks.into()),
        }
    }
}

/// The report that the warden with this process wrote to a file.
async fn read_report(host: &Host, file: &str, pid: i32) -> Result<Option<Told>, TargetError> {
    let said = host.run(scripts::TOLD, &[file, &pid.to_string()], Stdin::Null).await?;
    Ok(serde_json::from_str(&said.text).ok())
}

/// The command line of a shell that does what the command says and nothing else: without start-up files, in
/// which words may have other meanings than those that were judged.
fn shell_words(shell: &str) -> Vec<String> {
    let name = Path::new(shell).file_name().map(|name| name.to_string_lossy().into_owned());
    let options: &[&str] = match name.as_deref() {
        Some("bash") => &["--norc", "--noprofile", "-i"],
        Some("zsh") => &["-f", "-i"],
        Some("busybox") => &["ash", "-i"],
        _ => &["-i"],
    };
    [shell].iter().chain(options).map(|&word| word.to_owned()).collect()
}

fn unfit(error: serde_json::Error) -> TargetError {
    TargetError::Io { action: "describe", path: "pane".into(), source: error.into() }
}
