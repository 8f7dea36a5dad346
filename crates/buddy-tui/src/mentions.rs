//! Images that a prompt names: `@shot.png`, or `@"my shot.png"` where there are spaces.

use std::time::Duration;

use buddy_protocol::{Command, SessionTarget};
use tokio::time::timeout;

use crate::console::Desk;

/// How long reading the images of a prompt may take.
const READ_WITHIN: Duration = Duration::from_secs(30);
/// The longest name of a file, and the longest path.
const MAX_NAME: usize = 255;
const MAX_PATH: usize = 1024;

/// How the names of files with images end.
const ENDINGS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// Whether a path is named like an image.
pub(crate) fn is_image(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| path.len() > ending.len() && path.ends_with(ending))
}

/// How a path is mentioned in a prompt.
pub(crate) fn write_mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// The paths of images that a prompt mentions, each once.
pub(crate) fn find_images(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let rest = text.get(at + 1..).filter(|_| letter == '@' && before.is_whitespace());
        before = letter;
        let path = rest.and_then(|rest| match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(path, _)| path),
            // A sentence may end behind it.
            None => rest
                .split(char::is_whitespace)
                .next()
                .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')'])),
        });
        let is_named =
            |path: &&str| path.len() <= MAX_PATH && path.split('/').all(|name| name.len() <= MAX_NAME);
        if let Some(path) = path.filter(|path| is_image(path)).filter(is_named)
            && !found.iter().any(|known| known == path)
        {
            found.push(path.to_owned());
        }
    }
    found
}

/// Gives the images of these paths with a prompt. What names no file is only a word; a file that cannot be read, or not in time,
/// is a reason not to send the prompt.
pub(crate) async fn attach_images(
    desk: &dyn Desk,
    target: &SessionTarget,
    paths: Vec<String>,
    command: &mut Command,
) -> Result<(), String> {
    let Command::Prompt { images, .. } = command else { return Ok(()) };
    let read = async {
        for path in paths {
            images.extend(desk.image(target, &path).await?);
        }
        Ok(())
    };
    let late = || Err(format!("buddy could not read the images within {} s", READ_WITHIN.as_secs()));
    timeout(READ_WITHIN, read).await.unwrap_or_else(|_| late())
}

/// A paste that is nothing but paths of images, as mentions: that is what terminals make of files that are dragged onto
/// them. None for any other paste.
pub(crate) fn read_dragged(text: &str) -> Option<String> {
    let paths: Option<Vec<String>> = words(text.trim())?.iter().map(|word| path(word)).collect();
    let paths = paths.filter(|paths| !paths.is_empty())?;
    let mentions: Vec<String> = paths.iter().map(|path| write_mention(path)).collect();
    Some(mentions.join(" ") + " ")
}

/// The path that a word stands for, if it is one of an image.
fn path(word: &str) -> Option<String> {
    let path = match word.strip_prefix("file://") {
        Some(url) => unescaped(url.get(url.find('/')?..)?)?,
        None => word.to_owned(),
    };
    let is_path = ["/", "~/", "./", "../"].iter().any(|start| path.starts_with(start));
    (is_path && is_image(&path) && !path.contains('"')).then_some(path)
}

/// The words of a line as a shell reads them: quoted, or with escaped spaces. None where a quote has no end.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '\\' if letter == '"' => word.push(letters.next()?),
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            space if space.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// The text of a URL's path: `%20` is a space. None where that makes no text.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_where_they_are_mentioned() {
        let table: [(&str, &[&str]); 8] = [
            ("look at @a.png and @b/c.JPG.", &["a.png", "b/c.JPG"]),
            ("@\"my shot.png\" please", &["my shot.png"]),
            ("@a.png @a.png", &["a.png"]),
            ("mail me@a.png", &[]),
            ("read @notes.md", &[]),
            ("@.png", &[]),
            ("@\"open.png", &[]),
            ("(see\n@~/x.webp)", &["~/x.webp"]),
        ];
        for (text, expected) in table {
            assert_eq!(find_images(text), expected, "{text}");
        }
    }

    #[test]
    fn dragged_files_become_mentions() {
        let table = [
            ("/tmp/a.png", Some("@/tmp/a.png ")),
            ("'/tmp/my shot.png' ", Some("@\"/tmp/my shot.png\" ")),
            ("/tmp/my\\ shot.png", Some("@\"/tmp/my shot.png\" ")),
            ("/tmp/a.png /tmp/b.jpeg\n", Some("@/tmp/a.png @/tmp/b.jpeg ")),
            ("file:///tmp/my%20shot.gif", Some("@\"/tmp/my shot.gif\" ")),
            ("file://host/tmp/a.gif", Some("@/tmp/a.gif ")),
            ("~/a.webp", Some("@~/a.webp ")),
            ("/tmp/a.png is broken", None),
            ("/tmp/a.txt", None),
            ("a.png", None),
            ("", None),
            ("'/tmp/a.png", None),
            ("file:///tmp/%zz.png", None),
            ("https://example.org/a.png", None),
        ];
        for (text, expected) in table {
            assert_eq!(read_dragged(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_a_drag_becomes_is_found_again() {
        for path in ["/tmp/a.png", "/tmp/my shot.png", "~/x y/z.gif"] {
            assert_eq!(find_images(&format!("see {} there", write_mention(path))), [path]);
        }
    }
}
