//! Limits of each process: they apply in the open and in a jail, for root and for others, with a group and
//! without.

use buddy_exec::{Bounds, Exec, LimitsHit};

use crate::groups::{forker, limits};
use crate::jail::cell::{ALL, Cell, Kind};
use crate::stage::{Stage, alive, marker, sh};

const GIBIBYTE: u64 = 1024 * 1024 * 1024;

/// A limit from `/proc/self/limits`, soft and hard.
fn limit(table: &str, name: &str) -> [u64; 2] {
    let line = table.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let mut words = line.split_ascii_whitespace().map(|word| word.parse().unwrap_or(u64::MAX));
    [words.next().unwrap(), words.next().unwrap()]
}

/// Asserts that every limit is set.
pub(crate) fn check(table: &str, place: &str) {
    for (name, most) in [
        ("Max core file size", 0),
        ("Max open files", 65_536),
        ("Max file size", 256 * GIBIBYTE),
        ("Max processes", 16_384),
    ] {
        let [soft, hard] = limit(table, name);
        assert!(soft <= hard && hard <= most, "{place}: {name} {soft} {hard}");
    }
}

#[tokio::test]
async fn every_process_has_limits_wherever_it_runs() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for bounds in [Bounds::open(), cell.bounds()] {
            let place = format!("{kind:?}, open: {}", bounds.is_open());
            let exit = cell.run_in(bounds, "cat /proc/self/limits").await;
            check(&exit.stdout.text(), &place);
        }
    }
}

#[tokio::test]
async fn opening_too_many_files_fails_for_that_command_alone() {
    let stage = Stage::new();
    let script = "python3 -c '
files = []
try:
    for _ in range(100000):
        files.append(open(\"/dev/null\"))
except OSError as error:
    print(error.errno, len(files) < 65536)
'; cat /dev/null && echo fine";
    assert_eq!(stage.run(sh(script)).await.stdout.text(), "24 True\nfine\n");
}

/// An account that can make no group.
fn ordinary(megabytes: u64) -> Cell {
    let mut cell = Cell::new(Kind::Ordinary);
    cell.stage = cell.stage.with_limits(limits(50, megabytes));
    cell
}

#[tokio::test]
async fn without_a_group_a_process_that_takes_too_much_memory_does_not_get_it() {
    let cell = ordinary(300);
    let allocate = "python3 -c 'import sys; x = b\"x\" * (int(sys.argv[1]) << 20); print(len(x) >> 20)'";
    for bounds in [Bounds::open(), cell.bounds()] {
        let greedy = cell.run_in(bounds.clone(), &format!("{allocate} 1000")).await;
        assert_eq!(greedy.code, Some(1), "{greedy:?}");
        assert!(greedy.stderr.text().contains("MemoryError"), "{}", greedy.stderr.text());
        let modest = cell.run_in(bounds, &format!("{allocate} 50")).await;
        assert_eq!((modest.stdout.text().as_str(), modest.hit), ("50\n", LimitsHit::default()));
    }
}

#[tokio::test]
async fn without_a_group_an_account_that_forks_without_end_has_an_end() {
    let cell = ordinary(4096);
    let marker = marker();
    let exit = cell.stage.run(Exec { bounds: Bounds::open(), ..sh(&forker(&marker)) }).await;
    let started: u32 = exit.stdout.text().trim().parse().unwrap();
    assert!((50..200).contains(&started), "{started}: {}", exit.stderr.text());
    assert_eq!(alive(&marker), [""; 0]);
}
