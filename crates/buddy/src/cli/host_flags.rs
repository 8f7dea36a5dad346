//! The flags that name the hosts to work on. Their order among each other counts: the first is the default.

use buddy_protocol::{TargetHost, TargetWish};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use super::project::PLACE;

/// The hosts that a command line names, in its order.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostFlags(pub(crate) Vec<TargetWish>);

impl Args for HostFlags {
    fn augment_args(command: Command) -> Command {
        let host = |name: &'static str, value: &'static str, help: &'static str| {
            let parse = move |text: &str| TargetWish::parse(name, text).map_err(|error| error.to_string());
            Arg::new(name)
                .long(name)
                .global(true)
                .value_name(value)
                .action(ArgAction::Append)
                .value_parser(parse)
                .help(help)
                .help_heading(PLACE)
        };
        command
            .arg(host(
                "container",
                "NAME[:DIR]",
                "Work in a running container (docker or podman); the first host is the default",
            ))
            .arg(host(
                "ssh",
                "DEST[:DIR]",
                "Work on another machine: `user@host`, or a name from your ssh configuration",
            ))
            .arg(
                Arg::new("local")
                    .long("local")
                    .global(true)
                    .action(ArgAction::SetTrue)
                    .help("Also work on this machine, beside the hosts you named")
                    .help_heading(PLACE),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for HostFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found: Vec<(usize, TargetWish)> = Vec::new();
        for name in ["container", "ssh"] {
            let places = matches.indices_of(name).into_iter().flatten();
            let wishes = matches.get_many::<TargetWish>(name).into_iter().flatten();
            found.extend(places.zip(wishes.cloned()));
        }
        if matches.value_source("local") == Some(ValueSource::CommandLine) {
            let place = matches.index_of("local").unwrap_or_default();
            found.push((place, TargetWish { host: TargetHost::Local, directory: None }));
        }
        found.sort_by_key(|(place, _)| *place);
        Ok(Self(found.into_iter().map(|(_, wish)| wish).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::Cli;

    fn named(arguments: &[&str]) -> Vec<String> {
        let cli = Cli::try_parse_from([&["buddy"], arguments].concat()).unwrap();
        cli.hosts.0.iter().map(|wish| wish.host.to_string()).collect()
    }

    #[test]
    fn hosts_keep_the_order_in_which_they_are_named() {
        assert_eq!(named(&[]), [""; 0]);
        let flags = ["--ssh", "a", "--container=b", "--local", "--ssh", "c:/srv"];
        assert_eq!(named(&flags), ["ssh:a", "container:b", "local", "ssh:c"]);
        assert_eq!(
            named(&[&["exec", "hello"], &flags[..]].concat()),
            ["ssh:a", "container:b", "local", "ssh:c"]
        );
        assert_eq!(named(&["--container", "b", "--ssh", "a"]), ["container:b", "ssh:a"]);
    }

    #[test]
    fn a_directory_that_depends_on_where_one_is_is_refused() {
        assert!(Cli::try_parse_from(["buddy", "--container", "web:app"]).is_err());
    }
}
