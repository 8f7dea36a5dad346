//! A whole conversation of the server's answers, in code or as a JSON file.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::model::seal::Seal;
use crate::model::turn::{Turn, turn};

/// The answers of a server.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The turns.
    pub turns: Vec<Turn>,
    /// The rule that selects the turn for a request.
    pub select: Select,
    /// The answer to a request after the last turn.
    pub when_exhausted: WhenExhausted,
    /// The bearer key that requests must have.
    pub key: Option<String>,
    /// The secret that encrypts hidden reasoning.
    pub seal: Seal,
    /// The context window that the server reports in llama.cpp's format.
    pub window: Option<u64>,
}

/// The rule that selects the turn for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The next turn.
    #[default]
    Sequence,
    /// Turn N if the history holds N answers of the model: works for resumed and concurrent sessions.
    History,
}

/// The answer to a request after the last turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenExhausted {
    /// A 400 that says so.
    #[default]
    Error,
    /// The last turn again.
    RepeatLast,
    /// The script from its start.
    Loop,
}

impl<Turns: IntoIterator<Item = Turn>> From<Turns> for Script {
    fn from(turns: Turns) -> Self {
        Self { turns: turns.into_iter().collect(), ..Self::default() }
    }
}

impl Script {
    /// The same script, answering by history.
    pub fn by_history(mut self) -> Self {
        self.select = Select::History;
        self
    }

    /// The same script, repeating the last turn.
    pub fn repeating_last(mut self) -> Self {
        self.when_exhausted = WhenExhausted::RepeatLast;
        self
    }

    /// The same script, requiring a bearer key.
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// The same script as another deployment, which cannot read the reasoning that this one encrypted.
    pub fn with_secret(mut self, secret: &str) -> Self {
        self.seal = Seal(secret.to_owned());
        self
    }

    /// The same script, reporting its context window as llama.cpp's server does.
    pub fn with_window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Parses the JSON form; unknown fields are errors, so that a typing mistake is noticed.
    pub fn from_json(text: &str) -> Result<Self> {
        let file: ScriptFile = serde_json::from_str(text).context("not a script")?;
        let pace = file.pace();
        let turns = file.turns.into_iter().map(|turn| turn.build(pace)).collect::<Result<_>>()?;
        let ScriptFile { select, when_exhausted, key, .. } = file;
        Ok(Self { turns, select, when_exhausted, key, ..Self::default() })
    }

    /// The turn for the given request number and history.
    pub(super) fn pick(&self, request: usize, answers: usize) -> Option<&Turn> {
        let position = match self.select {
            Select::Sequence => request,
            Select::History => answers,
        };
        let position = match self.when_exhausted {
            WhenExhausted::Error => position,
            WhenExhausted::RepeatLast => position.min(self.turns.len().saturating_sub(1)),
            WhenExhausted::Loop => position.checked_rem(self.turns.len())?,
        };
        self.turns.get(position)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    #[serde(default)]
    select: Select,
    #[serde(default)]
    when_exhausted: WhenExhausted,
    key: Option<String>,
    chunk_chars: Option<usize>,
    chunk_delay_ms: Option<u64>,
    turns: Vec<TurnFile>,
}

/// The pace of turns that do not set one.
#[derive(Clone, Copy)]
struct Pace {
    chunk_chars: Option<usize>,
    chunk_delay_ms: Option<u64>,
}

impl ScriptFile {
    fn pace(&self) -> Pace {
        Pace { chunk_chars: self.chunk_chars, chunk_delay_ms: self.chunk_delay_ms }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnFile {
    reasoning: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Vec<CallFile>,
    stop: Option<String>,
    usage: Option<UsageFile>,
    chunk_chars: Option<usize>,
    chunk_delay_ms: Option<u64>,
    fault: Option<FaultFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFile {
    name: String,
    #[serde(default)]
    arguments: Value,
    raw_arguments: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageFile {
    input: u64,
    output: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultFile {
    status: Option<u16>,
    body: Option<String>,
    retry_after: Option<String>,
    /// `cut`, `truncate`, `malformed`, `hang`, `fail` or `refuse`.
    kind: Option<String>,
    #[serde(default)]
    after_chunks: usize,
}

impl TurnFile {
    fn build(self, pace: Pace) -> Result<Turn> {
        let mut built = turn();
        if let Some(reasoning) = self.reasoning {
            built = built.reasoning(reasoning);
        }
        if let Some(text) = self.text {
            built = built.text(text);
        }
        if let Some(refusal) = self.refusal {
            built = built.refusal(refusal);
        }
        for call in self.tool_calls {
            built = match call.raw_arguments {
                Some(raw) => built.call_raw(&call.name, raw),
                None if call.arguments.is_null() => built.call_raw(&call.name, "{}"),
                None => built.call(&call.name, call.arguments),
            };
        }
        if let Some(usage) = self.usage {
            built = built.usage(usage.input, usage.output);
        }
        built.stop = self.stop;
        built.chunk_chars = self.chunk_chars.or(pace.chunk_chars).map(|count| count.max(1));
        built.chunk_delay = self.chunk_delay_ms.or(pace.chunk_delay_ms).map(Duration::from_millis);
        self.fault.map_or(Ok(built.clone()), |fault| fault.apply(built))
    }
}

impl FaultFile {
    fn apply(self, turn: Turn) -> Result<Turn> {
        if let Some(status) = self.status {
            let mut turn = turn.status(status).body(self.body.unwrap_or_default());
            if let Some(delay) = self.retry_after {
                turn = turn.header("retry-after", &delay);
            }
            return Ok(turn);
        }
        Ok(match self.kind.as_deref() {
            Some("cut") => turn.cut_after(self.after_chunks),
            Some("truncate") => turn.truncate_after(self.after_chunks),
            Some("malformed") => turn.malformed_after(self.after_chunks),
            Some("hang") => turn.hang_after(self.after_chunks),
            Some("fail") => turn.fail_after(
                self.after_chunks,
                "server_error",
                self.body.as_deref().unwrap_or("failed by the script"),
            ),
            Some("refuse") => turn.refuse(),
            other => bail!("unknown fault {other:?}"),
        })
    }
}
