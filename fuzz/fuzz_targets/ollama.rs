//! A model's answer over Ollama's own wire.
#![no_main]

use buddy_model::{Framing, Ollama};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buddy_fuzz::check(Framing::Ndjson, &Ollama, bytes));
