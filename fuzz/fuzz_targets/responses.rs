//! A model's answer over Responses.
#![no_main]

use buddy_model::{Framing, Responses};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buddy_fuzz::check(Framing::Sse, &Responses, bytes));
