//! Decodes a Messages answer event by event.

use serde_json::Value;

use crate::clean::clipped;
use crate::protocol::ending::{Before, stop_reason};
use crate::protocol::field::text_of;
use crate::protocol::messages::blocks::Blocks;
use crate::protocol::messages::usage::Counts;
use crate::protocol::{Decoder, DecoderContext, Frame, Progress, WireError};
use crate::{Delta, Reply, StopReason};

/// The answer so far.
#[derive(Debug)]
pub(super) struct MessagesDecoder {
    context: DecoderContext,
    blocks: Blocks,
    counts: Counts,
    stop_reason: Option<String>,
    /// Whether the details of the end say that it was a refusal, whatever its reason says.
    refused: bool,
    model: Option<String>,
    done: bool,
}

impl MessagesDecoder {
    pub(super) fn new(context: DecoderContext) -> Self {
        Self {
            context,
            blocks: Blocks::default(),
            counts: Counts::default(),
            stop_reason: None,
            refused: false,
            model: None,
            done: false,
        }
    }

    fn take_head(&mut self, message: &Value) {
        if let Some(model) = text_of(message.get("model")) {
            self.model = Some(model.to_owned());
        }
        self.counts.take(message.get("usage"));
        self.take_stop(message);
    }

    fn take_stop(&mut self, from: &Value) {
        // A reason that cuts the answer stays, whatever a later event says.
        let is_cut = |reason: &String| !stop_reason(reason.clone(), Before::Calls).lets_calls_run();
        if let Some(reason) = text_of(from.get("stop_reason"))
            && !self.stop_reason.as_ref().is_some_and(is_cut)
        {
            self.stop_reason = Some(reason.to_owned());
        }
        let details = from.get("stop_details").and_then(|details| details.get("type"));
        self.refused |= text_of(details) == Some("refusal");
    }

    fn stop(&self, reason: String) -> StopReason {
        let before = match (self.refused, self.blocks.has_calls()) {
            (true, _) => Before::Refusal,
            (false, true) => Before::Calls,
            (false, false) => Before::Words,
        };
        stop_reason(reason, before)
    }
}

impl Decoder for MessagesDecoder {
    fn step(&mut self, frame: Frame) -> Result<Vec<Delta>, WireError> {
        let data = frame.data.trim();
        // Gateways end every stream with the end mark of Chat Completions.
        if data.is_empty() || data == "[DONE]" {
            return Ok(Vec::new());
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|error| WireError::Malformed(format!("{error} in `{}`", clipped(data, 80))))?;
        let index = event.get("index").and_then(Value::as_u64);
        let delta = event.get("delta").unwrap_or(&Value::Null);
        let shown = match text_of(event.get("type")).unwrap_or(&frame.event) {
            "message_start" => {
                self.take_head(event.get("message").unwrap_or(&Value::Null));
                Vec::new()
            }
            "content_block_start" => {
                self.blocks.start(index, event.get("content_block").unwrap_or(&Value::Null))?
            }
            "content_block_delta" => self.blocks.grow(index, delta)?,
            "content_block_stop" => {
                self.blocks.stop(index);
                Vec::new()
            }
            "message_delta" => {
                self.counts.take(event.get("usage"));
                self.take_stop(delta);
                self.take_stop(&event);
                Vec::new()
            }
            "message_stop" => {
                self.done = true;
                Vec::new()
            }
            "error" => return Err(WireError::Reported(event.get("error").unwrap_or(&event).clone())),
            _ if event.get("error").is_some_and(Value::is_object) => {
                return Err(WireError::Reported(event["error"].clone()));
            }
            _ => Vec::new(),
        };
        Ok(shown)
    }

    fn progress(&self) -> Progress {
        match (self.done, &self.stop_reason) {
            (true, _) => Progress::Done,
            (false, Some(_)) => Progress::Complete,
            (false, None) => Progress::Open,
        }
    }

    fn whole(&mut self, body: &Value) -> Result<Vec<Delta>, WireError> {
        if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
            return Err(WireError::Reported(error.clone()));
        }
        let Some(content) = body.get("content").and_then(Value::as_array) else {
            return Err(WireError::Malformed("there is no content".to_owned()));
        };
        self.take_head(body);
        let mut deltas = Vec::new();
        for (position, block) in content.iter().enumerate() {
            let index = u64::try_from(position).ok();
            deltas.extend(self.blocks.start(index, block)?);
            self.blocks.stop(index);
        }
        Ok(deltas)
    }

    fn finish(&mut self) -> Result<Reply, WireError> {
        let Some(reason) = self.stop_reason.take() else { return Err(WireError::Truncated) };
        let stop = self.stop(reason);
        let is_cut = !matches!(stop, StopReason::Paused) && !stop.lets_calls_run();
        let items = std::mem::take(&mut self.blocks).finish(is_cut, &mut self.context);
        Ok(Reply { items, stop, usage: self.counts.usage(), model: self.model.take() })
    }
}
