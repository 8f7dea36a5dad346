//! Searching real trees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use buddy_exec::{
    Bounds, GlobQuery, GlobResult, GrepQuery, GrepResult, ListOptions, LocalTarget, Target, TargetError,
};
use tempfile::TempDir;

use crate::bounds::target_in;

struct Tree {
    folder: TempDir,
    target: LocalTarget,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { target: target_in(folder.path()), folder }
    }

    async fn grep(&self, query: GrepQuery) -> Result<GrepResult, TargetError> {
        self.target.grep(&Bounds::open(), Path::new(""), query).await
    }

    async fn glob(&self, pattern: &str, limit: usize, with_ignored: bool) -> GlobResult {
        let query = GlobQuery { pattern: pattern.to_owned(), limit, with_ignored };
        self.target.glob(&Bounds::open(), Path::new(""), query).await.unwrap()
    }
}

fn query(pattern: &str) -> GrepQuery {
    GrepQuery {
        pattern: pattern.to_owned(),
        ignore_case: false,
        names: None,
        context: 0,
        limit: 100,
        max_line: 200,
        files_only: false,
        with_ignored: false,
    }
}

fn lines(result: &GrepResult) -> Vec<String> {
    let files = result.files.iter();
    files
        .flat_map(|file| {
            let path = file.path.to_str().unwrap();
            file.lines.iter().map(move |line| {
                let mark = if line.is_match { ':' } else { '-' };
                format!("{path}{mark}{}{mark}{}", line.number, line.text)
            })
        })
        .collect()
}

fn shown(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}

const FILES: &[(&str, &str)] = &[
    ("src/main.rs", "fn main() {\n    needle();\n}\n"),
    ("src/deep/needle.txt", "one\ntwo\nNEEDLE\nfour\nfive\n"),
    ("a.txt", "needle at the start\r\nand another needle\r\n"),
    ("build/out.txt", "needle in what is ignored\n"),
    ("kept.log", "needle\n"),
    ("drop.log", "needle\n"),
    (".gitignore", "/build/\n*.log\n!kept.log\n"),
    (".git/config", "needle\n"),
    (".hidden/file", "needle\n"),
    ("binary", "needle\0needle\n"),
    ("src/deep/.gitignore", "*.tmp\n"),
    ("src/deep/x.tmp", "needle\n"),
];

#[tokio::test]
async fn finds_lines_in_the_order_of_paths_and_honours_ignore_files() {
    let tree = Tree::new(FILES);
    let found = tree.grep(query("needle")).await.unwrap();
    let expected = [
        ".hidden/file:1:needle",
        "a.txt:1:needle at the start",
        "a.txt:2:and another needle",
        "kept.log:1:needle",
        "src/main.rs:2:    needle();",
    ];
    assert_eq!(lines(&found), expected);
    assert!(!found.truncated);
    let all = tree.grep(GrepQuery { with_ignored: true, ..query("needle") }).await.unwrap();
    let paths: Vec<_> = all.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    for path in ["build/out.txt", "drop.log", ".git/config", "src/deep/x.tmp"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
}

#[tokio::test]
async fn rules_of_the_directories_above_hold_too() {
    let tree = Tree::new(&[
        (".gitignore", "/a/b/no.txt\n*.log\n"),
        (".git/HEAD", ""),
        ("a/b/no.txt", "x"),
        ("a/b/yes.txt", "x"),
        ("a/b/c/x.log", "x"),
    ]);
    let found = tree.target.grep(&Bounds::open(), Path::new("a/b"), query("x")).await.unwrap();
    assert_eq!(lines(&found), ["yes.txt:1:x"]);
    let options = ListOptions { depth: 3, limit: 100, with_ignored: false };
    let listed = tree.target.list(&Bounds::open(), Path::new("a"), options).await.unwrap();
    let paths: Vec<_> = listed.entries.iter().map(|entry| entry.path.to_str().unwrap()).collect();
    assert_eq!((paths, listed.ignored), (vec!["b", "b/c", "b/yes.txt"], 2));
}

#[tokio::test]
async fn context_case_names_and_files_only_do_what_they_say() {
    let tree = Tree::new(FILES);
    let context =
        GrepQuery { context: 1, ignore_case: true, names: Some("*.txt".to_owned()), ..query("^needle$") };
    let found = tree.grep(context).await.unwrap();
    let deep = "src/deep/needle.txt";
    assert_eq!(
        lines(&found),
        [format!("{deep}-2-two"), format!("{deep}:3:NEEDLE"), format!("{deep}-4-four")]
    );
    let files =
        tree.grep(GrepQuery { files_only: true, names: Some("src/**".to_owned()), ..query("needle") }).await;
    let files = files.unwrap();
    assert_eq!(
        files.files.iter().map(|file| file.path.to_str().unwrap()).collect::<Vec<_>>(),
        ["src/main.rs"]
    );
    assert!(files.files.iter().all(|file| file.lines.is_empty()));
    let single = tree.target.grep(&Bounds::open(), Path::new("src/main.rs"), query("main")).await.unwrap();
    assert_eq!(lines(&single), ["main.rs:1:fn main() {"]);
}

#[tokio::test]
async fn a_limit_keeps_the_first_matches_and_says_that_there_are_more() {
    let many: Vec<(String, String)> =
        (0..200).map(|at| (format!("d{}/f{at:03}", at % 7), "x\nx\nx\n".to_owned())).collect();
    let files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let all = lines(&tree.grep(GrepQuery { limit: 10_000, ..query("x") }).await.unwrap());
    assert_eq!(all.len(), 600);
    for limit in [1, 2, 3, 50] {
        let some = tree.grep(GrepQuery { limit, ..query("x") }).await.unwrap();
        assert_eq!(lines(&some), all[..limit]);
        assert!(some.truncated);
    }
    assert!(!tree.grep(GrepQuery { limit: 600, ..query("x") }).await.unwrap().truncated);
    let found = tree.glob("f*", 5, false).await;
    assert_eq!(
        (shown(&found.paths), found.truncated),
        (vec!["d0/f000", "d0/f007", "d0/f014", "d0/f021", "d0/f028"], true)
    );
}

#[tokio::test]
async fn names_are_found_by_pattern() {
    let tree = Tree::new(FILES);
    assert_eq!(shown(&tree.glob("*.rs", 10, false).await.paths), ["src/main.rs"]);
    assert_eq!(shown(&tree.glob("src/*.txt", 10, false).await.paths), Vec::<&str>::new());
    assert_eq!(shown(&tree.glob("src/**/*.txt", 10, false).await.paths), ["src/deep/needle.txt"]);
    assert_eq!(shown(&tree.glob("{a,drop}.*", 10, false).await.paths), ["a.txt"]);
    assert_eq!(shown(&tree.glob("{a,drop}.*", 10, true).await.paths), ["a.txt", "drop.log"]);
}

#[tokio::test]
async fn patterns_that_cannot_be_run_in_bounded_memory_are_refused() {
    let tree = Tree::new(FILES);
    let long = "x".repeat(5_000);
    for pattern in ["(", "", "(a{1000}){1000}", "((((a{100}){100}){100}){100})", &long] {
        let refused = tree.grep(query(pattern)).await;
        assert!(matches!(refused, Err(TargetError::BadPattern { .. })), "{pattern}");
    }
    // A pattern that makes a backtracking engine run for ever is linear here.
    let text = "a".repeat(100_000);
    let tree = Tree::new(&[("a", &text)]);
    assert_eq!(tree.grep(query("(a*)*(a*)*(a*)*b")).await.unwrap().files.len(), 0);
}

#[tokio::test]
async fn loops_of_links_are_not_gone_round() {
    let tree = Tree::new(&[("a/file", "x\n")]);
    symlink("..", tree.folder.path().join("a/up")).unwrap();
    symlink(".", tree.folder.path().join("self")).unwrap();
    symlink("loop", tree.folder.path().join("loop")).unwrap();
    assert_eq!(lines(&tree.grep(query("x")).await.unwrap()), ["a/file:1:x"]);
    assert_eq!(shown(&tree.glob("*", 100, false).await.paths), ["a/file", "a/up", "loop", "self"]);
}

#[tokio::test]
async fn a_file_without_line_ends_is_not_held_in_memory() {
    let tree = Tree::new(&[("fine", "needle\n")]);
    let file = fs::File::create(tree.folder.path().join("huge")).unwrap();
    std::io::Write::write_all(&mut &file, &vec![b'x'; 20 * 1024 * 1024]).unwrap();
    let found = tree.grep(query("needle")).await.unwrap();
    assert_eq!((lines(&found), found.skipped), (vec!["fine:1:needle".to_owned()], 1));
}

#[tokio::test]
async fn a_tree_of_a_hundred_thousand_entries_is_gone_through() {
    let tree = Tree::new(&[]);
    for directory in 0..100 {
        let path = tree.folder.path().join(format!("{directory:03}"));
        fs::create_dir(&path).unwrap();
        for file in 0..1_000 {
            fs::File::create(path.join(format!("{file:04}"))).unwrap();
        }
    }
    fs::write(tree.folder.path().join("050/0500"), "needle\n").unwrap();
    let found = tree.grep(query("needle")).await.unwrap();
    assert_eq!((lines(&found), found.searched), (vec!["050/0500:1:needle".to_owned()], 100_000));
    let named = tree.glob("**/0999", 1_000, false).await;
    assert_eq!((named.paths.len(), named.truncated), (100, false));
}
