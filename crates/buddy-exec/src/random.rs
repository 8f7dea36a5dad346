//! Unpredictable numbers from the kernel.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// The requested number of random bytes.
pub(crate) fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while filled < COUNT {
        filled += getrandom(bytes.get_mut(filled..).unwrap_or_default(), GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// A nonce: 128 random bits as hexadecimal digits.
pub(crate) fn nonce() -> io::Result<String> {
    Ok(format!("{:032x}", u128::from_ne_bytes(random()?)))
}

/// Letters of a word: consonants that look like no other letter and no digit.
const LETTERS: &[u8; 16] = b"bcdfghjkmnprtvwx";
/// The number of letters of a word: with three tries, one in 300,000 is guessed.
const WORD_LETTERS: usize = 5;

/// An unpredictable word that the user reads and types to confirm something.
pub fn confirmation_word() -> io::Result<String> {
    let bytes: [u8; WORD_LETTERS] = random()?;
    let letter = |byte: &u8| LETTERS.get(usize::from(byte % 16)).copied().map_or('b', char::from);
    Ok(bytes.iter().map(letter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_has_32_digits_and_differs_from_the_last_one() {
        let [first, second] = [(), ()].map(|()| nonce().unwrap());
        assert!(first.len() == 32 && first.chars().all(|digit| digit.is_ascii_hexdigit()), "{first}");
        assert_ne!(first, second);
    }

    #[test]
    fn a_word_has_five_letters_that_cannot_be_mistaken() {
        let words: Vec<String> = (0..50).map(|_| confirmation_word().unwrap()).collect();
        for word in &words {
            assert!(
                word.len() == WORD_LETTERS && word.bytes().all(|letter| LETTERS.contains(&letter)),
                "{word}"
            );
        }
        assert!(words.iter().any(|word| *word != words[0]));
    }
}
