//! The rules for a Messages request around its conversation.

use serde_json::{Map, Value};

/// All permitted top-level fields of a request.
const FIELDS: [&str; 18] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "thinking",
    "output_config",
    "metadata",
    "service_tier",
    "container",
    "mcp_servers",
    "cache_control",
];

/// The maximum number of breakpoints of the prompt cache.
const MAX_BREAKPOINTS: usize = 4;

/// The smallest thinking budget.
const MIN_BUDGET: u64 = 1024;

pub(super) fn check(body: &Value) -> Result<(), String> {
    let Some(fields) = body.as_object() else { return Err("the body is not a JSON object".to_owned()) };
    if let Some(field) = fields.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        return Err(format!("{field}: Extra inputs are not permitted"));
    }
    for field in ["model", "max_tokens", "messages"] {
        if !fields.contains_key(field) {
            return Err(format!("{field}: Field required"));
        }
    }
    let max_tokens = body["max_tokens"].as_u64().filter(|count| *count > 0);
    let max_tokens = max_tokens.ok_or("max_tokens: Input should be greater than or equal to 1")?;
    check_thinking(fields, max_tokens)?;
    check_tools(body.get("tools"))?;
    match breakpoints(body) {
        count if count > MAX_BREAKPOINTS => Err(format!(
            "A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {count}."
        )),
        _ => Ok(()),
    }
}

fn check_thinking(fields: &Map<String, Value>, max_tokens: u64) -> Result<(), String> {
    let Some(thinking) = fields.get("thinking") else { return Ok(()) };
    let is_on = match thinking["type"].as_str() {
        Some("disabled") => false,
        Some("adaptive") => true,
        Some("enabled") => match thinking["budget_tokens"].as_u64() {
            None => return Err("thinking.enabled.budget_tokens: Field required".to_owned()),
            Some(budget) if budget < MIN_BUDGET => {
                return Err(format!(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to {MIN_BUDGET}"
                ));
            }
            Some(budget) if budget >= max_tokens => {
                return Err("`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
            }
            Some(_) => true,
        },
        other => {
            return Err(format!("thinking: Input tag '{other:?}' does not match any of the expected tags"));
        }
    };
    let temperature = fields.get("temperature").and_then(Value::as_f64).unwrap_or(1.0);
    if is_on && (temperature - 1.0).abs() > f64::EPSILON {
        return Err("`temperature` may only be set to 1 when thinking is enabled".to_owned());
    }
    Ok(())
}

fn check_tools(tools: Option<&Value>) -> Result<(), String> {
    let tools = tools.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (position, tool) in tools.iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_plain(name, 128) {
            return Err(format!(
                "tools.{position}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        if tool["input_schema"]["type"] != "object" {
            return Err(format!("tools.{position}.custom.input_schema.type: Input should be 'object'"));
        }
        let usual = ["name", "description", "input_schema", "cache_control", "type"];
        let strange =
            tool.as_object().into_iter().flat_map(Map::keys).find(|key| !usual.contains(&key.as_str()));
        if let Some(strange) = strange {
            return Err(format!("tools.{position}.custom.{strange}: Extra inputs are not permitted"));
        }
    }
    Ok(())
}

/// Whether a name or an id has only the provider's permitted characters.
pub(super) fn is_plain(text: &str, limit: usize) -> bool {
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    !text.is_empty() && text.len() <= limit && text.chars().all(is_fine)
}

fn breakpoints(body: &Value) -> usize {
    let lists = [body.get("tools"), body.get("system")];
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let contents = messages.iter().map(|message| message.get("content"));
    let blocks = lists.into_iter().chain(contents).flatten().filter_map(Value::as_array).flatten();
    blocks.filter(|block| block.get("cache_control").is_some()).count()
}
