//! SHA-256 of contents, computed while they are copied.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// Bytes per read.
const BUFFER: usize = 64 * 1024;

/// The SHA-256 of some bytes, in hexadecimal.
pub(crate) fn digest_of(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// Copies everything, unless it is more than `most` bytes, and returns digest and size.
pub(super) fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    most: u64,
) -> io::Result<Option<(String, u64)>> {
    let mut hasher = Sha256::new();
    let mut size = 0_u64;
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(Some((hex(&hasher.finalize()), size)));
        }
        size += count as u64;
        if size > most {
            return Ok(None);
        }
        let (piece, _) = buffer.split_at(count);
        hasher.update(piece);
        to.write_all(piece)?;
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
