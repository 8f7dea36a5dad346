//! Directories that are gone, or that keep what git ignores.

use super::*;

#[tokio::test]
async fn directories_that_are_gone_are_made_again_in_the_workspace() {
    let yard = Yard::new();
    fs::create_dir_all(yard.path("deep/er")).unwrap();
    for name in ["a", "deep/er/b", "deep/er/c"] {
        fs::write(yard.path(name), "old").unwrap();
    }
    yard.command("one", "for name in a deep/er/b deep/er/c; do echo new > $name; done").await;
    fs::set_permissions(yard.path(""), fs::Permissions::from_mode(0o750)).unwrap();
    fs::remove_dir_all(yard.path("deep")).unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    assert_eq!(plan.conflicts(), 2, "{plan:?}");
    yard.store.apply(&plan.overwriting(), header("u")).unwrap();
    for name in ["a", "deep/er/b", "deep/er/c"] {
        assert_eq!(fs::read_to_string(yard.path(name)).unwrap(), "old", "{name}");
    }
    assert_eq!(fs::metadata(yard.path("deep/er")).unwrap().permissions().mode() & 0o777, 0o750);
    yard.undo(&Which::Id("u".to_owned()), "v");
    assert!(!yard.path("deep").exists(), "the directories are part of the undo");
}

#[tokio::test]
async fn what_has_no_directory_any_more_is_named_and_the_rest_is_undone() {
    let yard = Yard::new();
    fs::create_dir(yard.path("deep")).unwrap();
    fs::write(yard.path("a"), "old").unwrap();
    fs::write(yard.path("deep/b"), "old").unwrap();
    let elsewhere = yard.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    yard.command("one", "echo new > a; echo new > deep/b").await;
    fs::remove_dir_all(yard.path("deep")).unwrap();
    symlink(&elsewhere, yard.path("deep")).unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap();
    let left = yard.store.apply(&plan.overwriting(), header("u")).unwrap().left;
    let left: Vec<_> = left.iter().map(|place| place.path.0.file_name().unwrap()).collect();
    assert_eq!(left, ["b"]);
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "old");
    assert!(fs::read_dir(&elsewhere).unwrap().next().is_none(), "nothing goes through the link");
}

#[tokio::test]
async fn a_directory_whose_content_git_ignores_stays_and_counts_as_undone() {
    let yard = Yard::new();
    fs::write(yard.path("a"), "old").unwrap();
    fs::write(yard.path(".gitignore"), "__pycache__\n").unwrap();
    yard.write("edit", "a", "new").await;
    yard.command("tests", PYTEST).await;
    yard.command("package", "mkdir -p pkg/inner; echo > pkg/inner/m.py").await;
    yard.command("cache", "mkdir pkg/inner/__pycache__; echo > pkg/inner/__pycache__/m.pyc").await;
    let plan = yard.undo(&Which::Id("package".to_owned()), "u1");
    let kept = |plan: &UndoPlan| {
        let changed = plan.not_covered.iter().filter(|place| place.is_changed);
        changed.map(|place| place.path.0.clone()).collect::<Vec<_>>()
    };
    assert_eq!((plan.conflicts(), kept(&plan)), (0, vec![yard.path("pkg/inner").canonicalize().unwrap()]));
    assert!(yard.path("pkg/inner/__pycache__/m.pyc").exists() && !yard.path("pkg/inner/m.py").exists());
    let plan = yard.undo(&Which::Last, "u2");
    assert_eq!((&*plan.header.id, plan.conflicts()), ("tests", 0), "{plan:?}");
    assert_eq!(kept(&plan), [yard.path(".pytest_cache").canonicalize().unwrap()]);
    let there = ["v/cache/lastfailed", ".gitignore", "README.md"]
        .map(|name| yard.path(".pytest_cache").join(name).exists());
    assert_eq!((there, yard.path("made").exists()), ([true, true, false], false));
    assert_eq!(yard.undo(&Which::Last, "u3").header.id, "edit", "older changes are within reach");
    assert_eq!(fs::read_to_string(yard.path("a")).unwrap(), "old");
}

#[tokio::test]
async fn force_leaves_a_path_that_cannot_be_restored_and_goes_on() {
    let yard = Yard::new();
    for name in ["a", "z"] {
        fs::write(yard.path(name), "old").unwrap();
    }
    yard.command("one", "echo new > a; echo new > z; mkdir -p d/inner").await;
    fs::write(yard.path("d/inner/mine"), "mine").unwrap();
    fs::remove_file(yard.path("a")).unwrap();
    fs::create_dir_all(yard.path("a/mine")).unwrap();
    let plan = yard.store.plan(&Which::Last).unwrap().overwriting();
    let applied = yard.store.apply(&plan, header("u")).unwrap();
    let left: Vec<_> =
        applied.left.iter().map(|left| left.path.0.strip_prefix(yard.path("")).unwrap()).collect();
    assert_eq!(left, ["d/inner", "d", "a"].map(Path::new), "{applied:?}");
    assert!(yard.path("d/inner/mine").exists() && yard.path("a/mine").exists());
    assert_eq!(fs::read_to_string(yard.path("z")).unwrap(), "old");
    let entries = yard.store.list().unwrap();
    assert!(entries.iter().all(|entry| !entry.is_interrupted) && entries[1].is_undone, "{entries:?}");
}

#[tokio::test]
async fn a_removed_directory_that_git_ignores_is_beyond_undo() {
    let yard = Yard::new();
    fs::write(yard.path(".gitignore"), "data\ntarget\n").unwrap();
    fs::create_dir(yard.path(".git")).unwrap();
    for name in ["data", "target"] {
        fs::create_dir(yard.path(name)).unwrap();
        fs::write(yard.path(name).join("a"), "x").unwrap();
    }
    yard.command("build", "rm -r target").await;
    assert!(yard.store.list().unwrap().is_empty(), "a build makes it again");
    yard.command("loss", "rm -r data").await;
    let plan = yard.store.plan(&Which::Last).unwrap();
    assert!(plan.is_beyond_undo(), "{plan:?}");
    assert!(
        plan.not_covered.iter().any(|place| place.is_changed && place.path.0.ends_with("data")),
        "{plan:?}"
    );
}
