//! The sessions that an operation reads: those of the running conversation, or a store that is opened for it.

use std::sync::Arc;

use buddy_protocol::{Principal, Sessions};

use super::place::{OperationConversation, OperationPlace};
use crate::wiring::{Buddy, Wishes, wire};

/// Sessions to read.
pub(super) struct OpenSessions {
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) who: Principal,
    /// The buddy to close afterwards.
    opened: Option<Buddy>,
}

impl OpenSessions {
    pub(super) fn of(place: &OperationPlace) -> anyhow::Result<Self> {
        if let Some(OperationConversation { sessions, who, .. }) = &place.conversation {
            return Ok(Self { sessions: sessions.clone(), who: who.clone(), opened: None });
        }
        let buddy = wire(&place.environment, Wishes::reading()?)?;
        Ok(Self { sessions: buddy.hub.clone(), who: buddy.who.clone(), opened: Some(buddy) })
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self.opened {
            Some(buddy) => buddy.close().await,
            None => Ok(()),
        }
    }
}
