//! A model's answer over Chat Completions.
#![no_main]

use buddy_model::{Chat, Framing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buddy_fuzz::check(Framing::Sse, &Chat, bytes));
