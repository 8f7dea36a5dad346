//! A local target with a directory of its own, and a look at the process table.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use buddy_exec::{
    Bounds, Description, Exec, Exit, HostMeans, Limits, LocalSettings, LocalTarget, OutputLimits, Running,
    Stdin, SupervisorCommand, Target, TargetError,
};
use tempfile::TempDir;

/// Far more than any wait here takes, also on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Stage {
    dir: TempDir,
    /// The directory for swept files.
    quarantine: TempDir,
    target: std::sync::Arc<LocalTarget>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_grace(Duration::from_millis(300))
    }

    pub(crate) fn with_grace(grace: Duration) -> Self {
        Self::with_supervisor(Path::new(env!("CARGO_BIN_EXE_buddy-supervise")), grace)
    }

    pub(crate) fn with_supervisor(program: &Path, grace: Duration) -> Self {
        Self::with(SupervisorCommand { program: program.to_owned(), args: Vec::new() }, grace)
    }

    /// With a shell script that plays the supervisor; the control stream is its stdin, both ways.
    pub(crate) fn with_scripted_supervisor(script: &str) -> Self {
        let args = vec!["-c".into(), script.into()];
        Self::with(SupervisorCommand { program: "/bin/sh".into(), args }, Duration::ZERO)
    }

    pub(crate) fn with(supervisor: SupervisorCommand, grace: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let description = Description {
            name: "local".into(),
            user: "someone".into(),
            host: "here".into(),
            os: "linux".into(),
            shell: "/bin/sh".into(),
            cwd: dir.path().to_owned(),
            means: HostMeans::default(),
        };
        let quarantine = tempfile::tempdir().unwrap();
        // Commands of some tests run as another account.
        fs::set_permissions(quarantine.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let target = LocalTarget::new(LocalSettings { supervisor, description, grace });
        let target = target.with_quarantine(quarantine.path().to_owned());
        Self { dir, quarantine, target: std::sync::Arc::new(target) }
    }

    /// The same stage, with these limits on its commands.
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        let target = std::sync::Arc::into_inner(self.target).unwrap();
        Self { target: std::sync::Arc::new(target.with_limits(limits)), ..self }
    }

    pub(crate) fn target(&self) -> &LocalTarget {
        &self.target
    }

    pub(crate) fn shared_target(&self) -> std::sync::Arc<LocalTarget> {
        self.target.clone()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The contents of all files in quarantine that were swept.
    pub(crate) fn swept(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![self.quarantine.path().to_owned()];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    // The baselines of running commands are kept beside.
                    left.extend(Some(entry).filter(|entry| !entry.ends_with("running")));
                } else if entry.extension().is_none_or(|extension| extension != "from") {
                    found.push(fs::read_to_string(entry).unwrap_or_default());
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) async fn start(&self, exec: Exec) -> Result<Running, TargetError> {
        self.target.start(exec).await
    }

    /// Starts a script and returns once it has said `ready`.
    pub(crate) async fn start_ready(&self, exec: Exec) -> Running {
        let mut running = self.start(exec).await.unwrap();
        let mut said = Vec::new();
        while !said.windows(5).any(|window| window == b"ready") {
            said.extend(running.next().await.unwrap().bytes);
        }
        running
    }

    pub(crate) async fn run(&self, exec: Exec) -> Exit {
        self.start(exec).await.unwrap().wait().await.unwrap()
    }
}

pub(crate) fn argv(argv: &[&str]) -> Exec {
    Exec {
        argv: argv.iter().map(ToString::to_string).collect(),
        cwd: PathBuf::new(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: Stdin::Null,
        pty: None,
        timeout: Some(PATIENCE),
        output: OutputLimits { keep_head: 64 * 1024, keep_tail: 64 * 1024, log: None },
        bounds: Bounds::open(),
        way_out: None,
        end_mark: None,
    }
}

pub(crate) fn sh(script: &str) -> Exec {
    argv(&["/bin/sh", "-c", script])
}

/// A number of seconds that only one test sleeps, so that its processes can be told from all others.
pub(crate) fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("86400.{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that have `marker` in their command line.
pub(crate) fn alive(marker: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let command_lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let texts = command_lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    texts.filter(|text| text.contains(marker)).collect()
}

/// The most memory that a process, or `self`, has had so far.
pub(crate) fn peak_memory_kib(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

pub(crate) async fn until_alive(marker: &str, count: usize) {
    until(PATIENCE, || alive(marker).len() >= count).await;
}

pub(crate) async fn until_gone(marker: &str, limit: Duration) {
    until(limit, || alive(marker).is_empty()).await;
}

/// Polls: the process table has no events.
async fn until(limit: Duration, is_so: impl Fn() -> bool) {
    let end = Instant::now() + limit;
    while !is_so() {
        assert!(Instant::now() < end, "did not happen within {limit:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
