//! Files with images: those that a prompt names, and what is on the clipboard.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buddy_exec::{Bounds, Exec, OutputLimits, Stdin, Target, TargetError};
use buddy_protocol::{Attachment, Base64, MAX_IMAGE_BYTES};

use crate::config::private_file;
use crate::environment::Environment;

/// How long a program may take to give what is on the clipboard.
const CLIPBOARD_LIMIT: Duration = Duration::from_secs(5);

/// How many images from the clipboard are kept; what was sent is in its session anyway.
const MAX_PASTED: usize = 20;

/// Programs that print an image from the clipboard, and the variable of the desktop that they need.
const CLIPBOARDS: [(&str, &[&str]); 3] = [
    ("WAYLAND_DISPLAY", &["wl-paste", "--no-newline", "--type", "image/png"]),
    ("DISPLAY", &["xclip", "-selection", "clipboard", "-t", "image/png", "-o"]),
    ("HOME", &["pngpaste", "-"]),
];

/// A file of this machine, to be given with a prompt.
pub(crate) fn local(path: &Path) -> Result<Attachment, String> {
    let failed = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    // The opener of a pipe may wait for ever.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(format!("`{}` is not a file", path.display()));
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    attachment(path, &bytes)
}

/// A file of a target, to be given with a prompt; none where there is none.
pub(super) async fn remote(target: &dyn Target, path: &Path) -> Result<Option<Attachment>, String> {
    match target.read(&Bounds::open(), path, MAX_IMAGE_BYTES as u64 + 1).await {
        Ok(found) => attachment(path, &found.bytes).map(Some),
        Err(TargetError::NotFound { .. } | TargetError::NotADirectory { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn attachment(path: &Path, bytes: &[u8]) -> Result<Attachment, String> {
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(format!("`{}` has more than {MAX_IMAGE_BYTES} bytes", path.display()));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Attachment { name, data: Base64::from(STANDARD.encode(bytes)) })
}

/// Puts the image that is on the clipboard into a file.
pub(super) async fn pasted(environment: &Environment, here: &dyn Target) -> Result<PathBuf, String> {
    let mut tried = Vec::new();
    for (variable, argv) in CLIPBOARDS {
        if environment.get(variable).is_none() {
            continue;
        }
        let bytes = printed(environment, here, argv).await;
        if let Some(bytes) = bytes.filter(|bytes| bytes.starts_with(b"\x89PNG")) {
            if bytes.len() > MAX_IMAGE_BYTES {
                return Err(format!("the image on the clipboard has more than {MAX_IMAGE_BYTES} bytes"));
            }
            let environment = environment.clone();
            let kept = tokio::task::spawn_blocking(move || keep(&environment, &bytes)).await;
            return kept.map_err(|error| error.to_string())?.map_err(|error| error.to_string());
        }
        tried.extend(argv.first().copied());
    }
    Err(format!("no image was found on the clipboard with {}", tried.join(", ")))
}

/// The output of a program; none where it does not run or fails.
async fn printed(environment: &Environment, here: &dyn Target, argv: &[&str]) -> Option<Vec<u8>> {
    let exec = Exec {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        cwd: environment.data.clone(),
        env: environment.for_named_programs(),
        stdin: Stdin::Null,
        pty: None,
        timeout: Some(CLIPBOARD_LIMIT),
        output: OutputLimits { keep_head: MAX_IMAGE_BYTES + 1, keep_tail: 0, log: None },
        bounds: Bounds::open(),
        way_out: None,
        end_mark: None,
    };
    let exit = here.start(exec).await.ok()?.wait().await.ok()?;
    (exit.code == Some(0)).then_some(exit.stdout.head)
}

/// Keeps an image in a file for the user alone, and lets the oldest go.
fn keep(environment: &Environment, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let directory = environment.data.join("pasted");
    private_file::make_directory(&directory)?;
    // Names sort by time.
    let file = directory.join(format!("{}.png", uuid::Uuid::now_v7().simple()));
    private_file::create(&file, bytes)?;
    let mut kept: Vec<PathBuf> =
        std::fs::read_dir(&directory)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    kept.sort();
    for old in kept.iter().take(kept.len().saturating_sub(MAX_PASTED)) {
        std::fs::remove_file(old)?;
    }
    Ok(file)
}
