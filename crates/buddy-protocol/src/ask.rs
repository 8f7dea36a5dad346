//! Asks: approvals and questions that wait for a user, and the answers to them. Both are one type.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AskId, ItemId, TurnId, UnixMillis};

/// An approval or question that waits for a user. The first answer wins; later ones are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// Names the ask; an answer carries it.
    pub id: AskId,
    /// The turn that waits for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The item the ask is about, for example the tool call that wants to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The approval, batch or question to answer.
    pub question: Question,
    /// When the ask is denied automatically; absent means it never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<UnixMillis>,
}

impl Ask {
    /// The items that the ask is about: one, or those of a batch.
    pub fn items(&self) -> impl Iterator<Item = &ItemId> {
        let batch = match &self.question {
            Question::Batch { approvals } => approvals.as_slice(),
            _ => &[],
        };
        self.item.iter().chain(batch.iter().filter_map(|approval| approval.item.as_ref()))
    }
}

/// The content of an ask: an approval, a batch of approvals, or a question in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "questions are few, and each is made once and read")]
pub enum Question {
    /// May this be done?
    Approval(Approval),
    /// May these be done? Each approval can be answered on its own.
    Batch {
        /// The approvals, in the order in which the agent asked for them.
        approvals: Vec<Approval>,
    },
    /// A question with options, free text, or both.
    Text {
        /// The question.
        text: String,
        /// Answers to pick from; empty means free text only.
        #[serde(default)]
        options: Vec<String>,
    },
}

/// An action that needs a yes, with everything a user needs to judge it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The item it is about, in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The agent that wants to act, for example `buddy`.
    pub actor: String,
    /// The account and host it would happen on, for example `ann@atlas`.
    pub place: String,
    /// The target it would happen on. Set only if the session has more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The working directory of the action, or the pane if the directory is unknown.
    pub cwd: String,
    /// One line: the exact command, or a description of the write.
    pub action: String,
    /// The purpose, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The risk, as policy judges it.
    pub risk: Risk,
    /// The reasons why policy asks.
    pub reasons: Vec<String>,
    /// The simple commands that a command consists of, as policy parsed them, if there is more than one. If the question is
    /// about hosts that a command wants to reach: the lines of that command as it was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The addresses that git connects to once it is allowed, after all rewriting and without logins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destinations: Vec<String>,
    /// Words of the command that its risk comes from, for a face to mark: neighbours in one text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risky: Vec<String>,
    /// The limits that the command has once it is allowed. Absent if nothing is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RunLimits>,
    /// Files with secrets in the workspace that the command can read once it is allowed, whether it names
    /// them or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opens: Vec<String>,
    /// The change to files, as a unified diff against their current contents, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Whether `action` is a command that the user may edit before it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_editable: bool,
    /// The grants that an answer can give beyond this one time. Empty if only a single yes is possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
    /// An earlier answer whose grant was refused, which is why buddy asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<Unfit>,
    /// The word that an answer must repeat to allow this. Absent if a plain yes is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
}

/// The limits of a command that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunLimits {
    /// Whether a sandbox holds it.
    pub sandboxed: bool,
    /// The network that it has.
    pub network: RunNetwork,
}

/// The network of a command that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunNetwork {
    /// None.
    Off,
    /// Each host is judged when the command connects, and asked about if needed.
    ByHost,
    /// That of the machine.
    On,
}

impl fmt::Display for RunLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = match self.network {
            RunNetwork::Off => "no network",
            RunNetwork::ByHost => "network host by host",
            RunNetwork::On => "network on",
        };
        write!(f, "{}sandboxed, {network}", if self.sandboxed { "" } else { "not " })
    }
}

/// The words of a grant that the user typed and that buddy refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unfit {
    /// The grant wish that had these words.
    pub wish: GrantWish,
    /// The reason for the refusal.
    pub why: String,
}

/// A grant that an answer can give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The pattern of the grant, for example `cargo test *`.
    pub grant: String,
    /// A description for users of everything else that the grant would cover.
    pub covers: String,
}

/// The risk of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Easily undone or without effect.
    Low,
    /// Changes something.
    Medium,
    /// Hard to undo, or reaches far.
    High,
}

/// A grant that a user wants to give with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantWish {
    /// The index of the offer, counted from 0.
    pub offer: u32,
    /// Words to use instead of those of the offer, such as `cargo test -p a *`. Policy judges them before
    /// they hold: they may allow no more than the offer and must cover the asked action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The scope of the grant.
    pub scope: GrantScope,
    /// The duration in seconds.
    pub seconds: u64,
}

/// The scope in which a grant holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// In this session.
    Session,
    /// In all sessions of this directory.
    Project,
    /// In all sessions of this user.
    User,
}

/// The maximum length of a command that a user puts in place of another, in bytes.
pub const MAX_EDIT: usize = 64 * 1024;

/// The maximum length of the words of a grant, in bytes.
pub const MAX_GRANT_WORDS: usize = 4 * 1024;

/// The maximum duration of a grant: 30 days.
pub const MAX_GRANT_SECONDS: u64 = 30 * 24 * 60 * 60;

/// An answer to an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// Do it.
    Allow {
        /// The grant for the future; absent allows only this once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<GrantWish>,
        /// The command to run instead of the proposed one. Policy judges it again before it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit: Option<String>,
        /// The word of the approval, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        word: Option<String>,
    },
    /// Do not do it.
    Deny {
        /// The reason, which the agent is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// One answer for each part of a batch, in its order.
    Each {
        /// The answers; each allows or denies.
        answers: Vec<Answer>,
    },
    /// The reply to a question.
    Reply {
        /// The text, or the option that was picked.
        text: String,
    },
    /// No user is there to answer any more. A face reports this, and the log names no user for it.
    Unanswered {
        /// The reason why nobody can answer.
        reason: String,
    },
    /// Nobody answered in time. Only the hub gives this answer.
    Expired,
    /// The asker no longer wants to know. Only the hub gives this answer.
    Withdrawn,
}

impl Answer {
    /// Do it, this once.
    pub fn allow() -> Self {
        Self::Allow { grant: None, edit: None, word: None }
    }

    /// Do it, and allow this from now on.
    pub fn grant(wish: GrantWish) -> Self {
        Self::Allow { grant: Some(wish), edit: None, word: None }
    }

    /// Run this command instead, once.
    pub fn edit(command: impl Into<String>) -> Self {
        Self::Allow { grant: None, edit: Some(command.into()), word: None }
    }

    /// The same answer with the word of the approval. Only an answer that allows can have one.
    #[must_use]
    pub fn with_word(self, word: impl Into<String>) -> Self {
        match self {
            Self::Allow { grant, edit, .. } => Self::Allow { grant, edit, word: Some(word.into()) },
            other => other,
        }
    }

    /// Whether it allows anything.
    pub fn allows(&self) -> bool {
        match self {
            Self::Allow { .. } => true,
            Self::Each { answers } => answers.iter().any(Self::allows),
            Self::Deny { .. }
            | Self::Unanswered { .. }
            | Self::Reply { .. }
            | Self::Expired
            | Self::Withdrawn => false,
        }
    }
}

/// The reason why an answer does not fit its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The number of answers differs from the number of approvals in the batch.
    #[error("there must be one answer for each part of the batch")]
    Count,
    /// A grant that was not offered.
    #[error("this was not offered to be allowed for longer")]
    Offer,
    /// The duration of the grant is zero or above [`MAX_GRANT_SECONDS`].
    #[error("a grant holds for at least a second and at most 30 days")]
    Time,
    /// The words of the grant are empty, or too long for anybody to read.
    #[error("what is allowed for longer has at least one character and at most {MAX_GRANT_WORDS} bytes")]
    Words,
    /// An edit of an action that is not a command.
    #[error("only a command that is asked for alone can be changed")]
    Edit,
    /// The edited command is empty, or too long for anybody to read.
    #[error("a changed command has at least one character and at most {MAX_EDIT} bytes")]
    EditSize,
    /// A yes without the word of the approval, or with a wrong one.
    #[error("this needs the word that the question shows")]
    Word,
    /// A kind of answer that the question does not accept.
    #[error("the question cannot be answered in this way")]
    Kind,
}

impl Question {
    /// The word that a yes must repeat, if this is a single approval that has one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Approval(approval) => approval.word.as_deref(),
            Self::Batch { .. } | Self::Text { .. } => None,
        }
    }

    /// Checks whether a face may give this answer.
    pub fn accepts(&self, answer: &Answer) -> Result<(), Misfit> {
        self.fits(answer)?;
        if self.is_confirmed(answer) { Ok(()) } else { Err(Misfit::Word) }
    }

    /// Whether the answer repeats the word of each approval that it allows.
    fn is_confirmed(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Approval(approval), answer) => approval.is_confirmed(answer),
            (Self::Batch { approvals }, Answer::Each { answers }) => {
                approvals.iter().zip(answers).all(|(approval, answer)| approval.is_confirmed(answer))
            }
            (Self::Batch { approvals }, answer) => {
                approvals.iter().all(|approval| approval.is_confirmed(answer))
            }
            (Self::Text { .. }, _) => true,
        }
    }

    fn fits(&self, answer: &Answer) -> Result<(), Misfit> {
        match (self, answer) {
            (Self::Approval(_) | Self::Batch { .. }, Answer::Allow { grant: None, edit: None, .. })
            | (_, Answer::Deny { .. } | Answer::Unanswered { .. })
            | (Self::Approval(_) | Self::Text { .. }, Answer::Reply { .. }) => Ok(()),
            (Self::Approval(approval), Answer::Allow { grant: Some(wish), edit: None, .. }) => {
                approval.grants(wish)
            }
            (Self::Approval(approval), Answer::Allow { grant: None, edit: Some(edit), .. }) => {
                approval.becomes(edit)
            }
            (Self::Batch { approvals }, Answer::Each { answers }) => {
                if approvals.len() != answers.len() {
                    return Err(Misfit::Count);
                }
                approvals.iter().zip(answers).try_for_each(|(approval, answer)| match answer {
                    Answer::Allow { edit: Some(_), .. } => Err(Misfit::Edit),
                    Answer::Allow { grant: Some(wish), .. } => approval.grants(wish),
                    Answer::Allow { .. } | Answer::Deny { .. } => Ok(()),
                    _ => Err(Misfit::Kind),
                })
            }
            _ => Err(Misfit::Kind),
        }
    }
}

/// The words of a reason about a file with secrets.
const HOLDS_SECRETS: &str = "which can hold secrets";

impl Approval {
    /// Sentences for users that name the files with secrets which a yes opens, as far as the reasons do not name them, and what
    /// follows from that; `None` if it opens none.
    pub fn opens_line(&self) -> Option<String> {
        let is_named = |file: &str| {
            let says = |reason: &String| {
                let mut quoted = reason.split('`').skip(1).step_by(2);
                let is_it = |name: &str| name == file || name.ends_with(&format!("/{file}"));
                reason.contains(HOLDS_SECRETS) && quoted.any(is_it)
            };
            self.reasons.iter().any(says)
        };
        let files: Vec<String> = self.opens.iter().filter(|file| !is_named(file)).cloned().collect();
        match sealed_line(&files) {
            Some(files) => Some(format!("It can read {files}. After that, every host asks.")),
            None => self.reads_secret().then(|| "After that, every host asks.".to_owned()),
        }
    }

    /// Whether a reason names a file with secrets that it reads.
    fn reads_secret(&self) -> bool {
        self.reasons.iter().any(|reason| reason.starts_with("it reads ") && reason.contains(HOLDS_SECRETS))
    }

    /// Whether the answer has the word, if it allows this approval and the approval has one.
    fn is_confirmed(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Allow { word, .. } => self.word.is_none() || *word == self.word,
            _ => true,
        }
    }

    fn becomes(&self, edit: &str) -> Result<(), Misfit> {
        if !self.is_editable {
            return Err(Misfit::Edit);
        }
        if edit.trim().is_empty() || edit.len() > MAX_EDIT {
            return Err(Misfit::EditSize);
        }
        Ok(())
    }

    fn grants(&self, wish: &GrantWish) -> Result<(), Misfit> {
        if self.offers.len() <= wish.offer as usize {
            return Err(Misfit::Offer);
        }
        if wish.seconds == 0 || wish.seconds > MAX_GRANT_SECONDS {
            return Err(Misfit::Time);
        }
        let is_readable = |words: &String| !words.trim().is_empty() && words.len() <= MAX_GRANT_WORDS;
        if !wish.words.as_ref().is_none_or(is_readable) {
            return Err(Misfit::Words);
        }
        Ok(())
    }
}

/// A line for users that names the first file with secrets and counts the others.
pub fn sealed_line(files: &[String]) -> Option<String> {
    let (first, others) = files.split_first()?;
    Some(match others.len() {
        0 => format!("{first}, a file with secrets"),
        1 => format!("{first} and 1 other file with secrets"),
        count => format!("{first} and {count} other files with secrets"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_yes_opens_are_named_in_one_sentence() {
        let line = |files: &[&str]| {
            let opens = files.iter().map(|&file| file.to_owned()).collect();
            Approval { opens, ..approval(0) }.opens_line()
        };
        assert_eq!(line(&[]), None);
        assert_eq!(
            line(&[".env"]).unwrap(),
            "It can read .env, a file with secrets. After that, every host asks."
        );
        assert_eq!(
            line(&[".env", "a.key"]).unwrap(),
            "It can read .env and 1 other file with secrets. After that, every host asks."
        );
        assert_eq!(
            line(&[".env", "a", "b"]).unwrap(),
            "It can read .env and 2 other files with secrets. After that, every host asks."
        );
    }

    #[test]
    fn a_file_that_a_reason_names_is_not_named_twice() {
        let opens = vec![".env".to_owned()];
        let reasons = vec!["it reads `/w/.env`, which can hold secrets".to_owned()];
        let told = Some("After that, every host asks.");
        let named = Approval { opens: opens.clone(), reasons, ..approval(0) };
        assert_eq!(named.opens_line().as_deref(), told);
        assert_eq!(Approval { opens: Vec::new(), ..named }.opens_line().as_deref(), told, "a tool for files");
        let write = vec!["it writes `/w/.env`, which can hold secrets".to_owned()];
        assert_eq!(Approval { reasons: write, ..approval(0) }.opens_line(), None);
        let other = vec!["it reads `/w/b.env`, which can hold secrets".to_owned()];
        assert!(Approval { opens, reasons: other, ..approval(0) }.opens_line().is_some());
    }

    fn approval(offers: usize) -> Approval {
        let offer = Offer { grant: "cargo *".to_owned(), covers: "every command of cargo".to_owned() };
        Approval {
            item: None,
            actor: "buddy".to_owned(),
            place: "ann@atlas".to_owned(),
            target: None,
            cwd: "/w".to_owned(),
            action: "cargo test".to_owned(),
            why: None,
            risk: Risk::Low,
            reasons: vec![],
            parts: vec![],
            destinations: vec![],
            risky: vec![],
            limits: None,
            opens: vec![],
            diff: None,
            is_editable: false,
            offers: vec![offer; offers],
            unfit: None,
            word: None,
        }
    }

    fn wish(offer: u32, seconds: u64) -> GrantWish {
        GrantWish { offer, words: None, scope: GrantScope::Session, seconds }
    }

    fn grant(offer: u32, seconds: u64) -> Answer {
        Answer::grant(wish(offer, seconds))
    }

    #[test]
    fn an_approval_is_allowed_denied_or_talked_about() {
        let question = Question::Approval(approval(1));
        let deny = Answer::Deny { reason: None };
        for answer in [Answer::allow(), deny, Answer::Reply { text: "why?".to_owned() }, grant(0, 60)] {
            assert_eq!(question.accepts(&answer), Ok(()), "{answer:?}");
        }
        assert_eq!(question.accepts(&grant(1, 60)), Err(Misfit::Offer));
        assert_eq!(question.accepts(&grant(0, 0)), Err(Misfit::Time));
        assert_eq!(question.accepts(&grant(0, MAX_GRANT_SECONDS + 1)), Err(Misfit::Time));
        assert_eq!(question.accepts(&Answer::Each { answers: vec![] }), Err(Misfit::Kind));
    }

    #[test]
    fn a_batch_is_answered_as_a_whole_or_part_by_part() {
        let question = Question::Batch { approvals: vec![approval(0), approval(1)] };
        let each = |answers: Vec<Answer>| question.accepts(&Answer::Each { answers });
        assert_eq!(question.accepts(&Answer::allow()), Ok(()));
        assert_eq!(each(vec![Answer::Deny { reason: None }, grant(0, 60)]), Ok(()));
        assert_eq!(each(vec![grant(0, 60), Answer::allow()]), Err(Misfit::Offer));
        assert_eq!(each(vec![Answer::allow()]), Err(Misfit::Count));
        assert_eq!(each(vec![Answer::allow(), Answer::Each { answers: vec![] }]), Err(Misfit::Kind));
        assert_eq!(question.accepts(&grant(0, 60)), Err(Misfit::Kind));
    }

    #[test]
    fn words_of_a_grant_can_be_read() {
        let question = Question::Approval(approval(1));
        let said = |words: &str| {
            question.accepts(&Answer::grant(GrantWish { words: Some(words.to_owned()), ..wish(0, 60) }))
        };
        assert_eq!(said("cargo test *"), Ok(()));
        assert_eq!(said(" "), Err(Misfit::Words));
        assert_eq!(said(&"x".repeat(MAX_GRANT_WORDS + 1)), Err(Misfit::Words));
        let none = Question::Approval(approval(0));
        let answer = Answer::grant(GrantWish { words: Some("cargo *".to_owned()), ..wish(0, 60) });
        assert_eq!(
            none.accepts(&answer),
            Err(Misfit::Offer),
            "what is not offered is not offered in other words"
        );
    }

    #[test]
    fn only_a_command_that_is_asked_for_alone_is_changed() {
        let command = Approval { is_editable: true, ..approval(1) };
        let one = Question::Approval(command.clone());
        assert_eq!(one.accepts(&Answer::edit("ls")), Ok(()));
        assert_eq!(one.accepts(&Answer::edit(" ")), Err(Misfit::EditSize));
        assert_eq!(one.accepts(&Answer::edit("x".repeat(MAX_EDIT + 1))), Err(Misfit::EditSize));
        let both = Answer::Allow { grant: Some(wish(0, 60)), edit: Some("ls".to_owned()), word: None };
        assert_eq!(one.accepts(&both), Err(Misfit::Kind), "the grant was offered for another command");
        assert_eq!(Question::Approval(approval(1)).accepts(&Answer::edit("ls")), Err(Misfit::Edit));
        let many = Question::Batch { approvals: vec![command] };
        assert_eq!(many.accepts(&Answer::edit("ls")), Err(Misfit::Kind));
        let each = Answer::Each { answers: vec![Answer::edit("ls")] };
        assert_eq!(many.accepts(&each), Err(Misfit::Edit));
    }

    #[test]
    fn an_approval_with_a_word_is_allowed_with_that_word_alone() {
        let grave = Approval { word: Some("bcdfg".to_owned()), is_editable: true, ..approval(1) };
        let one = Question::Approval(grave.clone());
        let ways = || [Answer::allow(), Answer::edit("ls"), grant(0, 60)];
        for answer in ways() {
            assert_eq!(one.accepts(&answer), Err(Misfit::Word), "{answer:?}");
            assert_eq!(one.accepts(&answer.clone().with_word("bcdfh")), Err(Misfit::Word));
            assert_eq!(one.accepts(&answer.clone().with_word("")), Err(Misfit::Word));
            assert_eq!(one.accepts(&answer.with_word("bcdfg")), Ok(()));
        }
        assert_eq!(one.accepts(&Answer::Deny { reason: None }), Ok(()), "a no needs no word");
        let many = Question::Batch { approvals: vec![approval(0), grave] };
        assert_eq!(many.accepts(&Answer::allow()), Err(Misfit::Word));
        let each = |last: Answer| many.accepts(&Answer::Each { answers: vec![Answer::allow(), last] });
        assert_eq!(each(Answer::allow()), Err(Misfit::Word));
        assert_eq!(each(Answer::allow().with_word("bcdfg")), Ok(()));
        assert_eq!(each(Answer::Deny { reason: None }), Ok(()));
    }

    #[test]
    fn the_short_form_of_an_answer_is_read() {
        let allow: Answer = serde_json::from_str(r#"{"type":"allow"}"#).unwrap();
        assert_eq!(allow, Answer::allow());
        assert_eq!(serde_json::to_string(&allow).unwrap(), r#"{"type":"allow"}"#);
    }
}
