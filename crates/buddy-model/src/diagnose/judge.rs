//! Verdicts from outcomes. Pure: outcomes in, checks out.

use crate::diagnose::ask::ProbeAnswer;
use crate::diagnose::check::Check;
use crate::probe::{ContextWindow, ListedModel};
use crate::{ModelError, ModelErrorKind, ReasoningReplay, SAFE_CONTEXT_WINDOW};

pub(super) type Listed = Result<Vec<ListedModel>, ModelError>;
pub(super) type Asked = Result<ProbeAnswer, ModelError>;

/// A check that failed with this error.
pub(super) fn failed(name: &'static str, error: &ModelError) -> Check {
    let next = error.hint.as_deref().unwrap_or("try again");
    Check::fail(name, &error.message, next)
}

/// Whether an error came from the server rather than from the connection.
fn is_answer(error: &ModelError) -> bool {
    error.status.is_some() || !matches!(error.kind, ModelErrorKind::Transport | ModelErrorKind::Timeout)
}

/// Whether a stream broke off, or the server did not stream at all.
pub(super) fn is_bad_stream(error: &ModelError) -> bool {
    let is_about_streams = || error.message.to_lowercase().contains("stream");
    error.kind == ModelErrorKind::BadStream || (is_refusal(error) && is_about_streams())
}

/// Whether the server refused the request.
pub(super) fn is_refusal(error: &ModelError) -> bool {
    error.kind == ModelErrorKind::InvalidRequest
}

pub(super) fn reachable(address: &str, listed: &Listed, asked: &Asked) -> Check {
    match asked {
        Ok(_) => Check::ok("reachable", format!("{address} answers")),
        Err(error) if is_answer(error) => Check::ok("reachable", format!("{address} answers")),
        Err(error) => match listed {
            Ok(_) => Check::ok("reachable", format!("{address} answers")),
            Err(listing) if is_answer(listing) => Check::ok("reachable", format!("{address} answers")),
            Err(_) => failed("reachable", error),
        },
    }
}

pub(super) fn auth(is_sent: bool, asked: &Asked) -> Check {
    match asked {
        Ok(_) if is_sent => Check::ok("auth", "the key was accepted"),
        Ok(_) => Check::ok("auth", "no key is needed"),
        Err(error) if error.kind == ModelErrorKind::Auth => failed("auth", error),
        // A server checks the key before it looks at credit, the model or the request.
        Err(error) if error.status.is_some_and(|status| status < 500) => {
            Check::ok("auth", "the server did not complain about the key")
        }
        Err(_) => Check::skipped("auth", "there was no answer to judge by"),
    }
}

pub(super) fn model(name: &str, listed: &Listed, asked: &Asked) -> Check {
    if let Err(error) = asked
        && error.kind == ModelErrorKind::ModelMissing
    {
        return failed("model", error);
    }
    match listed {
        Ok(models) if models.is_empty() => Check::skipped("model", "the server lists no models"),
        Ok(models) if models.iter().any(|listed| is_same(&listed.name, name)) => {
            Check::ok("model", format!("{name} is one of {} listed", models.len()))
        }
        Ok(models) => {
            let few: Vec<&str> = models.iter().take(5).map(|listed| listed.name.as_str()).collect();
            let evidence = format!("{name} is not listed; {} are, such as {}", models.len(), few.join(", "));
            Check::warn(
                "model",
                evidence,
                "check `model` of the profile; some servers answer with another model",
            )
        }
        Err(error) => Check::skipped("model", format!("the list of models cannot be read: {error}")),
    }
}

/// Ollama adds `:latest` to names without a tag.
fn is_same(one: &str, other: &str) -> bool {
    one.strip_suffix(":latest").unwrap_or(one) == other.strip_suffix(":latest").unwrap_or(other)
}

pub(super) fn answers(asked: &Asked) -> Check {
    match asked {
        Err(error) => failed("answers", error),
        Ok(answer) if !answer.has_text() => {
            let evidence = format!("the answer has no text (it ended with {:?})", answer.reply.stop);
            Check::fail("answers", evidence, "raise `max_output_tokens`, or choose another model")
        }
        Ok(answer) => {
            let by = answer.reply.model.as_deref().map(|model| format!(" by {model}"));
            let size = answer.text().chars().count();
            Check::ok("answers", format!("{size} characters{}", by.unwrap_or_default()))
        }
    }
}

pub(super) fn streams(is_wished: bool, answer: &ProbeAnswer) -> Check {
    match answer.pieces {
        _ if !is_wished => Check::skipped("streams", "`stream` is off in this profile"),
        0 | 1 => Check::warn(
            "streams",
            "the text came in one piece",
            "nothing breaks, but nothing is seen until an answer is complete; a proxy may hold it back",
        ),
        pieces => Check::ok("streams", format!("the text came in {pieces} pieces")),
    }
}

pub(super) fn usage(answer: &ProbeAnswer) -> Check {
    match &answer.reply.usage {
        Some(usage) => Check::ok("usage", format!("{} tokens in, {} out", usage.input, usage.output)),
        None => Check::warn(
            "usage",
            "the server reports no token numbers",
            "they are estimated, so budgets are less exact; set a generous `context_limit`",
        ),
    }
}

/// The check of a tool call: the answer to a prompt that asks for one.
pub(super) fn call(asked: &Asked) -> Option<Check> {
    match asked {
        Err(error) => Some(failed("tool_call", error)),
        Ok(answer) if answer.calls() == 0 => Some(Check::fail(
            "tool_call",
            format!("no call came, but text: {}", answer.text()),
            "an agent needs tools: turn on the server's tool parser or template, or choose another model",
        )),
        Ok(answer) => answer.broken_call().map(|error| {
            let next = "set `stream = false` in the profile, or check the server's tool parser";
            Check::fail("tool_call", format!("the arguments of the call are broken: {error}"), next)
        }),
    }
}

/// The check of a tool call: the answer to its result.
pub(super) fn round_trip(went_on: &Asked) -> Check {
    match went_on {
        Err(error) => failed("tool_call", error),
        Ok(_) => Check::ok("tool_call", "one call came, and its result was taken"),
    }
}

pub(super) fn parallel(asked: &Asked, went_on: Option<&Asked>) -> Check {
    const NEXT: &str = "nothing to do: the agent works with one call at a time, in more steps";
    match (asked, went_on) {
        (Err(error), _) | (_, Some(Err(error))) if is_refusal(error) => {
            let next = "nothing to do: one call at a time is asked for from now on";
            Check::warn("parallel_calls", &error.message, next)
        }
        (Err(error), _) | (_, Some(Err(error))) => {
            let next = "set `parallel_tool_calls = false` in the profile if this comes back";
            Check::warn("parallel_calls", &error.message, next)
        }
        (Ok(answer), None) => {
            Check::warn("parallel_calls", format!("{} of two calls came at once", answer.calls()), NEXT)
        }
        (Ok(answer), Some(Ok(_))) => Check::ok(
            "parallel_calls",
            format!("{} calls came at once, and all results were taken", answer.calls()),
        ),
    }
}

/// The check of the turn after an answer with reasoning.
pub(super) fn reasoning(replay: Option<ReasoningReplay>, went_on: &Asked) -> Check {
    match went_on {
        Err(error) => {
            let next = "set `reasoning_replay` in the profile: \"off\", \"tool-turns\" or \"all\"";
            Check::fail("reasoning", &error.message, next)
        }
        Ok(answer) if !answer.lessons.is_empty() => {
            let next = "nothing to do: it is left out from then on";
            Check::warn(
                "reasoning",
                format!("thoughts were not taken back: {}", answer.lessons.join("; ")),
                next,
            )
        }
        Ok(_) if replay == Some(ReasoningReplay::Off) => Check::ok(
            "reasoning",
            "it thinks, and goes on without its thoughts, which this profile sends not back",
        ),
        Ok(_) => Check::ok("reasoning", "it thinks, and took its thoughts back"),
    }
}

pub(super) fn cache(first: &Asked, second: &Asked) -> Check {
    let answer = match (first, second) {
        (Err(error), _) | (_, Err(error)) => {
            let next = error.hint.as_deref().unwrap_or("try again");
            return Check::warn("cache", &error.message, next);
        }
        (Ok(_), Ok(answer)) => answer,
    };
    match &answer.reply.usage {
        None => Check::skipped("cache", "the server reports no token numbers to tell by"),
        Some(usage) if usage.cached_input > 0 => Check::ok(
            "cache",
            format!("{} of {} tokens of a repeat were cached", usage.cached_input, usage.input),
        ),
        Some(usage) => Check::warn(
            "cache",
            format!("none of {} tokens of a repeat are said to be cached", usage.input),
            "nothing breaks; long conversations take more time or money",
        ),
    }
}

/// The context window according to three sources.
pub(super) struct Contexts {
    pub(super) server: Option<ContextWindow>,
    pub(super) catalogue: Option<u64>,
    pub(super) configured: Option<u64>,
}

impl Contexts {
    /// The size that the server reports.
    pub(super) fn of_server(&self) -> Option<u64> {
        self.server.and_then(|server| server.loaded.or(server.possible))
    }

    /// The effective size: the size loaded by the server outranks every claim.
    pub(super) fn real(&self) -> Option<(u64, &'static str)> {
        let server = self.server.unwrap_or_default();
        let sides = [
            (server.loaded, "the server gives it now"),
            (self.configured, "`context_limit` of the profile"),
            (server.possible, "the server says the model can have it"),
            (self.catalogue, "the built-in catalogue"),
        ];
        sides.into_iter().find_map(|(size, source)| Some((size?, source)))
    }

    pub(super) fn check(&self) -> Check {
        let Some((size, source)) = self.real() else {
            let evidence =
                "unknown, so buddy summarises only after the provider rejects a prompt as too long";
            return Check::warn("context", evidence, "set `context_limit` in the profile");
        };
        let evidence = format!("{size} tokens: {source}");
        match self.configured {
            Some(configured) if configured > size => Check::warn(
                "context",
                format!("{evidence}, but the profile says {configured}"),
                "lower `context_limit`, or start the server with a larger context",
            ),
            _ if size < SAFE_CONTEXT_WINDOW => {
                let next = "start the server with a larger context; an agent's prompts are long";
                Check::warn("context", evidence, next)
            }
            _ => Check::ok("context", evidence),
        }
    }
}

pub(super) fn image(asked: &Asked) -> Check {
    const NEXT: &str = "nothing to do unless you want to send pictures";
    match asked {
        Ok(ProbeAnswer { lessons, .. }) if lessons.iter().any(|lesson| lesson.contains("images")) => {
            Check::warn("image", lessons.join("; "), NEXT)
        }
        Ok(answer) if answer.text().to_lowercase().contains("red") => {
            Check::ok("image", "accepted, and the colour was seen")
        }
        Ok(answer) => {
            let evidence = format!("accepted, but a red square is called: {}", answer.text());
            Check::warn("image", evidence, "the server may drop pictures; do not rely on them")
        }
        Err(error) => match error.kind {
            ModelErrorKind::InvalidRequest | ModelErrorKind::Policy | ModelErrorKind::ModelMissing => {
                Check::warn("image", format!("refused: {error}"), NEXT)
            }
            _ => Check::warn("image", format!("unknown: {error}"), NEXT),
        },
    }
}
