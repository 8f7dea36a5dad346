//! Every row of the table of protected places, planted by a jailed command: with and without bubblewrap nothing is left of it, and
//! files that were there stay as they were.

use std::fs;
use std::path::{Path, PathBuf};

use buddy_policy::{Keeps, PROTECTED};

use crate::stage::{Stage, done, run};

/// Keeps buddy from bubblewrap, so that the jail is made of the other layers alone.
const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";

/// The text that a command writes: as settings of git it would run a program.
const EVIL: &str = "[core]\n\tfsmonitor = evil\n";
const KEPT: &str = "# kept\n";

/// Tries every way to get its content to each name, and tells of how many names it heard and where it succeeded.
const PLANT: &str = r#"
import os, subprocess, sys
evil = open("evil.txt").read()
paths = open(sys.argv[1]).read().splitlines()
made = 0

def tries(path, above):
    def write():
        with open(path, "w") as file:
            file.write(evil)
    def append():
        with open(path, "a") as file:
            file.write(evil)
    def put(other):
        with open(other, "w") as file:
            file.write(evil)
        os.rename(other, path)
    yield lambda: os.makedirs(above, exist_ok=True)
    yield write
    yield append
    yield lambda: put(above + "/other.tmp")
    yield lambda: put("other.tmp")
    yield lambda: os.unlink(path)
    yield lambda: os.rename(path, path + ".gone")
    yield write

for path in paths:
    if path.startswith("new/repository"):
        subprocess.run(["git", "init", "-q", "/".join(path.split("/")[:2])])
    for attempt in tries(path, os.path.dirname(path)):
        try:
            attempt()
        except OSError:
            pass
    try:
        made += evil in open(path).read()
    except OSError:
        pass
with open("told.txt", "w") as told:
    print(len(paths), made, file=told)
"#;

/// The names that each row is about, an example for each pattern, and whether a directory of this name gives orders too.
fn rows() -> Vec<(String, bool)> {
    let relative = PROTECTED.iter().filter(|row| !row.name.starts_with('/'));
    let names = relative.flat_map(|row| match row.keeps {
        Keeps::Orders => vec![(row.name.to_owned(), true)],
        Keeps::OrderFiles => vec![(row.name.to_owned(), false)],
        Keeps::OrdersIn(parts) => parts.iter().map(|part| (format!("{}/{part}", row.name), true)).collect(),
        Keeps::Secrets | Keeps::ToolSecrets | Keeps::SecretFiles | Keeps::NoSecrets => Vec::new(),
    });
    names.map(|(name, is_tree)| (name.replace('*', "x"), is_tree)).collect()
}

/// A directory of its own for each name, so that one row's file is not another row's directory: the name as a file, as a directory,
/// and in capitals, but for repositories, whose parts git finds in one spelling alone here. In the workspace itself some are in each other's way.
fn places(top: &str) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for (number, (name, is_tree)) in rows().into_iter().enumerate() {
        places.push(format!("{top}/file{number}/{name}"));
        if !name.starts_with(".git/") {
            places.push(format!("{top}/capitals{number}/{}", name.to_uppercase()));
        }
        if is_tree {
            places.push(format!("{top}/tree{number}/{name}/x"));
        }
        // In a repository that the command has made, what it hides from the work tree is its own.
        if name.starts_with(".git/") && name != ".git/info/sparse-checkout" {
            places.push(format!("{top}/repository{number}/{name}"));
        }
    }
    places.into_iter().map(PathBuf::from).collect()
}

/// Runs a command over these places in `auto`, and returns how many it heard of and how many of them it had made when it ended.
async fn plant(stage: &Stage, places: &[PathBuf], has_bubblewrap: bool) -> (usize, usize) {
    let work = stage.home.work();
    let list: Vec<String> = places.iter().map(|place| format!("{}\n", place.display())).collect();
    fs::write(work.join("list.txt"), list.concat()).unwrap();
    fs::write(work.join("evil.txt"), EVIL).unwrap();
    fs::write(work.join("plant.py"), PLANT).unwrap();
    // Without mounts, nothing can be made beside a protected file.
    fs::write(work.join("told.txt"), "").unwrap();
    let words = "exec --trust --permission-mode auto go";
    let program = if has_bubblewrap {
        stage.in_bash(&format!("exec \"$BUDDY\" {words}"))
    } else {
        let line = format!("{WITHOUT_BUBBLEWRAP} && exec \"$BUDDY\" {words}");
        stage.in_bash(&format!("exec unshare --map-root-user --mount sh -c '{line}'"))
    };
    let finished = program.run().await;
    let told = fs::read_to_string(work.join("told.txt")).unwrap();
    let numbers: Vec<usize> = told.split_ascii_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 2, "{finished} {:#?}", stage.results());
    (numbers[0], numbers[1])
}

async fn stage() -> Stage {
    Stage::apart(vec![run("python3 plant.py list.txt"), done()]).await
}

fn is_evil(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.contains("evil"))
}

fn left(work: &Path, places: &[PathBuf]) -> Vec<PathBuf> {
    places.iter().filter(|place| is_evil(&work.join(place))).cloned().collect()
}

#[tokio::test]
async fn no_row_of_the_table_is_left_by_a_command() {
    let count = rows().len();
    assert!(count > 250, "{count} rows");
    for has_bubblewrap in [true, false] {
        let stage = stage().await;
        let places = places("new");
        let (heard, made) = plant(&stage, &places, has_bubblewrap).await;
        assert_eq!(heard, places.len());
        assert!(
            made > count,
            "in new directories a command writes anything, and what it left is moved: {made}"
        );
        assert_eq!(left(&stage.home.work(), &places), Vec::<PathBuf>::new(), "{has_bubblewrap}");
    }
}

#[tokio::test]
async fn no_row_of_the_table_is_left_in_the_workspace_itself() {
    for has_bubblewrap in [true, false] {
        let stage = stage().await;
        let names = rows().into_iter().map(|(name, _)| PathBuf::from(".").join(name));
        let places: Vec<PathBuf> = names.collect();
        assert_eq!(plant(&stage, &places, has_bubblewrap).await.0, places.len());
        assert_eq!(left(&stage.home.work(), &places), Vec::<PathBuf>::new(), "{has_bubblewrap}");
    }
}

#[tokio::test]
async fn every_row_of_the_table_that_is_there_stays_as_it_was() {
    for has_bubblewrap in [true, false] {
        let stage = stage().await;
        let work = stage.home.work();
        // Each row once, as a file or with a file in it.
        let place = |(number, (name, is_tree)): (usize, (String, bool))| {
            let below = if is_tree && number % 2 == 1 { "/x" } else { "" };
            PathBuf::from(format!("old/{number}/{name}{below}"))
        };
        let places: Vec<PathBuf> = rows().into_iter().enumerate().map(place).collect();
        for place in &places {
            let path = work.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, KEPT).unwrap();
        }
        assert_eq!(plant(&stage, &places, has_bubblewrap).await.0, places.len());
        let changed =
            places.iter().filter(|place| fs::read_to_string(work.join(place)).ok().as_deref() != Some(KEPT));
        assert_eq!(changed.collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "{has_bubblewrap}");
    }
}
