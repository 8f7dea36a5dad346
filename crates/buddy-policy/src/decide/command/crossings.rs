//! Changes through links that the same line brings: nobody can look these up before it runs.

use buddy_protocol::Risk;

use super::Judge;
use crate::Mode;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::LineSteps;
use crate::path::shown;

/// The most moved or copied files that are checked for links. Beyond that, all count as links.
pub(in crate::decide) const MAX_CARRIED: usize = 64;

impl Judge<'_> {
    /// Asks about them where no jail holds what goes through a link.
    pub(super) fn crossings(&self, steps: &LineSteps, sheet: &mut Sheet) {
        if self.policy.mode != Mode::Production {
            return;
        }
        let crossings = steps.crossings();
        let all =
            crossings.iter().filter_map(|crossing| crossing.carried.as_ref()).map(Vec::len).sum::<usize>();
        for crossing in crossings {
            let is_link = crossing.carried.is_none_or(|carried| {
                all > MAX_CARRIED || carried.iter().any(|one| self.now.carried.contains(one))
            });
            if !is_link {
                continue;
            }
            let before = sheet.count_asks();
            let reason = format!(
                "an earlier part of the line may make `{}` a link or put one there, and this changes it",
                shown(&crossing.path)
            );
            sheet.ask(Weight::Contained, Risk::Medium, reason);
            sheet.mark_since(before, crossing.risky.as_deref());
        }
    }
}
