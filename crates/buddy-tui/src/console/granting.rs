//! A lasting grant: the words of an offer in a line that can be changed, and their scope.
//!
//! Whether other words than those of the offer hold is judged by the agent, which asks again where they do not.

use anstyle::Style;
use buddy_protocol::{Answer, Approval, GrantScope, GrantWish, MAX_GRANT_SECONDS, Unfit};

use super::card::{Card, CardEnd, KeyChoice, KeyWeight};
use crate::editor::{InputView, KeyStyle, LineEntry, render_input};
use crate::text::{Paint, StyledLine, wrap_unindented};

/// How long a grant for a session holds.
pub(super) const SESSION_SECONDS: u64 = 8 * 60 * 60;
/// Where a grant can hold, in words, and for how long.
const PLACES: [(GrantScope, &str, u64); 3] = [
    (GrantScope::Session, "until you quit", SESSION_SECONDS),
    (GrantScope::Project, "in this project, for 30 days", MAX_GRANT_SECONDS),
    (GrantScope::User, "everywhere, for 30 days", MAX_GRANT_SECONDS),
];

/// The place that a grant begins with, as its key says.
const IN_PROJECT: usize = 1;

/// A grant under way.
#[derive(Debug)]
pub(super) struct Granting {
    pub(super) entry: LineEntry,
    /// The offer whose words these were.
    offer: usize,
    /// Where it is to hold.
    place: usize,
}

impl Granting {
    /// The first offer, in this project. None where nothing is offered.
    pub(super) fn new(approval: &Approval, style: KeyStyle) -> Option<Self> {
        Some(Self {
            entry: LineEntry::new(style, &approval.offers.first()?.grant),
            offer: 0,
            place: IN_PROJECT,
        })
    }

    /// The refused words, as they were written.
    pub(super) fn again(unfit: &Unfit, style: KeyStyle) -> Self {
        let Unfit { wish, .. } = unfit;
        let entry = LineEntry::new(style, wish.words.as_deref().unwrap_or_default());
        let place = PLACES.iter().position(|(scope, ..)| *scope == wish.scope).unwrap_or(0);
        Self { entry, offer: usize::try_from(wish.offer).unwrap_or(0), place }
    }

    /// Another place, before or behind this one.
    pub(super) fn turn(&mut self, step: isize) {
        let count = PLACES.len();
        self.place = (self.place + count).saturating_add_signed(step) % count;
    }

    /// The words of the next offer.
    pub(super) fn next_offer(&mut self, approval: &Approval) {
        let next = (self.offer + 1) % approval.offers.len().max(1);
        if let Some(offer) = approval.offers.get(next) {
            self.offer = next;
            self.entry.draft.set(&offer.grant);
        }
    }

    /// The answer that allows it. None where no words are left.
    pub(super) fn answer(&self, approval: &Approval) -> Option<Answer> {
        let (scope, _, seconds) = PLACES.get(self.place).copied()?;
        let words = self.entry.draft.whole().trim().to_owned();
        if words.is_empty() {
            return None;
        }
        let words = (!self.is_offered(approval)).then_some(words);
        let offer = u32::try_from(self.offer).ok()?;
        Some(Answer::grant(GrantWish { offer, words, scope, seconds }))
    }

    fn is_offered(&self, approval: &Approval) -> bool {
        approval.offers.get(self.offer).is_some_and(|offer| offer.grant == self.entry.draft.whole().trim())
    }

    /// Why it was refused before, the line, what it covers, the places, and the keys.
    pub(super) fn view(&self, approval: &Approval, card: &Card<'_>, body: usize) -> CardEnd {
        let (look, width) = (card.look, card.width());
        let refused =
            approval.unfit.as_ref().map(|unfit| StyledLine::styled(&unfit.why, look.style(Paint::Bad)));
        let mut rows: Vec<StyledLine> =
            refused.iter().flat_map(|line| wrap_unindented(line, width)).collect();
        let first = rows.len();
        let prompt = StyledLine::styled(look.sign("› ", "> "), look.style(Paint::Person));
        let line = render_input(&prompt, self.entry.draft.shown(), self.entry.draft.cursor(), width);
        rows.extend(line.rows);
        rows.extend(card.fact("covers", &StyledLine::plain(&self.covers(approval))));
        let chosen = PLACES.get(self.place).map(|(_, words, _)| *words).unwrap_or_default();
        if !card.is_roomy() {
            let row =
                StyledLine::styled(&format!("{}{chosen}", look.sign("❯ ", "> ")), look.style(Paint::Strong));
            rows.push(row.cut(width, look.sign("…", "~")));
        }
        for (place, (_, words, _)) in PLACES.iter().enumerate().filter(|_| card.is_roomy()) {
            let is_chosen = place == self.place;
            let mark = if is_chosen { look.sign("❯ ", "> ") } else { "  " };
            let style = if is_chosen { look.style(Paint::Strong) } else { Style::new() };
            rows.push(StyledLine::styled(&format!("{mark}{words}"), style).cut(width, look.sign("…", "~")));
        }
        rows.extend(card.gap());
        let usual = |key, label, short| KeyChoice::new(key, label, short, KeyWeight::Usual);
        let mut keys = vec![KeyChoice::new("enter", "Allow", "Allow", KeyWeight::Primary)];
        keys.push(usual(look.sign("↑↓", "up/down"), "Where", "Where"));
        keys.extend((approval.offers.len() > 1).then(|| usual("tab", "Another pattern", "Pattern")));
        keys.push(usual("esc", "Back", "Back"));
        let keys = card.keys(&[keys], body + rows.len());
        let cursor = (first + line.cursor.0, line.cursor.1);
        CardEnd { written: Some(InputView { rows, cursor }), keys }
    }

    /// The actions that the words would cover, as far as the offer says.
    fn covers(&self, approval: &Approval) -> String {
        match approval.offers.get(self.offer) {
            Some(offer) if self.is_offered(approval) => offer.covers.clone(),
            _ => "checked when you press Enter".to_owned(),
        }
    }
}
