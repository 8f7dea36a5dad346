//! The texts of `/status`, `/context` and `/cost`, and the last answer.

use buddy_protocol::{ApprovalPolicy, Content, Item, SessionId, Transcript, Usage};

use crate::amounts::{describe_span, shorten_number};
use crate::branches::list_prompts;
use crate::console::SessionSurroundings;
use crate::visible::one_line;

/// Characters of a title.
const TITLE: usize = 100;
/// Tools that are named.
const TOOLS: usize = 3;
/// The note about an untrusted directory, which holds in every approval mode.
const UNTRUSTED: &str = "read-only: this folder is untrusted. Run /trust to allow changes";

/// The session, its model and how it goes about its work, one fact a line.
pub(crate) fn describe_status(
    session: &SessionId,
    transcript: &Transcript,
    before: &BeforeCopy,
    surroundings: &SessionSurroundings,
    approvals: ApprovalPolicy,
) -> String {
    let cwd = transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
    format!(
        "approvals  {}\nplan only  {}\nmodel      {}\ndirectory  {cwd}\nhost       {}\ntitle      {}\nsession    {session}\nendpoint   {}\nturns      {}\nmessages   {}\ntools      {}",
        if surroundings.is_untrusted { UNTRUSTED.to_owned() } else { describe_policy(approvals) },
        if transcript.is_plan_only() { "yes" } else { "no" },
        model(transcript, surroundings),
        surroundings.host.as_deref().unwrap_or("this machine"),
        find_title(transcript).unwrap_or_else(|| "none yet".to_owned()),
        surroundings.endpoint.as_deref().unwrap_or("none"),
        transcript.turns(),
        transcript.items().iter().filter(|item| is_message(item)).count(),
        tools(transcript, before),
    )
}

/// The title, or the beginning of the first prompt, as lists of sessions have it.
pub(crate) fn find_title(transcript: &Transcript) -> Option<String> {
    let prompt = || list_prompts(transcript).next().map(|(_, _, text)| one_line(text, TITLE));
    transcript.title().map(str::to_owned).or_else(prompt)
}

/// The first tools that the session began with, and how many more there are: all of them would push the rest out of a small window.
fn tools(transcript: &Transcript, before: &BeforeCopy) -> String {
    let tools = find_tools(transcript).or(before.tools.as_deref());
    tools.map_or_else(|| "not known".to_owned(), fold_tools)
}

fn find_tools(transcript: &Transcript) -> Option<&[String]> {
    transcript.started()?.began_with.as_ref().map(|began_with| began_with.tools.as_slice())
}

/// The facts about a conversation that a copy of it does not have in its log.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeforeCopy {
    tools: Option<Vec<String>>,
    /// The tokens of the last model call, where the copy has all of the conversation.
    usage: Option<Usage>,
}

impl BeforeCopy {
    /// Those of a copy of this conversation, which may be a copy itself.
    pub(crate) fn of(transcript: &Transcript, before: &Self) -> Self {
        let tools = find_tools(transcript).map(<[String]>::to_vec);
        Self {
            tools: tools.or_else(|| before.tools.clone()),
            usage: transcript.last_usage().or(before.usage),
        }
    }

    /// The same where the copy has only the beginning of it.
    pub(crate) fn shortened(self) -> Self {
        Self { usage: None, ..self }
    }
}

fn fold_tools(tools: &[String]) -> String {
    let first: Vec<&str> = tools.iter().take(TOOLS).map(String::as_str).collect();
    match tools.len().saturating_sub(TOOLS) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The model as its provider names it, and the profile where the session names one.
fn model(transcript: &Transcript, surroundings: &SessionSurroundings) -> String {
    match transcript.model() {
        Some(profile) if profile != surroundings.model => format!("{} ({profile})", surroundings.model),
        _ => surroundings.model.clone(),
    }
}

/// The approval mode in a few words.
pub(crate) fn describe_policy(approvals: ApprovalPolicy) -> String {
    match approvals {
        ApprovalPolicy::Edits => "edits of files in the workspace, ask for the rest".to_owned(),
        ApprovalPolicy::Window { seconds } => format!("everything for {}", describe_span(seconds)),
        policy => policy.name().to_owned(),
    }
}

/// How full the model's context is.
pub(crate) fn describe_context(
    transcript: &Transcript,
    before: &BeforeCopy,
    surroundings: &SessionSurroundings,
) -> String {
    let usage = transcript.bill().usage;
    let totals = format!(
        "total      {} tokens in, {} of them cached, and {} out",
        shorten_number(usage.input),
        shorten_number(usage.cached_input),
        shorten_number(usage.output)
    );
    let now = match (transcript.last_usage().or(before.usage), surroundings.window) {
        (None, _) => "no model call yet".to_owned(),
        (Some(usage), Some(window)) if window > 0 => {
            let used = usage.input + usage.output;
            format!(
                "{} of {} tokens, {}%",
                shorten_number(used),
                shorten_number(window),
                used.saturating_mul(100) / window
            )
        }
        (Some(usage), _) => {
            format!(
                "{} tokens; the limit of this model is unknown",
                shorten_number(usage.input + usage.output)
            )
        }
    };
    match (transcript.last_usage(), before.usage) {
        (Some(_), _) => format!("{now}\n{totals}"),
        (None, Some(_)) => format!("{now}, in the conversation that this is a copy of"),
        (None, None) => now,
    }
}

/// The tokens and the cost of the session.
pub(crate) fn describe_cost(transcript: &Transcript) -> String {
    let bill = transcript.bill();
    let usage = bill.usage;
    let cost = bill.total().map_or_else(|| "not known".to_owned(), |cost| cost.to_string());
    format!(
        "input      {} tokens, {} of them cached\noutput     {} tokens, {} of them reasoning\ncost       {cost}",
        usage.input, usage.cached_input, usage.output, usage.reasoning_output
    )
}

/// The last answer.
pub(crate) fn find_last_answer(transcript: &Transcript) -> Option<&str> {
    transcript.items().iter().rev().find_map(|item| match &item.content {
        Content::AgentMessage { text } => Some(text.as_str()),
        _ => None,
    })
}

/// Whether an item is a message of the user or of the agent.
fn is_message(item: &Item) -> bool {
    matches!(item.content, Content::UserMessage { .. } | Content::AgentMessage { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_folded_to_a_row() {
        let tools = |count: usize| fold_tools(&vec!["run".to_owned(); count]);
        assert_eq!((tools(3).as_str(), tools(24).as_str()), ("run, run, run", "run, run, run and 21 more"));
    }
}
