//! Programs that a command runs by name, where `PATH` finds a file that commands of the session can change.

use std::path::Path;

use buddy_protocol::Risk;

use super::Judge;
use super::publication::may_publish;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{CommandLeaf, examine};
use crate::path::shown;
use crate::{ChangeableProgram, Grant, Policy, ProgramUse};

/// The programs that are run by name, with the directories that they could run in.
pub(in crate::decide) fn program_uses(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<ProgramUse> {
    let examined = examine(command, cwd, &policy.places);
    let leaves = examined.map(|examination| examination.leaves).unwrap_or_default();
    let used = |leaf: &CommandLeaf| {
        let name = named_program(leaf)?.to_owned();
        let here = || cwd.map(Path::to_owned).into_iter().collect();
        Some(ProgramUse { name, cwds: leaf.cwds.clone().unwrap_or_else(here) })
    };
    leaves.iter().filter_map(used).collect()
}

/// The program of a simple command, if `PATH` says which file it is. A launcher, such as `npx`, looks in the project first.
fn named_program(leaf: &CommandLeaf) -> Option<&str> {
    if leaf.launcher.is_some() {
        return None;
    }
    leaf.words.first()?.literal().filter(|name| !name.is_empty() && !name.contains('/'))
}

impl Judge<'_> {
    /// Tells of programs that another command could have put where `PATH` finds them first, and pins them. A yes to a line opens
    /// secrets and the network to all of its programs.
    pub(super) fn changeable(&self, leaves: &[CommandLeaf], sheet: &mut Sheet) {
        for leaf in leaves {
            let Some(program) = self.changeable_program(leaf) else { continue };
            sheet.pin(vec![program.file.clone()]);
            if self.is_granted_to_the_letter() || self.is_pinned(leaf) {
                continue;
            }
            let file = &program.file;
            let below = self.policy.places.workspace.iter().find_map(|root| file.strip_prefix(root).ok());
            let (name, shown) = (crate::display_command(&program.name), shown(below.unwrap_or(file)));
            let reason = format!("`{name}` is `{shown}`, which commands of this project can change");
            if self.may_pin(sheet) && !leaves.iter().any(may_publish) {
                sheet.ask_for_grant(Weight::Firm, Risk::Medium, reason);
            } else {
                sheet.ask(Weight::Firm, Risk::Medium, reason);
            }
        }
    }

    pub(super) fn changeable_program(&self, leaf: &CommandLeaf) -> Option<&ChangeableProgram> {
        let name = named_program(leaf)?;
        self.now.programs.iter().find(|program| program.name == name)
    }

    /// Whether a grant covers a simple command with its program as it is now.
    pub(super) fn is_pinned(&self, leaf: &CommandLeaf) -> bool {
        let Some(program) = self.changeable_program(leaf).filter(|_| self.holds_programs()) else {
            return false;
        };
        let (places, links) = (&self.policy.places, self.now.named_links);
        let is_covering = |grant: &&Grant| {
            grant.pins(program)
                && grant.covers_command(leaf, places, links)
                && self.binds(grant, &self.trips_of(leaf))
        };
        self.now.grants.iter().any(|grant| is_covering(&grant))
    }

    /// Whether a command that a grant lets run has neither secrets nor a network of its own. So nothing is gained by a program that
    /// is swapped between the decision and the start.
    pub(super) fn holds_programs(&self) -> bool {
        self.policy.is_confined() && self.policy.has_broker && !self.policy.is_throwaway && !self.runs_on
    }

    /// Whether a grant can be offered for the programs as they are now.
    pub(super) fn may_pin(&self, sheet: &Sheet) -> bool {
        let is_known = |program: &ChangeableProgram| program.digest.is_some();
        self.holds_programs() && !sheet.opens_network && self.now.programs.iter().all(is_known)
    }
}
