//! Lists of sessions and the text of one.

use std::fmt::Write;

use buddy_protocol::{
    Content, Found, Image, Item, ItemStatus, PrincipalKind, Ran, SessionState, SessionSummary, Transcript,
    UnixMillis, WaitingAsk,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::asking::listed_question;
use crate::console::named_line;
use crate::counting::counted;
use crate::printer::{OutputClosed, Printer};
use crate::visible::one_line;

/// Characters of a title in a list.
const TITLE: usize = 60;
/// Characters of what stands for an image.
const LABEL: usize = 140;
/// Characters of an excerpt.
const EXCERPT: usize = 200;

/// Prints a list of sessions, one a line.
pub fn show_sessions(sessions: &[SessionSummary], printer: &mut Printer) -> Result<(), OutputClosed> {
    if sessions.is_empty() {
        printer.status("no sessions yet; start one with `buddy exec \"…\"`");
    }
    printer.answer(&session_lines(sessions))
}

/// Sessions, one a line.
pub(crate) fn session_lines(sessions: &[SessionSummary]) -> String {
    let mut text = String::new();
    for session in sessions {
        let title = one_line(session.title.as_deref().unwrap_or(""), TITLE);
        let state = match session.state {
            SessionState::Idle => "idle",
            SessionState::Running => "running",
            SessionState::Waiting => "waiting",
            SessionState::Ended => "ended",
        };
        let (id, time) = (&session.id, local_time(session.updated));
        let _ = writeln!(text, "{id}  {time}  {state:<7}  {:>9}  {title}", counted(session.turns, "turn"));
    }
    text
}

/// Prints sessions in which words were found, each with what was said around them.
pub fn show_found(found: &[Found], printer: &mut Printer) -> Result<(), OutputClosed> {
    if found.is_empty() {
        printer.status("nothing was found");
    }
    printer.answer(&found_lines(found))
}

/// Sessions in which words were found, two lines each.
pub(crate) fn found_lines(found: &[Found]) -> String {
    let mut text = String::new();
    for found in found {
        let title = one_line(found.summary.title.as_deref().unwrap_or(""), TITLE);
        let time = local_time(found.summary.updated);
        let _ = writeln!(text, "{}  {time}  {title}", found.summary.id);
        let _ = writeln!(text, "    {}", one_line(&found.excerpt, EXCERPT));
    }
    text
}

/// Prints what waits for a user, with the session that each is of.
pub fn show_asks(asks: &[WaitingAsk], printer: &mut Printer) -> Result<(), OutputClosed> {
    if asks.is_empty() {
        printer.status("nothing waits for you");
    }
    for waiting in asks {
        let title = one_line(waiting.title.as_deref().unwrap_or(""), TITLE);
        let until =
            waiting.ask.expires.map(|time| format!(", until {}", local_time(time))).unwrap_or_default();
        printer.answer(&format!("{}  {}  {title}{until}\n", waiting.ask.id, waiting.session))?;
        for line in listed_question(&waiting.ask, &waiting.cwd).lines() {
            printer.answer(&format!("    {line}\n"))?;
        }
        let how = "answer it in the terminal of that session; if that is gone: buddy resume";
        printer.answer(&format!("    {how} {}\n", waiting.session))?;
    }
    Ok(())
}

/// Prints what was said and done in a session.
pub fn show_transcript(transcript: &Transcript, printer: &mut Printer) -> Result<(), OutputClosed> {
    for item in transcript.items() {
        if let Some(text) = item_text(item, transcript) {
            printer.answer(&format!("{text}\n"))?;
        }
    }
    Ok(())
}

fn item_text(item: &Item, transcript: &Transcript) -> Option<String> {
    let has_targets = transcript.targets().len() > 1;
    let cut = if item.status == ItemStatus::Interrupted { " [interrupted]" } else { "" };
    match &item.content {
        Content::UserMessage { ran: Some(ran), .. } if ran.background.is_some() => {
            Some(format!("ended in the background: {}\n{}", ran.command, printed(ran)))
        }
        Content::UserMessage { ran: Some(ran), .. } => Some(format!("> ! {}\n{}", ran.command, printed(ran))),
        Content::UserMessage { text, images, .. } => {
            let text: Vec<String> = std::iter::once(text.clone())
                .filter(|text| !text.is_empty())
                .chain(images.iter().map(image_label))
                .collect();
            Some(format!("> {}", text.join("\n")))
        }
        Content::AgentMessage { text } if text.is_empty() => None,
        Content::AgentMessage { text } => Some(format!("{text}{cut}\n")),
        Content::ToolCall(call) => {
            let outcome = match item.status {
                ItemStatus::Completed => String::new(),
                ItemStatus::Failed => " [failed]".to_owned(),
                ItemStatus::Denied => format!(" [not allowed{}]", decided(item, transcript)),
                ItemStatus::Interrupted => " [interrupted]".to_owned(),
                ItemStatus::Pending | ItemStatus::Running => " [open]".to_owned(),
            };
            let is_allowed = matches!(item.status, ItemStatus::Completed | ItemStatus::Failed);
            let allowed = person(item, transcript).filter(|_| is_allowed);
            let outcome = allowed.map_or(String::new(), |name| format!(" [allowed by {name}]")) + &outcome;
            let target = call.target.as_ref().filter(|_| has_targets);
            let on = target.map(|target| format!(" on {target}")).unwrap_or_default();
            let cwd = transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
            Some(format!("{}{outcome}", named_line(call, item.status, &on, cwd)))
        }
        Content::Compaction { .. } => Some("(earlier conversation summarised)".to_owned()),
        _ => None,
    }
}

/// The user who answered for a call, where one did.
pub(crate) fn person(item: &Item, transcript: &Transcript) -> Option<String> {
    let by = transcript.decided_by(&item.id).filter(|by| by.kind == PrincipalKind::Person)?;
    Some(one_line(&by.name, TITLE))
}

/// Who decided that a call does not run, to follow the words that it was not allowed.
pub(crate) fn decided(item: &Item, transcript: &Transcript) -> String {
    if let Some(name) = person(item, transcript) {
        return format!(" by {name}");
    }
    let Content::ToolCall(call) = &item.content else { return String::new() };
    let code = call.output.as_ref().and_then(|output| output.error.as_ref()).map(|error| error.code.as_str());
    match (transcript.decided_by(&item.id), code) {
        (Some(_), _) => ": nobody answered".to_owned(),
        (None, Some("approval_needed")) => ": nobody could be asked".to_owned(),
        (None, Some("forbidden")) => " by policy".to_owned(),
        (None, _) => String::new(),
    }
}

/// What stands for an image where none can be shown.
pub(crate) fn image_label(image: &Image) -> String {
    format!("[image: {}]", one_line(&image.label(), LABEL))
}

/// What a command that a user ran has printed, and how it ended where that is not well.
pub(crate) fn printed(ran: &Ran) -> String {
    let Some(outcome) = &ran.outcome else { return "how it ended is not known".to_owned() };
    let mut text = format!("{}{}", outcome.stdout, outcome.stderr);
    text.truncate(text.trim_end().len());
    let code = outcome.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}"));
    let signal = outcome.signal.map(|signal| format!("ended by signal {signal}"));
    let how = outcome.note.clone().or(code).or(signal);
    match how {
        Some(how) if text.is_empty() => how,
        Some(how) => format!("{text}\n{how}"),
        None => text,
    }
}

/// A moment as the clock on the wall shows it.
pub fn local_time(UnixMillis(millis): UnixMillis) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    let time = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
