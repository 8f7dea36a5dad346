//! The last bytes of a stream of any length, in bounded memory, and cuts that do not split a character.

use std::collections::VecDeque;

/// Keeps the last `cap` bytes that were pushed.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
    cap: usize,
}

impl Tail {
    pub(crate) fn new(cap: usize) -> Self {
        Self { bytes: VecDeque::new(), cap }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(self.cap);
        let overflow = (self.bytes.len() + kept).saturating_sub(self.cap);
        self.bytes.drain(..overflow);
        self.bytes.extend(&bytes[bytes.len() - kept..]);
    }

    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.bytes.into()
    }
}

/// The longest prefix of `bytes` up to `limit` that does not end inside a UTF-8 character.
///
/// Bytes that are not UTF-8 at all are left alone: at most three bytes are given up.
pub(crate) fn head_cut(bytes: &[u8], limit: usize) -> usize {
    let limit = limit.min(bytes.len());
    let window = limit.saturating_sub(3);
    let lead = (window..limit).rev().find(|&at| !is_continuation(bytes[at]));
    match lead {
        Some(at) if at + char_len(bytes[at]) > limit => at,
        _ => limit,
    }
}

/// The number of bytes at the start of `bytes` that belong to a character that began before it.
pub(crate) fn tail_cut(bytes: &[u8]) -> usize {
    let run = bytes.iter().take(4).take_while(|&&byte| is_continuation(byte)).count();
    // Four in a row are not the end of any character, so this is not UTF-8 and is not cut.
    if run > 3 { 0 } else { run }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn char_len(lead: u8) -> usize {
    match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(cap: usize, pushes: &[&str]) -> String {
        let mut tail = Tail::new(cap);
        for push in pushes {
            tail.push(push.as_bytes());
        }
        String::from_utf8(tail.into_vec()).unwrap()
    }

    #[test]
    fn keeps_the_last_bytes() {
        assert_eq!(tail_of(4, &["abc"]), "abc");
        assert_eq!(tail_of(4, &["abc", "d", "ef"]), "cdef");
        assert_eq!(tail_of(4, &["ab", "cdefghij"]), "ghij");
        assert_eq!(tail_of(0, &["ab", "c"]), "");
    }

    #[test]
    fn cuts_before_a_character_and_not_inside_it() {
        let text = "aé€😀z".as_bytes();
        let cuts: Vec<usize> = (0..=text.len()).map(|limit| head_cut(text, limit)).collect();
        assert_eq!(cuts, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11]);
        let skips: Vec<usize> = (0..text.len()).map(|from| tail_cut(&text[from..])).collect();
        assert_eq!(skips, [0, 0, 1, 0, 2, 1, 0, 3, 2, 1, 0]);
    }

    #[test]
    fn leaves_bytes_alone_that_are_no_text() {
        assert_eq!(head_cut(&[0x80; 9], 5), 5);
        assert_eq!(tail_cut(&[0x80; 9]), 0);
        assert_eq!(head_cut(&[0xFF; 9], 5), 5);
    }
}
