//! The text about a tool: a template over what the session has, so that it recommends nothing that the model cannot do.

use buddy_protocol::ToolFailure;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde_json::Value;

use crate::model_words::ADVICE_FIELDS;
use crate::tools::means::Means;

/// The text about a tool for a model that is offered these tools.
pub(crate) fn describe_tool(template: &str, means: Means, offered: &[&str], known: &[&str]) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let Means { panes, managed, terminals, runs_on, headless, jail, throwaway, remote, only_known_hosts } =
        means;
    let looks_after = ["process_status", "process_logs", "process_stop"];
    let looks_after: Vec<String> =
        looks_after.iter().filter(|name| offered.contains(name)).map(|name| format!("`{name}`")).collect();
    let looks_after = match looks_after.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.join(", "),
    };
    let tools: Vec<String> = offered.iter().map(ToString::to_string).collect();
    let rendered = environment.render_str(
        template.trim(),
        context! {
            panes,
            managed,
            terminals,
            runs_on,
            headless,
            jail,
            throwaway,
            remote,
            only_known_hosts,
            tools,
            looks_after,
        },
    );
    // A test renders every template, so the text as it stands never shows.
    let text = rendered.unwrap_or_else(|_| template.to_owned());
    let missing: Vec<&str> = known.iter().copied().filter(|name| !offered.contains(name)).collect();
    let paragraphs = text.trim().split("\n\n").map(|paragraph| without(paragraph.trim(), &missing));
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// A text without its sentences about these tools. A remark in brackets goes alone.
fn without(text: &str, missing: &[&str]) -> String {
    let names = |part: &str| missing.iter().any(|name| part.contains(&format!("`{name}`")));
    if !names(text) {
        return text.to_owned();
    }
    let bare = |sentence: &str| match (sentence.find(" ("), sentence.rfind(')')) {
        (Some(start), Some(end)) if start < end => {
            let (before, after) = (sentence.get(..start)?, sentence.get(end + 1..)?);
            Some(format!("{before}{after}")).filter(|rest| !names(rest))
        }
        _ => None,
    };
    let sentences = text
        .split_inclusive(". ")
        .filter_map(|sentence| if names(sentence) { bare(sentence) } else { Some(sentence.to_owned()) });
    sentences.collect::<String>().trim().to_owned()
}

/// The result of a call, with its advice for a model that was offered these tools.
pub(crate) fn fit_advice(
    result: Result<Value, ToolFailure>,
    offered: &[String],
    known: &[&str],
) -> Result<Value, ToolFailure> {
    let fit = |text: &str| offered_advice(text, offered, known);
    match result {
        Ok(Value::Object(mut fields)) => {
            for (_, value) in fields.iter_mut().filter(|(name, _)| ADVICE_FIELDS.contains(&name.as_str())) {
                let of = |value: &Value| {
                    value.as_str().map_or(Some(value.clone()), |text| fit(text).map(Value::String))
                };
                *value = match &*value {
                    Value::Array(lines) => lines.iter().filter_map(of).collect(),
                    other => of(other).unwrap_or_default(),
                };
            }
            Ok(Value::Object(fields))
        }
        Err(failure) => Err(ToolFailure { hint: failure.hint.as_deref().and_then(fit), ..failure }),
        other => other,
    }
}

/// Advice without its clauses that name a tool which the model does not have; none if nothing is left.
pub(crate) fn offered_advice(text: &str, offered: &[String], known: &[&str]) -> Option<String> {
    let is_missing = |name: &&&str| {
        !offered.iter().any(|offered| offered == **name) && text.contains(&format!("`{name}`"))
    };
    let missing: Vec<&str> = known.iter().filter(is_missing).copied().collect();
    if missing.is_empty() || offered.is_empty() {
        return Some(text.to_owned());
    }
    let names = |clause: &&str| !missing.iter().any(|name| clause.contains(&format!("`{name}`")));
    let kept: Vec<&str> = text.split("; ").filter(names).collect();
    (!kept.is_empty()).then(|| kept.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_about_tools_that_are_missing_go() {
        let known = ["read_file", "grep"];
        let text = "Reads. Not for names (use `grep`). Use `grep` for text. All `read_file`.";
        let fitted = describe_tool(text, Means::default(), &["read_file"], &known);
        assert_eq!(fitted, "Reads. Not for names. All `read_file`.");
        assert_eq!(describe_tool(text, Means::default(), &known, &known), text);
    }

    #[test]
    fn clauses_of_advice_about_tools_that_are_missing_go() {
        let offered = ["run_shell".to_owned()];
        let known = ["run_shell", "process_logs"];
        let advice = |text| offered_advice(text, &offered, &known);
        assert_eq!(advice("it runs on; look with `process_logs`; wait").as_deref(), Some("it runs on; wait"));
        assert_eq!(advice("look with `process_logs`"), None);
        assert_eq!(advice("use `run_shell`").as_deref(), Some("use `run_shell`"));
    }
}
