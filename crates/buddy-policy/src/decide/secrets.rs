//! Secrets that a command is given by name, if its use of the file is not known exactly.

use std::path::{Path, PathBuf};

use crate::Places;
use crate::effect::{CommandEffect, CommandLeaf, is_interpreter};
use crate::guarded::is_secret;
use crate::shell::ShellWord;

/// Programs that pass on the content of a file: print it in other letters, copy it, pack it, send it, or take
/// it over.
const DISCLOSING: &[&str] = &[
    ".", "7z", "aws", "base32", "base64", "bzip2", "cp", "curl", "dd", "docker", "ftp", "gpg", "gzip",
    "hexdump", "install", "ln", "mv", "nc", "ncat", "od", "openssl", "podman", "rclone", "rsync", "scp",
    "sftp", "socat", "source", "tar", "uuencode", "wget", "xxd", "xz", "zip", "zstd",
];
/// Programs whose last word is the destination of the file.
const COPYING: &[&str] = &["cp", "install", "ln", "mv", "rsync", "scp"];

/// The secret places among the words of a simple command that would pass on their contents.
pub(crate) fn disclosed(leaf: &CommandLeaf, places: &Places) -> Vec<PathBuf> {
    let program = leaf.program.rsplit('/').next().unwrap_or_default();
    if leaf.effect != CommandEffect::Unknown || !(DISCLOSING.contains(&program) || is_interpreter(program)) {
        return Vec::new();
    }
    let mut words = leaf.words.get(1..).unwrap_or_default();
    if COPYING.contains(&program) {
        words = words.split_last().map_or(words, |(_, sources)| sources);
    }
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // A key that a connection is made with is not sent.
        let is_identity = at.checked_sub(1).and_then(|before| words.get(before)?.literal()) == Some("-i");
        if !is_identity {
            found.extend(paths(word, leaf, places).into_iter().filter(|path| is_secret(path, places)));
        }
    }
    found.retain(|path| !path.starts_with("/dev"));
    found.dedup();
    found
}

/// The paths that can stand in a word: the whole of it, and the part after `@`, `=` or `:`.
fn paths(word: &ShellWord, leaf: &CommandLeaf, places: &Places) -> Vec<PathBuf> {
    let text = word.unexpanded();
    let text = text.trim_matches('"');
    let here: &[PathBuf] = leaf.cwds.as_deref().unwrap_or_default();
    let climb = |path: &Path| places.climb(path, None).path;
    let mut paths = Vec::new();
    for part in
        std::iter::once(text).chain(text.split(['@', '=', ':']).skip(usize::from(text.starts_with('-'))))
    {
        let in_home = part.strip_prefix("~/").or_else(|| part.strip_prefix("$HOME/"));
        match (in_home, &places.home) {
            (Some(rest), Some(home)) => paths.push(climb(&home.join(rest))),
            _ if part.starts_with('/') => paths.push(climb(Path::new(part))),
            _ => paths.extend(here.iter().map(|cwd| climb(&cwd.join(part)))),
        }
    }
    paths
}
