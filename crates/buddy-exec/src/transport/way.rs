//! The way for a user to get to a host by hand.

use crate::remote::quote;

/// The way of a user to a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Way {
    /// The user is there.
    #[default]
    Here,
    /// Into a container, by its engine.
    Container {
        /// `docker` or `podman`.
        engine: String,
        /// The name of the container.
        name: String,
    },
    /// Over SSH.
    Ssh {
        /// `user@host`, or a name of the `ssh` configuration.
        destination: String,
    },
}

impl Way {
    /// The command line that a user types here to run a command at a terminal on the host.
    pub fn typed(&self, command: &str) -> String {
        match self {
            Self::Here => command.to_owned(),
            Self::Container { engine, name } => format!("{engine} exec -it {name} {command}"),
            // Two shells parse it, the one here and the one on the host.
            Self::Ssh { destination } if command.contains('\'') => {
                format!("ssh -t {destination} {}", quote(command))
            }
            Self::Ssh { destination } => format!("ssh -t {destination} {command}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_put_behind_what_leads_to_the_host() {
        let container = Way::Container { engine: "podman".into(), name: "web".into() };
        assert_eq!(container.typed("tmux -S /s attach"), "podman exec -it web tmux -S /s attach");
        let ssh = Way::Ssh { destination: "ann@atlas".into() };
        assert_eq!(ssh.typed("tmux -S /s attach"), "ssh -t ann@atlas tmux -S /s attach");
        assert_eq!(Way::Here.typed("tmux -S /s attach"), "tmux -S /s attach");
    }

    #[test]
    fn a_quote_comes_through_two_shells() {
        let ssh = Way::Ssh { destination: "atlas".into() };
        assert_eq!(ssh.typed("tmux -S '/a b'"), r"ssh -t atlas 'tmux -S '\''/a b'\'''");
    }
}
