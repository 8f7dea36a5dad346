//! The past of the conversation: copies of it, and going back to a prompt.

use buddy_protocol::{ForkPoint, SessionId};

use super::branch::{Branch, Branched, Purpose, Rewound};
use super::effect::Errand;
use super::picker::Picker;
use super::state::Console;
use crate::branches::{describe_changed_since, list_calls_since, list_prompts};
use crate::mentions::find_images;
use crate::overview::BeforeCopy;
use crate::text::to_copy;
use crate::visible::one_line;

/// Characters of a prompt in a sentence.
const PROMPT: usize = 100;

/// The command that returns to a conversation, to be copied.
pub(super) fn describe_resume(session: &SessionId) -> String {
    to_copy(&format!("/resume {session}"))
}

impl Console {
    /// Goes on in a copy of the conversation.
    pub(super) fn fork(&mut self) {
        let session = self.front().session.clone();
        self.errand(Errand::Fork(Branch { session, point: ForkPoint::Now, purpose: Purpose::Copy }));
    }

    /// Lets the user pick the prompt to go back to.
    pub(super) fn rewind(&mut self) {
        let prompts: Vec<&str> =
            list_prompts(self.front().reader.transcript()).map(|(_, _, text)| text).collect();
        if prompts.is_empty() {
            return self.say("There is no prompt yet.");
        }
        if self.by_line.is_some() {
            return self.list_prompts();
        }
        self.picker = Some(Picker::prompts(&prompts));
    }

    /// Goes back before a prompt, by its number.
    pub(super) fn rewind_to(&mut self, number: &str) {
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some((at, item, text)) =
            place.and_then(|place| list_prompts(self.front().reader.transcript()).nth(place))
        else {
            return self.complain(&format!("There is no prompt {number}. /rewind lists them."));
        };
        let calls = list_calls_since(self.front().reader.transcript(), at);
        let images = item.content.images().len();
        let rewound = Rewound { draft: text.to_owned(), calls, images };
        let point = ForkPoint::Before { prompt: item.id.clone() };
        let session = self.front().session.clone();
        self.errand(Errand::Fork(Branch { session, point, purpose: Purpose::Rewind(rewound) }));
    }

    /// Says something below the past of the conversation, which is shown first.
    pub(super) fn say_on_arrival(&mut self, text: String) {
        if self.front().skip_until == 0 {
            return self.say(&text);
        }
        self.front_mut().arrival = Some(text);
    }

    /// The fork is the conversation from now on.
    pub(super) fn forked(&mut self, branched: Branched) {
        let Branched { session, head, left, purpose, changes } = branched;
        let original = self.tasks.iter().find(|task| task.session == left);
        let before = original.map(|task| BeforeCopy::of(task.reader.transcript(), &task.before_copy));
        let before = before.unwrap_or_default();
        if purpose == Purpose::Background {
            return self.left_running((session, head), &left, before);
        }
        self.opened(session, head);
        let is_whole = purpose == Purpose::Copy;
        self.front_mut().before_copy = if is_whole { before } else { before.shortened() };
        let Purpose::Rewind(Rewound { draft, images, .. }) = purpose else {
            return self.say_on_arrival(format!(
                "This is a copy of the conversation. Return to the original with {}",
                describe_resume(&left)
            ));
        };
        let since = describe_changed_since(changes);
        let lost = if images > find_images(&draft).len() {
            "\nThe prompt's images do not come back with it. Mention them again"
        } else {
            ""
        };
        let before = match &self.by_line {
            Some(_) => format!(": {}\n", one_line(&draft, PROMPT)),
            None => " that prompt; ".to_owned(),
        };
        self.say_on_arrival(format!(
            "back before{before}files stay as they are, /undo takes changes back\n{since}the conversation before is {}{lost}",
            describe_resume(&left)
        ));
        self.bring_back(&draft);
        self.changed_draft();
    }
}
