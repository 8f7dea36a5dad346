//! The properties of a host: asked once, when a session begins there.

use std::path::PathBuf;

use super::call::{call, nonces};
use super::script;
use crate::{Description, HostMeans, TOLD_PROGRAMS, TargetError, Transport, env};

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
say .cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null)"
say .memory "$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo 2>/dev/null)"
say .zone "$(date '+%z %Z' 2>/dev/null)"
shift
for name in "$@"; do command -v "$name" >/dev/null && say .program "$name"; done
for name in PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TERM TZ TMPDIR; do
  eval "value=\$$name"
  [ "$value" ] && say "$name" "$value"
done
exit 0
"#;

/// The properties that were found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProbedHost {
    pub(super) description: Description,
    pub(super) home: Option<PathBuf>,
    pub(super) env: Vec<(String, String)>,
}

/// Asks the host.
pub(super) async fn probe(transport: &dyn Transport, cwd: Option<&str>) -> Result<ProbedHost, TargetError> {
    if let Some(cwd) = cwd {
        super::files::check_path(cwd.as_ref())?;
    }
    let arguments: Vec<&str> =
        std::iter::once(cwd.unwrap_or_default()).chain(TOLD_PROGRAMS.iter().copied()).collect();
    let script = script::plain(SCRIPT, &arguments, b"", nonces(transport)?);
    let exit = call(transport, script, SAID_BYTES).await?;
    if exit.code == Some(40) {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(TargetError::CwdUnusable { cwd: cwd.unwrap_or_default().into(), source });
    }
    read(transport.name(), &exit.stdout.head)
}

fn read(target: &str, said: &[u8]) -> Result<ProbedHost, TargetError> {
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
        means: means(&pairs),
    };
    let home = find(".home").filter(|home| home.starts_with('/')).map(PathBuf::from);
    let variables = pairs.into_iter().filter(|(name, _)| !name.starts_with('.'));
    Ok(ProbedHost { description, home, env: env::with_defaults(variables) })
}

/// The means that a host names. A value that is not understood is left out.
fn means(pairs: &[(String, String)]) -> HostMeans {
    let find = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let named = |name: &String| TOLD_PROGRAMS.contains(&name.as_str());
    let programs = pairs.iter().filter(|(known, _)| known == ".program").map(|(_, name)| name.clone());
    HostMeans {
        cores: find(".cores").and_then(|count| count.parse().ok()),
        memory: find(".memory")
            .and_then(|count| count.parse::<u64>().ok())
            .map(|count| count.saturating_mul(1024)),
        zone: find(".zone").and_then(zone),
        programs: Some(programs.filter(named).collect()),
    }
}

/// A time zone as `date '+%z %Z'` writes it, such as `+0130 IST`.
fn zone(text: &str) -> Option<(String, i32)> {
    let (offset, name) = text.split_once(' ')?;
    let (sign, digits) = match offset.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_at_checked(2)?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_real = (0..=14).contains(&hours) && (0..60).contains(&minutes);
    is_real.then(|| (name.to_owned(), sign * (hours * 3600 + minutes * 60)))
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
        assert_eq!(found.description.means, HostMeans { programs: Some(Vec::new()), ..HostMeans::default() });
    }

    #[test]
    fn the_means_of_a_host_are_those_that_make_sense() {
        let said =
            [LINUX, b".cores=4\0.memory=2048\0.zone=-0330 NST\0.program=git\0.program=evil\0"].concat();
        let means = read("ssh:atlas", &said).unwrap().description.means;
        let expected = HostMeans {
            cores: Some(4),
            memory: Some(2 << 20),
            zone: Some(("NST".to_owned(), -12_600)),
            programs: Some(vec!["git".to_owned()]),
        };
        assert_eq!(means, expected);
        for odd in ["", "UTC", "+9999 X", "+0é00 X", "0000 X"] {
            assert_eq!(zone(odd), None, "{odd}");
        }
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
