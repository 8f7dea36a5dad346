//! A directory that is swapped for a link to the outside while it is used.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use buddy_exec::{Recorder, Target};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::bounds::Yard;

/// Reads and writes in all.
const TRIES: u32 = 100_000;

#[tokio::test]
async fn a_directory_that_becomes_a_link_in_between_lets_nothing_out() {
    let yard = Yard::new();
    let (directory, link) = (yard.path("ws/d"), yard.path("ws/other"));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("secret"), "inside").unwrap();
    symlink(yard.path("out"), &link).unwrap();
    let before = yard.outside();
    let stop = Arc::new(AtomicBool::new(false));
    let flips = Arc::new(AtomicU64::new(0));
    let flipper = std::thread::spawn({
        let (stop, flips) = (stop.clone(), flips.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                flips.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let (mut escapes, mut inside) = (0, 0);
    let path = Path::new("d/secret");
    for at in 0..TRIES {
        // A write is synced and takes far longer than a read.
        if at % 200 == 0 {
            let recorder = Recorder::off();
            inside += u32::from(yard.target.write(&yard.bounds, &recorder, path, b"inside").await.is_ok());
        } else if let Ok(content) = yard.target.read(&yard.bounds, path, 100).await {
            inside += 1;
            escapes += u32::from(content.bytes != b"inside");
        }
    }
    stop.store(true, Ordering::Relaxed);
    flipper.join().unwrap();
    assert_eq!(escapes, 0);
    assert_eq!(yard.outside(), before);
    assert!(inside > 0, "some accesses must have met the real directory");
    assert!(flips.load(Ordering::Relaxed) > 100, "the race must have happened");
}
