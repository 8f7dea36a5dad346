//! The end of a plain request. Nothing after it is sent on: it could be a request for another host.

use httparse::Header;

/// The longest line with the size of a chunk, or of a trailer.
const MAX_LINE: usize = 4096;

/// The part of a request's body that is still to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// This many bytes.
    Length(u64),
    /// Chunks, up to the last one.
    Chunks(Chunk),
}

/// The position in a body of chunks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In the line before a chunk.
    Size(Vec<u8>),
    /// In a chunk, with this many bytes left of it and of its line end.
    Data(u64),
    /// After the last chunk, in a line.
    Trailer(Vec<u8>),
    /// After the end.
    Over,
}

impl Body {
    /// Reads from the headers where the body ends. `None` if servers could disagree about it.
    pub(super) fn of(headers: &[Header<'_>]) -> Option<Self> {
        let values = |name: &str| {
            let named = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            named.map(|header| str::from_utf8(header.value).ok().map(str::trim)).collect::<Option<Vec<_>>>()
        };
        match (values("content-length")?.as_slice(), values("transfer-encoding")?.as_slice()) {
            ([], []) => Some(Self::Length(0)),
            ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => {
                Some(Self::Chunks(Chunk::Size(Vec::new())))
            }
            ([length], []) if length.bytes().all(|digit| digit.is_ascii_digit()) => {
                length.parse().ok().map(Self::Length)
            }
            _ => None,
        }
    }

    /// Takes from the beginning of these bytes as many as belong to the body. `None` if they are no chunks.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Length(left) => {
                let taken = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= taken as u64;
                Some(taken)
            }
            Self::Chunks(chunk) => {
                let mut taken = 0;
                while let Some(rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
                    match chunk.take(rest)? {
                        0 => break,
                        more => taken += more,
                    }
                }
                Some(taken)
            }
        }
    }

    /// Whether nothing of it is to come.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunks(Chunk::Over))
    }
}

impl Chunk {
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1);
        match self {
            Self::Over => Some(0),
            Self::Data(left) => {
                let taken = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= taken as u64;
                if *left == 0 {
                    *self = Self::Size(Vec::new());
                }
                Some(taken)
            }
            Self::Size(line) | Self::Trailer(line) => {
                line.extend_from_slice(bytes.get(..end)?);
                if line.len() > MAX_LINE {
                    return None;
                }
                if line.ends_with(b"\n") {
                    *self = self.next()?;
                }
                Some(end)
            }
        }
    }

    /// The position after a whole line.
    fn next(&self) -> Option<Self> {
        match self {
            Self::Trailer(line) if line == b"\r\n" => Some(Self::Over),
            Self::Trailer(_) => Some(Self::Trailer(Vec::new())),
            Self::Size(line) => match httparse::parse_chunk_size(line) {
                Ok(httparse::Status::Complete((_, 0))) => Some(Self::Trailer(Vec::new())),
                Ok(httparse::Status::Complete((_, size))) => size.checked_add(2).map(Self::Data),
                _ => None,
            },
            Self::Data(_) | Self::Over => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(headers: &[(&'static str, &'static str)]) -> Option<Body> {
        let headers: Vec<Header<'_>> =
            headers.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
        Body::of(&headers)
    }

    #[test]
    fn a_body_has_one_end() {
        assert_eq!(body(&[]), Some(Body::Length(0)));
        assert_eq!(body(&[("Content-Length", " 5 ")]), Some(Body::Length(5)));
        assert!(body(&[("transfer-encoding", "Chunked")]).is_some());
        for headers in [
            &[("content-length", "5"), ("content-length", "5")][..],
            &[("content-length", "+5")],
            &[("content-length", "5, 5")],
            &[("content-length", "5"), ("transfer-encoding", "chunked")],
            &[("transfer-encoding", "gzip, chunked")],
            &[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")],
        ] {
            assert_eq!(body(headers), None, "{headers:?}");
        }
    }

    #[test]
    fn nothing_after_the_end_belongs_to_it() {
        for (headers, text) in [
            ([("content-length", "5")], "hello"),
            ([("transfer-encoding", "chunked")], "5\r\nhello\r\n1;a=b\r\nx\r\n0\r\nA: b\r\n\r\n"),
        ] {
            let whole = format!("{text}GET http://evil.test/ HTTP/1.1\r\n\r\n");
            for size in [1, 3, whole.len()] {
                let mut body = body(&headers).unwrap();
                let mut passed = String::new();
                for piece in whole.as_bytes().chunks(size) {
                    let taken = body.take(piece).unwrap();
                    passed.push_str(str::from_utf8(&piece[..taken]).unwrap());
                }
                assert_eq!(passed, text, "{size}");
                assert!(body.is_over());
            }
        }
        let mut broken = body(&[("transfer-encoding", "chunked")]).unwrap();
        assert_eq!(broken.take(b"x\r\n"), None);
    }
}
