//! An answer that has to fit a JSON Schema.

use std::error::Error;

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use buddy_protocol::{Failure, FailureKind};
use serde_json::Value;

/// The largest schema, in bytes. It is sent with the prompt, so what is larger leaves no room for the work.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// How often a model that misses the schema is asked again.
pub(super) const CORRECTIONS: u32 = 2;
/// Mismatches that are told at once; the rest shows once these are mended.
const TOLD: usize = 10;
/// Characters of one mismatch.
const TOLD_CHARS: usize = 300;
/// The name under which the schema is compiled. Nothing is read or fetched by it.
const SCHEMA_NAME: &str = "urn:answer";

/// The schema of an answer.
pub struct AnswerSchema {
    text: String,
    schemas: Schemas,
    root: SchemaIndex,
}

/// Refuses to load schemas: a schema refers only to its own parts.
struct RefusedReferences;

impl UrlLoader for RefusedReferences {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("it refers to {url}, which is not in it").into())
    }
}

/// Why a text is no schema that can be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// It is too large to be sent along.
    #[error("it has more than {MAX_SCHEMA_BYTES} bytes")]
    TooLarge,
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON and no schema, or refers to something that is not in it.
    #[error("it is not a JSON Schema: {0}")]
    Schema(String),
}

/// An answer that fits: its JSON as the model wrote it, and what that says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fitting {
    pub(super) text: String,
    pub(super) value: Value,
}

impl AnswerSchema {
    /// Reads a schema. What it refers to has to be in it: nothing is fetched.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        if text.len() > MAX_SCHEMA_BYTES {
            return Err(SchemaError::TooLarge);
        }
        let schema: Value = serde_json::from_str(text)?;
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(RefusedReferences));
        let compiled = match compiler.add_resource(SCHEMA_NAME, schema) {
            Ok(()) => compiler.compile(SCHEMA_NAME, &mut schemas),
            Err(error) => Err(error),
        };
        let root = compiled.map_err(|error| SchemaError::Schema(clipped(&format!("{error:#}"))))?;
        Ok(Self { text: text.trim().to_owned(), schemas, root })
    }

    /// A prompt with the schema, as it is sent.
    pub fn asked(&self, prompt: &str) -> String {
        format!(
            "{prompt}\n\nYour last message must be one JSON value that fits this schema, and nothing else: no words around \
             it, no code fence.\n\n{}",
            self.block()
        )
    }

    /// The prompt to a model whose answer did not fit.
    pub(super) fn corrected(&self, mismatch: &str) -> String {
        format!(
            "Your last message does not fit the schema:\n\n<schema_mismatch>\n{mismatch}\n</schema_mismatch>\n\nSay it again as one JSON value that fits, and \
             nothing else.\n\n{}",
            self.block()
        )
    }

    fn block(&self) -> String {
        format!("<output_schema>\n{}\n</output_schema>", self.text)
    }

    /// Holds an answer against it. The error says what does not fit, for the model and for people.
    pub(super) fn fit(&self, answer: &str) -> Result<Fitting, String> {
        let text = bare(answer);
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let mismatches = match self.schemas.validate(&value, self.root) {
            Ok(()) => Vec::new(),
            Err(error) => describe_mismatches(&error),
        };
        if mismatches.is_empty() {
            return Ok(Fitting { text: text.to_owned(), value });
        }
        Err(mismatches.join("; "))
    }
}

/// The innermost mismatches of an answer, each with its place.
fn describe_mismatches(error: &ValidationError<'_, '_>) -> Vec<String> {
    let mut open = vec![error];
    let mut described = Vec::new();
    while let Some(error) = open.pop().filter(|_| described.len() < TOLD) {
        if !error.causes.is_empty() {
            open.extend(error.causes.iter().rev());
            continue;
        }
        described.push(match error.instance_location.to_string() {
            path if path.is_empty() => clipped(&error.kind.to_string()),
            path => format!("{}: {}", clipped(&path), clipped(&error.kind.to_string())),
        });
    }
    described
}

/// The failure of a run whose answer never fitted.
pub(super) fn missed(mismatch: &str) -> Failure {
    Failure {
        http_status: None,
        kind: FailureKind::Internal,
        message: format!("the answer does not fit the schema: {mismatch}"),
        hint: Some(format!(
            "the model was asked again {CORRECTIONS} times; a simpler schema or another model may help"
        )),
    }
}

/// The JSON of an answer, without the one code fence that it may stand in. Words around a fence are no JSON.
fn bare(answer: &str) -> &str {
    const FENCE: &str = "```";
    let answer = answer.trim();
    let within = || {
        let (first, rest) = answer.split_once('\n')?;
        let (inner, last) = rest.rsplit_once('\n')?;
        // The rest of the line that opens a fence names a language.
        (first.starts_with(FENCE) && last.trim() == FENCE).then(|| inner.trim())
    };
    within().unwrap_or(answer)
}

fn clipped(text: &str) -> String {
    text.chars().take(TOLD_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: &str = r#"{"type": "object", "properties": {"count": {"type": "integer"}},
                            "required": ["count"], "additionalProperties": false}"#;

    fn fits(answer: &str) -> Result<String, String> {
        AnswerSchema::parse(NOTES).unwrap().fit(answer).map(|fitting| fitting.text)
    }

    #[test]
    fn an_answer_fits_bare_or_in_a_lone_fence() {
        let json = "{\"count\": 3}";
        for answer in [
            json.to_owned(),
            format!("\n {json}\n"),
            format!("```json\n{json}\n```"),
            format!("```\n{json}\n```\n"),
        ] {
            assert_eq!(fits(&answer), Ok(json.to_owned()), "{answer}");
        }
        let text = AnswerSchema::parse("{\"type\": \"string\"}").unwrap();
        assert_eq!(text.fit("\"a ``` b ``` c\"").unwrap().value, "a ``` b ``` c");
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for (answer, told) in [
            ("There are three.", "not JSON"),
            ("{\"count\": \"three\"}", "/count"),
            ("{}", "count"),
            ("Here it is:\n\n```\n{\"count\": 1}\n```", "not JSON"),
            ("```\n{\"count\": 1}\n```\nThat is all.", "not JSON"),
            ("{\"count\": 1, \"more\": 2}", "more"),
            ("```\n{\"count\": 1}\n```\n```\n{\"count\": 2}\n```", "not JSON"),
        ] {
            let mismatch = fits(answer).unwrap_err();
            assert!(mismatch.contains(told), "{answer}: {mismatch}");
        }
    }

    #[test]
    fn what_is_told_is_short_whatever_the_answer_holds() {
        let schema = AnswerSchema::parse("{\"additionalProperties\": {\"type\": \"integer\"}}").unwrap();
        let long = "x".repeat(100_000);
        let mismatch = schema.fit(&format!("{{\"{long}\": \"{long}\"}}")).unwrap_err();
        assert!(mismatch.len() <= 2 * TOLD_CHARS + 2, "{}", mismatch.len());
    }

    #[test]
    fn a_fence_within_a_text_is_no_fence() {
        let text = AnswerSchema::parse("{\"type\": \"string\"}").unwrap();
        let fenced = format!("```json\n{}\n```", serde_json::json!("a\n```\nb"));
        assert_eq!(text.fit(&fenced).unwrap().value, "a\n```\nb");
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for text in ["", "{", "3", "{\"type\": 12}", "{\"$ref\": \"https://example.com/x.json\"}", "[]"] {
            assert!(AnswerSchema::parse(text).is_err(), "{text}");
        }
        let large = format!("{{\"description\": \"{}\"}}", "x".repeat(MAX_SCHEMA_BYTES));
        assert!(matches!(AnswerSchema::parse(&large), Err(SchemaError::TooLarge)));
    }
}
