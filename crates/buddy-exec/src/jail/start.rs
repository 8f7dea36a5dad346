//! The supervisor's side of a jail: plans it, starts the process inside, and hears from it.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitOptions, getpid, wait};
use rustix::termios::tcsetpgrp;

use super::broker;
use super::cache_layers::{Manner, Slot, SlotUser};
use super::config_writes::ConfigWrites;
use super::ground::Ground;
use super::guards::{Guards, Scene};
use super::inside::{JAIL, own_mounts};
use super::mounts::{Cover, Mount, Mounts, PANE_PLACE, blank_content};
use super::raw_path::RawPath;
use super::refusal::{BOUNDS, BUBBLEWRAP, CACHE_LAYERS, PROCESS, Refusal, refused};
use super::rules::{OWN_MEMORY, allow_pane, rules};
use super::seals::{COVERED_FILES, NO_STEERING, Seals, tell_git};
use super::single_files::SingleFiles;
use super::stand_in::StandIn;
use super::sweeper::{SweepLine, Sweeper};
use super::words::{Covered, Place, Plan, Rules, Status, Word};
use super::write_places::WritePlaces;
use super::{SweepNote, bubblewrap};
use crate::Bounds;
use crate::control::{self, Report, Spec};
use crate::descriptors::send_descriptors;
use crate::given::Given;
use crate::{FileLock, processes, terminal};

/// The time limit for making a jail: far more than a loaded machine needs, and less than the target waits.
const START_LIMIT: Duration = Duration::from_secs(20);

/// The number of rounds that kill orphans, and the length of each: one that forks meanwhile is found in the
/// next.
const ORPHAN_ROUNDS: u32 = 50;
const ORPHAN_PAUSE: Duration = Duration::from_millis(10);

/// The most bytes of bubblewrap's error message that are passed on.
const MAX_COMPLAINT_BYTES: u64 = 2048;

/// A command that runs in a jail.
#[derive(Debug)]
pub(crate) struct Jail {
    /// The process to watch: bubblewrap, or the command itself.
    pub(crate) main: Pid,
    /// The stream on which the process inside reports how the command ended; `None` if the command itself is
    /// watched.
    pub(crate) words: Option<Words>,
    /// The process id of the command in its namespace; `None` if the command itself is watched.
    inner: Option<i32>,
    /// The process that is inside and speaks for the command.
    pub(crate) keeper: Keeper,
    /// Whether the command can reach the process that speaks for it.
    pub(crate) is_light: bool,
    /// The path at which the shell of a pane finds the files written for it.
    pub(crate) pane: Option<PathBuf>,
    /// Sweeps while the command runs, and at its end.
    sweeper: Option<Sweeper>,
    /// Says which settings of git stayed as they were.
    configs: Arc<ConfigWrites>,
    /// Kept until nothing of the command is left.
    _stand_ins: Vec<StandIn>,
    /// Files that were made for the command; those that it did not write go with this.
    _single_files: SingleFiles,
    /// The lock of the layers over caches; kept as long.
    _cache_slot: Option<FileLock>,
}

/// The process of a jail that is not the command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// None: the command itself is watched.
    Nobody,
    /// The watched process.
    Main,
    /// The child of the watched process, which is bubblewrap.
    Child,
}

/// Starts a command in a jail. If bubblewrap is installed and cannot do its work, as in a container that may
/// not make namespaces, the layers that do without it have to hold.
pub(crate) fn start(spec: &Spec, cwd: &Path, given: Given) -> Result<Jail, Report> {
    let Some(bubblewrap) = bubblewrap::find().map_err(Report::Refused)? else {
        return start_with(spec, cwd, given, None, Manner::Redirected);
    };
    let again = given.try_clone();
    let first = match start_in_namespaces(spec, cwd, given, &bubblewrap) {
        Err(Report::Refused(refusal)) if refusal.layer == BUBBLEWRAP => refusal,
        other => return other,
    };
    let Ok(given) = again else { return Err(Report::Refused(first)) };
    start_with(spec, cwd, given, None, Manner::Redirected).map_err(|report| match report {
        Report::Refused(second) => {
            let reason = format!("{}; without it, {}: {}", first.reason, second.layer, second.reason);
            Report::Refused(Refusal::new(BUBBLEWRAP, reason))
        }
        other => other,
    })
}

/// Layers over caches are mounted where the kernel allows that.
fn start_in_namespaces(spec: &Spec, cwd: &Path, given: Given, bubblewrap: &Path) -> Result<Jail, Report> {
    let again = given.try_clone();
    let start = |given, manner| start_with(spec, cwd, given, Some(bubblewrap.to_owned()), manner);
    match (start(given, Manner::Mounted), again) {
        (Err(Report::Refused(refusal)), Ok(given)) if refusal.layer == CACHE_LAYERS => {
            start(given, Manner::Redirected)
        }
        (other, _) => other,
    }
}

fn start_with(
    spec: &Spec,
    cwd: &Path,
    given: Given,
    bubblewrap: Option<PathBuf>,
    manner: Manner,
) -> Result<Jail, Report> {
    let prepared = prepare(spec, cwd, bubblewrap, manner).map_err(Report::Refused)?;
    let Prepared { plan, mounts, bubblewrap, pane, guards, seals, cache_slot, single_files } = prepared;
    // In a session of its own the process inside takes the terminal itself.
    let is_ours = plan.has_terminal && plan.place != Place::Namespaces;
    let taken = if is_ours && !plan.is_pane { terminal::take(io::stdout()) } else { Ok(()) };
    let starting = taken
        .and_then(|()| Starting::spawn(bubblewrap.as_deref(), mounts.as_ref(), &plan, seals))
        .map_err(|error| Report::Refused(refused(PROCESS, "start the process of the jail")(error)))?;
    let main = Pid::from_child(&starting.child);
    if is_ours {
        // It still waits for its plan, so nothing of the command runs before it has the foreground.
        let _ = tcsetpgrp(io::stdout(), main);
    }
    let Guards { watched, stand_ins, configs } = guards;
    let configs = Arc::new(configs);
    let (words, inner) = starting.settle(&plan, given, &configs)?.unzip();
    let keeper = match (plan.place, &plan.covers) {
        (Place::Bare, _) => Keeper::Nobody,
        (_, Some(_)) => Keeper::Main,
        (_, None) => Keeper::Child,
    };
    let is_light = plan.place == Place::Light;
    let sweeper = Sweeper::start(watched);
    Ok(Jail {
        main,
        words,
        inner,
        keeper,
        is_light,
        pane,
        sweeper,
        configs,
        _stand_ins: stand_ins,
        _single_files: single_files,
        _cache_slot: cache_slot.map(|slot| slot.lock),
    })
}

impl Jail {
    /// Moves away the files that the command left where programs would take orders from them, after its last
    /// process is gone. Returns the notes since the start.
    pub(crate) fn sweep(&mut self) -> Vec<SweepNote> {
        let mut notes = self.configs.take_notes();
        notes.extend(self.sweeper.take().map(Sweeper::finish).unwrap_or_default());
        notes
    }

    /// The line to the sweeper, to ask for a sweep while the command runs.
    pub(crate) fn sweep_line(&self) -> Option<SweepLine> {
        self.sweeper.as_ref().map(Sweeper::line)
    }

    /// The process id of the command on this machine; `None` when it has ended.
    pub(crate) fn command(&self) -> Option<i32> {
        let main = self.main.as_raw_pid();
        let Some(inner) = self.inner else { return Some(main) };
        let table = processes::all();
        // bubblewrap has one child, the process inside, whose first child the command was.
        let first = match self.keeper {
            Keeper::Child => table.iter().find(|process| process.parent == main)?.pid,
            Keeper::Main | Keeper::Nobody => main,
        };
        let mut children = table.iter().filter(|process| process.parent == first);
        children.find(|process| processes::inner_pid(process.pid) == Some(inner)).map(|process| process.pid)
    }
}

/// A planned jail.
struct Prepared {
    plan: Plan,
    mounts: Option<Mounts>,
    bubblewrap: Option<PathBuf>,
    pane: Option<PathBuf>,
    guards: Guards,
    seals: Option<Seals>,
    cache_slot: Option<Slot>,
    single_files: SingleFiles,
}

fn prepare(
    spec: &Spec,
    cwd: &Path,
    bubblewrap: Option<PathBuf>,
    manner: Manner,
) -> Result<Prepared, Refusal> {
    let place = match (&bubblewrap, spec.bounds.only_hide()) {
        (_, true) => Place::Light,
        (Some(_), false) => Place::Namespaces,
        (None, false) => Place::Bare,
    };
    let shown = spec.pane.as_ref().map(|directory| PathBuf::from(OsStr::from_bytes(directory)));
    let mut bounds = spec.bounds.clone();
    let quarantine = spec.quarantine.as_ref().map(|path| PathBuf::from(OsStr::from_bytes(path)));
    if let Some(quarantine) = &quarantine {
        // A missing directory could not be hidden, and baselines are kept in it.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(quarantine);
    }
    bounds.hidden.extend(quarantine.iter().filter(|path| path.exists()).cloned());
    bounds.hidden.append(&mut bounds.ways);
    if place == Place::Light {
        // The machine's own `/run` is there, and no place can be made in it.
        bounds.shown.extend(shown.clone());
        bounds.guarded.extend(shown.clone());
    }
    let Bounds { network, .. } = bounds;
    let mut ground = Ground::of(&bounds)?;
    let single_files = SingleFiles::make(&bounds.write_alone);
    ground.open_files(&single_files.files);
    let (home, config_home) = (directory(&spec.env, "HOME"), directory(&spec.env, "XDG_CONFIG_HOME"));
    let scene = Scene { cwd: &real(cwd), home, config_home, place, quarantine: quarantine.clone() };
    let guards = Guards::put(&bounds, &mut ground, &scene)?;
    let has_mounts = place != Place::Bare;
    let mut mounts = has_mounts.then(|| Mounts::of(&ground, &real(cwd), network)).transpose()?;
    let mut rules = rules(&ground, place)?;
    check_places(&rules, &guards.watched.places)?;
    let is_moved = place == Place::Namespaces;
    let pane = shown.clone().map(|shown| if is_moved { PANE_PLACE.into() } else { shown });
    if let Some(directory) = &pane {
        allow_pane(&mut rules, directory);
    }
    if let Some(mounts) = mounts.as_mut().filter(|_| is_moved) {
        mounts.shown = shown;
    }
    let mut env = spec.env.clone();
    if guards.watched.orders.has_git() {
        tell_git(&mut env, NO_STEERING);
    }
    let caches = bounds.caches.as_ref().filter(|_| place != Place::Light);
    let user = SlotUser { cwd: &real(cwd), program_places: &program_places(&env), manner };
    let cache_slot = caches.and_then(|caches| Slot::take(caches, &ground, &user));
    let mut over = Vec::new();
    if let Some(slot) = &cache_slot {
        check_place(slot.directory(), &guards.watched.places)?;
        slot.tell(&mut env);
        rules.write.extend(slot.writable());
        over = mounts.as_mut().map(|mounts| slot.arrange(mounts)).unwrap_or_default();
    }
    let seals = match (&mut mounts, &quarantine) {
        (Some(mounts), Some(quarantine)) if place == Place::Namespaces => {
            mounts.seal_as_files(&ground.sealed);
            if mounts.has_sealed_files() {
                tell_git(&mut env, COVERED_FILES);
            }
            // If none can be made, devices have to do.
            Seals::make(mounts, quarantine).ok().flatten()
        }
        _ => None,
    };
    let own = mounts.as_ref().filter(|_| bubblewrap.is_none());
    let covered = |mount: &Mount| Covered { at: RawPath::from(&mount.at), cover: mount.cover };
    let plan = Plan {
        argv: spec.argv.clone(),
        cwd: RawPath::from(cwd),
        env,
        place,
        mounts_outside: RawPath::from(own_mounts()),
        covers: own.map(|mounts| mounts.list.iter().map(covered).collect()),
        overlays: cache_slot.as_ref().map(|slot| slot.overlays.clone()).unwrap_or_default(),
        over,
        rules,
        network,
        has_terminal: spec.has_terminal,
        is_pane: pane.is_some(),
    };
    Ok(Prepared { plan, mounts, bubblewrap, pane, guards, seals, cache_slot, single_files })
}

/// The directory that a variable names.
fn directory<'a>(env: &'a [(String, String)], wanted: &str) -> Option<&'a Path> {
    let value = env.iter().find(|(name, _)| name == wanted).map(|(_, value)| Path::new(value));
    value.filter(|path| path.is_absolute())
}

/// Refuses a command that could write where nobody looks.
fn check_places(rules: &Rules, places: &WritePlaces) -> Result<(), Refusal> {
    let mut opened = rules.write.iter().map(RawPath::to_path).filter(|path| path != Path::new(OWN_MEMORY));
    opened.try_for_each(|path| check_place(&path, places))
}

fn check_place(path: &Path, places: &WritePlaces) -> Result<(), Refusal> {
    if places.has(path) {
        return Ok(());
    }
    let reason = format!("the command could write `{}`, where buddy does not look", path.display());
    Err(Refusal::new(BOUNDS, reason))
}

/// The directories in which a command with these variables looks programs up, without links. A missing one counts too: a command
/// could make it.
fn program_places(env: &[(String, String)]) -> Vec<PathBuf> {
    let values = env.iter().filter(|(name, _)| name == "PATH").flat_map(|(_, value)| value.split(':'));
    let real = |named: &str| {
        let named = Path::new(named);
        let (above, there) = named.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
        let rest = named.strip_prefix(above).ok()?;
        // Joined to nothing, a path would end with a slash.
        Some(if rest.as_os_str().is_empty() { there } else { there.join(rest) })
    };
    let mut places: Vec<PathBuf> = values.filter(|named| named.starts_with('/')).filter_map(real).collect();
    places.sort();
    places.dedup();
    places
}

/// The path without links, if that is known.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A jail that is being made.
struct Starting {
    child: Child,
    control: UnixStream,
    complaint: PipeReader,
    /// Kept until the mounts are made.
    _seals: Option<Seals>,
}

impl Starting {
    #[expect(clippy::disallowed_methods, reason = "this is where jails are started")]
    fn spawn(
        bubblewrap: Option<&Path>,
        mounts: Option<&Mounts>,
        plan: &Plan,
        seals: Option<Seals>,
    ) -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        let (complaint, complain) = io::pipe()?;
        // By its descriptor: inside, the path of this program may be hidden, or lead elsewhere.
        let program = open("/proc/self/exe", OFlags::PATH, Mode::empty())?;
        fcntl_setfd(&program, FdFlags::empty())?;
        let path = OsString::from(format!("/proc/self/fd/{}", program.as_raw_fd()));
        let mut blanks = Vec::new();
        let mut command = match (bubblewrap, mounts) {
            (Some(bubblewrap), Some(mounts)) => {
                blanks = blank_files(mounts)?;
                let mut command = Command::new(bubblewrap);
                let sealed = seals.as_ref().map_or(&[][..], |seals| &seals.files);
                command.args(bubblewrap::arguments(mounts, plan, &blanks, sealed)).arg(path);
                command
            }
            _ => Command::new(path),
        };
        // Everything else comes over the control stream, so that nothing of it can be read from outside.
        let child = command
            .arg(JAIL)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stderr(complain)
            .spawn()?;
        drop(blanks);
        Ok(Self { child, control, complaint, _seals: seals })
    }

    /// Hands everything over and waits until the command runs.
    fn settle(
        mut self,
        plan: &Plan,
        given: Given,
        configs: &Arc<ConfigWrites>,
    ) -> Result<Option<(Words, i32)>, Report> {
        let stderr = io::stderr();
        // A failure here means that nobody listens; why is told by what can be heard.
        let _ = self.hand_over(plan, &given, stderr.as_fd(), configs);
        drop(given);
        let heard = self.control.set_read_timeout(Some(START_LIMIT)).and_then(|()| self.control.try_clone());
        let mut words = match heard {
            Ok(control) => Words(BufReader::new(control)),
            Err(error) => return Err(self.give_up(refused(PROCESS, "listen to the jail")(error))),
        };
        let first = words.next();
        // After this word the command may have run: it is then neither reported as refused, nor started once
        // more.
        let is_confined = matches!(first, Some(Word::Confined));
        let report = match (first, plan.place) {
            (Some(Word::Confined), Place::Namespaces | Place::Light) => match words.next() {
                Some(Word::Started(inner)) => {
                    let _ = self.control.set_read_timeout(None);
                    return Ok(Some((words, inner)));
                }
                other => read_refusal(other),
            },
            (Some(Word::Confined), Place::Bare) => match words.next() {
                None => return Ok(None),
                other => read_refusal(other),
            },
            (other, _) => read_refusal(other),
        };
        let is_own = plan.place == Place::Bare || plan.covers.is_some();
        let silence =
            |jail: &mut Self| if is_confined { Report::Lost } else { Report::Refused(jail.silence(is_own)) };
        let report = report.unwrap_or_else(|| silence(&mut self));
        let _ = self.child.kill();
        let _ = self.child.wait();
        if matches!(report, Report::Lost) {
            end_orphans();
        }
        Err(report)
    }

    fn hand_over(
        &mut self,
        plan: &Plan,
        given: &Given,
        stderr: BorrowedFd<'_>,
        configs: &Arc<ConfigWrites>,
    ) -> io::Result<()> {
        let (inside, theirs) = UnixStream::pair()?;
        let way_out = given.way_out.iter().map(AsFd::as_fd);
        let descriptors: Vec<_> =
            [given.stdin.as_fd(), stderr, theirs.as_fd()].into_iter().chain(way_out).collect();
        broker::serve(inside, Arc::clone(configs))?;
        send_descriptors(&self.control, &descriptors)?;
        let plan = serde_json::to_vec(plan)?;
        self.control.set_write_timeout(Some(START_LIMIT))?;
        self.control.write_all(&(plan.len() as u64).to_ne_bytes())?;
        self.control.write_all(&plan)
    }

    /// The reason why the process inside was silent: mostly bubblewrap could not make the namespaces, and has
    /// said so.
    fn silence(&mut self, is_own: bool) -> Refusal {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut complaint = Vec::new();
        let _ = self.complaint.by_ref().take(MAX_COMPLAINT_BYTES).read_to_end(&mut complaint);
        let complaint = String::from_utf8_lossy(&complaint);
        let complaint = complaint.trim();
        let reason = if complaint.is_empty() { "it ended without a word" } else { complaint };
        Refusal::new(if is_own { PROCESS } else { BUBBLEWRAP }, reason)
    }

    fn give_up(mut self, refusal: Refusal) -> Report {
        let _ = self.child.kill();
        let _ = self.child.wait();
        Report::Refused(refusal)
    }
}

/// Kills the processes of a command that have lost the process that spoke for them: they became children of
/// this one.
fn end_orphans() {
    for _ in 0..ORPHAN_ROUNDS {
        let left = processes::descendants(&processes::all(), getpid().as_raw_pid());
        if left.is_empty() {
            return;
        }
        for process in &left {
            process.signal(Signal::KILL);
        }
        std::thread::sleep(ORPHAN_PAUSE);
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

/// The contents of blank files in the order of the mounts, for bubblewrap to read.
fn blank_files(mounts: &Mounts) -> io::Result<Vec<OwnedFd>> {
    let blanks = mounts.list.iter().filter(|mount| mount.cover == Cover::Blank);
    let file = |mount: &Mount| {
        let file = memfd_create("blank", MemfdFlags::empty())?;
        let content = blank_content(&mount.at).as_bytes();
        rustix::io::pwrite(&file, content, 0)?;
        Ok(file)
    };
    blanks.map(file).collect()
}

/// The report of why the command does not run; `None` for another word or none.
fn read_refusal(word: Option<Word>) -> Option<Report> {
    match word? {
        Word::Refused(refusal) => Some(Report::Refused(refusal)),
        Word::BadCwd(reason) => Some(Report::BadCwd(reason)),
        Word::NotStarted(reason) => Some(Report::NotStarted(reason)),
        Word::Confined | Word::Started(_) | Word::Exited(_) => None,
    }
}

/// The words of the process inside.
#[derive(Debug)]
pub(crate) struct Words(BufReader<UnixStream>);

impl Words {
    fn next(&mut self) -> Option<Word> {
        let mut line = Vec::new();
        self.0.by_ref().take(control::MAX_SPEC_BYTES).read_until(b'\n', &mut line).ok()?;
        serde_json::from_slice(&line).ok()
    }

    /// Waits for the end of the command. `None` if the process inside ended without reporting it.
    pub(crate) fn exited(mut self) -> Option<Status> {
        match self.next()? {
            Word::Exited(status) => Some(status),
            _ => None,
        }
    }
}
