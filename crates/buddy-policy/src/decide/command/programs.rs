//! Programs that a command runs by name, where `PATH` finds a file that commands of the session can change.

use std::path::Path;

use buddy_protocol::Risk;

use super::Judge;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{Leaf, examine};
use crate::path::shown;
use crate::{ChangeableProgram, Policy, ProgramUse};

/// The programs that are run by name, with the directories that they could run in.
pub(in crate::decide) fn program_uses(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<ProgramUse> {
    let examined = examine(command, cwd, &policy.places);
    let leaves = examined.map(|examination| examination.leaves).unwrap_or_default();
    let used = |leaf: &Leaf| {
        let name = named_program(leaf)?.to_owned();
        let here = || cwd.map(Path::to_owned).into_iter().collect();
        Some(ProgramUse { name, cwds: leaf.cwds.clone().unwrap_or_else(here) })
    };
    leaves.iter().filter_map(used).collect()
}

/// The program of a simple command, if `PATH` says which file it is. A launcher, such as `npx`, looks in the project first.
fn named_program(leaf: &Leaf) -> Option<&str> {
    if leaf.launcher.is_some() {
        return None;
    }
    leaf.words.first()?.literal().filter(|name| !name.is_empty() && !name.contains('/'))
}

impl Judge<'_> {
    /// Tells of programs that another command could have put where `PATH` finds them first, and pins them. A yes to a line opens
    /// secrets and the network to all of its programs.
    pub(super) fn changeable(&self, leaves: &[Leaf], sheet: &mut Sheet) {
        for leaf in leaves {
            let Some(ChangeableProgram { name, file }) = self.changeable_program(leaf) else { continue };
            let below = self.policy.places.workspace.iter().find_map(|root| file.strip_prefix(root).ok());
            let (name, shown) = (crate::display_command(name), shown(below.unwrap_or(file)));
            let reason = format!("`{name}` is `{shown}`, which commands of this project can change");
            sheet.ask(Weight::Firm, Risk::Medium, reason);
            sheet.pin(vec![file.clone()]);
        }
    }

    pub(super) fn changeable_program(&self, leaf: &Leaf) -> Option<&ChangeableProgram> {
        let name = named_program(leaf)?;
        self.now.programs.iter().find(|program| program.name == name)
    }
}
