//! Credentials in the settings of git, such as a token in the address of a remote. No result shows them: git prints them, and a file with its
//! settings has too much else in it to be closed.

use std::collections::BTreeSet;

use serde_json::Value;

/// The text in place of a credential.
const MASK: &str = "***";

/// A result without these credentials.
pub(crate) fn without_credentials(value: Value, credentials: &BTreeSet<String>) -> Value {
    if credentials.is_empty() {
        return value;
    }
    match value {
        Value::String(text) => Value::String(masked(text, credentials)),
        Value::Array(values) => {
            values.into_iter().map(|value| without_credentials(value, credentials)).collect()
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, without_credentials(value, credentials))).collect()
        }
        other => other,
    }
}

/// Longer ones first: a password alone is a part of a name with a password.
fn masked(text: String, credentials: &BTreeSet<String>) -> String {
    let mut found: Vec<&String> = credentials.iter().filter(|one| text.contains(one.as_str())).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.len()));
    found.into_iter().fold(text, |text, one| text.replace(one.as_str(), MASK))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_of_a_result_is_masked() {
        let credentials = ["ann:hunter22", "hunter22"].map(str::to_owned).into();
        let result =
            json!({ "stdout": "o https://ann:hunter22@h/x", "rows": [{ "a": "=hunter22", "n": 1 }] });
        let expected = json!({ "stdout": "o https://***@h/x", "rows": [{ "a": "=***", "n": 1 }] });
        assert_eq!(without_credentials(result, &credentials), expected);
    }
}
