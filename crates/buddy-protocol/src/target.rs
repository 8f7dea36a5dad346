//! The targets of a session: the hosts it works on, as the log names them and as people ask for them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most targets that a session has. Each is a connection, and a line of what every model call starts with.
pub const MAX_TARGETS: usize = 16;

/// Which host a target is.
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
        /// `user@host`, or a name of the person's ssh configuration.
        destination: String,
    },
}

impl fmt::Display for TargetHost {
    /// The name by which a target on this host is known: `local`, `container:web`, `ssh:atlas`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => formatter.write_str("local"),
            Self::Container { name } => write!(formatter, "container:{name}"),
            Self::Ssh { destination } => write!(formatter, "ssh:{destination}"),
        }
    }
}

/// A target that somebody wants in a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TargetWish {
    /// The host.
    pub host: TargetHost,
    /// The directory to work in; absent for the one that the host puts new sessions in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

impl TargetWish {
    /// What a person writes: `ssh HOST[:DIR]`, `container NAME[:DIR]` or `local [DIR]`.
    pub fn parse(kind: &str, text: &str) -> Result<Self, BadTarget> {
        let (name, directory) = match kind {
            "local" => ("", Some(text).filter(|text| !text.is_empty())),
            "container" => text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest))),
            "ssh" => split_destination(text),
            _ => return Err(BadTarget::Kind),
        };
        if directory.is_some_and(|directory| !directory.starts_with('/')) {
            return Err(BadTarget::Directory);
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

/// A destination may have colons of its own, as `ssh://host:22` and IPv6 addresses do, so a directory begins with `:/`.
fn split_destination(text: &str) -> (&str, Option<&str>) {
    let start = match text.strip_prefix("ssh://") {
        Some(_) => "ssh://".len(),
        None => 0,
    };
    let at = text.get(start..).and_then(|rest| rest.find(":/")).map(|at| start + at);
    match at.and_then(|at| text.split_at_checked(at)) {
        Some((name, rest)) => (name, rest.get(1..)),
        None => (text, None),
    }
}

/// Why a text names no target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    /// A kind of host that there is not.
    #[error("a target is `ssh HOST[:DIR]`, `container NAME[:DIR]` or `local [DIR]`")]
    Kind,
    /// No name.
    #[error("the name of the host is missing")]
    Name,
    /// A directory that depends on where one is.
    #[error("the directory must begin with `/`")]
    Directory,
}

/// A target of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTarget {
    /// What calls name it by.
    pub name: String,
    /// The host.
    pub host: TargetHost,
    /// The directory it works in.
    pub cwd: String,
    /// The account and host that were found there, for example `ann@atlas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl SessionTarget {
    /// This machine, in a directory.
    pub fn local(cwd: impl Into<String>) -> Self {
        let host = TargetHost::Local;
        Self { name: host.to_string(), host, cwd: cwd.into(), place: None }
    }

    /// What reaches it again.
    pub fn wish(&self) -> TargetWish {
        TargetWish { host: self.host.clone(), directory: Some(self.cwd.clone()) }
    }
}

/// What is to change in the targets of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TargetChange {
    /// Reach one more host.
    Add {
        /// Which one.
        target: TargetWish,
    },
    /// Make this one the default: where calls go that name none. One that could not be reached is tried again.
    Use {
        /// Its name.
        name: String,
    },
    /// Let go of one.
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
    fn what_people_write_is_read() {
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
            ("container", "web:/app", "container:web", "/app"),
            ("local", "", "local", ""),
            ("local", "/srv", "local", "/srv"),
        ] {
            assert_eq!(read(kind, text), Ok((name.to_owned(), directory.to_owned())), "{kind} {text}");
        }
        for (kind, text, why) in [
            ("ssh", "", BadTarget::Name),
            ("ssh", ":/srv", BadTarget::Name),
            ("container", "web:app", BadTarget::Directory),
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
