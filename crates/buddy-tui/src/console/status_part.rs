//! The parts of the status line, as the configuration names them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusPart {
    /// The model.
    Model,
    /// The host, where it is another one.
    Host,
    /// The directory, with the branch of its repository.
    Directory,
    /// The approval mode, and whether it is production. It stands on the rule above the input, and in the
    /// status line where there is none.
    Mode,
    /// How full the model's context is.
    Context,
    /// Tokens so far.
    Tokens,
    /// Cost so far.
    Cost,
    /// How many tasks and commands run in the background.
    Tasks,
    /// The title of the conversation.
    Title,
    /// Its id.
    Session,
}

impl StatusPart {
    /// Whether it stands at the right.
    pub(super) fn is_right(self) -> bool {
        matches!(self, Self::Context | Self::Tokens | Self::Cost)
    }

    /// The parts that are shown unless somebody wants others.
    pub const USUAL: [Self; 6] =
        [Self::Mode, Self::Model, Self::Directory, Self::Tasks, Self::Context, Self::Cost];
}
