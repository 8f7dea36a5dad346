//! A path as text that can be read back, also when it is not UTF-8.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A path that is written with `%XX` for every byte that is not plain text, and for `%` itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathText(pub PathBuf);

impl From<&Path> for PathText {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl fmt::Display for PathText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_bytes().utf8_chunks() {
            for letter in chunk.valid().chars() {
                if letter == '%' || letter.is_control() {
                    let mut buffer = [0; 4];
                    escape(letter.encode_utf8(&mut buffer).as_bytes(), formatter)?;
                } else {
                    write!(formatter, "{letter}")?;
                }
            }
            escape(chunk.invalid(), formatter)?;
        }
        Ok(())
    }
}

fn escape(bytes: &[u8], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(formatter, "%{byte:02x}"))
}

impl Serialize for PathText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PathText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        read(&text).map(Self).ok_or_else(|| D::Error::custom("a path with a broken escape"))
    }
}

fn read(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_read_back_as_it_was() {
        for bytes in [&b"/a/b c"[..], b"100%", b"\xff\xfe\n\x01", "é→".as_bytes(), b"%ff"] {
            let path = PathText(PathBuf::from(OsString::from_vec(bytes.to_vec())));
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<PathText>(&text).unwrap(), path, "{text}");
        }
        assert!(serde_json::from_str::<PathText>("\"%f\"").is_err());
    }
}
