//! Prints how fast each wire reads long answers on one core: `cargo run --release -p buddy-model --example
//! throughput`.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use buddy_model::{Chat, DecoderContext, Framing, Messages, Ollama, Protocol, Responses};

/// Bytes of one measured answer.
const ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// The size of one read from a fast connection.
const READ_BYTES: usize = 16 * 1024;

/// The number of runs per case; the best one counts, since the machine has other work to do.
const ROUNDS: usize = 5;

/// A case: its wire and a repeatable piece of an answer.
struct Case {
    name: &'static str,
    protocol: &'static dyn Protocol,
    framing: Framing,
    /// The start of the stream, before the repeated piece.
    head: &'static str,
    event: &'static str,
}

const CASES: [Case; 7] = [
    Case {
        name: "chat, text",
        protocol: &Chat,
        framing: Framing::Sse,
        head: "",
        event: concat!(
            r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-test","#,
            r#""choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}"#,
            "\n\n"
        ),
    },
    Case {
        name: "chat, arguments",
        protocol: &Chat,
        framing: Framing::Sse,
        head: "",
        event: concat!(
            r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-test","#,
            r#""choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"write","#,
            r#""arguments":"\"line\\n "}}]},"finish_reason":null}]}"#,
            "\n\n"
        ),
    },
    Case {
        name: "chat, unusual",
        protocol: &Chat,
        framing: Framing::Sse,
        head: "",
        event: concat!(
            r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-test","#,
            r#""choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}],"#,
            r#""usage":{"prompt_tokens":9,"completion_tokens":9}}"#,
            "\n\n"
        ),
    },
    Case {
        name: "responses, text",
        protocol: &Responses,
        framing: Framing::Sse,
        head: "",
        event: concat!(
            "event: response.output_text.delta\n",
            r#"data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_68ab1c","#,
            r#""output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"x7KqPz"}"#,
            "\n\n"
        ),
    },
    Case {
        name: "responses, arguments",
        protocol: &Responses,
        framing: Framing::Sse,
        head: "",
        event: concat!(
            "event: response.function_call_arguments.delta\n",
            r#"data: {"type":"response.function_call_arguments.delta","sequence_number":4,"item_id":"fc_68ab1c","#,
            r#""output_index":0,"delta":"\"line\\n ","obfuscation":"x7KqPz"}"#,
            "\n\n"
        ),
    },
    Case {
        name: "messages, text",
        protocol: &Messages,
        framing: Framing::Sse,
        head: "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        event: concat!(
            "event: content_block_delta\n",
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word"}}"#,
            "\n\n"
        ),
    },
    Case {
        name: "ollama, text",
        protocol: &Ollama,
        framing: Framing::Ndjson,
        head: "",
        event: concat!(
            r#"{"model":"qwen3:8b","created_at":"2026-10-01T10:00:00.512345Z","#,
            r#""message":{"role":"assistant","content":" word"},"done":false}"#,
            "\n"
        ),
    },
];

#[expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program's own output, in round numbers"
)]
fn main() -> Result<()> {
    for case in CASES {
        let bytes = case.head.to_owned() + &case.event.repeat(ANSWER_BYTES / case.event.len());
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            best = best.min(measure(&case, bytes.as_bytes())?);
        }
        let speed = bytes.len() as f64 / 1e6 / best.as_secs_f64();
        println!("{:22} {speed:6.0} MB/s", case.name);
    }
    Ok(())
}

fn measure(case: &Case, bytes: &[u8]) -> Result<Duration> {
    let started = Instant::now();
    let (mut framer, mut decoder) = (case.framing.framer(), case.protocol.decoder(DecoderContext::default()));
    let (mut frames, mut deltas) = (Vec::new(), 0);
    for piece in bytes.chunks(READ_BYTES) {
        framer.push(piece, &mut frames)?;
        for frame in frames.drain(..) {
            deltas += decoder.step(frame)?.len();
        }
    }
    let expected = (bytes.len() - case.head.len()) / case.event.len();
    (deltas == expected).then_some(started.elapsed()).context("an event gave no delta")
}
