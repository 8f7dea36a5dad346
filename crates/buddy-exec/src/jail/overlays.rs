//! Layers over caches, mounted by the process inside. The covers that belong into a cache come over its
//! layer, as a layer shows the files below any cover.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use nix::mount::{MsFlags, mount};
use rustix::fs::{Mode, OFlags, open};

use super::covers;
use super::refusal::{CACHE_LAYERS, Refusal};
use super::words::{Covered, PlannedOverlay};

/// Mounts all layers, or returns why one cannot be. Must be called before there is a second thread.
pub(super) fn put(overlays: &[PlannedOverlay], over: &[Covered]) -> Result<(), Refusal> {
    let failed = |action: String| {
        move |error: io::Error| Refusal::new(CACHE_LAYERS, format!("cannot {action}: {error}"))
    };
    // The network of a jail in namespaces is its own already.
    covers::separate(true).map_err(failed("make a namespace for layers".to_owned()))?;
    for overlay in overlays {
        let at = overlay.at.to_path();
        put_one(overlay, &at).map_err(failed(format!("put a layer over `{}`", at.display())))?;
    }
    covers::cover_all(over).map_err(|refusal| Refusal { layer: CACHE_LAYERS.to_owned(), ..refusal })
}

fn put_one(overlay: &PlannedOverlay, at: &Path) -> io::Result<()> {
    let hold = |path: &Path| -> io::Result<OwnedFd> {
        Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    };
    let (lower, upper, work) = (hold(at)?, hold(&overlay.upper.to_path())?, hold(&overlay.work.to_path())?);
    // By descriptors, as a path can have characters that separate options.
    let place = |descriptor: &OwnedFd| format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr,index=off",
        place(&lower),
        place(&upper),
        place(&work)
    );
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    Ok(mount(Some("overlay"), at, Some("overlay"), flags, Some(options.as_str()))?)
}
