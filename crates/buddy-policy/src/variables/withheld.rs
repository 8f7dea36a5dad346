//! The reasons why a command does not get a variable.

/// The reason why a command does not get a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withheld {
    /// Its name looks like that of a secret.
    SecretName,
    /// Its value has a password or a key in it.
    SecretValue,
    /// Programs take orders from it: loaders, shells, git.
    Orders,
    /// It names a program that needs your terminal.
    Terminal,
    /// It describes buddy's own shell and not that of the command.
    Shell,
    /// It leads to a service that acts for you: agents that hold keys, engines of containers.
    Service,
    /// It leads to a session of yours.
    Session,
    /// It is buddy's own.
    Own,
    /// The configuration hides it.
    Hidden,
    /// No shell can name it.
    Name,
}

impl Withheld {
    /// Whether `environment.pass` lets a command have it all the same.
    pub fn can_be_passed(self) -> bool {
        !matches!(self, Self::Session | Self::Own | Self::Name)
    }

    /// The reason in a few words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SecretName => "its name looks like a secret",
            Self::SecretValue => "its value contains a password or a key",
            Self::Orders => "it decides what programs run",
            Self::Terminal => "it names a program that needs your terminal",
            Self::Shell => "it describes another shell",
            Self::Service => "it leads to a service that acts for you",
            Self::Session => "it leads to your other sessions",
            Self::Own => "it is buddy's own",
            Self::Hidden => "`environment.hide` lists it",
            Self::Name => "its name is not one that shells can use",
        }
    }
}
