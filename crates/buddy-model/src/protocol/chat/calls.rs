//! Assembles tool calls from their pieces.
//!
//! Pieces belong together by `index`, but a new id on an old index is a new call. Ids and names come once,
//! always, late or never, and are taken from the first piece that has them. Arguments come in pieces or
//! whole. Nothing here runs before the answer has ended: a call whose stream was cut never becomes a
//! [`ReplyItem`].

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::protocol::DecoderContext;
use crate::protocol::call_list::{CallList, MAX_CALLS_PER_REPLY, UNNAMED, nameless};
use crate::protocol::chat::extras::{self, Extras};
use crate::protocol::field::text_of;
use crate::{Arguments, Delta, ReplyItem};

/// The size that counts for a piece in addition to its arguments.
const PIECE_BYTES: usize = 1;

/// The calls of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
    bytes: usize,
    /// Whether a call was dropped because there are too many, so that later pieces may belong to it.
    full: bool,
}

#[derive(Debug, Default)]
struct OpenCall {
    /// The server's number for it, if there is one.
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
    extras: Extras,
}

/// Whether the model ended the answer on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Yes: the calls are as complete as they will ever be.
    Meant,
    /// No: the last call may lack its end.
    Cut,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Bytes of all calls so far, including dropped ones.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// Takes any piece, with all its fields.
    pub(super) fn take(&mut self, piece: &Value) -> Option<Delta> {
        let function = piece.get("function").unwrap_or(&Value::Null);
        let id = text_of(piece.get("id"));
        let name = text_of(function.get("name"));
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(object @ Value::Object(_)) => Cow::Owned(object.to_string()),
            _ => Cow::Borrowed(""),
        };
        let index = piece.get("index").and_then(Value::as_u64);
        let delta = self.add(index, id, name, &arguments)?;
        if let Delta::ToolArguments { index, .. } = &delta
            && let Some(call) = self.open.get_mut(*index)
        {
            self.bytes += call.extras.take_call(piece);
        }
        Some(delta)
    }

    fn add(
        &mut self,
        index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> Option<Delta> {
        // Dropped calls count too: calls without end are an endless answer.
        self.bytes += arguments.len() + PIECE_BYTES;
        if self.full {
            return None;
        }
        let position = match self.position(index, id, name, arguments) {
            Some(position) => position,
            None if self.open.len() >= MAX_CALLS_PER_REPLY => {
                tracing::warn!(
                    limit = MAX_CALLS_PER_REPLY,
                    "too many calls in one answer; leaving out the rest"
                );
                self.full = true;
                return None;
            }
            None => {
                self.open.push(OpenCall { index, ..OpenCall::default() });
                self.open.len() - 1
            }
        };
        let call = self.open.get_mut(position)?;
        if let (None, Some(id)) = (&call.id, id) {
            self.bytes += id.len();
            call.id = Some(id.to_owned());
        }
        if let (None, Some(name)) = (&call.name, name) {
            self.bytes += name.len();
            call.name = Some(name.to_owned());
        }
        call.arguments.push_str(arguments);
        Some(Delta::ToolArguments { index: position, name: call.name.clone(), text: arguments.to_owned() })
    }

    /// The open call that a piece continues; `None` if it starts a new one.
    fn position(
        &self,
        index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> Option<usize> {
        let position = match (index, id) {
            (Some(_), _) => self.open.iter().rposition(|call| call.index == index)?,
            (None, Some(id)) => return self.open.iter().rposition(|call| call.id.as_deref() == Some(id)),
            (None, None) => self.open.len().checked_sub(1)?,
        };
        let call = self.open.get(position)?;
        let starts_anew = match (id, call.id.as_deref()) {
            (Some(id), Some(known)) => id != known,
            // Servers that do not number their calls send them whole, one after the other.
            (None, _) if index.is_none() && name.is_some() && name != call.name.as_deref() => true,
            (None, _) => name.is_some() && !arguments.is_empty() && is_whole(&call.arguments),
            (Some(_), None) => false,
        };
        (!starts_anew).then_some(position)
    }

    /// The calls as items: each with a usable id, no duplicates.
    ///
    /// Unknown fields of the message go with the first call if there is no text to go with.
    pub(super) fn finish(
        self,
        ending: Ending,
        mut message: Extras,
        context: &mut DecoderContext,
    ) -> Vec<ReplyItem> {
        let last = self.open.len().saturating_sub(1);
        let mut list = CallList::default();
        let mut items = Vec::new();
        for (position, call) in self.open.into_iter().enumerate() {
            let is_cut = ending == Ending::Cut && position == last;
            let (name, arguments) = match call.name {
                None if call.arguments.is_empty() => continue,
                None => (UNNAMED.to_owned(), nameless(call.arguments)),
                Some(name) if is_cut => (name, Arguments::parse_cut(&call.arguments)),
                Some(name) => (name, Arguments::parse(&call.arguments)),
            };
            let private = extras::private(call.extras, std::mem::take(&mut message), context);
            items.extend(list.admit(call.id, name, arguments, private, context));
        }
        items
    }
}

fn is_whole(arguments: &str) -> bool {
    // The first test spares the second one for all pieces but the last.
    arguments.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}
