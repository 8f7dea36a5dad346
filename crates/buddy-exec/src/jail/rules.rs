//! The paths that Landlock has to let through, worked out from the bounds.

use std::fs;
use std::path::{Path, PathBuf};

use super::ground::{Ground, Shown};
use super::raw_path::RawPath;
use super::refusal::{LANDLOCK, Refusal};
use super::words::{Place, Rules};

/// The paths that programs need to start, to know who and where they are, and to check
/// certificates.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/sbin",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/usr",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/terminfo",
    "/etc/timezone",
];

/// Devices that have no memory and lead nowhere.
const HARMLESS_DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The terminal of the process that opens it.
const OWN_TERMINAL: &str = "/dev/tty";

/// Terminals that the jail has of its own.
const OWN_TERMINALS: &[&str] = &["/dev/ptmx", "/dev/pts", OWN_TERMINAL];

/// Shared memory that the jail has of its own.
pub(super) const OWN_MEMORY: &str = "/dev/shm";

/// A directory with more entries than this should not hold a protected name.
const MAX_RULES: usize = 20_000;

/// The rules for a command in its place. With namespaces the mounts have taken the protected names out already.
pub(super) fn rules(ground: &Ground, place: Place) -> Result<Rules, Refusal> {
    let mut rules = Rules { devices: raw(HARMLESS_DEVICES), ..Rules::default() };
    match place {
        Place::Light => return Ok(Rules::default()),
        Place::Namespaces => {
            rules.devices.extend(raw(OWN_TERMINALS));
            rules.write = raw(&ground.write);
            rules.write.push(OWN_MEMORY.into());
            rules.write.extend(raw(&ground.write_files));
            let everywhere = ["/".into()];
            let roots = ground.read.as_deref().unwrap_or(&everywhere);
            rules.read = raw(roots);
            let holes = [ground.sealed_by_rules.clone(), ground.unsearched.clone()].concat();
            if !holes.is_empty() {
                // A directory with such files in it is listed all the same.
                rules.list = raw(roots);
                rules.read = carve_all(roots, &holes)?;
                rules.read.extend(raw(&ground.searched));
            }
        }
        Place::Bare => {
            let hidden = ground.hidden.iter().map(|hidden| hidden.path.clone());
            // The terminals and disks of everyone, and the switches of the kernel: being their owner is enough to use them.
            let mut holes: Vec<PathBuf> = hidden.chain(["/dev".into()]).collect();
            let roots = ground.read.as_deref();
            let everywhere = ["/".into()];
            // A directory with a sealed file in it is listed all the same.
            let sealed = [ground.sealed.clone(), ground.sealed_by_rules.clone()].concat();
            if !sealed.is_empty() || !ground.unsearched.is_empty() {
                rules.list = carve_all(roots.unwrap_or(&everywhere), &holes)?;
                rules.list.retain(|path| path.to_path().is_dir());
            }
            holes.extend(sealed);
            let searched = carve_all(&ground.searched, &holes)?;
            let unsearched = holes.len();
            holes.extend(ground.unsearched.iter().cloned());
            rules.read = carve_all(roots.unwrap_or(&everywhere), &holes)?;
            rules.read.extend(searched);
            holes.truncate(unsearched);
            holes.extend(ground.guarded.iter().map(|guarded| guarded.path.clone()));
            holes.extend(["/proc", "/sys"].map(PathBuf::from));
            rules.write = carve_all(&ground.write, &holes)?;
            rules.write.extend(carve_all(&ground.write_files, &holes)?);
            let sealed = |shown: &Shown| {
                ground
                    .sealed
                    .iter()
                    .filter(|sealed| sealed.starts_with(&shown.path))
                    .cloned()
                    .collect::<Vec<_>>()
            };
            for shown in &ground.shown {
                let found = carve_all(std::slice::from_ref(&shown.path), &sealed(shown))?;
                if shown.is_writable { &mut rules.write } else { &mut rules.read }.extend(found);
            }
        }
    }
    if ground.read.is_some() {
        rules.read.extend(raw(SYSTEM));
    }
    Ok(rules)
}

/// Adds the paths that the shell of a pane needs beside: its own terminal, and the directory with the files
/// written for it.
pub(super) fn allow_pane(rules: &mut Rules, directory: &Path) {
    rules.devices.push(OWN_TERMINAL.into());
    rules.read.push(directory.into());
}

fn raw<P: AsRef<Path>>(paths: &[P]) -> Vec<RawPath> {
    paths.iter().map(RawPath::from).collect()
}

fn carve_all(roots: &[PathBuf], holes: &[PathBuf]) -> Result<Vec<RawPath>, Refusal> {
    let mut found = Vec::new();
    for root in roots {
        carve(root, holes, &mut found)?;
    }
    Ok(raw(&found))
}

/// A directory without its holes: itself when it has none, else its entries without holes. Rules apply to
/// everything beneath, so a directory on the way to a hole gets none.
fn carve(path: &Path, holes: &[PathBuf], found: &mut Vec<PathBuf>) -> Result<(), Refusal> {
    if holes.iter().any(|hole| path.starts_with(hole)) {
        return Ok(());
    }
    if !holes.iter().any(|hole| hole.starts_with(path)) {
        found.push(path.to_owned());
        if found.len() > MAX_RULES {
            let reason = format!("the bounds need more than {MAX_RULES} rules without bubblewrap");
            return Err(Refusal::new(LANDLOCK, reason));
        }
        return Ok(());
    }
    // Directories that this account cannot list are not granted.
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    for entry in entries.flatten() {
        // A link is followed when a rule is made, so it would grant its target.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            carve(&entry.path(), holes, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_takes_the_way_to_it_out_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["a/hole", "a/kept", "b"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("/", root.join("link")).unwrap();
        let carved = |holes: &[PathBuf]| {
            let mut found = Vec::new();
            carve(root, holes, &mut found).unwrap();
            found.sort();
            found
        };
        assert_eq!(carved(&[]), [root.to_owned()]);
        assert_eq!(carved(&[root.join("a/hole")]), [root.join("a/kept"), root.join("b")]);
        assert_eq!(carved(&[root.join("missing")]), [root.join("a"), root.join("b")]);
        assert_eq!(carved(&[root.to_owned()]), Vec::<PathBuf>::new());
    }
}
