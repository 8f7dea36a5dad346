//! Ends: the whole tree, in time, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use buddy_exec::managed::{Condition, Force, ManagedError, State};
use buddy_exec::{Bounds, Ended, Reach, TargetError};
use buddy_protocol::NameSet;
use serde_json::{Value, json};

use super::house::{House, Stranger, until};
use crate::stage::{alive, marker};

/// Forks twice, leaves the session, closes everything and ignores every signal that can be ignored.
fn daemon(marker: &str) -> String {
    format!("setsid sh -c '(trap \"\" TERM HUP INT; exec sleep {marker} <&- >&- 2>&-) & exit 0' &")
}

#[test]
fn a_daemon_is_gone_within_six_seconds_of_a_stop_and_a_stranger_is_not() {
    let (marker, mut stranger) = (marker(), Stranger::new());
    let house = House::with_grace(buddy_exec::DEFAULT_GRACE);
    let script =
        format!("trap '' TERM; {} {} echo ready; sleep {marker}; :", daemon(&marker), daemon(&marker));
    let id = house.start(&script);
    house.until_printed(&id, "ready");
    until(|| alive(&format!("sleep\0{marker}")).len() == 3);
    let asked = Instant::now();
    let status = house.processes.stop(&id, Force::Gentle).unwrap();
    assert!(asked.elapsed() < Duration::from_secs(6), "{:?}", asked.elapsed());
    assert_eq!(alive(&marker), [""; 0]);
    assert_eq!(status.condition, Condition::Ended);
    assert!(
        matches!(status.record.state, State::Ended { by: Ended::Stopped, survivors: 0, .. }),
        "{status:?}"
    );
    assert!(!status.record.keeper.is_alive() && stranger.is_alive());
}

#[test]
fn a_process_may_clean_up_within_the_grace() {
    let house = House::with_grace(crate::stage::PATIENCE);
    let id = house.start("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done");
    house.until_printed(&id, "ready");
    let status = house.processes.stop(&id, Force::Gentle).unwrap();
    assert!(matches!(status.record.state, State::Ended { code: Some(3), .. }), "{status:?}");
    // The shell may report the end of its `sleep`, before or after.
    assert!(house.text(&id).contains("\nbye\n"), "{}", house.text(&id));
}

#[test]
fn force_asks_nobody() {
    let house = House::with_grace(Duration::from_mins(1));
    let id = house.start("trap 'touch asked' TERM; echo ready; while :; do sleep 0.05; done");
    house.until_printed(&id, "ready");
    let status = house.processes.stop(&id, Force::Now).unwrap();
    assert!(matches!(status.record.state, State::Ended { signal: Some(9), .. }), "{status:?}");
    assert!(!house.path("asked").exists());
}

#[test]
fn an_end_of_its_own_is_recorded_and_stays_when_it_is_stopped() {
    let house = House::new();
    let id = house.start("echo done; exit 7");
    house.until_condition(&id, Condition::Ended);
    let status = house.processes.stop(&id, Force::Gentle).unwrap();
    assert!(
        matches!(status.record.state, State::Ended { code: Some(7), by: Ended::Exited, .. }),
        "{status:?}"
    );
    assert_eq!((house.text(&id).as_str(), status.record.process), ("done\n", None));
}

/// Writes another process into the record, with its identity changed by `change`.
fn pretend(house: &House, id: &str, stranger: &Stranger, change: impl FnOnce(&mut Value)) {
    let meta = house.of(id).join("meta.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&meta).unwrap()).unwrap();
    let mut identity = record["keeper"].clone();
    identity["pid"] = json!(stranger.pid());
    identity["start_time"] = json!(stranger.start_time());
    change(&mut identity);
    record["keeper"] = identity.clone();
    record["process"] = identity;
    fs::write(meta, serde_json::to_vec(&record).unwrap()).unwrap();
}

#[test]
fn a_number_that_another_process_has_by_now_is_not_signalled() {
    let changes: [fn(&mut Value); 2] = [
        |identity| identity["start_time"] = json!(identity["start_time"].as_u64().unwrap() - 1),
        |identity| identity["boot_id"] = json!("00000000-0000-0000-0000-000000000000"),
    ];
    for change in changes {
        let (house, mut stranger) = (House::new(), Stranger::new());
        let marker = marker();
        let id = house.start(&format!("sleep {marker}"));
        pretend(&house, &id, &stranger, change);
        assert_eq!(house.status(&id).condition, Condition::Lost);
        for force in [Force::Gentle, Force::Now] {
            house.processes.stop(&id, force).unwrap();
        }
        assert!(stranger.is_alive());
        // Its real processes were found by their mark all the same.
        until(|| alive(&marker).is_empty());
    }
}

#[test]
fn nothing_but_ids_is_taken() {
    let house = House::new();
    let id = house.start("sleep 600");
    for wrong in ["proc-ffffffffffff", "", "..", "../processes", &format!("../processes/{id}")] {
        let found = house.processes.stop(wrong, Force::Now);
        assert!(matches!(found, Err(ManagedError::NotFound { .. })), "{wrong}: {found:?}");
    }
    assert_eq!(house.status(&id).condition, Condition::Running);
}

#[test]
fn a_failed_start_leaves_nothing() {
    let house = House::new();
    let mut missing = house.launch("true");
    missing.argv = vec!["/nowhere/at/all".into()];
    let error = house.processes.start(&missing).unwrap_err();
    assert!(matches!(error, ManagedError::NotStarted(TargetError::CommandNotStarted { .. })), "{error:?}");
    let mut nowhere = house.launch("true");
    nowhere.cwd = house.path("missing");
    let error = house.processes.start(&nowhere).unwrap_err();
    assert!(matches!(error, ManagedError::NotStarted(TargetError::CwdUnusable { .. })), "{error:?}");
    assert_eq!(fs::read_dir(house.path("processes")).unwrap().count(), 0);
}

#[test]
fn the_record_is_private_and_has_no_values() {
    let house = House::new();
    let mut launch = house.launch("sleep 600");
    launch.env.push(("DATABASE_PASSWORD".into(), "hunter2-secret".into()));
    let status = house.processes.start(&launch).unwrap();
    let folder = house.of(&status.record.id);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("meta.json"))), (0o700, 0o600));
    assert_eq!(mode(&folder.join("output.log")), 0o600);
    let meta = fs::read_to_string(folder.join("meta.json")).unwrap();
    assert!(meta.contains("DATABASE_PASSWORD") && !meta.contains("hunter2"), "{meta}");
    // Nor does the keeper have it where other accounts could read it.
    let keeper = status.record.keeper.pid;
    let environ = fs::read(format!("/proc/{keeper}/environ")).unwrap_or_default();
    assert!(environ.is_empty(), "{}", String::from_utf8_lossy(&environ));
}

#[test]
fn bounds_hold_for_managed_processes_too() {
    let (house, marker) = (House::new(), marker());
    fs::create_dir(house.path("inside")).unwrap();
    let script = format!(
        "touch inside/yes; touch no && echo escaped; {} echo ready; exec sleep {marker}",
        daemon(&marker)
    );
    let mut launch = house.launch(&script);
    launch.bounds = Bounds { write: Reach::Beneath(vec![house.path("inside")]), ..Bounds::open() };
    let id = house.processes.start(&launch).unwrap().record.id;
    house.until_printed(&id, "ready");
    until(|| alive(&format!("sleep\0{marker}")).len() == 2);
    assert!(house.path("inside/yes").exists() && !house.path("no").exists());
    assert!(!house.text(&id).contains("escaped"), "{}", house.text(&id));
    house.processes.stop(&id, Force::Gentle).unwrap();
    assert_eq!(alive(&marker), [""; 0]);
}

#[test]
fn the_log_tells_what_was_moved_while_the_process_runs_and_at_its_end() {
    let house = House::new();
    fs::create_dir(house.path("inside")).unwrap();
    let script = "cd inside; echo bad > .envrc; echo ready; while [ -e .envrc ]; do sleep 0.05; done; echo gone; \
                  while [ ! -e end ]; do sleep 0.05; done; echo bad > .husky";
    let mut launch = house.launch(script);
    let write = Reach::Beneath(vec![house.path("inside")]);
    let guarded_names = NameSet::trees([".envrc", ".husky"]);
    launch.bounds = Bounds { write, guarded_names, ..Bounds::open() };
    let id = house.processes.start(&launch).unwrap().record.id;
    house.until_printed(&id, "gone");
    house.until_printed(&id, "/inside/.envrc`");
    fs::write(house.path("inside/end"), "").unwrap();
    house.until_condition(&id, Condition::Ended);
    assert!(!house.path("inside/.husky").exists());
    assert_eq!(house.text(&id).matches("[buddy] ").count(), 2, "{}", house.text(&id));
    assert!(house.text(&id).contains("/inside/.husky`"), "{}", house.text(&id));
}
