//! Commands of the agent that run in the background, as notices tell of them.

use std::collections::BTreeMap;

use buddy_protocol::{BACKGROUND_BEGAN, BACKGROUND_ENDED, Fact};

/// The commands that run in the background, with what is said of each.
#[derive(Debug, Default)]
pub(crate) struct LeftRunning {
    by_id: BTreeMap<String, String>,
}

impl LeftRunning {
    /// Takes in a fact. The text of a notice begins with the id of its command.
    pub(crate) fn note(&mut self, fact: &Fact) {
        let Fact::Notice(notice) = fact else { return };
        let Some(id) = notice.text.split_whitespace().next() else { return };
        match notice.code.as_str() {
            BACKGROUND_BEGAN => {
                self.by_id.insert(id.to_owned(), notice.text.clone());
            }
            BACKGROUND_ENDED => {
                self.by_id.remove(id);
            }
            _ => {}
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.by_id.len()
    }

    /// The ids of those that run.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Notice, NoticeLevel};

    use super::*;

    #[test]
    fn those_that_ended_are_not_counted() {
        let mut left = LeftRunning::default();
        let mut note = |code: &str, text: &str| {
            let (level, code, text) = (NoticeLevel::Info, code.to_owned(), text.to_owned());
            left.note(&Fact::Notice(Notice { level, code, text }));
            left.ids().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(note(BACKGROUND_BEGAN, "proc-1 runs in the background: make"), ["proc-1"]);
        assert_eq!(note(BACKGROUND_BEGAN, "proc-2 runs in the background: make"), ["proc-1", "proc-2"]);
        assert_eq!(note("granted", "proc-1"), ["proc-1", "proc-2"]);
        assert_eq!(note(BACKGROUND_ENDED, "proc-1 ended with exit code 0: make"), ["proc-2"]);
        assert_eq!(note(BACKGROUND_ENDED, "proc-9 ended"), ["proc-2"]);
    }
}
