//! Decoding a long answer on each wire: bytes to deltas, next to parsing its JSON alone.

use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use buddy_model::{Chat, DecoderContext, Framing, Messages, Ollama, Protocol, Responses};
use serde_json::Value;

use crate::sample::{median, timed};
use crate::table::{Row, Table};

/// A wire, and the piece that most of its answers consist of.
struct Wire {
    what: &'static str,
    protocol: &'static dyn Protocol,
    framing: Framing,
    /// The start of the stream, before the repeated piece.
    head: &'static str,
    /// The name of the event, on wires that name them.
    event: Option<&'static str>,
    json: &'static str,
}

const WIRES: [Wire; 4] = [
    Wire {
        what: "SSE and chat decoder",
        protocol: &Chat,
        framing: Framing::Sse,
        head: "",
        event: None,
        json: r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"bench","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}"#,
    },
    Wire {
        what: "SSE and responses decoder",
        protocol: &Responses,
        framing: Framing::Sse,
        head: "",
        event: Some("response.output_text.delta"),
        json: r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_68ab1c","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"x7KqPz"}"#,
    },
    Wire {
        what: "SSE and messages decoder",
        protocol: &Messages,
        framing: Framing::Sse,
        head: "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        event: Some("content_block_delta"),
        json: r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word"}}"#,
    },
    Wire {
        what: "NDJSON and Ollama decoder",
        protocol: &Ollama,
        framing: Framing::Ndjson,
        head: "",
        event: None,
        json: r#"{"model":"bench","created_at":"2026-10-01T10:00:00.512345Z","message":{"role":"assistant","content":" word"},"done":false}"#,
    },
];
const CHUNKS: usize = 100_000;
/// The size of one read from a socket.
const READ: usize = 16 * 1024;
const RUNS: usize = 5;
/// The required rate of every wire in megabytes per second: no network is that fast.
const GOAL: f64 = 200.0;

/// Measures megabytes per second through framing and decoder.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    WIRES.iter().try_for_each(|wire| measure_wire(wire, table))
}

fn measure_wire(wire: &Wire, table: &mut Table) -> Result<()> {
    let bytes = (wire.head.to_owned() + &wire.piece().repeat(CHUNKS)).into_bytes();
    let (mut decoding, mut parsing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (parsed, time) =
            timed(|| (0..CHUNKS).try_for_each(|_| serde_json::from_str::<Value>(wire.json).map(drop)));
        parsed?;
        parsing.push(time);
        let (deltas, time) = timed(|| decode(wire, &bytes));
        ensure!(deltas? == CHUNKS, "{}: deltas were lost", wire.what);
        decoding.push(time);
    }
    let (decoded, parsed) = (speed(bytes.len(), median(decoding)), speed(bytes.len(), median(parsing)));
    table.add(Row {
        what: wire.what,
        figure: format!("{decoded:.0} MB/s"),
        beside: format!("its JSON as values alone {parsed:.0} MB/s"),
        ratio: Some(decoded / parsed),
        goal: Some(("at least 200 MB/s", decoded >= GOAL)),
    });
    Ok(())
}

impl Wire {
    fn piece(&self) -> String {
        match (self.framing, self.event) {
            (Framing::Ndjson, _) => format!("{}\n", self.json),
            (Framing::Sse, None) => format!("data: {}\n\n", self.json),
            (Framing::Sse, Some(event)) => format!("event: {event}\ndata: {}\n\n", self.json),
        }
    }
}

fn decode(wire: &Wire, bytes: &[u8]) -> Result<usize> {
    let (mut framer, mut decoder) = (wire.framing.framer(), wire.protocol.decoder(DecoderContext::default()));
    let (mut frames, mut deltas) = (Vec::new(), 0);
    for piece in bytes.chunks(READ) {
        framer.push(piece, &mut frames)?;
        for frame in frames.drain(..) {
            deltas += decoder.step(frame).map_err(|error| anyhow!("{error}"))?.len();
        }
    }
    Ok(deltas)
}

#[expect(clippy::cast_precision_loss, reason = "megabytes")]
fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
