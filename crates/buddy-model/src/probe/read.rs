//! Parsers for the several formats in which servers describe their models.

use serde_json::Value;

/// The maximum number of models taken from a list.
const MAX_MODELS: usize = 10_000;

/// A model of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// The name to request it by.
    pub name: String,
    /// Its context window, if the list has it.
    pub context: ContextWindow,
    /// The owner according to the list: local servers put their own name there.
    pub owner: Option<String>,
}

/// The context window of a model, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextWindow {
    /// The size loaded by the server now, which takes precedence.
    pub loaded: Option<u64>,
    /// The maximum size of the model.
    pub possible: Option<u64>,
}

/// The properties that a llama.cpp server reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LlamaCppProps {
    /// The context of each conversation.
    pub context: Option<u64>,
    /// Whether the chat template renders tools; without it they are dropped silently.
    pub supports_tools: Option<bool>,
}

/// `GET /models`: llama.cpp, vLLM and `OpenRouter` add the context window, each in its own field.
pub(super) fn models(answer: &Value) -> Vec<ListedModel> {
    let list = answer.get("data").or_else(|| answer.get("models")).unwrap_or(answer);
    elements(list).filter_map(listed).collect()
}

fn listed(model: &Value) -> Option<ListedModel> {
    let name = model.get("id").or_else(|| model.get("name"))?.as_str()?.to_owned();
    let meta = |field: &str| model.get("meta").and_then(|meta| meta.get(field));
    let first = |values: [Option<&Value>; 3]| values.into_iter().flatten().find_map(Value::as_u64);
    let loaded = first([meta("n_ctx"), model.get("max_model_len"), model.get("loaded_context_length")]);
    let possible = first([meta("n_ctx_train"), model.get("max_context_length"), model.get("context_length")]);
    let owner = model.get("owned_by").and_then(Value::as_str).map(str::to_owned);
    Some(ListedModel { name, context: ContextWindow { loaded, possible }, owner })
}

/// `GET /api/tags`.
pub(super) fn ollama_tags(answer: &Value) -> Vec<ListedModel> {
    models(answer)
}

/// `POST /api/show`: the context window is under the name of the architecture.
pub(super) fn ollama_possible(answer: &Value) -> Option<u64> {
    let facts = answer.get("model_info")?.as_object()?;
    let architecture = facts.get("general.architecture").and_then(Value::as_str);
    let named = architecture.and_then(|name| facts.get(&format!("{name}.context_length")));
    let any = || facts.iter().find(|(name, _)| name.ends_with(".context_length")).map(|(_, value)| value);
    named.or_else(any)?.as_u64()
}

/// The maximum default for the context window of an Ollama model: Ollama's own choice on a machine with a
/// good graphics card. Its memory is allocated at once, used or not.
pub const OLLAMA_WINDOW: u64 = 32_768;

/// `POST /api/show`: the context window to ask for is that of the model's own parameters, else a sensible
/// size.
pub(super) fn ollama_wish(answer: &Value) -> Option<u64> {
    let parameters = answer.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let own = parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok()).flatten()
    });
    own.or_else(|| ollama_possible(answer).map(|possible| possible.min(OLLAMA_WINDOW)))
}

/// `GET /api/ps`: lists only models in memory.
pub(super) fn ollama_loaded(answer: &Value, model: &str) -> Option<u64> {
    let is_wanted = |running: &&Value| {
        let name = running.get("model").or_else(|| running.get("name")).and_then(Value::as_str);
        name.is_some_and(|name| is_same_model(name, model))
    };
    elements(answer.get("models")?).find(is_wanted)?.get("context_length")?.as_u64()
}

/// `GET /props`.
pub(super) fn llama_cpp_props(answer: &Value) -> LlamaCppProps {
    let settings = answer.get("default_generation_settings");
    let context = settings.and_then(|settings| settings.get("n_ctx")).or_else(|| answer.get("n_ctx"));
    let tools = answer.get("chat_template_caps").and_then(|caps| caps.get("supports_tools"));
    LlamaCppProps { context: context.and_then(Value::as_u64), supports_tools: tools.and_then(Value::as_bool) }
}

/// Whether two names mean one model: Ollama adds `:latest` to names without a tag.
pub(super) fn is_same_model(one: &str, other: &str) -> bool {
    one.strip_suffix(":latest").unwrap_or(one) == other.strip_suffix(":latest").unwrap_or(other)
}

fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten().take(MAX_MODELS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn first(answer: &Value) -> (String, Option<u64>, Option<u64>) {
        let model = models(answer).remove(0);
        (model.name, model.context.loaded, model.context.possible)
    }

    #[test]
    fn lists_of_models() {
        let plain = json!({"object": "list", "data": [{"id": "gpt"}]});
        assert_eq!(first(&plain), ("gpt".to_owned(), None, None));
        let llama_cpp = json!({"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}]});
        assert_eq!(first(&llama_cpp), ("m".to_owned(), Some(4096), Some(8192)));
        let vllm = json!({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 32768}]});
        assert_eq!(first(&vllm), ("m".to_owned(), Some(32768), None));
        let openrouter = json!({"data": [{"id": "m", "context_length": 200_000}]});
        assert_eq!(first(&openrouter), ("m".to_owned(), None, Some(200_000)));
        let tags = json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]});
        assert_eq!(first(&tags), ("qwen3:8b".to_owned(), None, None));
    }

    #[test]
    fn nonsense_is_an_empty_list() {
        for answer in [json!(null), json!([]), json!({"data": {}}), json!({"data": [{"id": 3}, "x"]})] {
            assert_eq!(models(&answer), []);
        }
    }

    #[test]
    fn contexts_of_ollama() {
        let shown = json!({"model_info": {"general.architecture": "qwen3", "x.context_length": 1, "qwen3.context_length": 40960}});
        assert_eq!(ollama_possible(&shown), Some(40960));
        assert_eq!(ollama_possible(&json!({"model_info": {"x.context_length": 7}})), Some(7));
        assert_eq!(ollama_possible(&json!({})), None);
        assert_eq!(ollama_wish(&shown), Some(OLLAMA_WINDOW));
        assert_eq!(ollama_wish(&json!({"model_info": {"x.context_length": 7}})), Some(7));
        let own = json!({"parameters": "stop \"<|im_end|>\"\nnum_ctx    65536\n", "model_info": {"x.context_length": 7}});
        assert_eq!(ollama_wish(&own), Some(65_536));
        assert_eq!(ollama_wish(&json!({"parameters": "num_ctx"})), None);
        let running = json!({"models": [{"model": "qwen3:latest", "context_length": 4096}]});
        assert_eq!(ollama_loaded(&running, "qwen3"), Some(4096));
        assert_eq!(ollama_loaded(&running, "llama3"), None);
    }

    #[test]
    fn props_of_llama_cpp() {
        let props = json!({"default_generation_settings": {"n_ctx": 2048}, "chat_template_caps": {"supports_tools": false}});
        assert_eq!(
            llama_cpp_props(&props),
            LlamaCppProps { context: Some(2048), supports_tools: Some(false) }
        );
        assert_eq!(llama_cpp_props(&json!("hi")), LlamaCppProps::default());
    }
}
