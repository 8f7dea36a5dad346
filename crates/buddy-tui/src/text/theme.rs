//! Themes: which style each kind of text has.

use anstyle::{AnsiColor, Color, RgbColor, Style};

/// A set of styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// For a dark ground.
    Dark,
    /// For a light ground.
    Light,
    /// The sixteen colours of the terminal, as its owner set them.
    Terminal,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Said on the side: hints, counts, reasoning.
    Dim,
    /// What matters.
    Strong,
    /// Titles in an answer.
    Heading,
    /// Names and code within a sentence.
    Code,
    /// Links.
    Link,
    /// What somebody else said.
    Quote,
    /// What the person said, and their prompt.
    Person,
    /// Tools and their names.
    Tool,
    /// It worked; lines that were added.
    Good,
    /// Lines that were removed, failures.
    Bad,
    /// Careful.
    Warning,
    /// Places in a diff.
    Place,
}

impl Theme {
    /// All themes.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Terminal];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Terminal => "terminal",
        }
    }

    /// The theme of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }

    pub(crate) fn style(self, paint: Paint) -> Style {
        match paint {
            Paint::Strong => Style::new().bold(),
            Paint::Quote => Style::new().italic(),
            Paint::Heading => Style::new().bold().fg_color(Some(self.color(paint))),
            Paint::Link => Style::new().underline().fg_color(Some(self.color(paint))),
            _ => Style::new().fg_color(Some(self.color(paint))),
        }
    }

    fn color(self, paint: Paint) -> Color {
        let (dark, light, terminal) = match paint {
            Paint::Heading | Paint::Place => (0x7a_a2f7, 0x2e_5cb8, AnsiColor::Blue),
            Paint::Code | Paint::Tool => (0xe0_af68, 0x8f_5e15, AnsiColor::Yellow),
            Paint::Link => (0x7d_cfff, 0x0a_6a8a, AnsiColor::Cyan),
            Paint::Person | Paint::Good => (0x9e_ce6a, 0x38_7a1c, AnsiColor::Green),
            Paint::Bad => (0xf7_768e, 0xb0_2a44, AnsiColor::Red),
            Paint::Warning => (0xff_9e64, 0xa8_4a0c, AnsiColor::Magenta),
            Paint::Dim | Paint::Strong | Paint::Quote => (0x80_88a2, 0x6c_6f85, AnsiColor::BrightBlack),
        };
        match self {
            Self::Dark => rgb(dark),
            Self::Light => rgb(light),
            Self::Terminal => terminal.into(),
        }
    }
}

fn rgb(number: u32) -> Color {
    let [_, red, green, blue] = number.to_be_bytes();
    RgbColor(red, green, blue).into()
}
