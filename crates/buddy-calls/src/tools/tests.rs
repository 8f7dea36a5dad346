use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use buddy_exec::managed::Owner;
use buddy_exec::{
    Bounds, Description, HostMeans, LocalSettings, LocalTarget, Reach, Recorder, SupervisorCommand,
};
use buddy_policy::Execution;
use buddy_protocol::{Answer, Ask, AuthoredFact, Clock, EventSink, Ids, SinkClosed, ToolFailure, UnixMillis};
use buddy_web::{Endpoints, FetchSettings, Web};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::tools::background::Background;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextLimits;
use crate::tools::person::Person;
use crate::tools::registry;
use crate::tools::tool::ToolContext;

const SECRET: &str = "outside and secret";

/// A workspace, and something outside that must stay as it is.
struct Yard {
    folder: PathBuf,
    _temporary: tempfile::TempDir,
    bounds: Bounds,
}

struct Still;

impl Clock for Still {
    fn now(&self) -> UnixMillis {
        UnixMillis(1)
    }
}

/// A sink of a session that is over: nobody is there to be asked.
struct Over;

#[async_trait]
impl EventSink for Over {
    async fn push_authored(&self, _: Vec<AuthoredFact>) -> Result<(), SinkClosed> {
        Err(SinkClosed)
    }

    async fn commit_authored(&self, _: Vec<AuthoredFact>) -> Result<(), SinkClosed> {
        Err(SinkClosed)
    }

    async fn ask(&self, _: Ask) -> Result<Answer, SinkClosed> {
        Err(SinkClosed)
    }
}

impl Ids for Still {
    fn next(&self) -> u128 {
        1
    }
}

fn nobody() -> Person {
    let (sink, ids, clock) = (Arc::new(Over), Arc::new(Still), Arc::new(Still));
    Person { sink, ids, clock, turn: None, item: None, within: None }
}

impl Yard {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("ws/sub")).unwrap();
        fs::create_dir(folder.join("out")).unwrap();
        fs::write(folder.join("out/secret"), SECRET).unwrap();
        fs::write(folder.join("ws/a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(folder.join("ws/sub/b.txt"), "four\n").unwrap();
        symlink(folder.join("out/secret"), folder.join("ws/l")).unwrap();
        symlink(folder.join("out"), folder.join("ws/d")).unwrap();
        let reach = Reach::Beneath(vec![folder.join("ws")]);
        let bounds = Bounds { read: reach.clone(), write: reach, ..Bounds::open() };
        Self { folder, _temporary: temporary, bounds }
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join("ws").join(path)).unwrap()
    }

    async fn call(&self, name: &str, input: Value) -> Result<Value, ToolFailure> {
        let cwd = self.folder.join("ws");
        let description = Description {
            name: "local".into(),
            user: "someone".into(),
            host: "here".into(),
            os: "linux".into(),
            shell: "/bin/sh".into(),
            cwd: cwd.clone(),
            means: HostMeans::default(),
        };
        let supervisor = SupervisorCommand { program: "/bin/false".into(), args: Vec::new() };
        let settings = LocalSettings { supervisor, description, grace: std::time::Duration::ZERO };
        let context = ToolContext {
            target_name: "local".to_owned(),
            is_outside: false,
            background: Background::new(Arc::new(Over)),
            denials: std::sync::Mutex::default(),
            target: Arc::new(LocalTarget::new(settings)),
            place: CallPlace {
                cwd,
                home: None,
                endpoints: Endpoints::usual().unwrap(),
                links: buddy_exec::link_lookup(),
                has_panes: false,
            },
            redirects: Arc::new(|_| true),
            is_own_log: Arc::new(|name| name.starts_with("exec-itm_")),
            web: Arc::new(Web::new(FetchSettings::default()).unwrap()),
            bounds: self.bounds.clone(),
            unasked_bounds: self.bounds.clone(),
            workspace: Vec::new(),
            is_asked: false,
            pins: Vec::new(),
            is_read_only: false,
            sends: None,
            parts: 0,
            reaches_here: false,
            egress: None,
            execution: Execution::Shell,
            person: nobody(),
            recorder: Recorder::off(),
            env: Vec::new(),
            programs: buddy_exec::ProgramPath::default(),
            owner: Owner::default(),
            text_limit: TextLimits::default().file,
            log: self.folder.join("log"),
            clock: Arc::new(Still),
            cancel: CancellationToken::new(),
            images: std::sync::Mutex::default(),
            live: tokio::sync::mpsc::channel(1).0,
        };
        registry::find(name).unwrap().prepare(input)?.run(&context).await
    }

    /// The call fails with this code, and nothing outside is any different.
    async fn refused(&self, name: &str, input: Value, codes: &[&str]) {
        let failure = self.call(name, input.clone()).await.expect_err(&format!("{name} {input}"));
        assert!(codes.contains(&failure.code.as_str()), "{name} {input}: {failure:?}");
        assert_eq!(fs::read_to_string(self.folder.join("out/secret")).unwrap(), SECRET);
        assert_eq!(fs::read_dir(self.folder.join("out")).unwrap().count(), 1);
    }

    /// Every file tool refuses this path.
    async fn refused_by_all(&self, path: &str, codes: &[&str]) {
        let add = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        let delete = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
        let update = format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-{SECRET}\n+changed\n");
        let moved = format!("*** Begin Patch\n*** Update File: a.txt\n*** Move to: {path}\n*** End Patch");
        for (name, input) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old": "secret", "new": "x"})),
            ("apply_patch", json!({"patch": add})),
            ("apply_patch", json!({"patch": delete})),
            ("apply_patch", json!({"patch": update})),
            ("apply_patch", json!({"patch": moved})),
            ("make_directory", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("grep", json!({"pattern": "s", "path": path})),
            ("glob", json!({"pattern": "*", "path": path})),
        ] {
            self.refused(name, input, codes).await;
        }
    }
}

#[tokio::test]
async fn every_file_tool_stays_inside() {
    let yard = Yard::new();
    let codes = &["outside", "is_link", "exists", "not_a_directory"];
    for path in ["../out/secret", "sub/../../out/secret", "l", "d/secret", "/etc/passwd"] {
        yard.refused_by_all(path, codes).await;
    }
    for path in ["../out/secret", "d/secret", "/etc/passwd", "../out"] {
        yard.refused("delete_path", json!({"path": path, "recursive": true}), codes).await;
    }
    assert_eq!(yard.text("a.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn hidden_and_guarded_paths_are_refused_by_every_tool_that_could_touch_them() {
    let mut yard = Yard::new();
    fs::write(yard.folder.join("ws/.env"), SECRET).unwrap();
    symlink(".env", yard.folder.join("ws/e")).unwrap();
    yard.bounds.hidden = vec![yard.folder.join("ws/.env")];
    for path in [".env", "e", "./.env", "sub/../.env", ".ENV"] {
        yard.refused_by_all(path, &["off_limits", "is_link", "not_found", "exists", "not_a_directory"]).await;
    }
    assert_eq!(yard.text(".env"), SECRET);
    yard.bounds.guarded = vec![".git/hooks".into()];
    for path in [".git/hooks/pre-commit", ".GIT/hooks/pre-commit"] {
        yard.refused("write_file", json!({"path": path, "content": "x"}), &["protected"]).await;
        let add =
            format!("*** Begin Patch\n*** Add File: fine.txt\n+x\n*** Add File: {path}\n+x\n*** End Patch");
        yard.refused("apply_patch", json!({"patch": add}), &["protected"]).await;
        yard.refused("make_directory", json!({"path": path}), &["protected"]).await;
    }
    for absent in ["fine.txt", ".git", ".GIT"] {
        assert!(!yard.folder.join("ws").join(absent).exists(), "{absent}");
    }
}

#[tokio::test]
async fn strange_names_are_clean_failures() {
    let yard = Yard::new();
    for path in ["a\0b", "a\nb", &"x".repeat(5_000)] {
        for (name, input) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old": "a", "new": "x"})),
            ("make_directory", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("delete_path", json!({"path": path})),
            ("grep", json!({"pattern": "s", "path": path})),
            ("glob", json!({"pattern": "*", "path": path})),
        ] {
            yard.refused(name, input, &["bad_path"]).await;
        }
    }
}

#[tokio::test]
async fn the_working_directory_is_never_removed() {
    let mut yard = Yard::new();
    for bounds in [yard.bounds.clone(), Bounds::open()] {
        yard.bounds = bounds;
        for path in ["", ".", "..", "/", "sub/.."] {
            yard.refused("delete_path", json!({"path": path, "recursive": true}), &["is_root"]).await;
        }
    }
    assert_eq!(yard.text("sub/b.txt"), "four\n");
    yard.refused("delete_path", json!({"path": "sub"}), &["not_empty"]).await;
    let removed = yard.call("delete_path", json!({"path": "sub", "recursive": true})).await.unwrap();
    assert_eq!(removed["removed"], 2);
    assert!(!yard.folder.join("ws/sub").exists());
}

#[tokio::test]
async fn a_patch_with_one_bad_path_applies_nothing() {
    let yard = Yard::new();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** Delete File: sub/b.txt\n\
                 *** Add File: new/deep/file\n+x\n*** Add File: d/evil\n+x\n*** End Patch";
    yard.refused("apply_patch", json!({"patch": patch}), &["outside", "is_link"]).await;
    assert_eq!((yard.text("a.txt"), yard.text("sub/b.txt")), ("one\ntwo\nthree\n".into(), "four\n".into()));
    assert!(!yard.folder.join("ws/new").exists());
    // Also when the failure comes only with the writing.
    let mut yard = Yard::new();
    yard.bounds.guarded = vec!["zone".into()];
    let patch = patch.replace("d/evil", "zone/evil");
    yard.refused("apply_patch", json!({"patch": patch}), &["protected"]).await;
    assert_eq!((yard.text("a.txt"), yard.text("sub/b.txt")), ("one\ntwo\nthree\n".into(), "four\n".into()));
    assert!(!yard.folder.join("ws/new").exists() && !yard.folder.join("ws/zone").exists());
}

#[tokio::test]
async fn a_patch_changes_adds_moves_and_removes() {
    let yard = Yard::new();
    fs::write(yard.folder.join("ws/run.sh"), "echo 1\r\n").unwrap();
    fs::set_permissions(yard.folder.join("ws/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Delete File: sub/b.txt\n\
                 *** Add File: new/deep/file\n+x\n*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-echo 1\n\
                 +echo 2\n*** End Patch";
    let done = yard.call("apply_patch", json!({"patch": patch})).await.unwrap();
    assert_eq!(done["files"].as_array().unwrap().len(), 4);
    assert!(done["diff"].as_str().unwrap().contains("-two\n+2\n"));
    assert_eq!((yard.text("a.txt"), yard.text("new/deep/file")), ("one\n2\nthree\n".into(), "x\n".into()));
    assert_eq!(yard.text("bin/run.sh"), "echo 2\r\n");
    let mode = fs::metadata(yard.folder.join("ws/bin/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(!yard.folder.join("ws/run.sh").exists() && !yard.folder.join("ws/sub/b.txt").exists());
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-2\n+zwei\n three\n";
    yard.call("apply_patch", json!({"patch": diff})).await.unwrap();
    assert_eq!(yard.text("a.txt"), "one\nzwei\nthree\n");
    yard.refused("apply_patch", json!({"patch": diff}), &["patch_does_not_fit"]).await;
}

#[tokio::test]
async fn an_edit_keeps_line_ends_and_shows_the_difference() {
    let yard = Yard::new();
    fs::write(yard.folder.join("ws/crlf"), "\u{feff}one\r\ntwo\r\n").unwrap();
    let done =
        yard.call("edit_file", json!({"path": "crlf", "old": "one\ntwo", "new": "1\n2"})).await.unwrap();
    assert_eq!(yard.text("crlf"), "\u{feff}1\r\n2\r\n");
    assert!(done["diff"].as_str().unwrap().contains("-one\n"), "{done}");
    yard.refused("edit_file", json!({"path": "a.txt", "old": "tow", "new": "x"}), &["old_not_found"]).await;
    yard.refused("edit_file", json!({"path": "a.txt", "old": "o", "new": "x"}), &["old_ambiguous"]).await;
    yard.refused("edit_file", json!({"path": "sub", "old": "o", "new": "x"}), &["not_a_file"]).await;
    assert_eq!(yard.text("a.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn reading_searching_and_listing_say_what_is_there() {
    let yard = Yard::new();
    let read = yard.call("read_file", json!({"path": "a.txt", "offset": 2, "limit": 1})).await.unwrap();
    assert_eq!((&read["content"], &read["total_lines"]), (&json!("two\n"), &json!(3)));
    fs::write(yard.folder.join("ws/bin"), b"a\0b").unwrap();
    yard.refused("read_file", json!({"path": "bin"}), &["binary"]).await;
    let found = yard.call("grep", json!({"pattern": "T", "ignore_case": true})).await.unwrap();
    assert_eq!(found["matches"], "a.txt:2: two\na.txt:3: three");
    let found = yard.call("grep", json!({"pattern": "o", "files_only": true})).await.unwrap();
    assert_eq!(found["matches"], "a.txt\nsub/b.txt");
    let found = yard.call("glob", json!({"pattern": "*.txt"})).await.unwrap();
    assert_eq!((&found["paths"], &found["count"]), (&json!("a.txt\nsub/b.txt"), &json!(2)));
    yard.refused("grep", json!({"pattern": "("}), &["bad_pattern"]).await;
    fs::write(yard.folder.join("ws/.gitignore"), "sub/\n").unwrap();
    let listed = yard.call("list_directory", json!({"depth": 2})).await.unwrap();
    let names = |listed: &Value| -> Vec<String> {
        let entries = listed["entries"].as_array().unwrap().iter();
        entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((names(&listed).contains(&"sub".to_owned()), &listed["ignored"]), (false, &json!(1)));
    let listed = yard.call("list_directory", json!({"depth": 2, "all": true})).await.unwrap();
    assert!(names(&listed).contains(&"sub/b.txt".to_owned()));
    let made = yard.call("make_directory", json!({"path": "x/y"})).await.unwrap();
    assert_eq!(made["created"], json!(true));
    assert!(yard.folder.join("ws/x/y").is_dir());
}
