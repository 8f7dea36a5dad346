//! The properties of a host: asked once, when a session begins there.

use std::path::PathBuf;

use super::script;
use super::target::{call, nonces};
use crate::{Description, TargetError, Transport, env};

/// The most bytes that are taken of a host's description of itself.
const SAID_BYTES: usize = 64 * 1024;

const SCRIPT: &str = r#"
if [ "$1" ]; then cd -- "$1" || exit 40; fi
say() { printf '%s=%s\000' "$1" "$2"; }
say .system "$(uname -s)"
say .release "$(uname -r)"
say .host "$(uname -n)"
say .user "$(id -un 2>/dev/null || id -u)"
say .cwd "$(pwd -P)"
say .shell "$(command -v bash || command -v sh)"
[ -r /proc/self/limits ] && say .processes yes
command -v setsid >/dev/null && say .session yes
say .home "$HOME"
for name in PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TERM TZ TMPDIR; do
  eval "value=\$$name"
  [ "$value" ] && say "$name" "$value"
done
exit 0
"#;

/// The properties that were found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) description: Description,
    pub(super) home: Option<PathBuf>,
    pub(super) env: Vec<(String, String)>,
}

/// Asks the host.
pub(super) async fn probe(transport: &dyn Transport, cwd: Option<&str>) -> Result<Found, TargetError> {
    if let Some(cwd) = cwd {
        super::files::check_path(cwd.as_ref())?;
    }
    let script = script::plain(SCRIPT, &[cwd.unwrap_or_default()], b"", nonces(transport)?);
    let exit = call(transport, script, SAID_BYTES).await?;
    if exit.code == Some(40) {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(TargetError::CwdUnusable { cwd: cwd.unwrap_or_default().into(), source });
    }
    read(transport.name(), &exit.stdout.head)
}

fn read(target: &str, said: &[u8]) -> Result<Found, TargetError> {
    let lacks =
        |reason: &str| TargetError::NotSupported { target: target.to_owned(), reason: reason.to_owned() };
    let pairs: Vec<(String, String)> = said.split(|&byte| byte == 0).filter_map(pair).collect();
    let find = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let need =
        |name: &str, lack: &str| find(name).filter(|value| !value.is_empty()).ok_or_else(|| lacks(lack));
    let system = need(".system", "it does not say what it is")?;
    if system != "Linux" || find(".processes").is_none() {
        return Err(lacks(&format!("it is a {system} without /proc; buddy works on Linux hosts")));
    }
    need(".session", "it has no `setsid`, without which commands cannot be stopped")?;
    let description = Description {
        name: target.to_owned(),
        user: need(".user", "it does not say who the user is")?,
        host: need(".host", "it does not say its name")?,
        os: format!("{system} {}", find(".release").unwrap_or_default()),
        shell: need(".shell", "it has no shell")?,
        cwd: PathBuf::from(need(".cwd", "it does not say where it is")?),
    };
    let home = find(".home").filter(|home| home.starts_with('/')).map(PathBuf::from);
    let variables = pairs.into_iter().filter(|(name, _)| !name.starts_with('.'));
    Ok(Found { description, home, env: env::with_defaults(variables) })
}

fn pair(bytes: &[u8]) -> Option<(String, String)> {
    let (name, value) = std::str::from_utf8(bytes).ok()?.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: &[u8] =
        b".system=Linux\0.release=6.1\0.host=atlas\0.user=ann\0.cwd=/home/ann\0.shell=/bin/sh\0\
        .processes=yes\0.session=yes\0.home=/home/ann\0PATH=/bin\0HOME=/home/ann\0";

    #[test]
    fn a_host_is_described_by_what_it_says() {
        let found = read("ssh:atlas", LINUX).unwrap();
        assert_eq!((found.description.host.as_str(), found.description.os.as_str()), ("atlas", "Linux 6.1"));
        assert_eq!(found.home.as_deref(), Some(std::path::Path::new("/home/ann")));
        assert!(found.env.contains(&("PATH".to_owned(), "/bin".to_owned())));
    }

    #[test]
    fn a_host_without_what_is_needed_is_refused_with_the_reason() {
        let without = |word: &str| String::from_utf8_lossy(LINUX).replace(word, ".x");
        for (word, reason) in [(".session", "setsid"), (".processes", "/proc"), (".system", "what it is")] {
            let error = read("ssh:atlas", without(word).as_bytes()).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
