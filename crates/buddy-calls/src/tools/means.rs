//! The means of a session: what its targets have, as far as the texts about tools depend on it.

use buddy_exec::Target;

/// The means of a session for commands: those of its targets, one of them at least, and the rest that texts about tools depend on.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact by itself that a template asks for by its name"
)]
pub struct Means {
    /// Shared panes.
    pub panes: bool,
    /// Commands that go on in the background when their wait is over.
    pub managed: bool,
    /// Terminals for single commands.
    pub terminals: bool,
    /// Processes that outlive their call, as policy does not deny them.
    pub runs_on: bool,
    /// Nobody can be asked.
    pub headless: bool,
    /// Commands run in a jail.
    pub jail: bool,
    /// The machine is thrown away afterwards.
    pub throwaway: bool,
    /// One of them is another host.
    pub remote: bool,
    /// Policy denies hosts that the user neither named nor allowed.
    pub only_known_hosts: bool,
}

impl Means {
    /// The means of some targets together.
    pub fn of<'a>(targets: impl IntoIterator<Item = &'a dyn Target>) -> Self {
        targets.into_iter().fold(Self::default(), |means, target| Self {
            panes: means.panes || target.panes().is_some(),
            managed: means.managed || target.managed().is_some(),
            terminals: means.terminals || target.has_terminals(),
            ..means
        })
    }
}
