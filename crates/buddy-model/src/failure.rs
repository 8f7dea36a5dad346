//! From a server's complaint to a kind of error. Pure: status, headers' facts and body in, [`ModelError`]
//! out.
//!
//! Status codes alone do not decide: a 429 may be an empty account, a 400 an overlong prompt, a 500 a request
//! that fails the same way for ever. So this module reads the body first, in the formats that providers and
//! local servers use.

use std::time::Duration;

use serde_json::Value;

use crate::clean::clipped;
use crate::error::Retry;
use crate::{ModelError, ModelErrorKind, WireError};

/// The maximum length of a quote from the server.
const MAX_DETAIL_CHARS: usize = 300;

/// The facts about a failed response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure {
    /// The HTTP status, or the one an error inside a stream claims.
    pub(crate) status: Option<u16>,
    /// The delay after which the server wants the retry.
    pub(crate) retry_after: Option<Duration>,
    /// The server's error message.
    pub(crate) complaint: Complaint,
}

/// The server's error message, unwrapped from any format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The message for users.
    pub(crate) message: String,
    /// The field that the server rejects.
    pub(crate) param: Option<String>,
    /// Code, type and message in lower case, for matching.
    words: String,
}

impl Complaint {
    /// Parses an error body: JSON in any usual format, a gateway's page, or plain text.
    pub(crate) fn from_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => {
                Self::from_value(value.get("error").filter(|error| !error.is_null()).unwrap_or(&value))
            }
            Err(_) if looks_like_html(body) => Self::from_html(body),
            Err(_) => Self::from_text(body),
        }
    }

    /// Parses an error object: `message`, `code` and `type` may each be absent, null or of another type.
    pub(crate) fn from_value(error: &Value) -> Self {
        if let Value::String(text) = error {
            return Self::from_text(text);
        }
        let field = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let message = [field("message"), field("detail")].into_iter().find(|text| !text.is_empty());
        let message =
            message.unwrap_or_else(|| if error.is_null() { String::new() } else { error.to_string() });
        let words = format!("{} {} {message}", field("code"), field("type")).to_lowercase();
        let param = Some(field("param")).filter(|param| !param.is_empty());
        Self { message: clipped(&message, MAX_DETAIL_CHARS), param, words }
    }

    fn from_text(text: &str) -> Self {
        Self { message: clipped(text, MAX_DETAIL_CHARS), param: None, words: text.to_lowercase() }
    }

    /// Takes only the title of a gateway's page.
    fn from_html(page: &str) -> Self {
        let lower = page.to_lowercase();
        let title = lower.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        let title = clipped(title.map_or("", |(title, _)| title), 80);
        Self {
            message: format!("a web page came instead of an answer: “{title}”"),
            param: None,
            words: title,
        }
    }

    /// Code, type and message in lower case.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    pub(crate) fn mentions(&self, needle: &str) -> bool {
        self.words.contains(needle)
    }

    fn mentions_any(&self, needles: &[&str]) -> bool {
        needles.iter().any(|needle| self.mentions(needle))
    }

    /// The status in the error object itself (gateways put it there inside a stream).
    fn claimed_status(error: &Value) -> Option<u16> {
        let code = error.get("code").or_else(|| error.get("status"))?;
        let code = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
        u16::try_from(code).ok().filter(|code| (400..600).contains(code))
    }
}

/// Whether a body is a web page.
pub(crate) fn looks_like_html(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

impl Failure {
    /// The error for this failure.
    pub(crate) fn into_error(self) -> ModelError {
        let kind = self.kind();
        let mut message = format!("{}{}", sentence(kind), self.in_parentheses());
        if !self.complaint.message.is_empty() {
            message = format!("{message}: {}", self.complaint.message);
        }
        let mut error = ModelError::new(kind, message).with_retry(self.retry(kind));
        error.status = self.status;
        match (kind, self.status, self.retry_after) {
            (ModelErrorKind::InvalidRequest, Some(404 | 405), _) => {
                error.with_hint("check the provider's address: it has no such path")
            }
            (ModelErrorKind::RateLimit | ModelErrorKind::Overloaded, _, Some(delay)) => {
                error.with_hint(format!("the server asks to wait {} s", delay.as_secs_f64().ceil()))
            }
            _ => error,
        }
    }

    fn in_parentheses(&self) -> String {
        self.status.map(|status| format!(" ({status})")).unwrap_or_default()
    }

    fn kind(&self) -> ModelErrorKind {
        use ModelErrorKind as Kind;
        let status = self.status.unwrap_or(0);
        let complaint = &self.complaint;
        if complaint.mentions_any(&QUOTA) || status == 402 {
            Kind::Quota
        } else if !matches!(status, 401 | 403 | 429) && complaint.mentions_any(&CONTEXT_OVERFLOW) {
            Kind::ContextOverflow
        } else if complaint.mentions_any(&POLICY) {
            Kind::Policy
        } else if complaint.mentions_any(&MODEL_MISSING) {
            Kind::ModelMissing
        } else if matches!(status, 0 | 500..=599) && complaint.mentions_any(&DETERMINISTIC) {
            Kind::InvalidRequest
        } else {
            self.kind_by_status(status)
        }
    }

    fn kind_by_status(&self, status: u16) -> ModelErrorKind {
        use ModelErrorKind as Kind;
        match status {
            401 | 403 | 407 => Kind::Auth,
            404 if self.complaint.mentions("model") => Kind::ModelMissing,
            408 => Kind::Timeout,
            413 => Kind::ContextOverflow,
            429 => Kind::RateLimit,
            0 if self.complaint.mentions("rate_limit") => Kind::RateLimit,
            0 if self.complaint.mentions_any(&["authentication", "permission_error"]) => Kind::Auth,
            0 if self.complaint.mentions("not_found_error") => Kind::ModelMissing,
            0 if self.complaint.mentions_any(&["invalid_request", "invalid_prompt", "invalid_image"]) => {
                Kind::InvalidRequest
            }
            0 | 409 | 425 | 500..=599 => Kind::Overloaded,
            _ => Kind::InvalidRequest,
        }
    }

    fn retry(&self, kind: ModelErrorKind) -> Retry {
        match kind {
            ModelErrorKind::RateLimit | ModelErrorKind::Overloaded | ModelErrorKind::Timeout => {
                self.retry_after.map_or(Retry::Soon, Retry::After)
            }
            _ => Retry::Never,
        }
    }
}

/// The sentence for each kind of server complaint.
fn sentence(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::ContextOverflow => "the conversation is too long for the model",
        ModelErrorKind::Quota => "the account has no quota left",
        ModelErrorKind::RateLimit => "the provider limits the rate of requests",
        ModelErrorKind::Overloaded => "the model server cannot answer now",
        ModelErrorKind::Auth => "the provider refused the key",
        ModelErrorKind::InvalidRequest => "the model server refused the request",
        ModelErrorKind::Policy => "the provider declined to answer",
        ModelErrorKind::ModelMissing => "the server does not have this model",
        ModelErrorKind::Transport => "the model server cannot be reached",
        ModelErrorKind::Timeout => "the model server gave up waiting",
        ModelErrorKind::BadStream => "the answer of the model server is broken",
    }
}

const QUOTA: [&str; 9] = [
    "billing_error",
    "usage_limit_reached",
    "usage_not_included",
    "insufficient_quota",
    "exceeded your current quota",
    "billing_hard_limit",
    "insufficient balance",
    "credit balance is too low",
    "insufficient credits",
];

const CONTEXT_OVERFLOW: [&str; 11] = [
    "context limit",
    "request_too_large",
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context window",
    "context size",
    "context length",
    "prompt is too long",
    "input is too long",
    "prompt too long",
];

const POLICY: [&str; 4] =
    ["content_policy", "content_filter", "content management policy", "flagged by moderation"];

const MODEL_MISSING: [&str; 5] =
    ["model_not_found", "model not found", "no such model", "unknown model", "is not a valid model"];

/// Server errors that recur on every retry: the server cannot parse or render the request.
const DETERMINISTIC: [&str; 6] =
    ["parse", "traceback", "validation error", "is not supported", "jinja", "tool choice"];

impl WireError {
    /// The error for an answer that its wire could not decode.
    pub(crate) fn into_model_error(self) -> ModelError {
        match self {
            Self::Reported(error) => {
                let status = Complaint::claimed_status(&error);
                let complaint = Complaint::from_value(&error);
                let retry_after = crate::retry::delay_in_text(&complaint.message);
                Failure { status, retry_after, complaint }.into_error()
            }
            Self::TooLarge => ModelError::new(ModelErrorKind::BadStream, self.to_string())
                .with_hint("the model may be stuck: prompt again, or choose another model"),
            Self::Malformed(_) | Self::Truncated => {
                ModelError::new(ModelErrorKind::BadStream, self.to_string()).with_retry(Retry::Soon)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str) -> (ModelErrorKind, bool) {
        let complaint = Complaint::from_body(body);
        let error = Failure { status: Some(status), retry_after: None, complaint }.into_error();
        (error.kind, error.is_transient())
    }

    #[test]
    fn the_status_decides_when_the_body_is_silent() {
        use ModelErrorKind as Kind;
        let table = [
            (400, Kind::InvalidRequest, false),
            (401, Kind::Auth, false),
            (402, Kind::Quota, false),
            (403, Kind::Auth, false),
            (404, Kind::InvalidRequest, false),
            (408, Kind::Timeout, true),
            (409, Kind::Overloaded, true),
            (413, Kind::ContextOverflow, false),
            (422, Kind::InvalidRequest, false),
            (425, Kind::Overloaded, true),
            (429, Kind::RateLimit, true),
            (500, Kind::Overloaded, true),
            (503, Kind::Overloaded, true),
            (529, Kind::Overloaded, true),
        ];
        for (status, kind, transient) in table {
            assert_eq!(check(status, ""), (kind, transient), "{status}");
        }
    }

    #[test]
    fn the_body_decides_when_it_speaks() {
        use ModelErrorKind as Kind;
        let quota = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
        assert_eq!(check(429, quota), (Kind::Quota, false));
        let overflow = r#"{"error":{"code":400,"message":"the request exceeds the available context size",
            "type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#;
        assert_eq!(check(400, overflow), (Kind::ContextOverflow, false));
        let parse = r#"{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON","type":"server_error"}}"#;
        assert_eq!(check(500, parse), (Kind::InvalidRequest, false));
        let loading = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
        assert_eq!(check(503, loading), (Kind::Overloaded, true));
        let missing = r#"{"error":"model 'llama9' not found"}"#;
        assert_eq!(check(404, missing), (Kind::ModelMissing, false));
        let policy = r#"{"error":{"code":"content_policy_violation","message":"no"}}"#;
        assert_eq!(check(400, policy), (Kind::Policy, false));
        assert_eq!(check(500, r#"{"error":{"message":"","code":null}}"#), (Kind::Overloaded, true));
    }

    #[test]
    fn the_words_of_messages_servers() {
        use ModelErrorKind as Kind;
        let check = |status: u16, kind: &str, message: &str| {
            let error = serde_json::json!({"type": kind, "message": message});
            check(status, &serde_json::json!({"type": "error", "error": error}).to_string())
        };
        assert_eq!(check(401, "authentication_error", "invalid x-api-key"), (Kind::Auth, false));
        assert_eq!(check(403, "permission_error", "not allowed"), (Kind::Auth, false));
        assert_eq!(check(404, "not_found_error", "model: claude-9"), (Kind::ModelMissing, false));
        assert_eq!(check(413, "request_too_large", "Request exceeds 32 MB"), (Kind::ContextOverflow, false));
        assert_eq!(check(429, "rate_limit_error", "slow down"), (Kind::RateLimit, true));
        assert_eq!(check(500, "api_error", "Internal server error"), (Kind::Overloaded, true));
        assert_eq!(check(529, "overloaded_error", "Overloaded"), (Kind::Overloaded, true));
        let invalid = |message: &str| check(400, "invalid_request_error", message);
        assert_eq!(
            invalid("prompt is too long: 210000 tokens > 200000 maximum"),
            (Kind::ContextOverflow, false)
        );
        assert_eq!(
            invalid("input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000"),
            (Kind::ContextOverflow, false)
        );
        assert_eq!(invalid("Your credit balance is too low to access the API"), (Kind::Quota, false));
        let in_stream = |kind: &str| {
            let error = serde_json::json!({"type": kind, "message": "no"});
            let error = WireError::Reported(error).into_model_error();
            (error.kind, error.is_transient())
        };
        assert_eq!(in_stream("overloaded_error"), (Kind::Overloaded, true));
        assert_eq!(in_stream("rate_limit_error"), (Kind::RateLimit, true));
        assert_eq!(in_stream("permission_error"), (Kind::Auth, false));
        assert_eq!(in_stream("invalid_request_error"), (Kind::InvalidRequest, false));
    }

    #[test]
    fn a_gateway_page_is_named_as_such() {
        let page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
        let failure = Failure { status: Some(502), complaint: Complaint::from_body(page), retry_after: None };
        assert_eq!(
            failure.into_error().to_string(),
            "the model server cannot answer now (502): a web page came instead of an answer: “502 bad gateway”"
        );
    }

    #[test]
    fn an_error_in_a_stream_claims_its_status() {
        let error = serde_json::json!({"code": 429, "message": "slow down, try again in 2s"});
        let error = WireError::Reported(error).into_model_error();
        assert_eq!((error.kind, error.status), (ModelErrorKind::RateLimit, Some(429)));
        assert_eq!(error.retry, Retry::After(Duration::from_secs(2)));
    }
}
