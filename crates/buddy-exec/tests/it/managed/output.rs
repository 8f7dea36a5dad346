//! The output on disk: whole if it is short, bounded if it is not, and read while it grows.

use std::fs;
use std::time::Duration;

use buddy_exec::Stream;
use buddy_exec::managed::{Condition, FILE_CAP_BYTES, Force};

use super::house::{House, until_within};
use crate::stage::{PATIENCE, peak_memory_kib};

/// The most memory that a keeper may have, regardless of its process's output. It is small without output,
/// too.
const KEEPER_KIB: u64 = 50_000;

/// Waits for the end of a flood, checks the keeper and the disk, and returns the kept output.
fn check_flood(script: &str, last: &str) -> Vec<u8> {
    let house = House::new();
    let id = house.start(&format!("{script}; while [ ! -e go ]; do sleep 0.02; done"));
    until_within(Duration::from_mins(1), || house.text(&id).ends_with(last));
    let keeper = house.status(&id).record.keeper.pid;
    let peak = peak_memory_kib(&keeper.to_string());
    assert!((1..KEEPER_KIB).contains(&peak), "{peak} KiB");
    let sizes: Vec<u64> = ["output.log", "output.log.1"]
        .iter()
        .map(|name| fs::metadata(house.of(&id).join(name)).unwrap().len())
        .collect();
    assert!(sizes.iter().all(|size| (1..=FILE_CAP_BYTES).contains(size)), "{sizes:?}");
    assert_eq!(
        fs::read_dir(house.of(&id)).unwrap().count(),
        6,
        "two files of output, three of the streams apart, a record"
    );
    fs::write(house.path("go"), "").unwrap();
    house.until_condition(&id, Condition::Ended);
    house.processes.tail(&id, 2).unwrap()
}

#[test]
fn two_gigabytes_are_bounded_and_end_with_the_end() {
    let tail = check_flood("head -c 2147483648 /dev/zero; printf 'the real end'", "the real end");
    assert!(tail.starts_with(b"\0\0") && tail.len() <= 1024 * 1024 && tail.ends_with(b"\0the real end"));
}

#[test]
fn many_lines_and_bytes_that_are_no_text_are_kept_as_they_are() {
    let tail = check_flood("seq 1 10000000; printf '\\377\\342\\202\\254 END'", " END");
    assert_eq!(tail, b"10000000\n\xff\xe2\x82\xac END");
}

#[test]
fn a_process_that_floods_its_output_is_stopped() {
    let house = House::new();
    let id = house.start("yes");
    until_within(PATIENCE, || house.of(&id).join("output.log.1").exists());
    let keeper = house.status(&id).record.keeper.pid;
    assert!(peak_memory_kib(&keeper.to_string()) < KEEPER_KIB);
    house.processes.stop(&id, Force::Gentle).unwrap();
    assert_eq!(house.status(&id).condition, Condition::Ended);
    assert_eq!(house.processes.tail(&id, 2).unwrap().get(..2), Some(&b"y\n"[..]));
}

#[test]
fn both_streams_are_there_and_can_be_followed() {
    let house = House::new();
    // Output to two streams at once has no order, so each part waits for the one before.
    let id = house.start(
        "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two >&2; while [ ! -e on ]; do sleep 0.02; done; printf three",
    );
    house.until_printed(&id, "one");
    let (before, mut follow) = house.processes.follow(&id, 10).unwrap();
    assert_eq!(before, b"one\n");
    fs::write(house.path("go"), "").unwrap();
    house.until_printed(&id, "two");
    fs::write(house.path("on"), "").unwrap();
    house.until_condition(&id, Condition::Ended);
    assert_eq!(follow.read().unwrap(), b"two\nthree");
    assert_eq!(house.text(&id), "one\ntwo\nthree");
    let apart = |stream| house.processes.tail_of(&id, stream, 9).unwrap();
    assert_eq!(
        (apart(Stream::Stdout), apart(Stream::Stderr)),
        (Some(b"one\nthree".to_vec()), Some(b"two\n".to_vec()))
    );
    assert_eq!(follow.read().unwrap(), b"");
}
