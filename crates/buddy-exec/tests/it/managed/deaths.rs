//! Deaths around a managed process: of the process that started it, and of its keeper.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use buddy_exec::managed::{Condition, Force, State};
use rustix::process::{Pid, Signal, kill_process};

use super::house::{House, launch_in, processes_in, until};
use crate::stage::{alive, marker};

/// Names the folder and the marker to the second process, and makes it play the one that starts.
const ROLE: &str = "BUDDY_EXEC_TEST_STARTER";

#[test]
#[expect(clippy::disallowed_methods, reason = "the test plays both processes and kills one")]
fn a_killed_starter_leaves_it_running_and_it_is_taken_up_again() {
    if let Ok(role) = std::env::var(ROLE) {
        return play_starter(&role);
    }
    let (house, marker) = (House::new(), marker());
    let test = "managed::deaths::a_killed_starter_leaves_it_running_and_it_is_taken_up_again";
    let mut starter = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, format!("{}\n{marker}", house.path("").display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(starter.stdout.take().unwrap()).lines().map_while(Result::ok);
    let id = lines.find_map(|line| line.strip_prefix("started ").map(str::to_owned)).unwrap();
    starter.kill().unwrap();
    starter.wait().unwrap();
    let before = house.text(&id).lines().count();
    // It keeps printing, and only the log takes the output.
    until(|| house.text(&id).lines().count() > before + 3);
    let found = house.processes.list().unwrap();
    assert_eq!((found.len(), found[0].condition), (1, Condition::Running));
    assert_eq!((&found[0].record.id, found[0].record.owner.session.as_str()), (&id, "one"));
    house.processes.stop(&id, Force::Gentle).unwrap();
    assert_eq!(alive(&marker), [""; 0]);
}

#[expect(clippy::print_stdout, reason = "the other process reads it")]
fn play_starter(role: &str) {
    let (folder, marker) = role.split_once('\n').unwrap();
    let processes = processes_in(Path::new(folder), Duration::from_millis(300));
    let script = format!("sleep {marker} & while :; do echo tick; sleep 0.05; done");
    let started = processes.start(&launch_in(Path::new(folder), &script)).unwrap();
    println!("started {}", started.record.id);
    std::thread::sleep(Duration::from_mins(10));
}

#[test]
fn processes_of_a_killed_keeper_are_reported_and_swept() {
    let (house, marker) = (House::new(), marker());
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; exec sleep {marker}' & echo ready; trap '' PIPE TERM; sleep {marker}"
    );
    let id = house.start(&script);
    house.until_printed(&id, "ready");
    until(|| alive(&format!("sleep\0{marker}")).len() == 2);
    let keeper = Pid::from_raw(house.status(&id).record.keeper.pid).unwrap();
    kill_process(keeper, Signal::KILL).unwrap();
    house.until_condition(&id, Condition::Lost);
    let status = house.processes.stop(&id, Force::Gentle).unwrap();
    assert_eq!((status.condition, &status.record.state), (Condition::Lost, &State::Lost));
    assert_eq!(alive(&marker), [""; 0]);
    assert_eq!(house.text(&id), "ready\n");
}

#[test]
fn signals_of_a_closing_terminal_change_nothing() {
    let house = House::new();
    let id = house.start("echo ready; sleep 600");
    let keeper = Pid::from_raw(house.status(&id).record.keeper.pid).unwrap();
    for signal in [Signal::HUP, Signal::INT] {
        kill_process(keeper, signal).unwrap();
    }
    // A signal that is obeyed, and so shows that the others were ignored.
    assert_eq!(house.status(&id).condition, Condition::Running);
    kill_process(keeper, Signal::TERM).unwrap();
    house.until_condition(&id, Condition::Ended);
    assert!(matches!(house.status(&id).record.state, State::Ended { signal: Some(15), .. }));
}

#[test]
fn a_keeper_that_its_own_command_stopped_still_ends_it() {
    let (house, marker) = (House::new(), marker());
    let id = house.start(&format!("kill -STOP $PPID; exec sleep {marker}"));
    until(|| alive(&format!("sleep\0{marker}")).len() == 1);
    let status = house.processes.stop(&id, Force::Gentle).unwrap();
    assert_eq!((status.condition, alive(&marker).len()), (Condition::Ended, 0));
}
