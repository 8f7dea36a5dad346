//! Whether the ground of the terminal is light or dark, as the terminal itself says.
//!
//! The answer comes among the keys, as the letters that it is made of. Keys are held back only as long as they can be a part
//! of it and only for a moment, and are typed then; nothing waits for an answer, which may never come.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyModifiers};

use crate::editor::EditorKey;
use crate::text::Theme;

/// The question.
pub(super) const QUESTION: &str = "\u{1b}]11;?\u{1b}\\";
/// How an answer begins. What follows is `rgb:` or `rgba:` and three or four numbers.
const HEAD: &str = "\u{1b}]11;rgb";
/// How long keys are held that could be its beginning.
const HELD: Duration = Duration::from_millis(300);
/// How long after the question an answer may come in pieces. Later, Esc is a key at once.
const IN_PIECES: Duration = Duration::from_secs(3);
/// The most letters of an answer.
const LONGEST: usize = 48;

/// Listens for the answer.
#[derive(Debug)]
pub(super) struct GroundQuery {
    asked: Option<Instant>,
    held: Vec<EditorKey>,
    since: Option<Instant>,
}

/// The meaning of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeardKey {
    /// It may be a part of the answer.
    Part,
    /// These were typed.
    Keys(Vec<EditorKey>),
    /// The answer: the theme for this ground.
    Answer(Theme),
}

impl GroundQuery {
    /// Listens from now on, if the question is put.
    pub(super) fn new(asked: Option<Instant>) -> Self {
        Self { asked, held: Vec::new(), since: None }
    }

    /// Takes a key.
    pub(super) fn hear(&mut self, key: EditorKey, now: Instant) -> HeardKey {
        let Some(asked) = self.asked else { return HeardKey::Keys(vec![key]) };
        let is_lone_escape = key.code == KeyCode::Esc && self.held.is_empty();
        if is_lone_escape && now.saturating_duration_since(asked) > IN_PIECES {
            return HeardKey::Keys(vec![key]);
        }
        self.held.push(key);
        self.since = self.since.or(Some(now));
        let Some(text) = letters(&self.held).filter(|text| is_part(text)) else {
            return HeardKey::Keys(self.release());
        };
        match theme(&text) {
            Some(theme) => {
                self.release();
                self.asked = None;
                HeardKey::Answer(theme)
            }
            None => HeardKey::Part,
        }
    }

    /// When what is held is to be typed after all.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.since.map(|since| since + HELD)
    }

    /// The held keys.
    pub(super) fn release(&mut self) -> Vec<EditorKey> {
        self.since = None;
        std::mem::take(&mut self.held)
    }
}

/// The letters that these keys came from.
fn letters(keys: &[EditorKey]) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        match (key.code, key.held) {
            (KeyCode::Esc, KeyModifiers::NONE) => text.push('\u{1b}'),
            (KeyCode::Char('g'), KeyModifiers::CONTROL) => text.push('\u{7}'),
            (KeyCode::Char(letter), KeyModifiers::ALT) => text.extend(['\u{1b}', letter]),
            (KeyCode::Char(letter), KeyModifiers::NONE) => text.push(letter),
            _ => return None,
        }
    }
    Some(text)
}

/// Whether an answer can begin like this.
fn is_part(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(HEAD) else { return HEAD.starts_with(text) };
    let rest = rest.strip_prefix('a').unwrap_or(rest);
    let Some(numbers) = rest.strip_prefix(':') else { return rest.is_empty() };
    let end = numbers.trim_start_matches(|letter: char| letter.is_ascii_hexdigit() || letter == '/');
    text.len() <= LONGEST && matches!(end, "" | "\u{7}" | "\u{1b}" | "\u{1b}\\")
}

/// The theme for the ground that a whole answer tells of.
fn theme(text: &str) -> Option<Theme> {
    let answer = text.strip_suffix('\u{7}').or_else(|| text.strip_suffix("\u{1b}\\"))?;
    let (_, numbers) = answer.split_once(':')?;
    let parts: Vec<u64> = numbers.split('/').filter_map(of_a_thousand).collect();
    let [red, green, blue, ..] = *parts.as_slice() else { return None };
    // How bright people see the three.
    let brightness = (red * 299 + green * 587 + blue * 114) / 1000;
    Some(if brightness > 500 { Theme::Light } else { Theme::Dark })
}

/// A hexadecimal number as a part of a thousand of the most that its digits can say.
fn of_a_thousand(digits: &str) -> Option<u64> {
    let most =
        16u64.checked_pow(u32::try_from(digits.len()).ok().filter(|count| (1..=4).contains(count))?)? - 1;
    Some(u64::from_str_radix(digits, 16).ok()? * 1000 / most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that a terminal library makes of these bytes.
    fn keys(text: &str) -> Vec<EditorKey> {
        let mut keys = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            keys.push(match letter {
                '\u{1b}' => {
                    let next = letters.next().unwrap();
                    EditorKey { code: KeyCode::Char(next), held: KeyModifiers::ALT }
                }
                '\u{7}' => EditorKey::named("ctrl-g").unwrap(),
                letter => EditorKey { code: KeyCode::Char(letter), held: KeyModifiers::NONE },
            });
        }
        keys
    }

    /// The keys that come through, and the theme that was told.
    fn check(all: &[EditorKey], typed: &[EditorKey], theme: Option<Theme>) {
        let now = Instant::now();
        let mut ground = GroundQuery::new(Some(now));
        let (mut through, mut told) = (Vec::new(), None);
        for key in all {
            match ground.hear(*key, now) {
                HeardKey::Part => {}
                HeardKey::Keys(keys) => through.extend(keys),
                HeardKey::Answer(theme) => told = Some(theme),
            }
        }
        through.extend(ground.release());
        assert_eq!((through.as_slice(), told), (typed, theme));
    }

    #[test]
    fn an_answer_is_no_typing_whatever_its_form() {
        for (answer, theme) in [
            ("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\", Theme::Light),
            ("\u{1b}]11;rgb:1e1e/1e1e/2e2e\u{7}", Theme::Dark),
            ("\u{1b}]11;rgb:FD/F6/E3\u{7}", Theme::Light),
            ("\u{1b}]11;rgba:0000/2b2b/3636/ffff\u{1b}\\", Theme::Dark),
        ] {
            check(&keys(answer), &[], Some(theme));
        }
    }

    #[test]
    fn an_answer_in_pieces_is_one_too() {
        let mut split = vec![EditorKey::named("esc").unwrap()];
        split.extend(keys("]11;rgb:ff/ff/ff"));
        split.extend([EditorKey::named("esc").unwrap(), keys("\\")[0]]);
        check(&split, &[], Some(Theme::Light));
    }

    #[test]
    fn what_is_typed_comes_through_in_its_order() {
        let typed = keys("hello \u{1b}]11 \u{1b}bworld\u{7}");
        check(&typed, &typed, None);
        let around: Vec<EditorKey> = [keys("ab"), keys("\u{1b}]11;rgb:0/0/0\u{7}"), keys("cd")].concat();
        check(&around, &keys("abcd"), Some(Theme::Dark));
        let endless = keys(&format!("\u{1b}]11;rgb:{}", "f".repeat(200)));
        check(&endless, &endless, None);
    }

    #[test]
    fn what_is_held_is_held_for_a_moment_and_escape_only_at_the_start() {
        let now = Instant::now();
        let escape = EditorKey::named("esc").unwrap();
        let mut ground = GroundQuery::new(Some(now));
        assert_eq!(ground.deadline(), None);
        assert_eq!(ground.hear(escape, now), HeardKey::Part);
        assert_eq!(ground.deadline(), Some(now + HELD));
        assert_eq!(ground.release(), [escape]);
        let later = now + IN_PIECES + HELD;
        assert_eq!(ground.hear(escape, later), HeardKey::Keys(vec![escape]));
        assert_eq!(GroundQuery::new(None).hear(keys("\u{1b}]")[0], now), HeardKey::Keys(keys("\u{1b}]")));
    }
}
