//! Decodes bytes to text: by the byte order mark, by the server's header, by the page's own declaration, else
//! UTF-8 if valid.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The number of bytes at the start of a page that may declare its encoding, as in browsers.
const PRESCAN: usize = 1024;

/// The text of a body.
pub(crate) fn decode(body: &[u8], content_type: Option<&str>) -> String {
    let named = content_type.and_then(charset).or_else(|| charset(&head(body)));
    let encoding = named.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = encoding.unwrap_or_else(|| if is_utf8(body) { UTF_8 } else { WINDOWS_1252 });
    // A byte order mark overrides all declarations.
    let (text, _, _) = encoding.decode(body);
    text.into_owned()
}

fn head(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(..PRESCAN).unwrap_or(body)).into_owned()
}

/// Whether it is UTF-8, except perhaps for a character that was cut at the end.
fn is_utf8(body: &[u8]) -> bool {
    std::str::from_utf8(body).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// The value after `charset=`.
fn charset(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (_, after) = lower.split_once("charset")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let is_part = |letter: &char| letter.is_ascii_alphanumeric() || "-_:.".contains(*letter);
    let label: String = value.chars().take_while(is_part).collect();
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &[u8], content_type: Option<&str>, text: &str) {
        assert_eq!(decode(body, content_type), text);
    }

    #[test]
    fn the_server_says_how_the_body_is_written() {
        check(b"caf\xe9", Some("text/plain; charset=ISO-8859-1"), "café");
        check("café".as_bytes(), Some("text/plain; Charset=\"utf-8\""), "café");
        check(b"\x82\xb1", Some("text/html; charset=Shift_JIS"), "こ");
    }

    #[test]
    fn a_page_says_it_itself_where_the_server_does_not() {
        check(b"<meta charset='windows-1251'>\xcf", Some("text/html"), "<meta charset='windows-1251'>П");
    }

    #[test]
    fn a_mark_at_the_beginning_wins() {
        check(b"\xef\xbb\xbfcaf\xc3\xa9", Some("text/plain; charset=latin1"), "café");
        check(b"\xff\xfea\0", None, "a");
    }

    #[test]
    fn text_without_a_charset_is_utf_8_or_windows_1252() {
        check("naïve …".as_bytes(), None, "naïve …");
        check(b"cut \xe2\x80", None, "cut \u{fffd}");
        check(b"caf\xe9 \x80", None, "café €");
        check(b"\xff", Some("text/plain; charset=nonsense"), "ÿ");
    }
}
