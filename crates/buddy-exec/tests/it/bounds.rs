//! File access stays within its bounds, regardless of the path and the tree. Every refusal is checked by the
//! disk afterwards.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use buddy_exec::{
    Bounds, Deletion, Description, GlobQuery, GrepQuery, HostMeans, LineRange, ListOptions, LocalSettings,
    LocalTarget, Reach, Recorder, SupervisorCommand, Target, TargetError,
};
use tempfile::TempDir;

/// A workspace, and files outside that must stay as they are.
pub(crate) struct Yard {
    pub(crate) folder: TempDir,
    pub(crate) target: LocalTarget,
    pub(crate) bounds: Bounds,
}

const SECRET: &str = "outside and secret";

impl Yard {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("ws");
        fs::create_dir_all(workspace.join("sub")).unwrap();
        fs::create_dir_all(folder.path().join("out/deep")).unwrap();
        fs::create_dir_all(folder.path().join("ws-evil")).unwrap();
        fs::write(folder.path().join("out/secret"), SECRET).unwrap();
        fs::write(folder.path().join("out/deep/secret"), SECRET).unwrap();
        fs::write(folder.path().join("ws-evil/x"), SECRET).unwrap();
        fs::write(workspace.join("file"), "inside").unwrap();
        fs::write(workspace.join("sub/file"), "inside too").unwrap();
        let reach = Reach::Beneath(vec![workspace.clone()]);
        let bounds = Bounds { read: reach.clone(), write: reach, ..Bounds::open() };
        Self { target: target_in(&workspace), folder, bounds }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Everything outside with its content and mode.
    pub(crate) fn outside(&self) -> Vec<(PathBuf, Option<Vec<u8>>, u32)> {
        let mut found = Vec::new();
        for top in ["out", "ws-evil"] {
            let mut queue = vec![self.path(top)];
            while let Some(path) = queue.pop() {
                let metadata = fs::symlink_metadata(&path).unwrap();
                if metadata.is_dir() {
                    queue.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                }
                found.push((path.clone(), fs::read(&path).ok(), metadata.permissions().mode()));
            }
        }
        found.sort();
        found
    }

    pub(crate) async fn read(&self, path: &str) -> Result<String, TargetError> {
        let content = self.target.read(&self.bounds, Path::new(path), 1_000).await?;
        Ok(String::from_utf8(content.bytes).unwrap())
    }

    pub(crate) async fn write(&self, path: &str) -> Result<(), TargetError> {
        self.target.write(&self.bounds, &Recorder::off(), Path::new(path), b"written").await.map(drop)
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<(), TargetError> {
        let recorder = Recorder::off();
        self.target.delete(&self.bounds, &recorder, Path::new(path), Deletion::Recursive).await.map(drop)
    }

    pub(crate) async fn make_directory(&self, path: &str) -> Result<(), TargetError> {
        self.target.make_directory(&self.bounds, &Recorder::off(), Path::new(path)).await.map(drop)
    }

    /// The output of a listing and both searches for a path, in one text.
    pub(crate) async fn look(&self, path: &str) -> Result<String, TargetError> {
        let path = Path::new(path);
        let options = ListOptions { depth: 9, limit: 1_000, with_ignored: true };
        let listing = self.target.list(&self.bounds, path, options).await?;
        let glob = GlobQuery { pattern: "*".to_owned(), limit: 1_000, with_ignored: true };
        let found = self.target.glob(&self.bounds, path, glob).await?;
        let matches = self.target.grep(&self.bounds, path, everything()).await?;
        Ok(format!("{listing:?}{found:?}{matches:?}"))
    }

    /// Every way of touching a path is refused, and nothing outside is any different.
    async fn refused(&self, path: &str) {
        let before = self.outside();
        let named = Path::new(path);
        let range = LineRange { first: 1, count: 10, max_bytes: 100 };
        let options = ListOptions { depth: 1, limit: 10, with_ignored: true };
        let glob = GlobQuery { pattern: "*".to_owned(), limit: 10, with_ignored: true };
        assert!(self.read(path).await.is_err(), "read {path}");
        assert!(self.target.read_lines(&self.bounds, named, range).await.is_err(), "lines of {path}");
        assert!(self.write(path).await.is_err(), "write {path}");
        assert!(self.make_directory(path).await.is_err(), "make {path}");
        assert!(self.target.list(&self.bounds, named, options).await.is_err(), "list {path}");
        assert!(self.target.grep(&self.bounds, named, everything()).await.is_err(), "grep {path}");
        assert!(self.target.glob(&self.bounds, named, glob).await.is_err(), "glob {path}");
        assert_eq!(self.outside(), before, "{path}");
    }
}

pub(crate) fn everything() -> GrepQuery {
    GrepQuery {
        pattern: ".".to_owned(),
        ignore_case: false,
        names: None,
        context: 0,
        limit: 1_000,
        max_line: 200,
        files_only: false,
        with_ignored: true,
    }
}

pub(crate) fn target_in(cwd: &Path) -> LocalTarget {
    let description = Description {
        name: "local".into(),
        user: "someone".into(),
        host: "here".into(),
        os: "linux".into(),
        shell: "/bin/sh".into(),
        cwd: cwd.to_owned(),
        means: HostMeans::default(),
    };
    let supervisor =
        SupervisorCommand { program: env!("CARGO_BIN_EXE_buddy-supervise").into(), args: Vec::new() };
    LocalTarget::new(LocalSettings { supervisor, description, grace: std::time::Duration::from_millis(300) })
}

#[tokio::test]
async fn paths_that_climb_out_or_begin_elsewhere_are_refused() {
    let yard = Yard::new();
    for path in ["../out/secret", "sub/../../out/secret", "/etc/passwd", "../out", "/etc", ".."] {
        yard.refused(path).await;
        assert!(yard.delete(path).await.is_err(), "{path}");
    }
    assert!(Path::new("/etc/passwd").exists());
    assert_eq!(yard.read("sub/../file").await.unwrap(), "inside");
}

#[tokio::test]
async fn a_root_is_no_prefix_of_its_neighbours_names() {
    let yard = Yard::new();
    for name in ["ws-evil/x", "ws-evil", "wsx"] {
        let path = yard.path(name);
        yard.refused(path.to_str().unwrap()).await;
        assert!(yard.delete(path.to_str().unwrap()).await.is_err());
    }
    assert!(!yard.path("wsx").exists());
    assert!(yard.path("ws-evil/x").exists());
}

#[tokio::test]
async fn links_that_lead_out_are_followed_by_nothing() {
    let yard = Yard::new();
    symlink(yard.path("out/secret"), yard.path("ws/l")).unwrap();
    symlink("../out/secret", yard.path("ws/relative")).unwrap();
    symlink(yard.path("out"), yard.path("ws/d")).unwrap();
    for path in ["l", "relative", "d", "d/secret", "d/deep", "d/deep/secret", "d/new", "d/new/file"] {
        yard.refused(path).await;
    }
    for path in ["d/secret", "d/deep"] {
        assert!(yard.delete(path).await.is_err(), "{path}");
    }
    let seen = yard.look(".").await.unwrap();
    assert!(!seen.contains(SECRET) && !seen.contains("deep"), "{seen}");
    assert_eq!(fs::read_dir(yard.path("out")).unwrap().count(), 2);
    // The link itself may go; its target stays.
    yard.delete("d").await.unwrap();
    yard.delete("l").await.unwrap();
    assert!(!yard.path("ws/d").is_symlink() && yard.path("out/deep/secret").exists());
    assert!(yard.path("out/secret").exists());
}

#[tokio::test]
async fn links_that_stay_inside_are_read_through_and_not_written_through() {
    let yard = Yard::new();
    symlink("sub/file", yard.path("ws/near")).unwrap();
    symlink("sub", yard.path("ws/folder")).unwrap();
    assert_eq!(yard.read("near").await.unwrap(), "inside too");
    assert_eq!(yard.read("folder/file").await.unwrap(), "inside too");
    for path in ["near", "folder/file", "folder/new"] {
        assert!(matches!(yard.write(path).await, Err(TargetError::Link { .. })), "{path}");
    }
    assert!(matches!(yard.delete("folder/file").await, Err(TargetError::Link { .. })));
    assert_eq!(fs::read_to_string(yard.path("ws/sub/file")).unwrap(), "inside too");
    assert!(yard.path("ws/near").is_symlink() && !yard.path("ws/sub/new").exists());
}

#[tokio::test]
async fn a_link_that_a_command_planted_is_not_written_through() {
    let yard = Yard::new();
    let exec = crate::stage::sh(&format!("ln -s {} planted", yard.path("out/secret").display()));
    yard.target.start(exec).await.unwrap().wait().await.unwrap();
    assert!(yard.path("ws/planted").is_symlink());
    assert!(yard.write("planted").await.is_err());
    assert_eq!(fs::read_to_string(yard.path("out/secret")).unwrap(), SECRET);
}

#[tokio::test]
async fn hidden_files_are_hidden_under_every_spelling() {
    let mut yard = Yard::new();
    fs::write(yard.path("ws/.env"), SECRET).unwrap();
    fs::create_dir(yard.path("ws/keys")).unwrap();
    fs::write(yard.path("ws/keys/one"), SECRET).unwrap();
    symlink(".env", yard.path("ws/e")).unwrap();
    symlink("keys", yard.path("ws/k")).unwrap();
    fs::hard_link(yard.path("ws/.env"), yard.path("ws/hard")).unwrap();
    yard.bounds.hidden = vec![yard.path("ws/.env"), yard.path("ws/keys"), yard.path("ws/missing")];
    let spellings =
        ["e", "./.env", "sub/../.env", ".ENV", "hard", "keys/one", "k/one", "KEYS/one", "missing"];
    for path in spellings {
        assert!(yard.read(path).await.is_err(), "{path}");
        assert!(yard.write(path).await.is_err(), "{path}");
    }
    for path in [".env", "keys", "keys/one", "."] {
        assert!(yard.delete(path).await.is_err(), "{path}");
    }
    let seen = yard.look(".").await.unwrap();
    assert!(!seen.contains(SECRET) && !seen.contains("keys") && !seen.contains(".env"), "{seen}");
    assert!(seen.contains("inside too"));
    assert_eq!(fs::read_to_string(yard.path("ws/.env")).unwrap(), SECRET);
    assert!(!yard.path("ws/missing").exists());
    // The same if everything else is in reach.
    yard.bounds.read = Reach::Anywhere;
    for path in ["e", "./.env", "sub/../.env", "k/one"] {
        assert!(matches!(yard.read(path).await, Err(TargetError::Hidden { .. })), "{path}");
    }
}

#[tokio::test]
async fn guarded_paths_are_read_and_never_changed_even_if_missing() {
    let mut yard = Yard::new();
    fs::create_dir_all(yard.path("ws/.git/hooks")).unwrap();
    fs::write(yard.path("ws/.git/config"), "as it was").unwrap();
    fs::create_dir_all(yard.path("ws/nested/.git")).unwrap();
    yard.bounds.guarded =
        [".git/hooks", ".git/config", ".mcp.json", "nested/.git/hooks"].map(PathBuf::from).to_vec();
    assert_eq!(yard.read(".git/config").await.unwrap(), "as it was");
    let paths = [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        ".Git/config",
        ".git/config",
        ".g\u{200c}it/config",
        ".mcp.json",
        ".MCP.json",
        "nested/.git/hooks/post-checkout",
        "sub/../.mcp.json",
    ];
    for path in paths {
        assert!(yard.write(path).await.is_err(), "{path}");
        assert!(yard.make_directory(path).await.is_err(), "{path}");
    }
    for path in [".git", ".git/hooks", ".git/config"] {
        assert!(yard.delete(path).await.is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(yard.path("ws/.git/config")).unwrap(), "as it was");
    assert_eq!(fs::read_dir(yard.path("ws/.git/hooks")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(yard.path("ws/.git")).unwrap().count(), 2);
    for absent in [".mcp.json", ".MCP.json", ".GIT", ".Git", "nested/.git/hooks"] {
        assert!(!yard.path("ws").join(absent).exists(), "{absent}");
    }
    // A file in the place of the directory would point git elsewhere.
    yard.delete("nested").await.unwrap();
    assert!(yard.make_directory("nested").await.is_ok());
    assert!(yard.write("nested/.git").await.is_err());
    assert!(!yard.path("ws/nested/.git").exists());
    assert!(yard.write(".git/index").await.is_ok());
}

#[tokio::test]
async fn a_name_for_a_temporary_file_that_is_taken_is_left_alone() {
    let yard = Yard::new();
    for at in 0..64 {
        symlink(yard.path("out/secret"), yard.path("ws").join(format!(".buddy-{at:016x}.tmp"))).unwrap();
    }
    yard.write("file").await.unwrap();
    assert_eq!(fs::read_to_string(yard.path("out/secret")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(yard.path("ws")).unwrap().count(), 66, "nothing temporary is left");
}

#[tokio::test]
async fn names_that_cannot_be_are_errors_and_nothing_else() {
    let yard = Yard::new();
    let long = "x".repeat(5_000);
    let long_name = "x".repeat(300);
    for path in ["a\0b", "a\nb", "a\rb", &long, &long_name] {
        yard.refused(path).await;
        assert!(yard.delete(path).await.is_err());
    }
    let strange = Path::new(std::ffi::OsStr::from_bytes(b"sub/\xff\xfe"));
    let recorder = Recorder::off();
    assert!(matches!(yard.target.read(&yard.bounds, strange, 9).await, Err(TargetError::BadPath { .. })));
    assert!(yard.target.write(&yard.bounds, &recorder, strange, b"").await.is_err());
    assert!(yard.target.delete(&yard.bounds, &recorder, strange, Deletion::Single).await.is_err());
    assert_eq!(fs::read_dir(yard.path("ws/sub")).unwrap().count(), 1);
}

#[tokio::test]
async fn the_workspace_itself_is_never_removed() {
    let mut yard = Yard::new();
    let workspace = yard.path("ws").to_str().unwrap().to_owned();
    let above = yard.folder.path().to_str().unwrap().to_owned();
    symlink(yard.path("ws"), yard.path("out/link")).unwrap();
    for reach in [Reach::Beneath(vec![yard.path("ws")]), Reach::Anywhere] {
        yard.bounds.read = reach.clone();
        yard.bounds.write = reach;
        for path in ["", ".", "..", "/", "sub/..", &workspace, &above] {
            assert!(yard.delete(path).await.is_err(), "{path}");
        }
    }
    assert!(yard.path("ws/sub/file").exists() && yard.path("out/secret").exists());
}

#[tokio::test]
async fn removing_more_than_one_thing_must_be_said() {
    let yard = Yard::new();
    let recorder = Recorder::off();
    let single = yard.target.delete(&yard.bounds, &recorder, Path::new("sub"), Deletion::Single).await;
    assert!(matches!(single, Err(TargetError::NotEmpty { .. })));
    assert!(yard.path("ws/sub/file").exists());
    let removed =
        yard.target.delete(&yard.bounds, &recorder, Path::new("sub"), Deletion::Recursive).await.unwrap();
    assert_eq!(removed.entries, 2);
    assert!(!yard.path("ws/sub").exists());
}

#[tokio::test]
async fn beneath_a_root_that_was_replaced_nothing_is_read_or_written() {
    let opened = |yard: &Yard| Bounds { anchors: vec![yard.path("ws")], ..Bounds::open() };
    for is_confined in [true, false] {
        let mut yard = Yard::new();
        if !is_confined {
            yard.bounds = opened(&yard);
        }
        let bounds = opened(&yard);
        assert_eq!(yard.read("file").await.unwrap(), "inside");
        yard.target.check(&bounds).await.unwrap();
        fs::rename(yard.path("ws"), yard.path("moved")).unwrap();
        for is_link in [true, false] {
            if is_link {
                symlink(yard.path("out"), yard.path("ws")).unwrap();
            } else {
                fs::remove_file(yard.path("ws")).unwrap();
                fs::create_dir(yard.path("ws")).unwrap();
                fs::write(yard.path("ws/secret"), "another").unwrap();
            }
            let seen = yard.read("secret").await;
            assert!(matches!(seen, Err(TargetError::Replaced { .. })), "{seen:?}");
            assert!(matches!(yard.write("new").await, Err(TargetError::Replaced { .. })));
            assert!(matches!(yard.delete("secret").await, Err(TargetError::Replaced { .. })));
            assert!(yard.look(".").await.is_err());
            assert!(matches!(yard.target.check(&bounds).await, Err(TargetError::Replaced { .. })));
            assert!(!yard.path("moved/new").exists() && !yard.path("ws/new").exists());
        }
        fs::remove_dir_all(yard.path("ws")).unwrap();
        fs::rename(yard.path("moved"), yard.path("ws")).unwrap();
        assert_eq!(yard.read("file").await.unwrap(), "inside", "the same directory is back");
    }
}

#[tokio::test]
async fn nothing_is_in_reach_when_the_bounds_say_so() {
    let mut yard = Yard::new();
    yard.bounds.write = Reach::Nothing;
    assert_eq!(yard.read("file").await.unwrap(), "inside");
    assert!(matches!(yard.write("file").await, Err(TargetError::Outside { .. })));
    yard.bounds = Bounds { read: Reach::Nothing, write: Reach::Anywhere, ..Bounds::open() };
    assert!(yard.read("file").await.is_err());
    assert!(yard.write("file").await.is_err(), "an unreadable file is not writable either");
    assert_eq!(fs::read_to_string(yard.path("ws/file")).unwrap(), "inside");
}
