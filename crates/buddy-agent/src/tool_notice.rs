//! The messages to users about tools that a session does not get.

use buddy_protocol::{Fact, Notice, NoticeLevel};

/// Tells that a tool of a source is not in the session.
pub(crate) fn refuse_tool(text: String) -> Fact {
    Fact::Notice(Notice { level: NoticeLevel::Warning, code: "tool_refused".to_owned(), text })
}
