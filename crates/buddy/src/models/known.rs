//! The facts about a model apart from its profile, and who says so.

use buddy_model::{ModelFacts, Switches};
use buddy_protocol::operations::WindowSource;

/// The facts about one model of one profile.
#[derive(Debug, Clone)]
pub(crate) struct KnownModel {
    /// The facts that sessions use; the context window is that of `window`.
    pub(crate) facts: ModelFacts,
    /// The context window and who says so; none when nobody does.
    pub(crate) window: Option<Window>,
    /// The needs of its server, as doctor found them, where the configuration leaves it open.
    pub(crate) switches: Switches,
}

/// A context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) tokens: u64,
    pub(crate) source: WindowSource,
}

/// The statement of each.
pub(crate) struct Windows {
    pub(crate) config: Option<u64>,
    pub(crate) server: Option<u64>,
    pub(crate) doctor: Option<u64>,
    pub(crate) catalogue: Option<u64>,
}

impl Windows {
    /// The one that counts.
    pub(crate) fn first(&self) -> Option<Window> {
        let sides = [
            (self.config, WindowSource::Config),
            (self.server, WindowSource::Server),
            (self.doctor, WindowSource::Doctor),
            (self.catalogue, WindowSource::Catalogue),
        ];
        sides.into_iter().find_map(|(tokens, source)| Some(Window { tokens: tokens?, source }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_has_the_first_word_and_the_catalogue_the_last() {
        let said = |values: [Option<u64>; 4]| {
            let [config, server, doctor, catalogue] = values;
            Windows { config, server, doctor, catalogue }.first().map(|window| window.source)
        };
        assert_eq!(said([Some(1), Some(2), Some(3), Some(4)]), Some(WindowSource::Config));
        assert_eq!(said([None, Some(2), Some(3), Some(4)]), Some(WindowSource::Server));
        assert_eq!(said([None, None, Some(3), Some(4)]), Some(WindowSource::Doctor));
        assert_eq!(said([None, None, None, Some(4)]), Some(WindowSource::Catalogue));
        assert_eq!(said([None; 4]), None);
    }
}
