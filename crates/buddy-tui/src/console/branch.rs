//! A fork of the conversation: the one that is wanted, and the one that is there.

use buddy_protocol::{ForkPoint, ItemId, SessionId};

/// A fork to go on in.
#[derive(Debug, PartialEq)]
pub(super) struct Branch {
    pub(super) session: SessionId,
    pub(super) point: ForkPoint,
    pub(super) purpose: Purpose,
}

/// The purpose of a fork.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A copy to go on in.
    Copy,
    /// Going back to a prompt.
    Rewind(Rewound),
    /// Going on here while the turn that runs goes on in the background.
    Background,
}

/// A prompt that is gone back to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewound {
    /// The prompt, to be changed and said again.
    pub(super) draft: String,
    /// The calls since.
    pub(super) calls: Vec<ItemId>,
    /// How many images came with the prompt.
    pub(super) images: usize,
}

/// A fork that is there.
#[derive(Debug)]
pub(super) struct Branched {
    pub(super) session: SessionId,
    pub(super) head: u64,
    /// The conversation that it comes from.
    pub(super) left: SessionId,
    pub(super) purpose: Purpose,
    /// How many calls changed files since, as far as that is known.
    pub(super) changes: Option<usize>,
}
