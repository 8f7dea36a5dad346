//! The means of the calls of one session, whichever call it is.

use std::sync::Arc;

use buddy_exec::managed::Owner;
use buddy_policy::Grant;
use buddy_protocol::{EventSink, Fact, GRANTED, GrantScope, GrantWish, Notice, NoticeLevel, SinkClosed};

use crate::call_settings::CallSettings;
use crate::gate::{Gate, Ground};
use crate::targets::Targets;
use crate::tools::clip::TextRoom;

/// The means of the pipeline.
pub struct PipelineParts {
    /// The targets of the session.
    pub targets: Arc<Targets>,
    /// The settings of calls.
    pub settings: Arc<CallSettings>,
    /// The gate of the session.
    pub gate: Arc<Gate>,
    /// Who managed processes belong to, and whose changes are kept.
    pub owner: Owner,
    /// How much of each text the model is given.
    pub texts: TextRoom,
    /// Where facts and questions go.
    pub sink: Arc<dyn EventSink>,
}

impl PipelineParts {
    /// Allows for longer what the user allowed for longer, and tells it. The call itself was allowed in any case.
    pub(crate) async fn keep_grant(
        &self,
        ground: Ground<'_>,
        wished: Option<(Grant, GrantWish)>,
    ) -> Result<(), SinkClosed> {
        let Some((grant, wish)) = wished else { return Ok(()) };
        let (level, code, text) = match self.gate.grant(&grant, &wish, ground) {
            Ok(()) => {
                let place = match wish.scope {
                    GrantScope::Session => "Allowed until you quit",
                    GrantScope::Project => "Allowed in this project",
                    GrantScope::User => "Allowed everywhere",
                };
                (NoticeLevel::Info, GRANTED, format!("{place}: {}", grant.folded()))
            }
            Err(error) => (
                NoticeLevel::Warning,
                "grant_not_kept",
                format!("Allowed once only. buddy could not save `{}`: {error}", grant.folded()),
            ),
        };
        let notice = Notice { level, code: code.to_owned(), text };
        self.sink.push(vec![Fact::Notice(notice)]).await
    }

    /// Tells that something was allowed once and cannot be allowed for longer.
    pub(crate) async fn tell_lost_grant(&self, why: &str) -> Result<(), SinkClosed> {
        let text = format!("Allowed once only. buddy could not save the permission: {why}");
        let notice = Notice { level: NoticeLevel::Warning, code: "grant_not_kept".to_owned(), text };
        self.sink.push(vec![Fact::Notice(notice)]).await
    }
}
