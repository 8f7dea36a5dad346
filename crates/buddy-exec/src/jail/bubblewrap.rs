//! Finding bubblewrap, and asking it for namespaces.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::mounts::{Cover, Mounts, PANE_PLACE};
use super::refusal::{BUBBLEWRAP, Refusal};
use super::words::{Place, Plan};

/// The paths where bubblewrap is looked for. Never in `PATH` and never beside the command: a program there
/// could be planted.
const PLACES: &[&str] = &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Write rights of others than the owner.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The program, or `None` if it is not installed. One that others could have changed is refused and not
/// skipped: running without it would be weaker.
pub(super) fn find() -> Result<Option<PathBuf>, Refusal> {
    for place in PLACES.iter().map(Path::new) {
        let Ok(found) = place.metadata() else { continue };
        if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
            continue;
        }
        if found.uid() != 0 || found.permissions().mode() & WRITABLE_BY_OTHERS != 0 {
            let reason = format!("`{}` is not root's alone, so it is not trusted", place.display());
            return Err(Refusal::new(BUBBLEWRAP, reason));
        }
        return Ok(Some(place.to_owned()));
    }
    Ok(None)
}

/// The namespaces of every jail: its own processes, no way to talk to others, no capability, and an end with
/// its supervisor.
pub(super) const NAMESPACES: &[&str] = &[
    "--unshare-user-try",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    "--as-pid-1",
];

/// Lets the process inside mount layers over caches. It gives these capabilities up before the
/// command starts.
const FOR_OVERLAYS: &[&str] = &[
    "--cap-add",
    "CAP_SYS_ADMIN",
    "--cap-add",
    "CAP_DAC_OVERRIDE",
    "--cap-add",
    "CAP_FOWNER",
    "--cap-add",
    "CAP_CHOWN",
];

/// A device stands in for files that are not to be opened.
const NO_FILE: &str = "/dev/null";

/// Takes away the terminal that the session of the supervisor has.
const NEW_SESSION: &str = "--new-session";

/// The machine as it is, with its devices. The process inside gives up the rights that could take
/// the covers off again.
const LIGHT: &[&str] = &["--die-with-parent", "--cap-add", "ALL", "--dev-bind", "/", "/"];

/// The arguments for a jail with these mounts, up to the program to run. The shell of a pane stays in the
/// session of its terminal; the filter of system calls keeps it from typing into that. `blanks` hold the
/// contents of blank files, `seals` the files that stand in for sealed ones, one for each.
pub(super) fn arguments(
    mounts: &Mounts,
    plan: &Plan,
    blanks: &[OwnedFd],
    seals: &[PathBuf],
) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let writable = if plan.place == Place::Light {
        words.extend(LIGHT.iter().map(Into::into));
        "--dev-bind"
    } else {
        words.extend(NAMESPACES.iter().map(Into::into));
        if !plan.is_pane {
            words.push(NEW_SESSION.into());
        }
        if !plan.overlays.is_empty() {
            words.extend(FOR_OVERLAYS.iter().map(Into::into));
        }
        let base = if mounts.is_all_writable { "--bind" } else { "--ro-bind" };
        words.extend([base, "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"].map(Into::into));
        "--bind"
    };
    if !plan.network {
        words.push("--unshare-net".into());
    }
    let mut seals = seals.iter();
    let mut blanks = blanks.iter().map(|file| file.as_raw_fd().to_string());
    for mount in &mounts.list {
        let at = || mount.at.clone().into_os_string();
        match mount.cover {
            Cover::Writable => words.extend([writable.into(), at(), at()]),
            Cover::ReadOnly => words.extend(["--ro-bind".into(), at(), at()]),
            Cover::EmptyDirectory => words.extend(["--tmpfs".into(), at()]),
            Cover::Blank => {
                let file = blanks.next().unwrap_or_default();
                words.extend(["--ro-bind-data".into(), file.into(), at()]);
            }
            // Bind mounts are without devices, so this cannot be opened at all.
            Cover::NoFile => words.extend(["--ro-bind".into(), NO_FILE.into(), at()]),
            Cover::SealedFile => {
                let file = seals.next().map_or(NO_FILE.into(), |file| file.clone().into_os_string());
                words.extend(["--ro-bind".into(), file, at()]);
            }
        }
    }
    // Only now, as the directories shown in them had to be mounted there.
    for empty in mounts.list.iter().filter(|mount| mount.cover == Cover::EmptyDirectory) {
        words.extend(["--remount-ro".into(), empty.at.clone().into_os_string()]);
    }
    if let Some(shown) = &mounts.shown {
        words.extend(["--ro-bind".into(), shown.clone().into_os_string(), PANE_PLACE.into()]);
    }
    words.push("--".into());
    words
}
