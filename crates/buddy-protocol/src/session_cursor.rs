//! A place in the list of sessions.

use serde::{Deserialize, Serialize};

use crate::{SessionId, UnixMillis};

/// A place in the list of sessions, just behind one of them as it was then. A session that is used meanwhile moves to the
/// front of the list; no other is left out or comes twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionCursor {
    /// The time of the session's last event.
    pub updated: UnixMillis,
    /// The session.
    pub session: SessionId,
}

impl From<SessionCursor> for String {
    fn from(cursor: SessionCursor) -> Self {
        format!("{}.{}", cursor.updated.0, cursor.session)
    }
}

impl TryFrom<String> for SessionCursor {
    type Error = BadCursor;

    fn try_from(text: String) -> Result<Self, BadCursor> {
        let (updated, session) = text.split_once('.').ok_or(BadCursor)?;
        let updated = UnixMillis(updated.parse().map_err(|_| BadCursor)?);
        Ok(Self { updated, session: session.parse().map_err(|_| BadCursor)? })
    }
}

/// A text that is not a place in the list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a place in the list of sessions")]
pub struct BadCursor;

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        "ses_00000000000000000000000001".parse().unwrap()
    }

    #[test]
    fn a_cursor_is_one_word() {
        let cursor = SessionCursor { updated: UnixMillis(17), session: session() };
        let text = serde_json::to_string(&cursor).unwrap();
        assert_eq!(text, format!("\"17.{}\"", session()));
        assert_eq!(serde_json::from_str::<SessionCursor>(&text).unwrap(), cursor);
        for text in ["", "17", "x.ses_1", "17.ses_1"] {
            assert_eq!(SessionCursor::try_from(text.to_owned()), Err(BadCursor), "{text}");
        }
    }
}
