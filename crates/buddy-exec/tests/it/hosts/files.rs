//! Files work the same on every target.

use std::path::Path;
use std::sync::Arc;

use buddy_exec::{
    Bounds, Deletion, EntryKind, GlobQuery, GrepQuery, LineRange, ListOptions, NotFile, Reach, Recorder,
    TargetError,
};

use super::place::Place;
use super::{Case, cases};

pub(crate) const CASES: &[Case] = cases![
    content_of_every_size_comes_back,
    strange_names_are_names,
    modes_are_kept,
    the_replaced_content_is_returned,
    other_kinds_of_files_are_reported,
    lines_are_read_by_their_numbers,
    directories_are_made_and_listed,
    ignored_files_are_left_out,
    files_are_renamed_and_removed,
    text_is_found,
    names_are_found,
    bounds_are_kept,
];

async fn content_of_every_size_comes_back(place: Arc<Place>) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    for size in [0, 1, 5_000_000] {
        let content: Vec<u8> = (0..size).map(|_| random()).collect();
        let written = place.write("sized", &content).await;
        assert_eq!(written.bytes, content.len() as u64);
        assert!(place.read("sized").await.unwrap() == content, "{size} bytes came back differently");
    }
    let part = place.target.read(&Bounds::open(), Path::new("sized"), 10).await.unwrap();
    assert_eq!((part.bytes.len(), part.size, part.truncated), (10, 5_000_000, true));
}

async fn strange_names_are_names(place: Arc<Place>) {
    for name in [
        "a b",
        "it's \"quoted\"",
        "-dash",
        "--",
        "$HOME",
        "`id`",
        "a;b",
        "é€😀",
        "back\\slash",
        "*",
        "#",
        ".hidden",
        "a=b",
    ] {
        place.write(name, name.as_bytes()).await;
        assert_eq!(place.read(name).await.unwrap(), name.as_bytes(), "{name}");
    }
    for name in ["line\nbreak", "car\rriage", "nul\0"] {
        let refused = place.target.write(&Bounds::open(), &Recorder::off(), Path::new(name), b"x").await;
        assert!(matches!(refused, Err(TargetError::BadPath { .. })), "{name:?}: {refused:?}");
        let refused = place.read(name).await;
        assert!(matches!(refused, Err(TargetError::BadPath { .. })), "{name:?}: {refused:?}");
    }
}

async fn modes_are_kept(place: Arc<Place>) {
    place.write("script", b"#!/bin/sh\necho one\n").await;
    assert_eq!(place.says("umask 022; : > other; stat -c %a other script").await, "644\n644\n");
    place.says("chmod 750 script").await;
    place.write("script", b"#!/bin/sh\necho two\n").await;
    assert_eq!(place.says("stat -c %a script; ./script").await, "750\ntwo\n");
    assert_eq!(place.says("ls -A | grep -c buddy. || :").await, "0\n", "nothing is left beside it");
    place.says("ln -sf script link").await;
    let bounds = Bounds { hidden: vec!["/no-such-place".into()], ..Bounds::open() };
    let through = place.target.write(&bounds, &Recorder::off(), &place.path("link"), b"three").await;
    assert!(matches!(through, Err(TargetError::Link { .. })), "{through:?}");
    assert_eq!(place.says("readlink link; ./script").await, "script\ntwo\n");
}

async fn the_replaced_content_is_returned(place: Arc<Place>) {
    let first = place.write("deep/down/file", b"one").await;
    assert_eq!((first.created, first.before), (true, None));
    let second = place.write("deep/down/file", b"two\n").await;
    assert_eq!((second.created, second.before.as_deref()), (false, Some(&b"one"[..])));
}

async fn other_kinds_of_files_are_reported(place: Arc<Place>) {
    place.says("mkdir -p folder; mkfifo pipe 2>/dev/null || :; : > plain").await;
    let missing = place.read("missing").await.unwrap_err();
    assert!(
        matches!(&missing, TargetError::NotFound { path } if *path == place.path("missing")),
        "{missing:?}"
    );
    let folder = place.read("folder").await.unwrap_err();
    assert!(matches!(folder, TargetError::NotAFile { what: NotFile::Directory, .. }), "{folder:?}");
    let device = place.read("/dev/zero").await.unwrap_err();
    assert!(matches!(device, TargetError::NotAFile { what: NotFile::Device, .. }), "{device:?}");
    let through = place.read("plain/below").await.unwrap_err();
    assert!(matches!(through, TargetError::NotADirectory { .. }), "{through:?}");
    let open = Bounds::open();
    let written = place.target.write(&open, &Recorder::off(), Path::new("folder"), b"x").await;
    assert!(matches!(written, Err(TargetError::NotAFile { what: NotFile::Directory, .. })), "{written:?}");
}

async fn lines_are_read_by_their_numbers(place: Arc<Place>) {
    let text = (1..=100).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    place.write("lines", text.as_bytes()).await;
    let read = async |name: &str, first, count, max_bytes| {
        let range = LineRange { first, count, max_bytes };
        place.target.read_lines(&Bounds::open(), Path::new(name), range).await.unwrap()
    };
    let lines = read("lines", 99, 10, 1_000).await;
    assert_eq!(
        (lines.bytes.as_slice(), lines.lines, lines.total),
        (&b"line 99\nline 100\n"[..], 2, Some(100))
    );
    assert_eq!((lines.truncated, lines.is_binary, lines.size), (false, false, text.len() as u64));
    let cut = read("lines", 1, 10, 9).await;
    assert_eq!((cut.bytes.as_slice(), cut.lines, cut.truncated), (&b"line 1\nli"[..], 2, true));
    place.write("lines", b"no end").await;
    assert_eq!(read("lines", 1, 5, 100).await.total, Some(1));
    place.write("lines", b"a\0b").await;
    assert!(read("lines", 1, 5, 100).await.is_binary);
}

async fn directories_are_made_and_listed(place: Arc<Place>) {
    let (open, off) = (Bounds::open(), Recorder::off());
    assert!(place.target.make_directory(&open, &off, Path::new("list/a b/deep")).await.unwrap());
    assert!(!place.target.make_directory(&open, &off, Path::new("list/a b")).await.unwrap());
    place.write("list/file", b"12345").await;
    place.says("ln -s file list/link; touch -d '2024-01-02 03:04:05Z' list/file 2>/dev/null || touch -d '2024-01-02 03:04:05' list/file").await;
    let options = ListOptions { depth: 1, limit: 100, with_ignored: true };
    let listing = place.target.list(&open, Path::new("list"), options).await.unwrap();
    let found: Vec<_> =
        listing.entries.iter().map(|entry| (entry.path.to_str().unwrap(), entry.kind)).collect();
    assert_eq!(
        found,
        [("a b", EntryKind::Directory), ("file", EntryKind::File), ("link", EntryKind::Symlink)]
    );
    assert_eq!(listing.entries[1].size, 5);
    assert_eq!(listing.entries[1].modified_unix_ms / 86_400_000, 1_704_164_645_000 / 86_400_000);
    let deep = ListOptions { depth: 3, ..options };
    let listing = place.target.list(&open, Path::new("list"), deep).await.unwrap();
    assert!(listing.entries.iter().any(|entry| entry.path == Path::new("a b/deep")));
    let few = ListOptions { limit: 2, ..options };
    let listing = place.target.list(&open, Path::new("list"), few).await.unwrap();
    assert_eq!((listing.entries.len(), listing.truncated), (2, true));
    let missing = place.target.list(&open, Path::new("list/none"), options).await;
    assert!(matches!(missing, Err(TargetError::NotFound { .. })), "{missing:?}");
    let file = place.target.list(&open, Path::new("list/file"), options).await;
    assert!(matches!(file, Err(TargetError::NotADirectory { .. })), "{file:?}");
}

async fn ignored_files_are_left_out(place: Arc<Place>) {
    place.says("mkdir -p repo/.git repo/build repo/src; echo build > repo/.gitignore; echo '*.log' >> repo/.gitignore").await;
    for name in ["build/out", "src/main", "src/run.log"] {
        place.write(&format!("repo/{name}"), b"needle\n").await;
    }
    let options = ListOptions { depth: 3, limit: 100, with_ignored: false };
    let listing = place.target.list(&Bounds::open(), Path::new("repo"), options).await.unwrap();
    let found: Vec<_> = listing.entries.iter().map(|entry| entry.path.to_str().unwrap()).collect();
    assert_eq!(found, [".gitignore", "src", "src/main"]);
    assert_eq!(grep(&place, "repo/src", "needle").await, ["main:1"], "rules above hold too");
    let query = GlobQuery { pattern: "*".to_owned(), limit: 100, with_ignored: false };
    let globbed = place.target.glob(&Bounds::open(), Path::new("repo"), query).await.unwrap();
    assert_eq!(globbed.paths, [Path::new(".gitignore"), Path::new("src/main")]);
}

async fn files_are_renamed_and_removed(place: Arc<Place>) {
    let (open, off) = (Bounds::open(), Recorder::off());
    place.write("old", b"content").await;
    place.write("taken", b"mine").await;
    let rename =
        async |from: &str, to: &str| place.target.rename(&open, &off, Path::new(from), Path::new(to)).await;
    assert!(matches!(rename("old", "taken").await, Err(TargetError::Exists { .. })));
    assert!(matches!(rename("none", "new").await, Err(TargetError::NotFound { .. })));
    rename("old", "else where/new").await.unwrap();
    assert_eq!(
        place.says("cat 'else where/new' taken; ls old 2>/dev/null || echo gone").await,
        "contentminegone\n"
    );
    let delete = async |name: &str, how| place.target.delete(&open, &off, Path::new(name), how).await;
    assert!(matches!(delete("else where", Deletion::Single).await, Err(TargetError::NotEmpty { .. })));
    assert_eq!(delete("else where", Deletion::Recursive).await.unwrap().entries, 2);
    place.says("mkdir -p kept; : > kept/file; ln -sfn kept way").await;
    assert_eq!(delete("way", Deletion::Recursive).await.unwrap().entries, 1);
    assert_eq!(place.says("ls kept; ls -d way 2>/dev/null || echo gone").await, "file\ngone\n");
    assert!(matches!(delete("way", Deletion::Single).await, Err(TargetError::NotFound { .. })));
    let top = place.target.delete(&open, &off, &place.path(""), Deletion::Recursive).await;
    assert!(matches!(top, Err(TargetError::IsRoot { .. })), "{top:?}");
}

async fn grep(place: &Place, path: &str, pattern: &str) -> Vec<String> {
    let query = GrepQuery {
        pattern: pattern.to_owned(),
        ignore_case: false,
        names: None,
        context: 0,
        limit: 100,
        max_line: 200,
        files_only: false,
        with_ignored: false,
    };
    let found = place.target.grep(&Bounds::open(), Path::new(path), query).await.unwrap();
    let lines = found.files.iter().flat_map(|file| {
        file.lines.iter().map(move |line| format!("{}:{}", file.path.display(), line.number))
    });
    lines.collect()
}

async fn text_is_found(place: Arc<Place>) {
    place.write("text/one", b"alpha\nbeta 42\n-dash\n").await;
    place.write("text/two words", b"beta\nBETA 7\n").await;
    place.write("text/binary", b"beta 1\0\n").await;
    assert_eq!(grep(&place, "text", r"^beta \d+$").await, ["one:2"]);
    assert_eq!(grep(&place, "text", "beta").await, ["one:2", "two words:1"]);
    assert_eq!(grep(&place, "text/one", "-dash").await, ["one:3"]);
    assert_eq!(grep(&place, "text", "gamma").await, Vec::<String>::new());
    assert_eq!(grep(&place, "text", r"^(?:alpha|[^a-z]dash)$").await, ["one:1", "one:3"]);
    let query = GrepQuery {
        pattern: "beta".to_owned(),
        ignore_case: true,
        names: Some("two*".to_owned()),
        context: 1,
        limit: 1,
        max_line: 200,
        files_only: false,
        with_ignored: true,
    };
    let found = place.target.grep(&Bounds::open(), Path::new("text"), query).await.unwrap();
    assert_eq!((found.files.len(), found.truncated), (1, true));
    assert_eq!(found.files[0].lines[0].text, "beta");
}

async fn names_are_found(place: Arc<Place>) {
    for name in ["tree/a.rs", "tree/b.txt", "tree/deep/c d.rs"] {
        place.write(name, b"").await;
    }
    let glob = async |pattern: &str, limit| {
        let query = GlobQuery { pattern: pattern.to_owned(), limit, with_ignored: false };
        place.target.glob(&Bounds::open(), Path::new("tree"), query).await.unwrap()
    };
    assert_eq!(glob("*.rs", 10).await.paths, [Path::new("a.rs"), Path::new("deep/c d.rs")]);
    let one = glob("**/*.rs", 1).await;
    assert_eq!((one.paths.len(), one.truncated), (1, true));
}

async fn bounds_are_kept(place: Arc<Place>) {
    place.says("mkdir -p within/.git/hooks outside; echo secret > outside/file; echo key > within/key; ln -sfn ../outside within/way; ln -sfn . within/loop; mkdir -p within/real").await;
    let bounds = Bounds {
        read: Reach::Beneath(vec![place.path("within")]),
        write: Reach::Beneath(vec![place.path("within")]),
        hidden: vec![place.path("within/key")],
        guarded: vec![".git/hooks".into()],
        ..Bounds::open()
    };
    let read = async |name: &str| place.target.read(&bounds, &place.path(name), 100).await;
    let write =
        async |name: &str| place.target.write(&bounds, &Recorder::off(), &place.path(name), b"x").await;
    write("within/new/file").await.unwrap();
    assert_eq!(read("within/new/file").await.unwrap().bytes, b"x");
    for name in ["outside/file", "within/way/file", "within/../outside/file"] {
        assert!(matches!(read(name).await, Err(TargetError::Outside { .. })), "{name}");
        let refused = write(name).await;
        assert!(
            matches!(refused, Err(TargetError::Outside { .. } | TargetError::Link { .. })),
            "{name}: {refused:?}"
        );
    }
    let refused = write("within/loop/real/x").await;
    assert!(matches!(refused, Err(TargetError::Link { .. })), "{refused:?}");
    assert!(matches!(read("within/key").await, Err(TargetError::Hidden { .. })));
    assert!(matches!(write("within/.git/hooks/post-commit").await, Err(TargetError::Guarded { .. })));
    assert_eq!(
        place.says("cat outside/file within/key; ls within/.git/hooks within/real").await,
        "secret\nkey\nwithin/.git/hooks:\n\nwithin/real:\n"
    );
    let delete = async |name: &str| {
        place.target.delete(&bounds, &Recorder::off(), &place.path(name), Deletion::Recursive).await
    };
    for name in ["outside", "within", "within/.git"] {
        assert!(delete(name).await.is_err(), "{name}");
    }
    assert_eq!(delete("within/new").await.unwrap().entries, 2);
}
