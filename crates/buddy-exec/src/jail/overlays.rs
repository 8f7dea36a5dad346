//! Layers over caches, mounted by the process inside. The covers that belong into a cache come over its
//! layer, as a layer shows the files below any cover. Directories of `PATH` in a cache are the user's own, read-only: an approved
//! command must not run a program that an earlier one left in the layer.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use rustix::fs::{Mode, OFlags, open};

use super::covers;
use super::raw_path::RawPath;
use super::refusal::{CACHE_LAYERS, Refusal};
use super::words::{Covered, PlannedOverlay};

/// The flags of an empty directory.
const EMPTY: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

/// Mounts all layers, or returns why one cannot be. Must be called before there is a second thread.
pub(super) fn put(overlays: &[PlannedOverlay], over: &[Covered]) -> Result<(), Refusal> {
    let failed = |action: String| {
        move |error: io::Error| Refusal::new(CACHE_LAYERS, format!("cannot {action}: {error}"))
    };
    // The network of a jail in namespaces is its own already.
    covers::separate(true).map_err(failed("make a namespace for layers".to_owned()))?;
    for overlay in overlays {
        let at = overlay.at.to_path();
        let places: Vec<PathBuf> = overlay.program_places.iter().map(RawPath::to_path).collect();
        // Below the layer they are not found by their names any more.
        let held: Vec<Option<OwnedFd>> = places.iter().map(|place| hold(place).ok()).collect();
        put_one(overlay, &at).map_err(failed(format!("put a layer over `{}`", at.display())))?;
        for (place, held) in places.iter().zip(held) {
            keep_programs(place, held)
                .map_err(failed(format!("keep the programs in `{}`", place.display())))?;
        }
    }
    covers::cover_all(over).map_err(|refusal| Refusal { layer: CACHE_LAYERS.to_owned(), ..refusal })
}

fn put_one(overlay: &PlannedOverlay, at: &Path) -> io::Result<()> {
    let (lower, upper, work) = (hold(at)?, hold(&overlay.upper.to_path())?, hold(&overlay.work.to_path())?);
    // By descriptors, as a path can have characters that separate options.
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr,index=off",
        named(&lower),
        named(&upper),
        named(&work)
    );
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    Ok(mount(Some("overlay"), at, Some("overlay"), flags, Some(options.as_str()))?)
}

/// Shows a directory as it was before the layer, read-only; an empty one if it was not there.
fn keep_programs(place: &Path, held: Option<OwnedFd>) -> io::Result<()> {
    std::fs::create_dir_all(place)?;
    match held {
        Some(held) => covers::bind(Path::new(&named(&held)), place, MsFlags::MS_REC)?,
        None => mount(Some("tmpfs"), place, Some("tmpfs"), EMPTY, Some("mode=0755,size=4k"))?,
    }
    covers::remount_read_only(place, covers::flags_of(place)?)
}

fn hold(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// The name by which this process finds an open directory.
fn named(descriptor: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}
