//! The parser against a literal transcription of the WHATWG rules, at every split.

use proptest::prelude::*;

use super::*;

/// "Interpreting an event stream" of the HTML standard, step by step, on the whole text at once.
fn by_the_rules(bytes: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop(); // An unfinished line at the end of the stream is discarded.
    let (mut data, mut event, mut frames) = (String::new(), String::new(), Vec::new());
    for line in lines {
        if line.is_empty() {
            if data.is_empty() {
                event.clear();
                continue;
            }
            if data.ends_with('\n') {
                data.pop();
            }
            frames.push(Frame { event: std::mem::take(&mut event), data: std::mem::take(&mut data) });
            continue;
        }
        if line.starts_with(':') {
            continue;
        }
        let (field, value) = match line.split_once(':') {
            Some((field, value)) => (field, value.strip_prefix(' ').unwrap_or(value)),
            None => (line, ""),
        };
        match field {
            "event" => value.clone_into(&mut event),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            _ => {}
        }
    }
    frames
}

fn parse(chunks: &[&[u8]]) -> Vec<Frame> {
    let (mut parser, mut frames) = (SseFramer::default(), Vec::new());
    for chunk in chunks {
        parser.push(chunk, &mut frames).unwrap();
    }
    frames
}

fn check(bytes: &[u8]) -> Vec<(String, String)> {
    let expected = by_the_rules(bytes);
    for cut in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(cut);
        assert_eq!(parse(&[head, tail]), expected, "split at {cut}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(parse(&single), expected, "byte by byte");
    expected.into_iter().map(|frame| (frame.event, frame.data)).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(event, data)| ((*event).to_owned(), (*data).to_owned())).collect()
}

#[test]
fn line_ends_of_every_kind() {
    let expected = pairs(&[("", "a"), ("", "b\nc")]);
    assert_eq!(check(b"data: a\n\ndata: b\ndata: c\n\n"), expected);
    assert_eq!(check(b"data: a\r\n\r\ndata: b\r\ndata: c\r\n\r\n"), expected);
    assert_eq!(check(b"data: a\r\rdata: b\rdata: c\r\r"), expected);
    assert_eq!(check(b"data: a\r\n\rdata: b\ndata: c\r\n\n"), expected);
}

#[test]
fn marks_comments_names_and_unknown_fields() {
    assert_eq!(check("\u{feff}data: a\n\n".as_bytes()), pairs(&[("", "a")]));
    assert_eq!(check("data: a\n\n\u{feff}data: b\n\n".as_bytes()), pairs(&[("", "a")]));
    assert_eq!(check(b": hello\n\n:\nevent: x\nid: 7\nretry: 1\nwhat\ndata:a\n\n"), pairs(&[("x", "a")]));
    assert_eq!(check(b"event: x\n\ndata: a\n\n"), pairs(&[("", "a")]));
    assert_eq!(check(b"event: x\nevent\ndata\n\n"), pairs(&[("", "")]));
    assert_eq!(check(b"data:  two spaces\n\n"), pairs(&[("", " two spaces")]));
}

#[test]
fn text_beyond_ascii_and_unfinished_ends() {
    assert_eq!(check("data: äß🦀\n\n".as_bytes()), pairs(&[("", "äß🦀")]));
    assert_eq!(check(b"data: \xff\xfe\n\n"), pairs(&[("", "\u{fffd}\u{fffd}")]));
    assert_eq!(check(b"data: a\n\ndata: unfinished\n"), pairs(&[("", "a")]));
    assert_eq!(check(b""), pairs(&[]));
}

#[test]
fn an_event_without_end_is_refused() {
    let (mut parser, mut frames) = (SseFramer::default(), Vec::new());
    let chunk = vec![b'x'; 1024 * 1024];
    parser.push(b"data: ", &mut frames).unwrap();
    let refused = (0..64).find(|_| parser.push(&chunk, &mut frames).is_err());
    assert_eq!(refused, Some(15));
    let (mut parser, mut lines) = (SseFramer::default(), b"data: ".to_vec());
    lines.extend_from_slice(&chunk);
    lines.push(b'\n');
    let refused = (0..64).find(|_| parser.push(&lines, &mut frames).is_err());
    assert_eq!(refused, Some(15));
    assert!(frames.is_empty());
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data: x".to_vec()),
        Just(b"data".to_vec()),
        Just(b"event: e".to_vec()),
        Just(b"event".to_vec()),
        Just(b": c".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just("\u{feff}".as_bytes().to_vec()),
        Just("é🦀".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_split_follows_the_rules(bytes in stream(), sizes in proptest::collection::vec(1_usize..9, 1..64)) {
        let (mut parser, mut frames, mut rest) = (SseFramer::default(), Vec::new(), &bytes[..]);
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            parser.push(head, &mut frames).unwrap();
            rest = tail;
        }
        prop_assert_eq!(frames, by_the_rules(&bytes));
    }
}
