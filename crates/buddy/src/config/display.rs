//! The settings of the display.

use buddy_tui::{KeyStyle, StatusPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of the display.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct DisplaySection {
    /// Colours on a terminal. `NO_COLOR` turns them off too.
    pub(crate) color: bool,
    /// Tell at the end of each turn how many tokens it took.
    pub(crate) show_tokens: bool,
    /// Show what tools are called with, and not their names alone.
    pub(crate) show_tool_calls: bool,
    /// The colours: `auto` follows the terminal; `dark`, `light`, or `terminal` for those that the terminal itself is set to.
    pub(crate) theme: ThemeChoice,
    /// Show images: `auto` where the terminal is known to take them, `off`, or by the protocol of `kitty` or `iterm`.
    pub(crate) images: ImageChoice,
    /// Let signs move while something works.
    pub(crate) motion: bool,
    /// Say everything in lines that are never painted over, for programs that read the screen aloud.
    pub(crate) screen_reader: bool,
    /// The keys that the input is edited with: `readline`, or `vim` with its two modes. Single keys are bound in `keys.toml`.
    pub(crate) keys: KeyStyle,
    /// The parts of the status line, in their order: `model`, `host`, `directory`, `mode`, `context`, `tokens`, `cost`, `tasks`, `title`, `session`.
    pub(crate) status: Vec<StatusPart>,
    /// A shell command that makes the status line: it reads JSON on its standard input, and the first line that it prints is shown.
    pub(crate) status_command: Option<String>,
}

/// Which colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ThemeChoice {
    /// Those that fit the ground of the terminal.
    #[default]
    Auto,
    /// Those for a dark ground.
    Dark,
    /// Those for a light ground.
    Light,
    /// The sixteen of the terminal.
    Terminal,
}

/// How images are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ImageChoice {
    /// As the terminal is known to take them.
    #[default]
    Auto,
    /// Not at all.
    Off,
    /// By the protocol of kitty.
    Kitty,
    /// By the protocol of iTerm2.
    Iterm,
}

impl Default for DisplaySection {
    fn default() -> Self {
        Self {
            color: true,
            show_tokens: false,
            show_tool_calls: true,
            theme: ThemeChoice::Auto,
            images: ImageChoice::Auto,
            motion: true,
            screen_reader: false,
            keys: KeyStyle::Readline,
            status: StatusPart::USUAL.to_vec(),
            status_command: None,
        }
    }
}
