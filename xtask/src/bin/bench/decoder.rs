//! Reading a long answer: bytes to deltas, beside parsing its JSON alone.

use std::time::Duration;

use anyhow::{Result, anyhow};
use buddy_model::{Chat, DecoderContext, Framing, Protocol};
use serde_json::Value;

use crate::sample::{median, timed};
use crate::table::{Row, Table};

const CHUNK: &str = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"bench","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}"#;
const CHUNKS: usize = 100_000;
/// What one read from a socket gives.
const READ: usize = 16 * 1024;
const RUNS: usize = 5;

/// Megabytes a second through framing and decoder.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let bytes = format!("data: {CHUNK}\n\n").repeat(CHUNKS).into_bytes();
    let (mut decoding, mut parsing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (parsed, time) =
            timed(|| (0..CHUNKS).try_for_each(|_| serde_json::from_str::<Value>(CHUNK).map(drop)));
        parsed?;
        parsing.push(time);
        let (deltas, time) = timed(|| decode(&bytes));
        anyhow::ensure!(deltas? == CHUNKS, "deltas were lost");
        decoding.push(time);
    }
    let (decoded, parsed) = (speed(bytes.len(), median(decoding)), speed(bytes.len(), median(parsing)));
    table.add(Row {
        what: "SSE and chat decoder",
        figure: format!("{decoded:.0} MB/s"),
        beside: format!("its JSON as values alone {parsed:.0} MB/s"),
        ratio: Some(decoded / parsed),
        goal: None,
    });
    Ok(())
}

fn decode(bytes: &[u8]) -> Result<usize> {
    let (mut framer, mut decoder) = (Framing::Sse.framer(), Chat.decoder(DecoderContext::default()));
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
