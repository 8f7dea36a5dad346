//! Streams of every wire in the style of recordings, each with its expected result.

use std::collections::HashSet;
use std::fmt::{self, Write};

use buddy_model::{
    Chat, Decoder, DecoderContext, Delta, Frame, Framing, Ids, Messages, Ollama, Protocol, Reply, ReplyItem,
    Responses, WireError,
};

/// One answer as it came over the network.
#[derive(Clone, Copy)]
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
    pub(crate) protocol: &'static dyn Protocol,
    pub(crate) framing: Framing,
}

impl fmt::Debug for Fixture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// The result of decoding: the deltas up to the end or the error.
pub(crate) type Read = (Vec<Delta>, Result<Reply, WireError>);

/// Every file below `fixtures`: the name of a group, its folder, protocol, framing and extension, then the files.
macro_rules! fixtures {
    ($($group:ident: $folder:literal, $protocol:expr, $framing:expr, $extension:literal => $($name:ident)*;)*) => {
        pub(crate) const ALL: &[Fixture] = &[
            $($(Fixture {
                name: concat!(stringify!($group), "_", stringify!($name)),
                bytes: include_bytes!(
                    concat!("../../fixtures/", $folder, "/", stringify!($name), ".", $extension)
                ),
                protocol: &$protocol,
                framing: $framing,
            }),*),*
        ];

        $(mod $group {
            $(#[test] fn $name() {
                super::check(concat!(stringify!($group), "_", stringify!($name)));
            })*
        })*
    };
}

fixtures! {
    chat: "chat", Chat, Framing::Sse, "sse" =>
        plain tools parallel_tools same_index_different_ids late_and_missing_ids finish_stop_with_calls
        repeated_calls reasoning_content reasoning_field reasoning_details content_parts refusal content_filter
        length_cut_call length_before_arguments cut_stream done_without_finish empty broken_arguments llama_cpp
        llama_cpp_python ollama_v1 object_arguments unnumbered_calls error_mid_stream error_event
        usage_in_every_chunk usage_nonsense windows_line_ends garbage thought_signatures printed_call
        printed_blocks printed_lines printed_quote length_whole_call filter_whole_call unknown_reason_whole_call
        refusal_with_call refusal_behind_a_call;
    responses: "responses", Responses, Framing::Sse, "sse" =>
        annotated cache_write cut_in_a_line cut_stream empty error_event error_of_a_gateway failed
        failed_rate_limit garbage incomplete_filter incomplete_length incomplete_without_items interleaved_tools
        items_only_at_the_end length_cut_call not_an_object odd_calls only_deltas parallel_tools plain reasoning
        reasoning_in_the_open refusal tools unknown_events usage_nonsense windows_line_ends without_event_names
        length_whole_call filter_whole_call incomplete_by_its_event_only incomplete_call_of_a_complete_answer
        unknown_status_whole_call refusal_with_call refusal_only_in_deltas refusal_only_as_part
        refusal_only_at_the_end incomplete_message_of_a_complete_answer;
    responses_document: "responses", Responses, Framing::Sse, "json" =>
        whole whole_error whole_failed whole_incomplete whole_of_another_wire;
    messages: "messages", Messages, Framing::Sse, "sse" =>
        plain tools parallel_tools thinking interleaved redacted refusal max_tokens_cut_call
        max_tokens_cut_thought context_exceeded pause_turn server_tools pings unknown_blocks error_mid_stream
        cut_stream whole_input_at_start caller broken_arguments no_message_stop end_without_reason llama_cpp
        unnamed_events windows_line_ends garbage empty max_tokens_whole_call refusal_whole_call
        pause_turn_whole_call unknown_reason_whole_call refusal_in_the_details max_tokens_then_tool_use;
    messages_document: "messages", Messages, Framing::Sse, "json" =>
        whole whole_error;
    ollama: "ollama", Ollama, Framing::Ndjson, "ndjson" =>
        plain tools parallel_tools thinking length load refusal printed_call printed_block quoted_call
        error_mid_stream cut_stream cut_line whole no_prompt_count no_counts_no_reason text_arguments nulls
        blank_lines garbage empty length_whole_call length_printed_call unknown_reason_whole_call;
}

fn check(name: &str) {
    let fixture = ALL.iter().find(|fixture| fixture.name == name).unwrap();
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, described(&read(fixture, [fixture.bytes])));
    });
}

/// Answers that their model did not end on purpose, each with a call that is whole JSON or a printed call.
const CUT: [&str; 18] = [
    "chat_length_whole_call",
    "chat_filter_whole_call",
    "chat_unknown_reason_whole_call",
    "chat_refusal_with_call",
    "responses_length_whole_call",
    "responses_filter_whole_call",
    "responses_incomplete_by_its_event_only",
    "responses_incomplete_call_of_a_complete_answer",
    "responses_incomplete_message_of_a_complete_answer",
    "responses_unknown_status_whole_call",
    "messages_max_tokens_then_tool_use",
    "messages_max_tokens_whole_call",
    "messages_refusal_whole_call",
    "messages_pause_turn_whole_call",
    "messages_unknown_reason_whole_call",
    "ollama_length_whole_call",
    "ollama_length_printed_call",
    "ollama_unknown_reason_whole_call",
];

#[test]
fn no_call_of_an_answer_that_was_cut_may_run() {
    for name in CUT {
        let fixture = ALL.iter().find(|fixture| fixture.name == name).unwrap();
        let reply = read(fixture, [fixture.bytes]).1.unwrap();
        assert!(!reply.stop.lets_calls_run(), "{name}: {:?}", reply.stop);
        let calls = reply.items.iter().filter(|item| matches!(item, ReplyItem::ToolCall { .. })).count();
        assert_eq!(calls, usize::from(name != "ollama_length_printed_call"), "{name}");
    }
}

/// Decodes the bytes of a fixture, or a variation of them, as the driver would.
pub(crate) fn read<'a>(fixture: &Fixture, chunks: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let chunks: Vec<&[u8]> = chunks.into_iter().collect();
    let mut decoder = fixture.protocol.decoder(context());
    let is_document = fixture.framing == Framing::Sse && fixture.bytes.first() == Some(&b'{');
    let mut deltas = Vec::new();
    let end = if is_document {
        document(&mut *decoder, &chunks.concat(), &mut deltas)
    } else {
        let (mut framer, mut frames) = (fixture.framing.framer(), Vec::new());
        for chunk in chunks {
            framer.push(chunk, &mut frames).unwrap();
        }
        framer.finish(&mut frames);
        steps(&mut *decoder, frames, &mut deltas)
    };
    (deltas, end.and_then(|()| decoder.finish()))
}

fn document(decoder: &mut dyn Decoder, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), WireError> {
    let body = serde_json::from_slice(bytes).map_err(|error| WireError::Malformed(error.to_string()))?;
    deltas.extend(decoder.whole(&body)?);
    Ok(())
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

fn described((deltas, end): &Read) -> String {
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
