//! The lists of a conversation line by line, where a screen lets you pick.

use std::fmt::Write;

use buddy_protocol::{Content, Found, SessionSummary, UnixMillis};

use crate::branches::list_prompts;
use crate::console::desk::ModelOption;
use crate::console::effect::Errand;
use crate::console::items::{RECAP_ITEMS, describe_earlier};
use crate::console::state::Console;
use crate::overview;
use crate::show::{list_item_texts, render_found_lines, render_numbered_sessions};
use crate::table::ListView;
use crate::visible::one_line;

/// Characters of a prompt in a list.
const PROMPT: usize = 100;

impl Console {
    /// The end of a conversation that is taken up.
    pub(in crate::console) fn tell_recap(&mut self) {
        let texts = list_item_texts(self.front().reader.transcript());
        // A line that begins like the prompt would look like one that was just typed.
        let texts = texts.map(|(item, text)| match (&item.content, text.strip_prefix("> ")) {
            (Content::UserMessage { .. }, Some(said)) => format!("You: {said}"),
            _ => text,
        });
        let texts: Vec<String> = texts.collect();
        let earlier = texts.len().saturating_sub(RECAP_ITEMS);
        if earlier > 0 {
            let text = describe_earlier(earlier, &self.front().session);
            self.say(&text);
        }
        for text in texts.into_iter().skip(earlier) {
            self.say(&text);
        }
    }

    pub(in crate::console) fn list_models(&mut self, models: &[ModelOption], current: &str) {
        let mut text = String::new();
        for (number, model) in (1..).zip(models) {
            let _ = writeln!(text, "{number:>3}  {:<20} {}", model.name, model.note);
        }
        let _ = write!(text, "Using {current}. Switch with /model NAME or /model NUMBER.");
        self.say(&text);
    }

    pub(in crate::console) fn list_sessions(&mut self, sessions: &[SessionSummary], now: UnixMillis) {
        let columns = self.columns;
        let Some(face) = &mut self.by_line else { return };
        face.listed = sessions.iter().map(|session| session.id.clone()).collect();
        let view = if face.is_pipe() { ListView::plain() } else { ListView::fitted(columns).at(now) };
        let table = render_numbered_sessions(sessions, &view);
        self.say(&format!("{}\nResume one with /resume NO", table.trim_end()));
    }

    /// Goes to the session that has this number in the list that was printed last.
    pub(in crate::console) fn resume_listed(&mut self, number: usize) {
        let listed = self.by_line.as_ref().map(|face| &face.listed);
        let Some(listed) = listed else {
            return self.complain(&format!("`{number}` is no session id. /resume lets you pick."));
        };
        match number.checked_sub(1).and_then(|place| listed.get(place)).cloned() {
            Some(session) => self.errand(Errand::Open(session)),
            None => self.complain(&format!("There is no session {number} in a list. /resume prints it.")),
        }
    }

    pub(in crate::console) fn list_found(&mut self, found: &[Found]) {
        self.say(&render_found_lines(found));
    }

    pub(in crate::console) fn list_approvals(&mut self) {
        let now = overview::describe_policy(self.approvals());
        self.say(&format!(
            "approvals: {now}; use /approve auto, ask, edits, all, none, or a time such as /approve 10m"
        ));
    }

    pub(in crate::console) fn list_prompts(&mut self) {
        let mut text = String::new();
        for (number, (_, _, prompt)) in (1..).zip(list_prompts(self.front().reader.transcript())) {
            let _ = writeln!(text, "{number:>3}. {}", one_line(prompt, PROMPT));
        }
        text.push_str("/rewind and a number goes back before it");
        self.say(&text);
    }
}
