//! The system prompt, from one template and nothing that changes from call to call.

/// The template. It holds no clock, no directory and no session, so that it stays byte for byte the same.
const TEMPLATE: &str = include_str!("system_prompt.md");

/// The system prompt of every session, with what the person always wants said.
pub(crate) fn system(instructions: Option<&str>) -> String {
    let built_in = TEMPLATE.trim();
    match instructions.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("{built_in}\n\n# Instructions of the person who runs you\n\n{text}"),
        None => built_in.to_owned(),
    }
}

/// What the model should know of the place it works in, as the first thing it is told.
pub(crate) fn environment(user: &str, host: &str, os: &str, shell: &str, cwd: &str) -> String {
    format!(
        "<environment>\nhost: {user}@{host}\nsystem: {os}\nshell: {shell}\nworking directory: {cwd}\n</environment>"
    )
}
