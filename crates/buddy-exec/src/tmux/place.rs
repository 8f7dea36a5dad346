//! A private directory for panes on another host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::names::checked;
use crate::{Bounds, Exec, OutputLimits, PaneError, Stdin, Target, TargetError};

/// The time limit for the host to make it.
const LIMIT: Duration = Duration::from_secs(15);
/// The longest path that is accepted.
const MAX_BYTES: usize = 4096;

/// Makes a directory for panes on a host, or finds the one from before. It belongs to the account on the
/// host, and no other account can look into it.
///
/// It is below the home. If that cannot be written it is below `/tmp`, where others may have put an object
/// under its name. An existing directory is taken only if no other account could have made it. `origin` is a
/// name for the machine that asks, so that two machines do not type into one pane.
pub async fn pane_directory(
    target: &dyn Target,
    env: &[(String, String)],
    origin: &str,
) -> Result<PathBuf, TargetError> {
    let origin = checked(origin)?;
    let exec = Exec {
        argv: ["/bin/sh", "-c", PLACE, "buddy", origin].map(str::to_owned).to_vec(),
        cwd: PathBuf::from("/"),
        env: env.to_vec(),
        stdin: Stdin::Null,
        pty: None,
        timeout: Some(LIMIT),
        output: OutputLimits { keep_head: MAX_BYTES, keep_tail: 0, log: None },
        bounds: Bounds::open(),
        way_out: None,
        end_mark: None,
    };
    let exit = target.start(exec).await?.wait().await?;
    let said = exit.stdout.text();
    match said.trim_end_matches('\n').split_once(' ') {
        Some(("made", path)) if path.starts_with('/') && exit.stdout.omitted() == 0 => Ok(path.into()),
        Some(("private", path)) => Err(PaneError::NotPrivate { path: path.into() }.into()),
        _ => {
            Err(PaneError::Unusable { reason: "there is no place for a private directory".to_owned() }.into())
        }
    }
}

/// Whether a socket is in such a directory.
pub(super) fn is_from_elsewhere(socket: &Path) -> bool {
    let names: Vec<_> = socket.iter().rev().take(4).map(|name| name.to_string_lossy()).collect();
    let [name, directory, above, top] = names.as_slice() else { return false };
    let is_below_home = above == "run" && top == ".buddy";
    let is_below_tmp = above.starts_with("buddy-") && top == "tmp";
    name == "socket" && directory.starts_with("tmux-") && (is_below_home || is_below_tmp)
}

/// Arguments: the origin. Prints `made` or `private` with the directory, or nothing.
///
/// A socket's path has at most 107 bytes. `-O` and the letters of `ls` mean the same to every shell.
const PLACE: &str = r#"
exec 2>/dev/null
umask 077
own() { [ ! -L "$1" ] && [ -d "$1" ] && [ -O "$1" ] && [ -w "$1" ]; }
case $HOME in
/?*)
  dir=$HOME/.buddy/run/tmux-$1
  if [ ${#dir} -lt 95 ] && [ -d "$HOME" ] && [ -O "$HOME" ] && mkdir -p "$dir"; then
    own "$dir" && chmod 700 "$dir" && { echo "made $dir"; exit 0; }
    echo "private $dir"
    exit 0
  fi ;;
esac
top=/tmp/buddy-$(id -u)
mkdir "$top"
case $(ls -ldn "$top") in drwx------*) ;; *) echo "private $top"; exit 0 ;; esac
own "$top" || { echo "private $top"; exit 0; }
dir=$top/tmux-$1
mkdir -p "$dir"
own "$dir" && echo "made $dir"
exit 0
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_another_machine_made_is_known_by_its_place() {
        let is_one = |path: &str| is_from_elsewhere(Path::new(path));
        assert!(is_one("/home/ann/.buddy/run/tmux-buddy-atlas/socket"));
        assert!(is_one("/tmp/buddy-1000/tmux-buddy-atlas/socket"));
        assert!(!is_one("/tmp/tmux-1000/default"));
        assert!(!is_one("/tmp/tmux-1000/socket"));
        assert!(!is_one(""));
    }
}
