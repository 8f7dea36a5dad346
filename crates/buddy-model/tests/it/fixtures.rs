//! Recorded-style streams, each with what becomes of it.

use std::collections::HashSet;
use std::fmt::{self, Write};

use buddy_model::{
    Chat, Decoder, DecoderContext, Delta, Frame, Framing, Ids, Messages, Ollama, Protocol, Reply, ReplyItem,
    WireError,
};

/// One stream and the wire it is of.
#[derive(Clone, Copy)]
pub(crate) struct Fixture {
    protocol: &'static dyn Protocol,
    framing: Framing,
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

impl fmt::Debug for Fixture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.protocol.wire(), self.name)
    }
}

/// The streams in `fixtures/<wire>`, by name.
macro_rules! fixtures {
    ($wire:ident, $protocol:ident, $framing:ident, $extension:literal: $($name:ident)*) => {
        mod $wire {
            use super::*;

            pub(super) const ALL: &[Fixture] = &[$(Fixture {
                protocol: &$protocol,
                framing: Framing::$framing,
                name: stringify!($name),
                bytes: include_bytes!(concat!(
                    "../../fixtures/", stringify!($wire), "/", stringify!($name), $extension
                )),
            }),*];

            $(#[test] fn $name() { check(ALL, stringify!($name)); })*
        }
    };
}

fixtures! { chat, Chat, Sse, ".sse":
    plain tools parallel_tools same_index_different_ids late_and_missing_ids finish_stop_with_calls repeated_calls
    reasoning_content reasoning_field reasoning_details content_parts refusal content_filter length_cut_call
    length_before_arguments cut_stream done_without_finish empty broken_arguments llama_cpp llama_cpp_python ollama_v1
    object_arguments unnumbered_calls error_mid_stream error_event usage_in_every_chunk usage_nonsense windows_line_ends garbage
}

fixtures! { messages, Messages, Sse, ".sse":
    plain tools parallel_tools thinking interleaved redacted refusal max_tokens_cut_call max_tokens_cut_thought
    context_exceeded pause_turn server_tools pings unknown_blocks error_mid_stream cut_stream whole_input_at_start
    caller broken_arguments no_message_stop end_without_reason llama_cpp unnamed_events windows_line_ends garbage empty
}

fixtures! { ollama, Ollama, Ndjson, ".ndjson":
    plain tools parallel_tools thinking length load refusal printed_call printed_block quoted_call error_mid_stream
    cut_stream cut_line whole no_prompt_count no_counts_no_reason text_arguments nulls blank_lines garbage empty
}

/// Every stream of every wire.
pub(crate) fn all() -> Vec<Fixture> {
    [chat::ALL, messages::ALL, ollama::ALL].concat()
}

fn check(fixtures: &[Fixture], name: &str) {
    let fixture = fixtures.iter().find(|fixture| fixture.name == name).unwrap();
    let folder = match fixture.protocol.wire() {
        "chat" => "snapshots".to_owned(),
        wire => format!("snapshots/{wire}"),
    };
    insta::with_settings!({
        omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => folder
    }, {
        insta::assert_snapshot!(name, described(&fixture.read([fixture.bytes])));
    });
}

impl Fixture {
    /// What chunks of this wire give: the deltas up to their end or their error.
    pub(crate) fn read<'a>(
        &self,
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<Delta>, Result<Reply, WireError>) {
        let (mut parser, mut frames) = (self.framing.framer(), Vec::new());
        for chunk in chunks {
            parser.push(chunk, &mut frames).unwrap();
        }
        parser.finish(&mut frames);
        let mut decoder = self.protocol.decoder(context());
        let mut deltas = Vec::new();
        match steps(&mut *decoder, frames, &mut deltas) {
            Ok(()) => (deltas, decoder.finish()),
            Err(error) => (deltas, Err(error)),
        }
    }
}

/// What a chat stream gives.
pub(crate) fn read_chat(bytes: &[u8]) -> (Vec<Delta>, Result<Reply, WireError>) {
    chat::ALL[0].read([bytes])
}

fn steps(decoder: &mut dyn Decoder, frames: Vec<Frame>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
    for frame in frames {
        deltas.extend(decoder.step(frame)?);
    }
    Ok(())
}

fn context() -> DecoderContext {
    DecoderContext {
        provider: "test".to_owned(),
        model: "gpt-test".to_owned(),
        ids: Ids::counting(),
        taken: HashSet::from(["call_taken".to_owned()]),
        tools: vec!["read_file".to_owned(), "now".to_owned()],
    }
}

fn described((deltas, end): &(Vec<Delta>, Result<Reply, WireError>)) -> String {
    let mut text = String::new();
    for delta in deltas.iter().take(12) {
        writeln!(text, "{delta:?}").unwrap();
    }
    if deltas.len() > 12 {
        writeln!(text, "… {} deltas in all", deltas.len()).unwrap();
    }
    match end {
        Err(error) => writeln!(text, "=> {error:?}").unwrap(),
        Ok(reply) => {
            writeln!(text, "=> {:?}, {:?}, {:?}", reply.stop, reply.usage, reply.model).unwrap();
            for item in &reply.items {
                writeln!(text, "{}", described_item(item)).unwrap();
            }
        }
    }
    text
}

fn described_item(item: &ReplyItem) -> String {
    serde_json::to_string(item).unwrap()
}
