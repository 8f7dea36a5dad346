//! An event from JSON. A parsed event can be written and parses as the same; folding it never panics.
#![no_main]

use buddy_protocol::{Event, Transcript, recovery};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut transcript = Transcript::default();
    // One event per line, so that the fuzzer can build whole sessions.
    for line in text.lines() {
        let Ok(event) = Event::from_json(line) else { continue };
        let written = event.to_json().expect("what was read can be written");
        let again = Event::from_json(&written).expect("what was written can be read");
        assert_eq!(event, again);
        // Numbers out of order are refused, without a panic.
        let _ = transcript.apply(&event);
    }
    let _ = recovery(&transcript, buddy_protocol::UnixMillis(0));
});
