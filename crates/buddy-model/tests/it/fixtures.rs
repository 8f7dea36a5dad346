//! Recorded-style streams, each with what becomes of it.

use std::collections::HashSet;
use std::fmt::Write;

use buddy_model::{
    Chat, Decoder, DecoderContext, Delta, Frame, Framing, Ids, Protocol, Reply, ReplyItem, WireError,
};

/// Every stream in `fixtures/chat`, by name.
macro_rules! fixtures {
    ($($name:ident)*) => {
        pub(crate) const ALL: &[(&str, &[u8])] = &[
            $((stringify!($name), include_bytes!(concat!("../../fixtures/chat/", stringify!($name), ".sse")))),*
        ];

        mod each {
            $(#[test] fn $name() { super::check(stringify!($name)); })*
        }
    };
}

fixtures! {
    plain tools parallel_tools same_index_different_ids late_and_missing_ids finish_stop_with_calls repeated_calls
    reasoning_content reasoning_field reasoning_details content_parts refusal content_filter length_cut_call
    length_before_arguments cut_stream done_without_finish empty broken_arguments llama_cpp llama_cpp_python ollama_v1
    object_arguments unnumbered_calls error_mid_stream error_event usage_in_every_chunk usage_nonsense windows_line_ends garbage
}

fn check(name: &str) {
    let (_, bytes) = ALL.iter().find(|(known, _)| *known == name).unwrap();
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, described(&read([*bytes])));
    });
}

/// What a stream of chunks gives: the deltas up to its end or its error.
pub(crate) fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Delta>, Result<Reply, WireError>) {
    let (mut parser, mut frames) = (Framing::Sse.framer(), Vec::new());
    for chunk in chunks {
        parser.push(chunk, &mut frames).unwrap();
    }
    let mut decoder = Chat.decoder(context());
    let mut deltas = Vec::new();
    match steps(&mut *decoder, frames, &mut deltas) {
        Ok(()) => (deltas, decoder.finish()),
        Err(error) => (deltas, Err(error)),
    }
}

fn steps(decoder: &mut dyn Decoder, frames: Vec<Frame>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
    for frame in frames {
        deltas.extend(decoder.step(frame)?);
    }
    Ok(())
}

fn context() -> DecoderContext {
    let taken = HashSet::from(["call_taken".to_owned()]);
    DecoderContext { provider: "test".to_owned(), model: "gpt-test".to_owned(), ids: Ids::counting(), taken }
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
