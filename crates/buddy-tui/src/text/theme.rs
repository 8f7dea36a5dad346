//! Themes: which style each kind of text has, at each depth of colour.
//!
//! Text is the terminal's own foreground on its own ground; colour belongs to the agent, to content and to risk. The values for
//! 256 and 16 colours are chosen by hand: the nearest match turns the red band pink.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style};

use super::colors::Colors;

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

/// The role of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Results, hints, counts, reasoning.
    Dim,
    /// Second to what matters: verbs, names in the status line.
    Soft,
    /// Important text, such as keys.
    Strong,
    /// Titles in an answer.
    Heading,
    /// Names and code within a sentence.
    Code,
    /// Words of a language in code.
    Keyword,
    /// Numbers and constants in code.
    Number,
    /// Links.
    Link,
    /// Words of somebody else.
    Quote,
    /// The user's words and prompt.
    Person,
    /// The agent: what it says, and that it works.
    Agent,
    /// Lines that were added, strings in code.
    Good,
    /// Lines that were removed, failures, high risk.
    Bad,
    /// Careful; medium risk.
    Warning,
    /// Low risk.
    Low,
    /// Places in a diff.
    Place,
    /// Rules and frames.
    Edge,
    /// The edge of a card, by its tone.
    CardEdge(Tone),
    /// The band on top of a card, by its tone.
    Band(Tone),
    /// The cap of a key.
    Key,
    /// The one key that a card suggests.
    Primary,
    /// The ground of lines that were added, and of what changed within one.
    AddedLine,
    AddedWord,
    /// The same of lines that were removed.
    RemovedLine,
    RemovedWord,
    /// The row that is chosen.
    Selected,
}

/// The kind of a card: a level of risk, or a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Low,
    Medium,
    High,
    Question,
}

/// One colour at every depth, on a light ground and on a dark one.
#[derive(Clone, Copy)]
struct Shade {
    rgb: [u32; 2],
    palette: [u8; 2],
    /// None is the colour that the terminal has anyway.
    ansi: [Option<AnsiColor>; 2],
}

const fn shade(rgb: [u32; 2], palette: [u8; 2], ansi: [Option<AnsiColor>; 2]) -> Shade {
    Shade { rgb, palette, ansi }
}

const fn both(color: AnsiColor) -> [Option<AnsiColor>; 2] {
    [Some(color), Some(color)]
}

const SOFT: Shade = shade([0x46_5257, 0xb7_beb8], [239, 251], [None; 2]);
const DIM: Shade = shade([0x59_656a, 0x92_9e9f], [242, 246], [None; 2]);
const EDGE: Shade = shade([0x76_8387, 0x58_666d], [245, 242], [None; 2]);
const AGENT: Shade = shade([0x00_6f68, 0x61_d4ca], [23, 80], both(AnsiColor::Cyan));
const LOW: Shade =
    shade([0x1d_5e85, 0x90_cdf1], [25, 117], [Some(AnsiColor::Blue), Some(AnsiColor::BrightBlue)]);
const MEDIUM: Shade = shade([0x7d_4b05, 0xf6_c668], [94, 221], both(AnsiColor::Yellow));
const HIGH: Shade =
    shade([0xb3_131d, 0xff_9e9b], [124, 210], [Some(AnsiColor::Red), Some(AnsiColor::BrightRed)]);
const MEDIUM_EDGE: Shade = shade([0xd5_8e00, 0xf7_b83d], [172, 214], both(AnsiColor::Yellow));
const HIGH_EDGE: Shade = shade([0xcb_1c29, 0xe8_3f41], [160, 160], both(AnsiColor::Red));
const ADDED: Shade = shade([0x15_6234, 0x8f_dca4], [22, 114], both(AnsiColor::Green));
const CODE: Shade =
    shade([0x16_55a7, 0x97_c9fd], [25, 111], [Some(AnsiColor::Blue), Some(AnsiColor::BrightBlue)]);
const KEYWORD: Shade = shade([0x6b_3d97, 0xd5_b9f7], [91, 183], both(AnsiColor::Magenta));
const NUMBER: Shade = shade([0x79_4d0b, 0xf1_cc79], [94, 222], both(AnsiColor::Yellow));

/// A fill: its ground, and what is written on it where that is not the terminal's own colour.
struct Fill {
    ground: Shade,
    text: Option<Shade>,
}

const LOW_BAND: Fill = Fill {
    ground: shade([0xdb_ecfa, 0x16_2e3e], [153, 24], both(AnsiColor::Blue)),
    text: Some(shade([0x12_557c, 0x9e_d6f8], [24, 195], both(AnsiColor::BrightWhite))),
};
const MEDIUM_BAND: Fill = Fill {
    ground: shade([0xf4_af2d, 0xf7_b83d], [214, 214], both(AnsiColor::BrightYellow)),
    text: Some(shade([0x2e_1a01, 0x25_1400], [16, 16], both(AnsiColor::Black))),
};
const HIGH_BAND: Fill = Fill {
    ground: shade([0xcb_1c29, 0xdc_2932], [160, 160], both(AnsiColor::Red)),
    text: Some(shade([0xff_fafa, 0xff_fcfc], [231, 231], both(AnsiColor::BrightWhite))),
};
const QUESTION_BAND: Fill = Fill {
    ground: shade([0x00_7a73, 0x61_d4ca], [23, 80], both(AnsiColor::Cyan)),
    text: Some(shade([0xf5_fefd, 0x03_1a19], [231, 16], both(AnsiColor::Black))),
};
const KEY: Fill = Fill {
    ground: shade([0xe0_ded7, 0x2a_3740], [252, 238], [None; 2]),
    text: Some(shade([0x15_2025, 0xf2_f0ea], [16, 231], [None; 2])),
};
const ADDED_LINE: Fill = Fill { ground: shade([0xdc_f7e2, 0x0d_2c1b], [194, 22], [None; 2]), text: None };
const ADDED_WORD: Fill = Fill { ground: shade([0xaf_eabe, 0x09_5330], [157, 28], [None; 2]), text: None };
const REMOVED_LINE: Fill = Fill { ground: shade([0xff_e8e7, 0x3c_171a], [224, 52], [None; 2]), text: None };
const REMOVED_WORD: Fill = Fill { ground: shade([0xff_c4c3, 0x73_282d], [217, 88], [None; 2]), text: None };
const SELECTED: Fill = Fill { ground: shade([0xea_e8df, 0x1c_2a32], [254, 236], [None; 2]), text: None };

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

    /// The style of a kind of text where there are so many colours.
    pub(super) fn style(self, paint: Paint, colors: Colors) -> Style {
        let depth = match (self, colors) {
            (Self::Terminal, Colors::True | Colors::Palette) => Colors::Sixteen,
            (_, colors) => colors,
        };
        let ink = Ink { is_light: self == Self::Light, depth };
        match paint {
            Paint::Dim | Paint::Place => ink.text(DIM, Effects::DIMMED),
            Paint::Soft => ink.text(SOFT, Effects::new()),
            Paint::Strong | Paint::Heading | Paint::Person => Style::new().bold(),
            Paint::Code => ink.text(CODE, Effects::new()),
            Paint::Keyword => ink.text(KEYWORD, Effects::new()),
            Paint::Number => ink.text(NUMBER, Effects::new()),
            Paint::Link => ink.text(CODE, Effects::new()).underline(),
            Paint::Quote => Style::new().italic(),
            Paint::Agent => ink.text(AGENT, Effects::new()),
            Paint::Good => ink.text(ADDED, Effects::new()),
            Paint::Bad => ink.text(HIGH, Effects::new()),
            Paint::Warning => ink.text(MEDIUM, Effects::new()),
            Paint::Low => ink.text(LOW, Effects::new()),
            Paint::Edge => ink.text(EDGE, Effects::DIMMED),
            Paint::CardEdge(tone) => ink.text(tone.edge(), Effects::new()),
            Paint::Band(tone) => ink.fill(&tone.band(), Effects::INVERT),
            Paint::Key => ink.fill(&KEY, Effects::new()).bold(),
            Paint::Primary => Style::new().invert(),
            Paint::AddedLine => ink.line(&ADDED_LINE, ADDED),
            Paint::RemovedLine => ink.line(&REMOVED_LINE, HIGH),
            Paint::AddedWord => ink.word(&ADDED_WORD, ADDED),
            Paint::RemovedWord => ink.word(&REMOVED_WORD, HIGH),
            Paint::Selected => ink.fill(&SELECTED, Effects::new()),
        }
    }
}

impl Tone {
    fn edge(self) -> Shade {
        match self {
            Self::Low => LOW,
            Self::Medium => MEDIUM_EDGE,
            Self::High => HIGH_EDGE,
            Self::Question => AGENT,
        }
    }

    fn band(self) -> Fill {
        match self {
            Self::Low => LOW_BAND,
            Self::Medium => MEDIUM_BAND,
            Self::High => HIGH_BAND,
            Self::Question => QUESTION_BAND,
        }
    }

    /// The text of what is risky about it.
    pub(crate) fn ink(self) -> Paint {
        match self {
            Self::Low => Paint::Low,
            Self::Medium => Paint::Warning,
            Self::High => Paint::Bad,
            Self::Question => Paint::Agent,
        }
    }
}

/// How colours are chosen.
#[derive(Clone, Copy)]
struct Ink {
    is_light: bool,
    depth: Colors,
}

impl Ink {
    fn color(self, shade: Shade) -> Option<Color> {
        let pick = usize::from(!self.is_light);
        match self.depth {
            Colors::None | Colors::Mono => None,
            Colors::Sixteen => shade.ansi.get(pick).copied().flatten().map(Color::from),
            Colors::Palette => shade.palette.get(pick).map(|&index| Ansi256Color(index).into()),
            Colors::True => shade.rgb.get(pick).map(|&number| rgb(number)),
        }
    }

    /// Whether the ground of a text can be anything but a few strong colours.
    fn has_tints(self) -> bool {
        self.depth >= Colors::Palette
    }

    /// Text in a colour; with these effects where there is none for it.
    fn text(self, shade: Shade, otherwise: Effects) -> Style {
        let color = self.color(shade);
        let effects = if color.is_some() { Effects::new() } else { otherwise };
        Style::new().fg_color(color).effects(effects)
    }

    /// Text on a ground; with these effects where there are no colours at all.
    fn fill(self, fill: &Fill, otherwise: Effects) -> Style {
        if self.depth < Colors::Sixteen {
            return Style::new().effects(otherwise);
        }
        let text = fill.text.and_then(|shade| self.color(shade));
        Style::new().bg_color(self.color(fill.ground)).fg_color(text)
    }

    /// A line of a diff: on a ground where there is one for it, else in the colour of its sign.
    fn line(self, fill: &Fill, sign: Shade) -> Style {
        if self.has_tints() { self.fill(fill, Effects::new()) } else { self.text(sign, Effects::new()) }
    }

    /// The changed part of such a line.
    fn word(self, fill: &Fill, sign: Shade) -> Style {
        let style = self.line(fill, sign);
        if self.has_tints() { style } else { style.bold().underline() }
    }
}

fn rgb(number: u32) -> Color {
    let [_, red, green, blue] = number.to_be_bytes();
    RgbColor(red, green, blue).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_have_a_colour_of_their_own_at_every_depth_and_are_reversed_without() {
        let band = |theme: Theme, colors| theme.style(Paint::Band(Tone::High), colors).to_string();
        assert_eq!(band(Theme::Dark, Colors::Palette), "\u{1b}[38;5;231m\u{1b}[48;5;160m");
        assert_eq!(band(Theme::Light, Colors::Sixteen), "\u{1b}[97m\u{1b}[41m");
        assert_eq!(band(Theme::Terminal, Colors::True), "\u{1b}[97m\u{1b}[41m");
        assert_eq!(band(Theme::Dark, Colors::Mono), "\u{1b}[7m");
    }

    #[test]
    fn without_colours_no_style_has_one() {
        let tones = [Tone::Low, Tone::Medium, Tone::High, Tone::Question];
        let cards = tones.into_iter().flat_map(|tone| [Paint::CardEdge(tone), Paint::Band(tone), tone.ink()]);
        let others = [Paint::Dim, Paint::Edge, Paint::Key, Paint::AddedWord, Paint::Selected, Paint::Link];
        for paint in cards.chain(others) {
            let style = Theme::Dark.style(paint, Colors::Mono);
            assert_eq!((style.get_fg_color(), style.get_bg_color()), (None, None), "{paint:?}");
        }
    }
}
