//! Restarts after a failure, and health checks.

use std::fs;
use std::net::TcpListener;

use buddy_exec::Reach;
use buddy_exec::managed::{Condition, Force, Health, Restart, State};

use super::house::{House, until};

/// Fails the first two times.
const THIRD_TIME: &str = "echo x >> tries; [ $(wc -l < tries) -ge 3 ] || exit 5; echo steady; exec sleep 600";

#[test]
fn a_failure_is_started_again_and_told() {
    let house = House::new();
    let mut launch = house.launch(THIRD_TIME);
    launch.restart = Restart::OnFailure;
    let id = house.processes.start(&launch).unwrap().record.id;
    house.until_printed(&id, "steady");
    let status = house.status(&id);
    assert_eq!((status.condition, status.record.restarts), (Condition::Running, 2));
    let notes = house.text(&id).lines().filter(|line| line.contains("ended with code 5")).count();
    assert_eq!(notes, 2, "{}", house.text(&id));
}

#[test]
fn it_is_not_started_again_with_another_script() {
    let house = House::new();
    fs::write(house.path("run.sh"), "echo approved >> said; until [ -e go ]; do sleep 0.05; done; exit 1\n")
        .unwrap();
    let mut launch = house.launch("sh run.sh");
    launch.restart = Restart::OnFailure;
    launch.pinned = vec![house.path("run.sh")];
    let id = house.processes.start(&launch).unwrap().record.id;
    until(|| house.path("said").exists());
    fs::write(house.path("run.sh"), "echo swapped >> said; exec sleep 600\n").unwrap();
    fs::write(house.path("go"), "").unwrap();
    house.until_condition(&id, Condition::Ended);
    assert_eq!(fs::read_to_string(house.path("said")).unwrap(), "approved\n");
    let text = house.text(&id);
    assert!(text.contains("run.sh` was changed since it was approved"), "{text}");
}

#[test]
fn it_waits_for_commands_that_nobody_was_asked_about_and_for_no_others() {
    let mut house = House::new();
    let quarantine = house.path("quarantine");
    let running = quarantine.join("running");
    fs::create_dir_all(&running).unwrap();
    house.processes = house.processes.clone().with_quarantine(quarantine);
    let mut neighbour = house.launch("exec sleep 600");
    neighbour.unasked_writes = Reach::Nothing;
    let neighbour = house.processes.start(&neighbour).unwrap().record.keeper.pid;
    // Places of running commands, as their jails take them: of the neighbour, and of a command of a call.
    let take = |name: &str| {
        let place = fs::File::create(running.join(name)).unwrap();
        place.lock().unwrap();
        place
    };
    let (_approved, unasked) = (take(&neighbour.to_string()), take("1"));
    fs::write(house.path("run.sh"), THIRD_TIME).unwrap();
    let mut launch = house.launch("sh run.sh");
    launch.restart = Restart::OnFailure;
    launch.pinned = vec![house.path("run.sh")];
    let id = house.processes.start(&launch).unwrap().record.id;
    house.until_printed(&id, "waits for the end of other commands");
    assert_eq!(fs::read_to_string(house.path("tries")).unwrap(), "x\n");
    drop(unasked);
    house.until_printed(&id, "steady");
}

#[test]
fn success_and_a_stop_are_final() {
    let house = House::new();
    let mut launch = house.launch("echo x >> runs");
    launch.restart = Restart::OnFailure;
    let id = house.processes.start(&launch).unwrap().record.id;
    house.until_condition(&id, Condition::Ended);
    assert_eq!(fs::read_to_string(house.path("runs")).unwrap(), "x\n");

    launch.argv[2] = "echo x >> fails; exit 1".into();
    let id = house.processes.start(&launch).unwrap().record.id;
    house.until_condition(&id, Condition::Restarting);
    let status = house.processes.stop(&id, Force::Gentle).unwrap();
    assert!(matches!(status.record.state, State::Ended { code: Some(1), .. }), "{status:?}");
    let keeper = status.record.keeper;
    assert!(!keeper.is_alive());
}

#[test]
fn a_failure_is_final_where_nothing_else_was_asked_for() {
    let house = House::new();
    let id = house.start("echo x >> runs; exit 1");
    house.until_condition(&id, Condition::Ended);
    assert_eq!(
        (house.status(&id).record.restarts, fs::read_to_string(house.path("runs")).unwrap()),
        (0, "x\n".into())
    );
}

#[test]
fn a_line_tells_health() {
    let house = House::new();
    let mut launch =
        house.launch("while [ ! -e go ]; do sleep 0.02; done; echo now listening; exec sleep 600");
    launch.health = Some(Health::Line("listening".into()));
    let id = house.processes.start(&launch).unwrap().record.id;
    assert_eq!(house.status(&id).is_healthy, Some(false));
    fs::write(house.path("go"), "").unwrap();
    until(|| house.status(&id).is_healthy == Some(true));
    house.processes.stop(&id, Force::Now).unwrap();
    assert_eq!(house.status(&id).is_healthy, None);
}

#[test]
fn a_port_tells_health_and_that_of_another_program_does_not() {
    let house = House::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let serve = format!(
        "python3 -c 'import socket,time; s=socket.socket(); s.setsockopt(1,2,1); s.bind((\"127.0.0.1\",{port})); s.listen(); time.sleep(600)'"
    );
    let mut launch = house.launch(&format!("while [ ! -e go ]; do sleep 0.02; done; exec {serve}"));
    launch.health = Some(Health::Port(port));
    let id = house.processes.start(&launch).unwrap().record.id;
    assert_eq!(house.status(&id).is_healthy, Some(false));
    drop(taken);
    fs::write(house.path("go"), "").unwrap();
    until(|| house.status(&id).is_healthy == Some(true));
}
