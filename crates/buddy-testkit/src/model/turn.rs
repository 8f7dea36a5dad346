//! One answer of the server.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// Stands in the arguments of a call for the id of the process that the model was told of last.
pub const NEWEST_PROCESS: &str = "the newest process";

/// An empty turn, to be filled.
pub fn turn() -> Turn {
    Turn::default()
}

/// One answer: its content in order, and its fault.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Option<String>,
    pub(super) usage: Usage,
    pub(super) chunk_chars: Option<usize>,
    pub(super) chunk_delay: Option<Duration>,
    pub(super) fault: Option<Fault>,
    /// A gate after this many chunks, anywhere in the answer.
    pub(super) inner_gate: Option<(usize, String)>,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Refusal(String),
    Reasoning(String),
    /// Reasoning that only the provider can read.
    Hidden(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: String,
    },
    Gate(String),
    /// The next text is a separate part.
    Apart,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Usage {
    Absent,
    Tokens { input: u64, output: u64 },
}

impl Default for Usage {
    fn default() -> Self {
        Self::Tokens { input: 100, output: 20 }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// Close the connection without a response.
    Refuse,
    /// This response instead of an answer.
    Response { status: u16, headers: Vec<(String, String)>, body: ResponseBody },
    /// The answer fails after this many chunks.
    After { chunks: usize, ending: Ending },
}

#[derive(Debug, Clone)]
pub(super) enum ResponseBody {
    Bytes(Bytes),
    /// An error in the format of the request's wire.
    Error {
        code: String,
        message: String,
    },
}

#[derive(Debug, Clone)]
pub(super) enum Ending {
    /// The connection is reset.
    Reset,
    /// The body ends properly, but the answer is incomplete.
    Truncated,
    /// A chunk that is not JSON, then the rest.
    Malformed,
    /// Nothing more, for ever.
    Hang,
    /// The last chunk again, for ever.
    Endless,
    /// The server reports a failure, and then nothing more, for ever.
    Error { code: String, message: String },
}

impl Turn {
    /// Adds text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Makes the next text a separate part, on wires that have several: another content block, another output
    /// item.
    pub fn apart(mut self) -> Self {
        self.parts.push(Part::Apart);
        self
    }

    /// Declines, with this text.
    pub fn refusal(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Refusal(text.into()));
        self
    }

    /// Adds reasoning.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Reasoning(text.into()));
        self
    }

    /// Adds reasoning that only the provider can read, on the wire that supports it: Messages.
    pub fn hidden_reasoning(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Hidden(text.into()));
        self
    }

    /// Calls a tool.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes `json!(…)` in place")]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.call_raw(name, arguments.to_string())
    }

    /// Calls a tool with argument text that need not be JSON.
    pub fn call_raw(mut self, name: &str, arguments: impl Into<String>) -> Self {
        self.parts.push(Part::Call { id: None, name: name.to_owned(), arguments: arguments.into() });
        self
    }

    /// Calls a tool under a given id.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes `json!(…)` in place")]
    pub fn call_with_id(mut self, id: &str, name: &str, arguments: Value) -> Self {
        let (id, arguments) = (Some(id.to_owned()), arguments.to_string());
        self.parts.push(Part::Call { id, name: name.to_owned(), arguments });
        self
    }

    /// The same turn, in which [`NEWEST_PROCESS`] is the id of the process that the request named last.
    pub(super) fn naming_process(&self, request: &Value) -> Self {
        let mut turn = self.clone();
        // Texts about tools have ids too, as examples.
        let history = ["messages", "input"].iter().find_map(|name| request.get(name));
        let history = history.map(Value::to_string).unwrap_or_default();
        let newest = history.rfind("proc-").and_then(|at| history.get(at..)).map(|rest| {
            let end = rest.find(|letter: char| letter != '-' && !letter.is_ascii_alphanumeric());
            rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
        });
        for part in &mut turn.parts {
            if let (Part::Call { arguments, .. }, Some(newest)) = (part, newest) {
                *arguments = arguments.replace(NEWEST_PROCESS, newest);
            }
        }
        turn
    }

    /// Waits here until the test opens the gate of this name.
    pub fn gate(mut self, name: &str) -> Self {
        self.parts.push(Part::Gate(name.to_owned()));
        self
    }

    /// Waits at the gate of this name after this many chunks, possibly in the middle of a call.
    pub fn gate_after(mut self, chunks: usize, name: &str) -> Self {
        self.inner_gate = Some((chunks, name.to_owned()));
        self
    }

    /// Ends with this reason instead of `stop` or `tool_calls`, in the words of Chat Completions; `length`
    /// and `content_filter` are translated into each wire's own words.
    pub fn stop(mut self, reason: &str) -> Self {
        self.stop = Some(reason.to_owned());
        self
    }

    /// Reports this usage.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Usage::Tokens { input, output };
        self
    }

    /// Reports no usage.
    pub fn no_usage(mut self) -> Self {
        self.usage = Usage::Absent;
        self
    }

    /// Sends this many characters per chunk.
    pub fn chunk_chars(mut self, count: usize) -> Self {
        self.chunk_chars = Some(count.max(1));
        self
    }

    /// Pauses before each chunk: for benchmarks and demonstrations, never for tests.
    pub fn chunk_delay(mut self, delay: Duration) -> Self {
        self.chunk_delay = Some(delay);
        self
    }

    /// Answers with this status instead; `header` and `body` add to it.
    pub fn status(mut self, status: u16) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        self.fault = Some(Fault::Response { status, headers, body: ResponseBody::Bytes(Bytes::new()) });
        self
    }

    /// Adds a header to the response that `status` or `sse` began.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(Fault::Response { headers, .. }) = &mut self.fault {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Sets the body of the response that `status` began.
    pub fn body(mut self, text: impl Into<Bytes>) -> Self {
        if let Some(Fault::Response { body, .. }) = &mut self.fault {
            *body = ResponseBody::Bytes(text.into());
        }
        self
    }

    /// Answers with an error object as providers do, in the format of the wire.
    pub fn error(self, status: u16, code: &str, message: &str) -> Self {
        let mut turn = self.status(status);
        if let Some(Fault::Response { body, .. }) = &mut turn.fault {
            *body = ResponseBody::Error { code: code.to_owned(), message: message.to_owned() };
        }
        turn
    }

    /// Answers with these bytes as an event stream.
    pub fn sse(self, bytes: impl Into<Bytes>) -> Self {
        self.status(200).header("content-type", "text/event-stream").body(bytes)
    }

    /// Resets the connection after this many chunks.
    pub fn cut_after(self, chunks: usize) -> Self {
        self.ending(chunks, Ending::Reset)
    }

    /// Ends the body properly after this many chunks, without a finish reason.
    pub fn truncate_after(self, chunks: usize) -> Self {
        self.ending(chunks, Ending::Truncated)
    }

    /// Sends invalid JSON after this many chunks.
    pub fn malformed_after(self, chunks: usize) -> Self {
        self.ending(chunks, Ending::Malformed)
    }

    /// Goes silent after this many chunks; with zero the headers still come, but no event ever does.
    pub fn hang_after(self, chunks: usize) -> Self {
        self.ending(chunks, Ending::Hang)
    }

    /// Repeats the last of this many chunks and never ends.
    pub fn endless_after(self, chunks: usize) -> Self {
        self.ending(chunks, Ending::Endless)
    }

    /// Reports a failure after this many chunks, and leaves the connection open.
    pub fn fail_after(self, chunks: usize, code: &str, message: &str) -> Self {
        self.ending(chunks, Ending::Error { code: code.to_owned(), message: message.to_owned() })
    }

    /// Closes the connection without a response.
    pub fn refuse(mut self) -> Self {
        self.fault = Some(Fault::Refuse);
        self
    }

    fn ending(mut self, chunks: usize, ending: Ending) -> Self {
        self.fault = Some(Fault::After { chunks, ending });
        self
    }
}
