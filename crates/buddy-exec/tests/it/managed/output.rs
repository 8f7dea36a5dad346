//! The output on disk: whole where it is short, bounded where it is not, and read while it grows.

use std::fs;

use buddy_exec::managed::{Condition, FILE_CAP_BYTES};

use super::house::House;

#[test]
fn long_output_is_bounded_and_ends_with_the_end() {
    let house = House::new();
    let id = house.start("head -c 40000000 /dev/zero | tr '\\0' 'x'; echo; echo END");
    house.until_condition(&id, Condition::Ended);
    let sizes: Vec<u64> = ["output.log", "output.log.1"]
        .iter()
        .map(|name| fs::metadata(house.of(&id).join(name)).unwrap().len())
        .collect();
    assert!(sizes.iter().all(|size| *size <= FILE_CAP_BYTES), "{sizes:?}");
    assert_eq!(house.processes.tail(&id, 1).unwrap(), b"END\n");
}

#[test]
fn both_streams_are_there_and_can_be_followed() {
    let house = House::new();
    let id = house.start("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two >&2; printf three");
    house.until_printed(&id, "one");
    let (before, mut follow) = house.processes.follow(&id, 10).unwrap();
    assert_eq!(before, b"one\n");
    fs::write(house.path("go"), "").unwrap();
    house.until_condition(&id, Condition::Ended);
    assert_eq!(follow.read().unwrap(), b"two\nthree");
    assert_eq!(house.text(&id), "one\ntwo\nthree");
    assert_eq!(follow.read().unwrap(), b"");
}
