//! The targets of a session: the hosts it works on, as the log names them and as users request them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of targets in a session. Each needs a connection and a line at the start of every model
/// call.
pub const MAX_TARGETS: usize = 16;

/// The host of a target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TargetHost {
    /// The machine that buddy runs on.
    Local,
    /// A container that runs there.
    Container {
        /// Its name.
        name: String,
    },
    /// Another machine over SSH.
    Ssh {
        /// `user@host`, or a name from the user's ssh configuration.
        destination: String,
    },
}

impl fmt::Display for TargetHost {
    /// The name of a target on this host: `local`, `container:web`, `ssh:atlas`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => formatter.write_str("local"),
            Self::Container { name } => write!(formatter, "container:{name}"),
            Self::Ssh { destination } => write!(formatter, "ssh:{destination}"),
        }
    }
}

/// A target that a client wants in a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TargetWish {
    /// The host.
    pub host: TargetHost,
    /// The working directory; absent means the host's default directory for new sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

impl TargetWish {
    /// Parses user input: `ssh HOST[:DIR]`, `container NAME[:DIR]` or `local [DIR]`. A relative directory over SSH is beneath the login
    /// directory.
    pub fn parse(kind: &str, text: &str) -> Result<Self, BadTarget> {
        let (name, directory) = match kind {
            "local" => ("", Some(text).filter(|text| !text.is_empty())),
            "container" => text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest))),
            "ssh" => split_destination(text),
            _ => return Err(BadTarget::Kind),
        };
        // A command over SSH begins in the login directory, so a relative directory is one of it.
        let directory = match directory {
            Some("~" | "~/") if kind == "ssh" => None,
            Some(directory) if kind == "ssh" => Some(directory.strip_prefix("~/").unwrap_or(directory)),
            Some(directory) if !directory.starts_with('/') => return Err(BadTarget::Directory),
            directory => directory,
        };
        if directory.is_some_and(|directory| directory.starts_with('~')) {
            return Err(BadTarget::Account);
        }
        let host = match kind {
            "local" => TargetHost::Local,
            _ if name.is_empty() => return Err(BadTarget::Name),
            "container" => TargetHost::Container { name: name.to_owned() },
            _ => TargetHost::Ssh { destination: name.to_owned() },
        };
        Ok(Self { host, directory: directory.map(str::to_owned) })
    }
}

/// A destination may contain colons, as `ssh://host:22` and IPv6 addresses do. So a directory begins with `:/` or `:~`, or follows the
/// only colon and is no number.
fn split_destination(text: &str) -> (&str, Option<&str>) {
    let start = match text.strip_prefix("ssh://") {
        Some(_) => "ssh://".len(),
        None => 0,
    };
    let rest = text.get(start..).unwrap_or_default();
    let whole = [":/", ":~"].iter().filter_map(|sign| rest.find(sign)).min().map(|at| start + at);
    let relative = || {
        let (name, directory) = text.split_once(':').filter(|_| start == 0)?;
        let is_one = !directory.is_empty() && !directory.contains(':') && !name.starts_with('[');
        let is_port = directory.bytes().all(|byte| byte.is_ascii_digit());
        (is_one && !is_port).then_some(name.len())
    };
    match whole.or_else(relative).and_then(|at| text.split_at_checked(at)) {
        Some((name, rest)) => (name, rest.get(1..)),
        None => (text, None),
    }
}

/// The reason why a text does not name a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    /// The kind of host does not exist.
    #[error("a target is `ssh HOST[:DIR]`, `container NAME[:DIR]` or `local [DIR]`")]
    Kind,
    /// The name is missing.
    #[error("the name of the host is missing")]
    Name,
    /// The directory is relative.
    #[error("the directory must begin with `/`")]
    Directory,
    /// The directory is in the home of a named account.
    #[error(
        "the directory of an account is not looked up; write it out, or begin with `~/` for your own there"
    )]
    Account,
}

/// A target of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTarget {
    /// The name that calls use for it.
    pub name: String,
    /// The host.
    pub host: TargetHost,
    /// The directory it works in.
    pub cwd: String,
    /// The account and host as found there, for example `ann@atlas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl SessionTarget {
    /// This machine, in a directory.
    pub fn local(cwd: impl Into<String>) -> Self {
        let host = TargetHost::Local;
        Self { name: host.to_string(), host, cwd: cwd.into(), place: None }
    }

    /// The wish that reaches this target again.
    pub fn wish(&self) -> TargetWish {
        TargetWish { host: self.host.clone(), directory: Some(self.cwd.clone()) }
    }
}

/// A change to the targets of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TargetChange {
    /// Connect to one more host.
    Add {
        /// The target to add.
        target: TargetWish,
    },
    /// Make this target the default, which calls use that name none. Connects again if an earlier attempt failed.
    Use {
        /// Its name.
        name: String,
    },
    /// Remove a target.
    Remove {
        /// Its name.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_reached_again_where_it_was() {
        let host = TargetHost::Ssh { destination: "ann@atlas".to_owned() };
        let target = SessionTarget {
            name: host.to_string(),
            host: host.clone(),
            cwd: "/srv".to_owned(),
            place: Some("ann@atlas".to_owned()),
        };
        assert_eq!(target.name, "ssh:ann@atlas");
        assert_eq!(target.wish(), TargetWish { host, directory: Some("/srv".to_owned()) });
    }

    #[test]
    fn user_input_parses_as_a_target() {
        let read = |kind: &str, text: &str| {
            TargetWish::parse(kind, text)
                .map(|wish| (wish.host.to_string(), wish.directory.unwrap_or_default()))
        };
        for (kind, text, name, directory) in [
            ("ssh", "atlas", "ssh:atlas", ""),
            ("ssh", "ann@atlas:/srv/a:b", "ssh:ann@atlas", "/srv/a:b"),
            ("ssh", "ssh://ann@atlas:22", "ssh:ssh://ann@atlas:22", ""),
            ("ssh", "ssh://atlas:22:/srv", "ssh:ssh://atlas:22", "/srv"),
            ("ssh", "fe80::1", "ssh:fe80::1", ""),
            ("ssh", "[fe80::1]:/srv", "ssh:[fe80::1]", "/srv"),
            ("ssh", "atlas:remote-app", "ssh:atlas", "remote-app"),
            ("ssh", "atlas:~/remote-app", "ssh:atlas", "remote-app"),
            ("ssh", "atlas:a/b", "ssh:atlas", "a/b"),
            ("ssh", "atlas:~", "ssh:atlas", ""),
            ("ssh", "atlas:2222", "ssh:atlas:2222", ""),
            ("container", "web:/app", "container:web", "/app"),
            ("local", "", "local", ""),
            ("local", "/srv", "local", "/srv"),
        ] {
            assert_eq!(read(kind, text), Ok((name.to_owned(), directory.to_owned())), "{kind} {text}");
        }
        for (kind, text, why) in [
            ("ssh", "", BadTarget::Name),
            ("ssh", ":/srv", BadTarget::Name),
            ("ssh", "atlas:~bob/app", BadTarget::Account),
            ("container", "web:app", BadTarget::Directory),
            ("container", "web:~/app", BadTarget::Directory),
            ("local", "srv", BadTarget::Directory),
            ("tcp", "atlas", BadTarget::Kind),
        ] {
            assert_eq!(read(kind, text), Err(why), "{kind} {text}");
        }
    }

    #[test]
    fn a_wish_is_read_in_its_short_form() {
        let text = r#"{"type":"add","target":{"host":{"type":"container","name":"web"}}}"#;
        let change: TargetChange = serde_json::from_str(text).unwrap();
        let host = TargetHost::Container { name: "web".to_owned() };
        assert_eq!(change, TargetChange::Add { target: TargetWish { host, directory: None } });
        assert_eq!(serde_json::to_string(&change).unwrap(), text);
    }
}
