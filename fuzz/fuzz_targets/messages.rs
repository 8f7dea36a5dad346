//! A model's answer over Messages.
#![no_main]

use buddy_model::{Framing, Messages};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buddy_fuzz::check(Framing::Sse, &Messages, bytes));
