//! Undone changes of files and commands, checked byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::undo::{
    CommandExtent, Header, PathText, State, UndoError, UndoPlan, UndoSettings, UndoStore, Which,
};
use buddy_exec::{Bounds, Deletion, Exec, LocalTarget, OrderGuard, Recorder, SweepNote, Target, TargetError};
use buddy_protocol::{Clock, NameSet, Principal, UnixMillis};
use tempfile::TempDir;

use crate::bounds::target_in;
use crate::stage::sh;

mod directories;

struct Yard {
    folder: TempDir,
    target: LocalTarget,
    store: UndoStore,
}

struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(u64::try_from(self.nanos() / 1_000_000).unwrap())
    }

    #[expect(clippy::disallowed_methods, reason = "time stamps of real files are compared with it")]
    fn nanos(&self) -> u128 {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos()
    }
}

impl Yard {
    fn new() -> Self {
        Self::with(UndoSettings::default())
    }

    fn with(settings: UndoSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        let guard = OrderGuard {
            names: NameSet::trees([".git/hooks", ".git/config", ".envrc"]),
            quarantine: folder.path().join("data/quarantine"),
            home: None,
            config_home: None,
        };
        let undo = folder.path().join("data/undo");
        let store = UndoStore::with_guard(undo, settings, Arc::new(RealClock), Some(guard));
        Self { target: target_in(&folder.path().join("ws")), folder, store }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join("ws").join(below)
    }

    fn recorder(&self, id: &str) -> Recorder {
        self.store.begin(header(id))
    }

    fn plan(&self, id: &str) -> UndoPlan {
        self.store.plan(&Which::Id(id.to_owned())).unwrap()
    }

    /// Holds a place among the commands that run, as one in a jail does.
    fn run_another_command(&self) -> fs::File {
        let running = self.folder.path().join("data/quarantine/running");
        fs::create_dir_all(&running).unwrap();
        let place = fs::File::create(running.join("1")).unwrap();
        place.lock().unwrap();
        place
    }

    async fn write(&self, id: &str, path: &str, content: &str) {
        let recorder = self.recorder(id);
        self.target.write(&Bounds::open(), &recorder, Path::new(path), content.as_bytes()).await.unwrap();
    }

    async fn delete(&self, id: &str, path: &str) {
        let recorder = self.recorder(id);
        self.target.delete(&Bounds::open(), &recorder, Path::new(path), Deletion::Recursive).await.unwrap();
    }

    async fn command(&self, id: &str, script: &str) {
        let recorder = self.recorder(id);
        recorder.before_command(extent(self.path(""))).await.unwrap();
        let exit = self.target.start(sh(script)).await.unwrap().wait().await.unwrap();
        assert_eq!(exit.code, Some(0), "{script}: {}", exit.stderr.text());
        recorder.after_command().await.unwrap();
    }

    fn undo(&self, which: &Which, id: &str) -> UndoPlan {
        let plan = self.store.plan(which).unwrap();
        self.store.apply(&plan, header(id)).unwrap();
        plan
    }

    /// Everything in the workspace: kind, mode and content.
    fn tree(&self) -> BTreeMap<PathBuf, (String, u32)> {
        let mut tree = BTreeMap::new();
        let mut queue = vec![self.path("")];
        while let Some(directory) = queue.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let content = if metadata.is_dir() {
                    queue.push(path.clone());
                    "directory".to_owned()
                } else if metadata.is_symlink() {
                    format!("link to {}", fs::read_link(&path).unwrap().display())
                } else {
                    format!("{:?}", fs::read(&path).unwrap())
                };
                tree.insert(path, (content, metadata.permissions().mode()));
            }
        }
        tree
    }
}

fn header(id: &str) -> Header {
    Header {
        id: id.to_owned(),
        label: format!("call {id}"),
        session: "s".to_owned(),
        workspace: None,
        unix_ms: 1,
        undoes: None,
        target: None,
        by: None,
    }
}

/// One step of the series, by its number.
async fn step(yard: &Yard, at: usize) {
    let id = format!("{at}");
    match at % 10 {
        0 => yard.write(&id, &format!("new/deep{at}/file.txt"), &format!("content {at}\n")).await,
        1 => yard.write(&id, "base.txt", &format!("base changed by {at}\n")).await,
        2 => yard.command(&id, &format!("echo {at} >> base.txt; chmod 640 base.txt")).await,
        3 => {
            yard.command(&id, "mkdir -p made/empty; ln -sfn base.txt link; touch made/f; chmod 700 made")
                .await;
        }
        4 => yard.delete(&id, "new").await,
        5 => yard.command(&id, "mv run.sh moved.sh 2>/dev/null || mv moved.sh run.sh; rm -f link").await,
        6 => {
            let recorder = yard.recorder(&id);
            let made = format!("dirs/a{at}/b");
            yard.target.make_directory(&Bounds::open(), &recorder, Path::new(&made)).await.unwrap();
        }
        7 => yard.command(&id, "rm -rf made; echo now a file > made").await,
        8 => {
            yard.command(
                &id,
                &format!("printf '\\377\\000{at}' > \"$(printf 'odd\\nname\\377')\"; rm -f made"),
            )
            .await;
        }
        _ => {
            let recorder = yard.recorder(&id);
            let (bounds, from, to) =
                (Bounds::open(), PathBuf::from("base.txt"), PathBuf::from(format!("kept/{at}")));
            yard.target.rename(&bounds, &recorder, &from, &to).await.unwrap();
            yard.target.write(&bounds, &recorder, &from, b"base again\n").await.unwrap();
        }
    }
}

#[tokio::test]
async fn fifty_changes_are_taken_back_one_by_one_to_the_byte() {
    let yard = Yard::new();
    fs::write(yard.path("base.txt"), "base\n").unwrap();
    fs::write(yard.path("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(yard.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(yard.path("always/empty")).unwrap();
    symlink("nowhere", yard.path("dangling")).unwrap();
    let mut trees = vec![yard.tree()];
    for at in 0..50 {
        step(&yard, at).await;
        trees.push(yard.tree());
    }
    let changed = trees.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changed >= 45, "the series must change something: {changed}");
    assert!(
        yard.path("").read_dir().unwrap().any(|entry| entry.unwrap().file_name().as_bytes().contains(&0xff))
    );
    let mut undone = 0;
    let mut wanted = trees.pop().unwrap();
    assert_eq!(yard.tree(), wanted);
    loop {
        match yard.store.plan(&Which::Last) {
            Err(UndoError::Nothing) => break,
            plan => {
                let plan = plan.unwrap();
                assert_eq!((plan.conflicts(), plan.not_covered.len()), (0, 0), "{plan:?}");
                let number: usize = plan.header.id.parse().unwrap();
                yard.store.apply(&plan, header(&format!("undo {number}"))).unwrap();
                undone += 1;
                wanted = trees[number].clone();
                assert_eq!(yard.tree(), wanted, "after undoing {number}");
            }
        }
    }
    assert_eq!(wanted, trees[0]);
    assert_eq!(undone, changed, "an entry for each change and no other");
}

#[tokio::test]
async fn an_undo_is_itself_undone() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    yard.write("one", "a", "new").await;
    yard.delete("two", "a").await;
    assert_eq!(yard.undo(&Which::Last, "u1").header.id, "two");
    assert_eq!(yard.undo(&Which::Last, "u2").header.id, "one");
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "old");
    yard.undo(&Which::Id("u2".to_owned()), "u3");
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "new");
    // A restored state can be undone again.
    assert_eq!(yard.store.plan(&Which::Last).unwrap().header.id, "one");
    let list = yard.store.list().unwrap();
    let undone: Vec<_> = list.iter().filter(|entry| entry.is_undone).map(|entry| &*entry.header.id).collect();
    assert_eq!(undone, ["u2", "two"]);
}

#[tokio::test]
async fn later_changes_are_reported_and_left_alone() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    fs::write(yard.path("b"), "old").unwrap();
    yard.command("one", "echo new > a; echo new > b; mkdir d").await;
    fs::write(yard.path("b"), "mine").unwrap();
    fs::write(yard.path("d/mine"), "mine").unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    let conflicts: Vec<_> =
        plan.steps.iter().filter(|step| step.conflict.is_some()).map(|step| &step.path.0).collect();
    assert_eq!(conflicts, [&yard.path("b").canonicalize().unwrap(), &yard.path("d").canonicalize().unwrap()]);
    let before = yard.tree();
    assert!(matches!(yard.store.apply(&plan, header("u")), Err(UndoError::Conflicts(2))));
    assert_eq!(yard.tree(), before);
    fs::remove_file(yard.path("d/mine")).unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    yard.store.apply(&plan.overwriting(), header("u")).unwrap();
    assert_eq!(fs::read_to_string(yard.path("b")).unwrap(), "old");
    yard.undo(&Which::Id("u".to_owned()), "v");
    assert_eq!(fs::read_to_string(yard.path("b")).unwrap(), "mine");
}

#[tokio::test]
async fn uncovered_changes_are_reported() {
    let yard = Yard::with(UndoSettings { max_file_bytes: 100, ..UndoSettings::default() });
    fs::create_dir(yard.path("ignored")).unwrap();
    fs::write(yard.path(".gitignore"), "ignored/\n*.log\n").unwrap();
    fs::write(yard.path("big"), "x".repeat(101)).unwrap();
    fs::write(yard.path("covered.log"), "old").unwrap();
    yard.command("one", "echo > big; echo > ignored/new; echo > covered.log").await;
    let plan = yard.undo(&Which::Last, "u");
    let left_out: Vec<_> =
        plan.not_covered.iter().map(|left_out| left_out.path.0.file_name().unwrap()).collect();
    assert!(left_out.contains(&"big".as_ref()) && left_out.contains(&"ignored".as_ref()), "{left_out:?}");
    assert_eq!(fs::read_to_string(yard.path("covered.log")).unwrap(), "old");
    assert_eq!(fs::read_to_string(yard.path("big")).unwrap(), "\n");
    assert!(yard.path("ignored/new").exists());
    // A file tool says the same.
    fs::write(yard.path("big"), "x".repeat(101)).unwrap();
    yard.write("two", "big", "small").await;
    let plan = yard.store.plan(&Which::Last).unwrap();
    assert_eq!((plan.steps.len(), plan.not_covered.len()), (0, 1));
}

#[tokio::test]
async fn the_oldest_go_when_there_is_too_much() {
    let yard =
        Yard::with(UndoSettings { max_total_bytes: 35_000, max_entries: 6, ..UndoSettings::default() });
    for at in 0..10 {
        yard.write(&format!("{at}"), "a", &format!("{at}").repeat(10_000)).await;
    }
    let ids: Vec<String> = yard.store.list().unwrap().into_iter().map(|entry| entry.header.id).collect();
    assert_eq!(ids, ["9", "8", "7"]);
    // The content that an undo replaces is kept too, so it counts as well.
    yard.undo(&Which::Last, "u");
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "8".repeat(10_000));
    assert_eq!(yard.store.list().unwrap()[0].header.id, "u");
    let yard = Yard::with(UndoSettings { max_entries: 2, ..UndoSettings::default() });
    for at in 0..5 {
        yard.write(&format!("{at}"), "a", &format!("{at}")).await;
    }
    assert_eq!(yard.store.list().unwrap().len(), 2);
}

#[tokio::test]
async fn a_command_that_was_never_reported_back_is_undone_from_its_snapshot() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    fs::create_dir(yard.path("d")).unwrap();
    fs::write(yard.path("d/gone"), "back again").unwrap();
    let before = yard.tree();
    let recorder = yard.recorder("one");
    recorder.before_command(extent(yard.path(""))).await.unwrap();
    let script = "echo new > a; rm -r d; mkdir -p x/y; echo > x/y/z";
    yard.target.start(sh(script)).await.unwrap().wait().await.unwrap();
    // As in a crash: the steps after the command never happen.
    std::mem::forget(recorder);
    let plan = yard.undo(&Which::Last, "u");
    assert!(plan.is_interrupted);
    assert_eq!(yard.tree(), before);
}

/// The jail of a command that runs holds names in a repository by files and a directory. An undo would take its mounts away.
#[tokio::test]
async fn an_undo_beside_a_command_leaves_the_names_that_its_jail_holds() {
    let yard = Yard::new();
    fs::create_dir(yard.path(".git")).unwrap();
    let recorder = yard.recorder("one");
    recorder.before_command(extent(yard.path(""))).await.unwrap();
    let held = "printf '.\\n' > .git/commondir; \
        printf '# held by buddy while a command runs\\n' > .git/config.worktree; mkdir -m 1555 .git/hooks";
    let script = format!("{held}; echo new > made");
    yard.target.start(sh(&script)).await.unwrap().wait().await.unwrap();
    yard.undo(&Which::Last, "u");
    assert!(!yard.path("made").exists());
    for name in ["commondir", "config.worktree", "hooks"] {
        assert!(yard.path(".git").join(name).exists(), "{name}");
    }
    drop(recorder);
}

/// A command whose call is cut off when it has ended, as by the death of buddy.
async fn cut_short(yard: &Yard, script: &str) {
    let recorder = yard.recorder("one");
    recorder.before_command(extent(yard.path(""))).await.unwrap();
    let exec = Exec { end_mark: recorder.end_mark(), ..sh(script) };
    yard.target.start(exec).await.unwrap().wait().await.unwrap();
    // Time stamps of files are only as fine as the kernel's tick.
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn files_made_after_the_end_of_a_call_that_was_cut_short_are_no_part_of_it() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    fs::create_dir(yard.path("d")).unwrap();
    cut_short(&yard, "echo new > a; echo new > made; mkdir e").await;
    fs::write(yard.path("mine"), "mine").unwrap();
    fs::write(yard.path("d/mine"), "mine").unwrap();
    fs::create_dir(yard.path("my_directory")).unwrap();
    let plan = yard.undo(&Which::Last, "u");
    assert!(plan.is_interrupted);
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "old");
    assert!(!yard.path("made").exists() && !yard.path("e").exists());
    for mine in ["mine", "d/mine"] {
        assert_eq!(fs::read_to_string(yard.path(mine)).unwrap(), "mine");
    }
    assert!(yard.path("my_directory").exists());
    yard.undo(&Which::Id("u".to_owned()), "v");
    assert_eq!(fs::read_to_string(yard.path("made")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(yard.path("mine")).unwrap(), "mine");
}

#[tokio::test]
async fn what_was_touched_after_the_end_of_a_call_that_was_cut_short_needs_force() {
    let yard = Yard::new();
    for name in ["a", "b", "c"] {
        fs::write(yard.path(name), "old").unwrap();
    }
    cut_short(&yard, "echo new > a; echo new > made").await;
    fs::write(yard.path("made"), "mine").unwrap();
    fs::write(yard.path("b"), "mine").unwrap();
    fs::remove_file(yard.path("c")).unwrap();
    let before = yard.tree();
    let plan = yard.store.plan(&Which::Last).unwrap();
    let conflicts: Vec<_> = plan.steps.iter().filter(|step| step.conflict.is_some()).collect();
    let names: Vec<_> = conflicts.iter().map(|step| step.path.0.file_name().unwrap()).collect();
    assert_eq!(names, ["b", "c", "made"], "{conflicts:?}");
    assert!(matches!(yard.store.apply(&plan, header("u")), Err(UndoError::Conflicts(3))));
    assert_eq!(yard.tree(), before);
    yard.store.apply(&plan.overwriting(), header("u")).unwrap();
    assert_eq!(fs::read_to_string(yard.path("b")).unwrap(), "old");
    yard.undo(&Which::Id("u".to_owned()), "v");
    assert_eq!(yard.tree(), before);
}

#[tokio::test]
async fn a_call_whose_end_is_not_known_is_undone_only_with_force() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    cut_short(&yard, "echo new > a").await;
    for entry in fs::read_dir(yard.folder.path().join("data/undo/entries")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ended") {
            // The supervisor was killed too.
            fs::write(path, "").unwrap();
        }
    }
    fs::write(yard.path("mine"), "mine").unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    assert!(matches!(yard.store.apply(&plan, header("u")), Err(UndoError::Conflicts(2))));
    assert_eq!(fs::read_to_string(yard.path("mine")).unwrap(), "mine");
}

#[tokio::test]
async fn a_change_that_was_announced_and_never_made_needs_no_undo() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    let recorder = yard.recorder("one");
    let (bounds, name) = (Bounds::open(), Path::new("a"));
    yard.target.write(&bounds, &recorder, name, b"new").await.unwrap();
    // Undone by hand, which leaves the file as if the change had not happened.
    fs::write(yard.path("a"), "old").unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    assert_eq!((plan.steps.len(), plan.conflicts()), (0, 0));
}

#[tokio::test]
async fn an_undo_that_was_cut_short_can_be_run_again() {
    let yard = Yard::new();
    for name in ["a", "b", "c"] {
        fs::write(yard.path(name), "old").unwrap();
    }
    let before = yard.tree();
    yard.command("one", "echo new > a; echo new > b; rm c").await;
    let plan = yard.store.plan(&Which::Last).unwrap();
    // One path is restored already, as if the undo had been killed after its first step.
    fs::write(yard.path("a"), "old").unwrap();
    let rest = yard.undo(&Which::Last, "u");
    assert_eq!((plan.steps.len(), rest.steps.len()), (3, 2));
    assert_eq!(yard.tree(), before);
}

#[tokio::test]
async fn a_path_that_became_a_link_is_not_restored_through_it() {
    let yard = Yard::new();
    fs::create_dir(yard.path("d")).unwrap();
    fs::write(yard.path("d/a"), "old").unwrap();
    yard.write("one", "d/a", "new").await;
    let outside = yard.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "new").unwrap();
    fs::remove_dir_all(yard.path("d")).unwrap();
    symlink(&outside, yard.path("d")).unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    assert_eq!(plan.conflicts(), 1);
    assert_eq!(yard.store.apply(&plan.overwriting(), header("u")).unwrap().left.len(), 1);
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "new");
}

/// The files of a test run, as pytest leaves them.
const PYTEST: &str = "mkdir -p .pytest_cache/v/cache; printf '*\\n' > .pytest_cache/.gitignore; \
    echo x > .pytest_cache/README.md; echo y > .pytest_cache/v/cache/lastfailed; echo new > made";

#[tokio::test]
async fn a_step_that_fails_has_those_before_it_put_back() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    fs::create_dir(yard.path("z")).unwrap();
    fs::write(yard.path("z/b"), "old").unwrap();
    yard.command("one", "echo new > a; echo new > z/b").await;
    let plan = yard.store.plan(&Which::Last).unwrap();
    fs::remove_dir_all(yard.path("z")).unwrap();
    fs::write(yard.path("z"), "in the way").unwrap();
    let before = yard.tree();
    assert!(yard.store.apply(&plan, header("u")).is_err());
    assert_eq!(yard.tree(), before);
    assert_eq!(yard.store.list().unwrap().len(), 1, "nothing changed, so there is no entry of it");
}

#[tokio::test]
async fn only_this_account_can_look_into_the_store() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    yard.command("one", "echo new > a").await;
    let mut queue = vec![yard.folder.path().join("data/undo")];
    let mut files = 0;
    while let Some(path) = queue.pop() {
        let metadata = fs::metadata(&path).unwrap();
        if metadata.is_dir() {
            assert_eq!(metadata.permissions().mode() & 0o777, 0o700, "{}", path.display());
            queue.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
    }
    assert!(files >= 3);
}

#[tokio::test]
async fn a_later_snapshot_still_has_the_content_of_files_that_did_not_change() {
    let yard = Yard::new();
    fs::write(yard.path("still"), "still").unwrap();
    fs::write(yard.path("a"), "1").unwrap();
    yard.command("one", "echo 2 > a").await;
    yard.command("two", "echo moved > still").await;
    let plan = yard.undo(&Which::Last, "u");
    assert!(plan.steps.iter().any(|step| matches!(step.to, State::File { size: 5, .. })));
    assert_eq!(fs::read_to_string(yard.path("still")).unwrap(), "still");
}

#[tokio::test]
async fn nothing_is_changed_when_it_cannot_be_kept() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    // A file where the store would be.
    fs::write(yard.folder.path().join("data"), "in the way").unwrap();
    let recorder = yard.recorder("one");
    let refused = yard.target.write(&Bounds::open(), &recorder, Path::new("a"), b"new").await;
    assert!(matches!(refused, Err(TargetError::NotKept { .. })));
    let refused = yard.target.delete(&Bounds::open(), &recorder, Path::new("a"), Deletion::Single).await;
    assert!(matches!(refused, Err(TargetError::NotKept { .. })));
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "old");
}

#[tokio::test]
async fn an_undo_and_calls_of_its_project_keep_out_of_each_others_way() {
    let yard = Yard::new();
    let ours = PathText(yard.path(""));
    let call = |id: &str| yard.store.begin(Header { workspace: Some(ours.clone()), ..header(id) });
    let is_busy = || matches!(yard.store.claim(&ours.0, Duration::ZERO), Err(UndoError::Busy));
    let running = call("one");
    running.before_command(extent(yard.path(""))).await.unwrap();
    assert!(is_busy());
    assert!(yard.store.claim(yard.folder.path(), Duration::ZERO).is_ok(), "another project goes on");
    running.leave_project();
    assert!(!is_busy(), "a command in the background keeps no undo waiting");
    drop(running);
    let claimed = yard.store.claim(&ours.0, Duration::ZERO).unwrap();
    let waiting = call("two");
    let mut begun = Box::pin(waiting.before_command(extent(yard.path(""))));
    let mut own = Box::pin(yard.store.wait_for_undo(yard.path("")));
    let first = tokio::time::timeout(Duration::from_millis(100), either_ends(&mut begun, &mut own)).await;
    assert!(first.is_err(), "neither goes on while files are restored");
    drop(claimed);
    begun.await.unwrap();
    own.await.unwrap();
    assert!(is_busy());
}

/// Ends when one of them does.
async fn either_ends<A: Unpin + Future, B: Unpin + Future>(one: &mut A, other: &mut B) {
    tokio::select! {
        _ = one => {}
        _ = other => {}
    }
}

fn extent(root: PathBuf) -> CommandExtent {
    CommandExtent { roots: vec![root], ..CommandExtent::default() }
}

/// The files that programs would take orders from, before and after a command that removed them was undone.
async fn restored_orders(yard: &Yard, opened: &[&str]) -> (Vec<SweepNote>, Vec<bool>) {
    let orders = [".envrc", "lib/.git/hooks/post-commit", "sub/.envrc"];
    for path in orders.iter().chain(&["lib/.git/HEAD", "lib/.git/objects/x", "lib/.git/refs/x", "work"]) {
        fs::create_dir_all(yard.path(path).parent().unwrap()).unwrap();
        fs::write(yard.path(path), "touch /nowhere\n").unwrap();
    }
    let recorder = yard.recorder("one");
    let opened = opened.iter().map(|path| yard.path(path)).collect();
    recorder.before_command(CommandExtent { opened, ..extent(yard.path("")) }).await.unwrap();
    for path in orders.iter().chain(&["work"]) {
        fs::remove_file(yard.path(path)).unwrap();
    }
    recorder.after_command().await.unwrap();
    let swept = yard.store.apply(&yard.plan("one"), header("undo")).unwrap().swept;
    assert!(yard.path("work").exists());
    (swept, orders.map(|path| yard.path(path).exists()).to_vec())
}

#[tokio::test]
async fn files_that_a_command_beside_it_may_have_planted_go_to_quarantine() {
    let yard = Yard::new();
    let running = yard.run_another_command();
    let (swept, there) = restored_orders(&yard, &[]).await;
    assert_eq!((swept.len(), there), (3, vec![false; 3]), "{swept:?}");
    // The files that the undo replaced may be planted just as well.
    fs::remove_file(yard.path("work")).unwrap();
    fs::write(yard.path(".envrc"), "planted\n").unwrap();
    yard.store.apply(&yard.plan("undo").overwriting(), header("redo")).unwrap();
    assert!(!yard.path(".envrc").exists());
    drop(running);
    yard.store.apply(&yard.plan("redo").overwriting(), header("undo again")).unwrap();
    assert!(!yard.path(".envrc").exists());
}

#[tokio::test]
async fn files_of_a_command_that_ran_alone_or_was_allowed_to_change_them_are_restored() {
    let (swept, there) = restored_orders(&Yard::new(), &[]).await;
    assert_eq!((swept, there), (Vec::new(), vec![true; 3]));
    let yard = Yard::new();
    let _running = yard.run_another_command();
    let (swept, there) = restored_orders(&yard, &[".envrc", "sub/.envrc"]).await;
    assert_eq!((swept.len(), there), (1, vec![true, false, true]), "{swept:?}");
}

#[tokio::test]
async fn files_in_a_directory_that_a_tool_removed_beside_a_command_go_to_quarantine() {
    for is_beside in [true, false] {
        let yard = Yard::new();
        let running = is_beside.then(|| yard.run_another_command());
        fs::create_dir_all(yard.path("k/q")).unwrap();
        for path in ["k/.envrc", "k/q/.envrc", "k/work"] {
            fs::write(yard.path(path), "touch /nowhere\n").unwrap();
        }
        yard.delete("one", yard.path("k").to_str().unwrap()).await;
        drop(running);
        let swept = yard.store.apply(&yard.plan("one"), header("undo")).unwrap().swept;
        let there = ["k/.envrc", "k/q/.envrc", "k/work"].map(|path| yard.path(path).exists());
        assert_eq!(there, [!is_beside, !is_beside, true], "{swept:?}");
        assert_eq!(swept.len(), if is_beside { 2 } else { 0 }, "{swept:?}");
    }
}

#[tokio::test]
async fn an_entry_names_its_author_and_one_of_an_older_version_has_none() {
    let yard = Yard::new();
    let by = Principal::person("ann");
    let recorder = yard.store.begin(Header { by: Some(by.clone()), ..header("new") });
    yard.target.write(&Bounds::open(), &recorder, Path::new("a"), b"1").await.unwrap();
    drop(recorder);
    yard.write("old", "b", "1").await;
    let journals = || {
        let folder = yard.folder.path().join("data/undo");
        let found = walk(&folder).into_iter().filter_map(|path| fs::read_to_string(path).ok());
        found.filter(|text| text.contains("\"begin\"")).collect::<Vec<_>>()
    };
    // Entries of an older version have no such field at all.
    let named = journals().iter().filter(|text| text.contains("\"by\"")).count();
    assert_eq!((journals().len(), named), (2, 1));
    let author = |id: &str| yard.store.header(&Which::Id(id.to_owned())).unwrap().by;
    assert_eq!((author("new"), author("old")), (Some(by), None));
    assert_eq!(yard.plan("old").steps.len(), 1);
}

/// All files below a directory.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let (mut found, mut queue) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = queue.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { queue.push(path) } else { found.push(path) }
        }
    }
    found
}
