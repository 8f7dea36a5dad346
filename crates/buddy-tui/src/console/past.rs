//! The past of the conversation: copies of it, and going back to a prompt.

use buddy_protocol::{Content, ForkPoint, Item, ItemId, SessionId};

use super::effect::Effect;
use super::picker::Picker;
use super::state::Console;

/// What `/init` says to the agent.
pub(super) const INIT: &str = "Write an AGENTS.md for this project, or improve the one that is there. Look at the project \
                               first: its files, how it is built, tested and checked, its conventions and what a newcomer \
                               would get wrong. Keep it short and exact, name commands as they are typed, and write nothing \
                               that the files do not show.";

/// A fork to go on in.
#[derive(Debug, PartialEq)]
pub(super) struct Branch {
    pub(super) session: SessionId,
    pub(super) point: ForkPoint,
    /// What is left behind, where it goes back to a prompt.
    pub(super) rewound: Option<Rewound>,
}

/// A prompt that is gone back to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewound {
    /// The prompt, to be changed and said again.
    pub(super) draft: String,
    /// The calls since.
    pub(super) calls: Vec<ItemId>,
}

/// A fork that is there.
#[derive(Debug)]
pub(super) struct Branched {
    pub(super) session: SessionId,
    pub(super) head: u64,
    /// The conversation that it comes from.
    pub(super) left: SessionId,
    pub(super) draft: Option<String>,
    /// How many calls changed files since, as far as that is known.
    pub(super) changes: Option<usize>,
}

impl Console {
    /// Goes on in a copy of the conversation.
    pub(super) fn fork(&mut self) {
        let session = self.front().session.clone();
        self.effect(Effect::Fork(Branch { session, point: ForkPoint::Now, rewound: None }));
    }

    /// Lets the person pick the prompt to go back to.
    pub(super) fn rewind(&mut self) {
        let prompts: Vec<&str> = self.prompts().map(|(_, _, text)| text).collect();
        if prompts.is_empty() {
            return self.say("nothing was said yet");
        }
        self.picker = Some(Picker::prompts(&prompts));
    }

    /// Goes back before a prompt, by its number.
    pub(super) fn rewind_to(&mut self, number: &str) {
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some((at, item, text)) = place.and_then(|place| self.prompts().nth(place)) else { return };
        let items = self.front().reader.transcript().items();
        let later = items.iter().skip(at).filter(|item| matches!(item.content, Content::ToolCall(_)));
        let rewound = Rewound { draft: text.to_owned(), calls: later.map(|item| item.id.clone()).collect() };
        let point = ForkPoint::Before { prompt: item.id.clone() };
        let session = self.front().session.clone();
        self.effect(Effect::Fork(Branch { session, point, rewound: Some(rewound) }));
    }

    /// The prompts so far with their places among the items, the oldest first.
    fn prompts(&self) -> impl Iterator<Item = (usize, &Item, &str)> {
        let items = self.front().reader.transcript().items().iter().enumerate();
        items.filter_map(|(at, item)| match &item.content {
            Content::UserMessage { text, ran: None } => Some((at, item, text.as_str())),
            _ => None,
        })
    }

    /// The fork is the conversation from now on.
    pub(super) fn forked(&mut self, branched: Branched) {
        let Branched { session, head, left, draft, changes } = branched;
        self.opened(session, head);
        let Some(draft) = draft else {
            return self.say(&format!("a copy of the conversation; the one before is /resume {left}"));
        };
        let since = match changes {
            None => String::new(),
            Some(0) => "no call has changed files since\n".to_owned(),
            Some(1) => "1 call has changed files since\n".to_owned(),
            Some(count) => format!("{count} calls have changed files since\n"),
        };
        self.say(&format!(
            "back before that prompt; files stay as they are, /undo takes changes back\n{since}the conversation before is /resume {left}"
        ));
        self.draft.set(&draft);
        self.changed_draft();
    }
}
