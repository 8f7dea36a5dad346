//! Trust in folders of a stage of their own.

use super::*;

#[test]
fn trust_is_given_kept_and_taken() {
    let home = tempfile::tempdir().unwrap();
    let (project, other) = (home.path().join("project"), home.path().join("other"));
    std::fs::create_dir(&project).unwrap();
    std::fs::create_dir(&other).unwrap();
    let store = TrustStore::new(&home.path().join("data"));
    assert!(!store.trusts(&project));
    store.add(&project).unwrap();
    store.add(&project).unwrap();
    assert!(store.trusts(&project) && !store.trusts(&other));
    std::fs::create_dir(project.join("sub")).unwrap();
    assert!(store.covers(&project.join("sub")) && !store.covers(&other) && !store.covers(home.path()));
    assert_eq!(store.list().unwrap().len(), 1);
    assert!(store.remove(&project).unwrap() && !store.remove(&project).unwrap());
    assert!(!store.trusts(&project));
}

#[test]
fn a_no_is_remembered_for_that_directory_alone_and_trusts_nothing() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("sub")).unwrap();
    let store = TrustStore::new(&home.path().join("data"));
    store.add(&project).unwrap();
    store.refuse(&project).unwrap();
    assert!(store.is_read_only(&project) && !store.is_read_only(&project.join("sub")));
    assert!(!store.trusts(&project) && !store.covers(&project));
    store.add(&project).unwrap();
    assert!(store.trusts(&project) && !store.is_read_only(&project));
    store.refuse(&project).unwrap();
    assert!(!store.remove(&project).unwrap() && !store.is_read_only(&project), "it is asked for again");
}

#[test]
fn a_list_without_refusals_is_read() {
    let home = tempfile::tempdir().unwrap();
    let store = TrustStore::new(home.path());
    std::fs::write(home.path().join("trusted.json"), r#"{"version": 1, "directories": []}"#).unwrap();
    assert!(!store.is_read_only(home.path()));
    store.add(home.path()).unwrap();
    assert!(store.trusts(home.path()));
}

#[test]
fn another_directory_in_the_same_place_is_not_trusted() {
    let home = tempfile::tempdir().unwrap();
    let (project, moved) = (home.path().join("project"), home.path().join("moved"));
    std::fs::create_dir(&project).unwrap();
    let store = TrustStore::new(home.path());
    store.add(&project).unwrap();
    std::fs::rename(&project, &moved).unwrap();
    std::fs::create_dir(&project).unwrap();
    assert!(!store.trusts(&project) && !store.trusts(&moved));
}

/// A file system gives the inode number of a removed directory to the next one: the list says so here whatever this one does.
#[test]
fn a_directory_that_was_made_anew_is_not_trusted() {
    use std::os::unix::fs::MetadataExt;
    let (home, store, project) = project(&[]);
    std::fs::remove_dir_all(&project).unwrap();
    std::fs::create_dir(&project).unwrap();
    let list = home.path().join("data/trusted.json");
    let mut kept: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&list).unwrap()).unwrap();
    kept["directories"][0]["inode"] = std::fs::metadata(&project).unwrap().ino().into();
    std::fs::write(&list, kept.to_string()).unwrap();
    assert!(!store.trusts(&project) && !store.covers(&project));
    store.add(&project).unwrap();
    assert!(store.trusts(&project));
}

#[test]
fn trust_from_before_birth_was_kept_is_asked_for_once_more() {
    let (home, store, project) = project(&[]);
    let list = home.path().join("data/trusted.json");
    let mut old: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&list).unwrap()).unwrap();
    old["directories"][0].as_object_mut().unwrap().remove("born_ns").unwrap();
    std::fs::write(&list, old.to_string()).unwrap();
    assert!(!store.trusts(&project));
}

#[test]
fn a_damaged_list_trusts_nothing_and_is_not_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let store = TrustStore::new(home.path());
    store.add(home.path()).unwrap();
    std::fs::write(home.path().join("trusted.json"), "{").unwrap();
    assert!(!store.trusts(home.path()));
    assert!(store.add(home.path()).is_err());
}

/// A trusted project with these files, and the store that trusts it.
fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, TrustStore, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".buddy")).unwrap();
    for (name, text) in files {
        std::fs::write(project.join(name), text).unwrap();
    }
    let store = TrustStore::new(&home.path().join("data"));
    store.add(&project).unwrap();
    (home, store, project)
}

#[test]
fn a_file_takes_effect_as_it_was_trusted() {
    let (_home, store, project) = project(&[("buddy.toml", "one")]);
    assert_eq!(store.changes(&project).unwrap(), []);
    std::fs::write(project.join("buddy.toml"), "two").unwrap();
    std::fs::write(project.join(RULES_FILE), "deny = []").unwrap();
    let text = |name| store.trusted_text(&project, name).unwrap();
    assert_eq!((text("buddy.toml").as_deref(), text(RULES_FILE)), (Some("one"), None));
    let changes = store.changes(&project).unwrap();
    let names: Vec<_> = changes.iter().map(|change| (change.name, change.trusted.as_deref())).collect();
    assert_eq!(names, [("buddy.toml", Some("one")), (RULES_FILE, None)]);
    std::fs::write(project.join("buddy.toml"), "three").unwrap();
    store.accept(&project, &changes).unwrap();
    assert_eq!(text("buddy.toml").as_deref(), Some("two"), "what was seen, and not what is there by now");
    assert_eq!(text(RULES_FILE).as_deref(), Some("deny = []"));
    assert_eq!(store.changes(&project).unwrap().len(), 1);
}

#[test]
fn a_removal_is_a_change_and_copies_go_when_nobody_needs_them() {
    let (home, store, project) = project(&[("buddy.toml", "one"), (RULES_FILE, "deny = []")]);
    let copies = || std::fs::read_dir(home.path().join("data/trusted")).unwrap().count();
    std::fs::remove_file(project.join(RULES_FILE)).unwrap();
    assert_eq!(store.trusted_text(&project, RULES_FILE).unwrap().as_deref(), Some("deny = []"));
    assert_eq!(copies(), 2);
    store.add(&project).unwrap();
    assert_eq!((store.trusted_text(&project, RULES_FILE).unwrap(), copies()), (None, 1));
    store.remove(&project).unwrap();
    assert_eq!((store.trusted_text(&project, "buddy.toml").unwrap(), copies()), (None, 0));
}

#[test]
fn a_damaged_copy_is_not_used_and_can_be_made_anew() {
    let (home, store, project) = project(&[("buddy.toml", "one")]);
    let copy = home.path().join("data/trusted").join(digest("one"));
    for damage in [Some("two"), None] {
        match damage {
            Some(text) => std::fs::write(&copy, text).unwrap(),
            None => std::fs::remove_file(&copy).unwrap(),
        }
        assert!(store.trusted_text(&project, "buddy.toml").is_err());
        assert_eq!(store.changes(&project).unwrap().len(), 1);
        store.add(&project).unwrap();
        assert_eq!(store.trusted_text(&project, "buddy.toml").unwrap().as_deref(), Some("one"));
    }
}

#[test]
fn a_link_is_read_within_the_folder_only() {
    let (home, store, project) = project(&[("inside", "inside")]);
    std::fs::write(home.path().join("outside"), "outside").unwrap();
    std::os::unix::fs::symlink("inside", project.join("buddy.toml")).unwrap();
    std::os::unix::fs::symlink("../outside", project.join("agent.toml")).unwrap();
    store.add(&project).unwrap();
    let text = |name| store.trusted_text(&project, name).unwrap();
    assert_eq!((text("buddy.toml").as_deref(), text("agent.toml")), (Some("inside"), None));
    std::os::unix::fs::symlink(home.path().join("outside"), project.join(RULES_FILE)).unwrap();
    let refused = store.changes(&project).unwrap();
    assert!(refused.len() == 2 && refused.iter().all(|change| !change.is_acceptable()), "{refused:?}");
    assert!(store.add(&project).is_err(), "rules that are not read are not trusted");
    std::fs::remove_dir_all(project.join(".buddy")).unwrap();
    std::fs::write(home.path().join("rules.toml"), "deny = []").unwrap();
    std::os::unix::fs::symlink(home.path(), project.join(".buddy")).unwrap();
    assert!(store.add(&project).is_err(), "nor by a directory that is a link");
    assert_eq!(store.trusted_text(&project, RULES_FILE).unwrap(), None);
}

#[test]
fn files_that_are_none_are_not_waited_for() {
    let (_home, store, project) = project(&[]);
    let pipe = project.join("buddy.toml");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    std::fs::write(project.join("agent.toml"), "x".repeat(2 * 1024 * 1024)).unwrap();
    store.add(&project).unwrap();
    assert_eq!(store.reviewable(&project), []);
    assert_eq!(store.changes(&project).unwrap().len(), 2);
    std::fs::write(project.join(RULES_FILE), [0xff, 0xfe]).unwrap();
    assert!(store.add(&project).is_err(), "rules that are not read are not trusted");
    assert_eq!(store.changes(&project).unwrap().len(), 3);
}

#[test]
fn below_a_trusted_directory_only_rules_are_looked_at_and_none_was_trusted() {
    let (_home, store, project) = project(&[]);
    let sub = project.join("sub");
    std::fs::create_dir_all(sub.join(".buddy")).unwrap();
    std::fs::write(sub.join("buddy.toml"), "x").unwrap();
    assert_eq!(store.changes(&sub).unwrap(), []);
    std::fs::write(sub.join(RULES_FILE), "deny = []").unwrap();
    assert_eq!(store.changes(&sub).unwrap().len(), 1);
    assert_eq!(store.trusted_text(&sub, RULES_FILE).unwrap(), None);
    store.accept(&sub, &store.reviewable(&sub)).unwrap();
    assert_eq!(store.trusted_text(&sub, RULES_FILE).unwrap().as_deref(), Some("deny = []"));
}

#[test]
fn trust_from_before_contents_were_kept_is_read() {
    let (home, store, project) = project(&[("buddy.toml", "one")]);
    let list = home.path().join("data/trusted.json");
    let mut old: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&list).unwrap()).unwrap();
    old["directories"][0].as_object_mut().unwrap().remove("files").unwrap();
    std::fs::write(&list, old.to_string()).unwrap();
    assert!(store.trusts(&project));
    assert_eq!(store.trusted_text(&project, "buddy.toml").unwrap(), None);
    assert_eq!(store.reviewable(&project).len(), 1);
}
