//! A list to choose from: completions below the input, and pickers.

use super::fuzzy::score;

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MenuChoice {
    /// The text that is taken.
    pub(crate) name: String,
    /// The note beside it.
    pub(crate) note: String,
}

/// Choices, those that fit what was typed, and the one that is pointed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Menu {
    all: Vec<MenuChoice>,
    /// Places in `all`, the best first.
    fitting: Vec<usize>,
    at: usize,
    /// Whether the user pointed at it themselves.
    is_pointed: bool,
    /// The typed text.
    wish: String,
}

impl Menu {
    /// A menu of those that fit the wish; without a wish they stay in their order.
    pub(crate) fn new(all: Vec<MenuChoice>, wish: &str) -> Self {
        let mut menu = Self { all, fitting: Vec::new(), at: 0, is_pointed: false, wish: String::new() };
        menu.filter(wish);
        menu
    }

    /// Looks again which fit.
    pub(crate) fn filter(&mut self, wish: &str) {
        let scored = self.all.iter().enumerate();
        let mut fitting: Vec<(i64, usize)> = if wish.is_empty() {
            scored.map(|(at, _)| (0, at)).collect()
        } else {
            scored.filter_map(|(at, choice)| Some((score(&choice.name, wish)?, at))).collect()
        };
        fitting.sort_by_key(|(score, at)| (-score, *at));
        self.fitting = fitting.into_iter().map(|(_, at)| at).collect();
        (self.at, self.is_pointed) = (0, false);
        wish.clone_into(&mut self.wish);
    }

    /// The typed text.
    pub(crate) fn wish(&self) -> &str {
        &self.wish
    }

    /// The place of the chosen one among all.
    pub(crate) fn place(&self) -> Option<usize> {
        self.fitting.get(self.at).copied()
    }

    /// How many fit, and how many there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.fitting.len(), self.all.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fitting.is_empty()
    }

    pub(crate) fn chosen(&self) -> Option<&MenuChoice> {
        self.fitting.get(self.at).and_then(|&at| self.all.get(at))
    }

    /// Points at a choice by its name, if it is among those that fit.
    pub(crate) fn point(&mut self, name: &str) {
        let place =
            self.fitting.iter().position(|&at| self.all.get(at).is_some_and(|choice| choice.name == name));
        self.at = place.unwrap_or(self.at);
    }

    /// Whether it is clear which one is meant by a wish: the user went to it, it is called so, or no other begins so.
    pub(crate) fn is_settled(&self, wish: &str) -> bool {
        let named = |choice: &MenuChoice| choice.name == wish;
        let is_named = self.chosen().is_some_and(named);
        let fitting = self.fitting.iter().filter_map(|&at| self.all.get(at));
        let count = fitting.filter(|choice| choice.name.starts_with(wish)).count();
        self.is_pointed || is_named || (count == 1 && !wish.is_empty())
    }

    /// Whether the typed text is a whole name, and the user went to no other.
    pub(crate) fn is_complete(&self) -> bool {
        let mut fitting = self.fitting.iter().filter_map(|&at| self.all.get(at));
        let is_elsewhere = self.is_pointed && self.chosen().is_some_and(|choice| choice.name != self.wish);
        !is_elsewhere && fitting.any(|choice| choice.name == self.wish)
    }

    pub(crate) fn up(&mut self) {
        self.is_pointed = true;
        self.at = self.at.checked_sub(1).unwrap_or(self.fitting.len().saturating_sub(1));
    }

    pub(crate) fn down(&mut self) {
        self.is_pointed = true;
        self.at = if self.at + 1 < self.fitting.len() { self.at + 1 } else { 0 };
    }

    /// At most `count` choices around the one that is pointed at, which of them it is, and how many there are in all.
    pub(crate) fn window(&self, count: usize) -> (Vec<&MenuChoice>, usize, usize) {
        let first = self.at.saturating_sub(count / 2).min(self.fitting.len().saturating_sub(count));
        let shown = self.fitting.iter().skip(first).take(count).filter_map(|&at| self.all.get(at)).collect();
        (shown, self.at - first, self.fitting.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(wish: &str) -> Menu {
        let all = ["help", "model", "new", "session", "status"];
        Menu::new(all.map(|name| MenuChoice { name: name.into(), note: String::new() }).to_vec(), wish)
    }

    fn chosen(menu: &Menu) -> &str {
        menu.chosen().map_or("", |choice| &choice.name)
    }

    #[test]
    fn the_best_fit_is_pointed_at_and_arrows_go_round() {
        assert_eq!(chosen(&menu("sess")), "session");
        assert_eq!(chosen(&menu("zz")), "");
        let mut all = menu("");
        all.up();
        assert_eq!(chosen(&all), "status");
        all.down();
        assert_eq!(chosen(&all), "help");
        all.point("new");
        assert_eq!(chosen(&all), "new");
    }

    #[test]
    fn what_is_meant_is_clear_by_its_name_by_a_single_beginning_or_by_the_arrows() {
        for (wish, is_settled) in [("status", true), ("se", true), ("s", false), ("", false), ("sss", false)]
        {
            assert_eq!(menu(wish).is_settled(wish), is_settled, "{wish}");
        }
        let mut some = menu("s");
        some.down();
        assert!(some.is_settled("s"));
    }

    #[test]
    fn the_window_follows_the_pointer() {
        let mut all = menu("");
        all.point("status");
        let (shown, at, count) = all.window(3);
        assert_eq!((shown.len(), shown[at].name.as_str(), count), (3, "status", 5));
    }
}
