//! Estimates of token counts, for prompts that are not sent yet and for providers that report no usage.
//!
//! The parts of a text count as they do on average in the vocabularies of current models. Prose, code and JSON come within a fifth of the
//! exact count; text without words, such as Base64, comes out a third too low.

use std::iter::Peekable;
use std::str::Chars;

use buddy_protocol::Image;

use crate::{Prompt, PromptItem, Reply, ReplyItem};

/// The tokens of every item in addition to its text: role, separators, ids.
const ITEM_OVERHEAD: u64 = 4;

/// The approximate number of pixels of an image per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// The minimum number of tokens of an image.
const MIN_IMAGE_TOKENS: u64 = 85;
/// The maximum; servers scale larger images down.
const MAX_IMAGE_TOKENS: u64 = 1_600;

/// Letters from here on are signs of their own, as in Chinese.
const FIRST_IDEOGRAPH: char = '\u{2e80}';
/// Pictures, such as faces, begin here.
const FIRST_PICTURE: char = '\u{1f000}';
/// Letters below are Latin.
const LATIN_END: char = '\u{250}';

/// The approximate number of tokens of a text, for any model.
pub fn estimate(text: &str) -> u64 {
    let mut letters = text.chars().peekable();
    let mut tenths = 0;
    while let Some(first) = letters.next() {
        tenths += tenths_of_run(first, &mut letters);
    }
    tenths.div_ceil(10)
}

/// Tenths of a token of the run of letters that begins here, which is taken.
fn tenths_of_run(first: char, rest: &mut Peekable<Chars<'_>>) -> u64 {
    match first {
        '0'..='9' => 10 * run(rest, |letter| letter.is_ascii_digit()).div_ceil(3),
        // A single space belongs to the word after it.
        ' ' => {
            if run(rest, |letter| letter == ' ') > 1 {
                8
            } else {
                0
            }
        }
        '\n' => {
            run(rest, |letter| letter == '\n');
            8
        }
        _ if first.is_whitespace() => 5,
        _ if is_word_letter(first) => tenths_of_word(first, rest),
        _ if first.is_ascii() => match run(rest, |letter| letter.is_ascii_punctuation()) {
            1 => 9,
            2 => 11,
            signs => 4 + 3 * signs,
        },
        FIRST_IDEOGRAPH..FIRST_PICTURE => 8,
        _ => 15,
    }
}

/// The length of a run, with the letter that began it.
fn run(rest: &mut Peekable<Chars<'_>>, is_same: impl Fn(char) -> bool) -> u64 {
    let mut length = 1;
    while rest.next_if(|&letter| is_same(letter)).is_some() {
        length += 1;
    }
    length
}

fn is_word_letter(letter: char) -> bool {
    letter.is_alphabetic() && letter < FIRST_IDEOGRAPH
}

/// A word ends where a capital follows a small letter too, as in names of code.
fn tenths_of_word(first: char, rest: &mut Peekable<Chars<'_>>) -> u64 {
    let (mut letters, mut capitals, mut is_ascii) = (0_u64, 0_u64, true);
    let mut next = Some(first);
    while let Some(letter) = next {
        letters += 1;
        capitals += u64::from(letter.is_uppercase());
        is_ascii &= letter.is_ascii();
        let is_small = letter.is_lowercase();
        next = rest.next_if(|&letter| is_word_letter(letter) && !(is_small && letter.is_uppercase()));
    }
    match letters {
        _ if first >= LATIN_END => 10 * letters.div_ceil(5),
        _ if letters > 1 && capitals == letters => 10 * letters.div_ceil(3),
        _ if !is_ascii => 10 + 3 * letters.saturating_sub(4),
        _ => 10 + 2 * letters.saturating_sub(7),
    }
}

/// The tokens of a whole prompt.
pub fn of_prompt(prompt: &Prompt) -> u64 {
    let tools: u64 = prompt
        .tools
        .iter()
        .map(|tool| estimate(&tool.description) + estimate(&tool.parameters.to_string()) + ITEM_OVERHEAD)
        .sum();
    estimate(&prompt.system) + tools + of_items(&prompt.items)
}

/// The tokens of items of a prompt.
pub fn of_items(items: &[PromptItem]) -> u64 {
    let texts = |item: &PromptItem| match item {
        PromptItem::User { text, .. }
        | PromptItem::Assistant { text, .. }
        | PromptItem::Reasoning { text, .. } => estimate(text),
        PromptItem::ToolCall { name, arguments, .. } => estimate(name) + estimate(arguments),
        PromptItem::ToolResult { output, .. } => estimate(output),
    };
    let images = |item: &PromptItem| item.images().iter().map(of_image).sum::<u64>();
    items.iter().map(|item| texts(item) + images(item) + ITEM_OVERHEAD).sum()
}

/// The approximate number of tokens of an image: providers count its area, between a minimum and a maximum.
fn of_image(image: &Image) -> u64 {
    let area = u64::from(image.width) * u64::from(image.height);
    (area / PIXELS_PER_TOKEN).clamp(MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS)
}

/// The tokens of an answer.
pub fn of_reply(reply: &Reply) -> u64 {
    let texts = |item: &ReplyItem| match item {
        ReplyItem::Text { text, .. } | ReplyItem::Reasoning { text, .. } => estimate(text),
        ReplyItem::ToolCall { name, arguments, .. } => {
            estimate(name) + estimate(&serde_json::to_string(arguments).unwrap_or_default())
        }
    };
    reply.items.iter().map(texts).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks an estimate against the count of the vocabulary `o200k_base`, in percent of it.
    #[track_caller]
    fn check(text: &str, exact: u64, percent: std::ops::RangeInclusive<u64>) {
        let share = estimate(text) * 100 / exact;
        assert!(percent.contains(&share), "{share} % of {exact}: {text:.40}");
    }

    #[test]
    fn estimates_of_words_and_code_stay_near_the_exact_count() {
        let prose = "The agent reads the file, runs the tests and tells you what it found. ";
        check(&format!("{}\n", prose.repeat(20)), 321, 90..=115);
        let code = "fn main() { let total: u64 = values.iter().map(|value| value.len() as u64).sum(); }\n";
        check(&format!("{}\n", code.repeat(20)), 540, 90..=120);
    }

    #[test]
    fn other_languages_stay_near_it_too() {
        for (text, exact) in [
            (
                "Der Agent liest die Datei, führt die Tests aus und berichtet, was er gefunden hat. Außerdem prüft er, ob die Einstellungen des Benutzers gültig sind, und schlägt Änderungen vor, falls etwas nicht stimmt. Größere Umbauten bespricht er vorher mit dem Entwickler, damit niemand von überraschenden Ergebnissen enttäuscht wird.\n",
                69,
            ),
            (
                "L'agent lit le fichier, exécute les tests et vous dit ce qu'il a trouvé. Il vérifie également que les réglages de l'utilisateur sont valides et propose des modifications si nécessaire, après discussion avec les développeurs.\n",
                49,
            ),
            (
                "Агент читает файл, запускает тесты и сообщает о результатах. Кроме того, он проверяет настройки пользователя и предлагает изменения, если что-то не так. Крупные изменения он заранее обсуждает с разработчиком.\n",
                47,
            ),
            (
                "代理读取文件，运行测试，并告诉你它发现了什么。此外，它还会检查用户的设置是否有效，并在出现问题时提出修改建议。较大的改动会事先与开发人员讨论。\n",
                44,
            ),
        ] {
            check(text, exact, 90..=140);
        }
    }

    #[test]
    fn nothing_is_nothing_and_a_letter_is_something() {
        assert_eq!(estimate(""), 0);
        for text in ["a", "7", "ü", "中", "🦀", "\n", "}"] {
            assert!((1..=2).contains(&estimate(text)), "{text}");
        }
    }
}
