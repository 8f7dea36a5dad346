//! The names of the wires, in logs and in private data, which goes back only to the wire that made it.

/// Chat Completions.
pub(super) const CHAT_WIRE: &str = "chat";
/// Anthropic's Messages.
pub(super) const MESSAGES_WIRE: &str = "messages";
/// Ollama's own.
pub(super) const OLLAMA_WIRE: &str = "ollama";
/// Responses.
pub(super) const RESPONSES_WIRE: &str = "responses";
