//! A call's arguments. Whole arguments are the JSON as it came; repaired ones are marked; a cut text is never
//! repaired.
#![no_main]

use buddy_model::Arguments;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &str| {
    if let Arguments::Object { value, repaired: false } = Arguments::parse(raw) {
        let text = raw.trim();
        assert!(text.is_empty() || text == "null" || serde_json_agrees(text, &value));
    }
    assert!(!matches!(Arguments::parse_cut(raw), Arguments::Object { repaired: true, .. }));
    if let Arguments::Broken { error, .. } = Arguments::parse(raw) {
        assert!(!error.is_empty());
    }
});

fn serde_json_agrees(text: &str, value: &serde_json::Map<String, serde_json::Value>) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok_and(|parsed| parsed == *value)
}
