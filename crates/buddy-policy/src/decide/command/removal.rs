//! Removals of a command, and changes of the work tree that git throws away.

use std::path::{Path, PathBuf};

use buddy_protocol::Risk;

use super::Judge;
use crate::Places;
use crate::decide::file::{RuleAllowance, changes_secrets, decides_what_runs, loses, rule};
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{CommandExamination, Touch, TouchAccess, TouchReach};
use crate::guarded::{is_guarded, is_secret};
use crate::path::{is_beneath_any, shown};
use crate::places::{holds_a_root, is_open};
use crate::rules::Thing;
use crate::shell::ShellWord;

/// The reason to ask before changes that no commit holds are thrown away.
const DISCARDS: &str = "it discards uncommitted changes";

/// Commands that only remove what they name.
const REMOVERS: &[&[&str]] = &[&["rm"], &["rmdir"], &["git", "worktree", "remove"]];

impl Judge<'_> {
    /// The paths that a command removes if it does nothing else. Repositories in there need no guard, which would keep their directories.
    pub(super) fn removed(&self, examination: &CommandExamination) -> Vec<PathBuf> {
        let words: Vec<&str> = examination.plain.iter().flatten().filter_map(ShellWord::literal).collect();
        if !REMOVERS.iter().any(|remover| words.starts_with(remover)) {
            return Vec::new();
        }
        let removals = examination.touches.iter().filter(|touch| touch.access == TouchAccess::Delete);
        let paths = removals.filter_map(|touch| touch.reach.path());
        paths.filter(|path| is_open(path, &self.policy.places)).map(Path::to_owned).collect()
    }

    /// Judges changes of the work tree that git throws away: in the jail undo brings them back, if it keeps all of them.
    pub(super) fn discard(&self, reach: &TouchReach, sheet: &mut Sheet) {
        let places = &self.policy.places;
        let kept = reach.path().filter(|path| self.policy.is_confined() && is_open(path, places));
        match kept {
            Some(path) if self.now.loses_discarded(path) => {
                sheet.ask(
                    Weight::Hard,
                    Risk::High,
                    format!("{DISCARDS}, and undo would not bring back all of them"),
                );
            }
            Some(_) => sheet.ask(Weight::Contained, Risk::High, DISCARDS),
            None => sheet.ask(Weight::Hard, Risk::High, DISCARDS),
        }
    }

    pub(super) fn removal(&self, touch: &Touch, sheet: &mut Sheet) {
        let (places, reach) = (&self.policy.places, &touch.reach);
        let Some(path) = reach.path() else { return };
        let allowed = rule(Thing::Delete(path), self.policy, sheet);
        if self.may_lead_outside(touch, path) {
            let reason = format!("it may remove `{}`, outside the workspace", shown(path));
            sheet.ask(Weight::Contained, Risk::High, reason);
        } else if let Some(reason) = self.refused(touch, path, allowed) {
            sheet.deny(reason);
        } else if let Some((change, opening)) = self.opening(touch, path) {
            change.ask(opening, self.policy, sheet);
        } else if holds_a_root(path, places) {
            let is_undone = self.policy.is_confined() && !self.now.loses(path);
            let undo = if is_undone { "" } else { "; undo cannot bring it back" };
            let reason = format!("it removes `{}` or what is in it{undo}", shown(path));
            // A pattern takes some files of the workspace, and undo brings them back.
            let is_within =
                matches!(reach, TouchReach::Beneath(_)) && is_beneath_any(path, &places.workspace);
            let weight = if is_within && is_undone { Weight::Contained } else { Weight::Hard };
            sheet.ask(weight, Risk::High, reason);
        } else if is_guarded(path, places) {
            sheet.ask(Weight::Hard, Risk::High, decides_what_runs("removes", path));
            sheet.needs.asked.push(path.to_owned());
        } else if is_secret(path, places) && allowed != RuleAllowance::Always {
            sheet.ask(Weight::Hard, Risk::High, changes_secrets("delete", path));
            sheet.needs.asked.push(path.to_owned());
        } else if is_open(path, places) {
            match self.policy.is_confined() {
                true if self.now.loses(path) => sheet.ask(Weight::Hard, Risk::High, loses(path, self.policy)),
                true => sheet.raise(Risk::Medium),
                // Undo keeps nothing of a command's changes there.
                false => sheet.raise(Risk::High),
            }
        } else {
            let place = if is_in_home(path, places) { "workspace" } else { "home directory" };
            let reason =
                format!("it removes `{}`, outside the {place}; undo cannot bring it back", shown(path));
            sheet.ask(Weight::Hard, Risk::High, reason);
        }
    }
}

fn is_in_home(path: &Path, places: &Places) -> bool {
    places.home.as_ref().is_some_and(|home| is_beneath_any(path, std::slice::from_ref(home)))
}
