//! Files that can hold secrets are seen and not read, and files that programs take orders from are read and
//! not changed, in every directory and through every link.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use buddy_exec::{Bounds, LineRange, Reach, Recorder, Target, TargetError};
use buddy_protocol::NameSet;

use crate::bounds::{Yard, everything};

const VALUE: &str = "sesame-4711";

/// A workspace with secrets in it, links to them, and bounds that seal them.
fn yard() -> Yard {
    let mut yard = Yard::new();
    for folder in ["ws/app", "ws/.ssh", "ws/.env.d", "out/.aws"] {
        fs::create_dir_all(yard.path(folder)).unwrap();
    }
    for file in ["ws/.env", "ws/app/.Env.local", "ws/.ssh/config", "out/.aws/credentials"] {
        fs::write(yard.path(file), VALUE).unwrap();
    }
    fs::write(yard.path("ws/.env.example"), "TOKEN=").unwrap();
    fs::hard_link(yard.path("ws/.env"), yard.path("ws/twin.txt")).unwrap();
    symlink(".env", yard.path("ws/plain.txt")).unwrap();
    symlink("app", yard.path("ws/folder")).unwrap();
    symlink(yard.path("out/.aws/credentials"), yard.path("ws/far.txt")).unwrap();
    symlink("/proc/self/environ", yard.path("ws/process.txt")).unwrap();
    symlink("/proc/self/root", yard.path("ws/root")).unwrap();
    let sealed_names =
        NameSet::trees([".ssh", ".aws"]).with_files([".env", ".env.*"]).without([".env.example"]);
    yard.bounds = Bounds { sealed_names, anchors: vec![yard.path("ws")], ..Bounds::open() };
    yard
}

const SECRETS: &[&str] = &[
    ".env",
    "./app/../.env",
    "app/.Env.local",
    "folder/.Env.local",
    ".ssh/config",
    "plain.txt",
    "twin.txt",
    "far.txt",
    "../out/.aws/credentials",
    "process.txt",
];

#[tokio::test]
async fn no_way_of_reading_gives_the_content_of_a_secret() {
    let yard = yard();
    let range = LineRange { first: 1, count: 10, max_bytes: 1_000 };
    for path in SECRETS {
        let read = yard.read(path).await;
        assert!(matches!(read, Err(TargetError::Sealed { .. })), "{path}: {read:?}");
        assert!(yard.target.read_lines(&yard.bounds, Path::new(path), range).await.is_err(), "{path}");
        assert!(yard.target.grep(&yard.bounds, Path::new(path), everything()).await.is_err(), "{path}");
    }
    assert!(yard.read(&format!("root{}", yard.path("ws/file").display())).await.is_err(), "a magic link");
    assert_eq!(yard.read(".env.example").await.unwrap(), "TOKEN=");
    let seen = yard.look(".").await.unwrap();
    assert!(!seen.contains(VALUE) && seen.contains("TOKEN="), "{seen}");
    for name in [".env", ".Env.local", ".ssh/config"] {
        assert!(seen.contains(name), "names are seen: {name}");
    }
    let found = yard.target.grep(&yard.bounds, Path::new("."), everything()).await.unwrap();
    assert_eq!(found.sealed, 4, "they are counted");
}

#[tokio::test]
async fn only_opened_files_are_read() {
    let mut yard = yard();
    yard.bounds.opened = vec![yard.path("ws/.env")];
    assert_eq!(yard.read(".env").await.unwrap(), VALUE);
    for path in ["app/.Env.local", ".ssh/config", "far.txt"] {
        assert!(yard.read(path).await.is_err(), "{path}");
    }
    // A link in the place of the opened file opens nothing further.
    fs::remove_file(yard.path("ws/.env")).unwrap();
    symlink(yard.path("out/.aws/credentials"), yard.path("ws/.env")).unwrap();
    assert!(matches!(yard.read(".env").await, Err(TargetError::Sealed { .. })));
}

#[tokio::test]
async fn another_name_for_a_hidden_file_is_hidden_too() {
    let mut yard = yard();
    fs::hard_link(yard.path("out/.aws/credentials"), yard.path("ws/notes.txt")).unwrap();
    fs::hard_link(yard.path("ws/file"), yard.path("ws/twin")).unwrap();
    yard.bounds.hidden = vec![yard.path("out/.aws")];
    assert!(yard.read("notes.txt").await.is_err());
    assert!(!yard.look(".").await.unwrap().contains(VALUE));
    assert_eq!(yard.read("twin").await.unwrap(), "inside");
}

#[tokio::test]
async fn another_name_for_a_secret_beside_it_is_sealed_elsewhere_too() {
    let yard = yard();
    fs::create_dir_all(yard.path("other")).unwrap();
    fs::write(yard.path("other/.env"), VALUE).unwrap();
    fs::hard_link(yard.path("other/.env"), yard.path("other/settings.txt")).unwrap();
    fs::write(yard.path("other/plain"), "plain").unwrap();
    fs::hard_link(yard.path("other/plain"), yard.path("other/twin")).unwrap();
    let read = yard.read("../other/settings.txt").await;
    assert!(matches!(read, Err(TargetError::Sealed { .. })), "{read:?}");
    assert_eq!(yard.read("../other/twin").await.unwrap(), "plain");
    assert!(!yard.look("../other").await.unwrap().contains(VALUE));
}

#[tokio::test]
async fn a_secret_is_replaced_without_being_told() {
    let yard = yard();
    let path = Path::new(".env");
    let written = yard.target.write(&yard.bounds, &Recorder::off(), path, b"NEW=1").await.unwrap();
    assert_eq!(written.before, None);
    assert_eq!(fs::read_to_string(yard.path("ws/.env")).unwrap(), "NEW=1");
}

#[tokio::test]
async fn a_directory_that_the_user_opened_is_not_protected_by_its_own_name() {
    let mut yard = yard();
    yard.bounds.anchors = vec![yard.path("ws/.ssh")];
    yard.bounds.guarded_names = NameSet::trees([".ssh"]);
    assert_eq!(yard.read(".ssh/config").await.unwrap(), VALUE);
    yard.write(".ssh/new").await.unwrap();
}

#[tokio::test]
async fn files_that_programs_take_orders_from_are_changed_nowhere() {
    let mut yard = yard();
    fs::create_dir_all(yard.path("ws/sub/.git/hooks")).unwrap();
    fs::create_dir_all(yard.path("ws/vendor/.vscode")).unwrap();
    yard.bounds.guarded_names = NameSet::trees([".git/hooks", ".git/config", ".vscode", ".envrc"]);
    for path in ["sub/.git/hooks/x", "sub/.GIT/config", "new/.vscode/tasks.json", ".envrc", "a/.envrc"] {
        let written = yard.write(path).await;
        assert!(matches!(written, Err(TargetError::Guarded { .. })), "{path}: {written:?}");
        assert!(yard.make_directory(path).await.is_err(), "{path}");
        assert!(!yard.path("ws").join(path).exists(), "{path}");
    }
    assert!(yard.write("new/.git").await.is_err(), "a file that points git elsewhere");
    assert!(yard.delete("sub/.git").await.is_err() && yard.path("ws/sub/.git/hooks").exists());
    yard.write("sub/.git/index").await.unwrap();
    yard.delete("vendor").await.unwrap();
    yard.bounds.opened = vec![yard.path("ws/.envrc")];
    yard.write(".envrc").await.unwrap();
    assert!(yard.write("a/.envrc").await.is_err());
}

/// The names above an opened directory count for matches that end below it.
#[tokio::test]
async fn names_that_begin_above_the_opened_directory_are_compared_too() {
    let mut yard = yard();
    for (opened, name) in [(".config", "git/config"), (".docker", "config.json"), (".git", "hooks/x")] {
        fs::create_dir_all(yard.path("ws").join(opened)).unwrap();
        let link = yard.path(&format!("link-to{opened}"));
        symlink(yard.path("ws").join(opened), &link).unwrap();
        for root in [yard.path("ws").join(opened), link] {
            yard.bounds = Bounds {
                guarded_names: NameSet::trees([".config/git", ".docker/config.json", ".git/hooks"]),
                sealed_names: NameSet::trees([".docker/config.json", ".config/git/config"]),
                anchors: vec![root.clone()],
                write: Reach::Beneath(vec![root.clone()]),
                ..Bounds::open()
            };
            let path = root.join(name);
            let written = yard.write(path.to_str().unwrap()).await;
            assert!(matches!(written, Err(TargetError::Guarded { .. })), "{}: {written:?}", path.display());
            assert!(!path.exists());
            yard.write(root.join("other").to_str().unwrap()).await.unwrap();
            yard.bounds.opened = vec![path.clone()];
            yard.write(path.to_str().unwrap()).await.unwrap();
            yard.bounds.opened.clear();
            let read = yard.read(path.to_str().unwrap()).await;
            let is_secret = name != "hooks/x";
            assert_eq!(matches!(read, Err(TargetError::Sealed { .. })), is_secret, "{read:?}");
            fs::remove_file(&path).unwrap();
        }
    }
}
