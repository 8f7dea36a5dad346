//! Files that a command may change, as far as its words tell.

use buddy_protocol::Risk;

use crate::Places;
use crate::decide::file::decides_what_runs;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::TouchReach;
use crate::guarded::is_guarded;
use crate::path::shown;
use crate::places::is_open;

/// Asks if the file is outside the workspace, not known, or decides what runs later.
pub(super) fn ask_about_possible_change(reach: &TouchReach, places: &Places, sheet: &mut Sheet) {
    let reason = match reach {
        TouchReach::Unknown(words) => Some(format!("it may change `{}`", crate::display_command(words))),
        TouchReach::Path(path) | TouchReach::Beneath(path) if !is_open(path, places) => {
            Some(format!("it may change `{}`, outside the workspace", shown(path)))
        }
        TouchReach::Path(path) | TouchReach::Beneath(path) => {
            is_guarded(path, places).then(|| decides_what_runs("may change", path))
        }
    };
    if let Some(reason) = reason {
        sheet.ask(Weight::Contained, Risk::Medium, reason);
    }
}
