//! Numbers that nobody can guess, from the kernel.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// As many random bytes as are asked for.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_has_32_digits_and_differs_from_the_last_one() {
        let [first, second] = [(), ()].map(|()| nonce().unwrap());
        assert!(first.len() == 32 && first.chars().all(|digit| digit.is_ascii_hexdigit()), "{first}");
        assert_ne!(first, second);
    }
}
