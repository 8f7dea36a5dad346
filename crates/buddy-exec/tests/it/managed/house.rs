//! A directory of managed processes that leaves none behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_exec::Bounds;
use buddy_exec::managed::{
    Condition, Force, KEEP, Launch, ManagedProcesses, ManagedSettings, Owner, Restart, Status,
};
use buddy_exec::{Limits, Reach, SupervisorCommand};
use buddy_protocol::{Clock, Ids, UnixMillis};
use tempfile::TempDir;

use crate::stage::PATIENCE;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_700_000_000_000)
    }
}

struct Fresh;

impl Ids for Fresh {
    fn next(&self) -> u128 {
        let mut bytes = [0; 16];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).unwrap();
        u128::from_ne_bytes(bytes)
    }
}

pub(crate) struct House {
    folder: TempDir,
    pub(crate) processes: ManagedProcesses,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with_grace(Duration::from_millis(300))
    }

    pub(crate) fn with_grace(grace: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let processes = processes_in(folder.path(), grace);
        Self { folder, processes }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The directory of one process.
    pub(crate) fn of(&self, id: &str) -> PathBuf {
        self.path("processes").join(id)
    }

    pub(crate) fn launch(&self, script: &str) -> Launch {
        launch_in(self.folder.path(), script)
    }

    /// Starts a script and returns its id.
    pub(crate) fn start(&self, script: &str) -> String {
        self.processes.start(&self.launch(script)).unwrap().record.id
    }

    pub(crate) fn status(&self, id: &str) -> Status {
        self.processes.status(id).unwrap()
    }

    pub(crate) fn text(&self, id: &str) -> String {
        String::from_utf8_lossy(&self.processes.tail(id, 1000).unwrap()).into_owned()
    }

    pub(crate) fn until_printed(&self, id: &str, text: &str) {
        until(|| self.text(id).contains(text));
    }

    pub(crate) fn until_condition(&self, id: &str, condition: Condition) {
        until(|| self.status(id).condition == condition);
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for status in self.processes.list().unwrap_or_default() {
            let _ = self.processes.stop(&status.record.id, Force::Now);
        }
    }
}

pub(crate) fn processes_in(folder: &Path, grace: Duration) -> ManagedProcesses {
    ManagedProcesses::new(ManagedSettings {
        directory: folder.join("processes"),
        keeper: SupervisorCommand {
            program: env!("CARGO_BIN_EXE_buddy-supervise").into(),
            args: vec![KEEP.to_owned()],
        },
        grace,
        limits: Limits::usual(),
        clock: Arc::new(Fixed),
        ids: Arc::new(Fresh),
    })
}

pub(crate) fn launch_in(folder: &Path, script: &str) -> Launch {
    Launch {
        argv: ["/bin/sh", "-c", script].map(String::from).to_vec(),
        command: script.to_owned(),
        name: None,
        cwd: folder.to_owned(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        bounds: Bounds::open(),
        unasked_writes: Reach::Anywhere,
        owner: Owner { person: "someone".into(), session: "one".into() },
        restart: Restart::Never,
        health: None,
        pinned: Vec::new(),
    }
}

/// Polls: neither the process table nor a record has events.
pub(crate) fn until(is_so: impl Fn() -> bool) {
    until_within(PATIENCE, is_so);
}

pub(crate) fn until_within(limit: Duration, is_so: impl Fn() -> bool) {
    let end = Instant::now() + limit;
    while !is_so() {
        assert!(Instant::now() < end, "did not happen within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process of another program, which must never be touched.
pub(crate) struct Stranger(std::process::Child);

impl Stranger {
    #[expect(clippy::disallowed_methods, reason = "the process that must not be touched is not buddy's")]
    pub(crate) fn new() -> Self {
        Self(std::process::Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Its start time, as the kernel reports it.
    pub(crate) fn start_time(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
