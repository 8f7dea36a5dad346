//! Lists of sessions and the text of one.

use buddy_protocol::{
    Content, Found, Image, Item, ItemStatus, PrincipalKind, Question, Ran, ReminderCause, Risk, SessionState,
    SessionSummary, ToolCall, Transcript, UnknownContent, WaitingAsk,
};

use crate::console::{NOT_ALLOWED, render_named_call, render_stopped};
use crate::printer::{OutputClosed, Printer};
use crate::table::{ListView, Table, TableCell, TableColumn};
use crate::visible::one_line;

/// Characters of a title in a list.
const TITLE: usize = 60;
/// Characters of what stands for an image.
const LABEL: usize = 140;
/// Characters of an excerpt.
const EXCERPT: usize = 200;

/// The columns of `buddy sessions`.
const SESSION_COLUMNS: [TableColumn; 6] = [
    TableColumn::word("ID"),
    TableColumn::word("STARTED").dropped_at(2),
    TableColumn::word("STATUS").dropped_at(1),
    TableColumn::number("TURNS").dropped_at(4),
    TableColumn::number("COST").dropped_at(3),
    TableColumn::free("TITLE"),
];
/// The same in a conversation line by line, where a number stands for a session.
const NUMBERED_COLUMNS: [TableColumn; 7] = {
    let [id, started, status, turns, cost, title] = SESSION_COLUMNS;
    [TableColumn::number("NO"), id, started, status, turns, cost, title]
};
/// The columns of `buddy sessions --grep`.
const FOUND_COLUMNS: [TableColumn; 4] = [
    TableColumn::word("ID"),
    TableColumn::word("STARTED").dropped_at(1),
    TableColumn::free("TITLE").dropped_at(2),
    TableColumn::free("TEXT"),
];
/// The columns of `buddy asks`.
const ASK_COLUMNS: [TableColumn; 5] = [
    TableColumn::word("SESSION"),
    TableColumn::word("RISK").dropped_at(1),
    TableColumn::free("QUESTION"),
    TableColumn::free("TITLE").dropped_at(3),
    TableColumn::word("UNTIL").dropped_at(2),
];

/// Prints a list of sessions. `more` closes the hint, such as how to list more of them.
pub fn show_sessions(
    sessions: &[SessionSummary],
    more: &str,
    view: &ListView,
    printer: &mut Printer,
) -> Result<(), OutputClosed> {
    session_table(sessions, view)
        .hint(format!("Resume one with `buddy resume ID`{more}"))
        .print(view, printer)
}

fn session_table(sessions: &[SessionSummary], view: &ListView) -> Table {
    let mut table = Table::new(&SESSION_COLUMNS, "No sessions yet. Start one with `buddy`.");
    for cells in session_rows(sessions, view) {
        table.add(cells);
    }
    table
}

fn session_rows(sessions: &[SessionSummary], view: &ListView) -> impl Iterator<Item = [TableCell; 6]> {
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    sessions.iter().zip(view.ids(&ids)).map(|(session, id)| {
        let cost = session.bill.total().filter(|_| session.turns > 0);
        let cost = cost.map(|cost| format!("${:.2}", cost.dollars())).unwrap_or_default();
        let title = one_line(session.title.as_deref().unwrap_or(""), EXCERPT);
        [
            id.into(),
            view.time(session.created).into(),
            state(session.state),
            session.turns.to_string().into(),
            cost.into(),
            format!("{title}{}", mark_copy(session)).into(),
        ]
    })
}

/// The mark of a copy behind its title, which is that of the original.
pub(crate) fn mark_copy(session: &SessionSummary) -> &'static str {
    match (&session.parent, &session.forked_from) {
        (Some(_), _) => " (task)",
        (None, Some(_)) => " (copy)",
        (None, None) => "",
    }
}

fn state(state: SessionState) -> TableCell {
    match state {
        SessionState::Idle => "idle".into(),
        SessionState::Running => "running".into(),
        SessionState::Waiting => TableCell::waiting("waits"),
        SessionState::Ended => "ended".into(),
    }
}

/// Sessions as a table of text in which each has a number.
pub(crate) fn render_numbered_sessions(sessions: &[SessionSummary], view: &ListView) -> String {
    let mut table = Table::new(&NUMBERED_COLUMNS, "No sessions yet. Start one with `buddy`.");
    for (number, cells) in (1..).zip(session_rows(sessions, view)) {
        let number: u32 = number;
        table.add(std::iter::once(number.to_string().into()).chain(cells));
    }
    table.text(view)
}

/// Prints sessions in which words were found, each with the text around them.
pub fn show_found(found: &[Found], view: &ListView, printer: &mut Printer) -> Result<(), OutputClosed> {
    found_table(found, view).hint("Resume one with `buddy resume ID`").print(view, printer)
}

fn found_table(found: &[Found], view: &ListView) -> Table {
    let mut table = Table::new(&FOUND_COLUMNS, "No conversation contains these words.");
    let ids: Vec<&str> = found.iter().map(|found| found.summary.id.as_str()).collect();
    for (found, id) in found.iter().zip(view.ids(&ids)) {
        table.add([
            id.into(),
            view.time(found.summary.created).into(),
            one_line(found.summary.title.as_deref().unwrap_or(""), TITLE).into(),
            one_line(&found.excerpt, EXCERPT).into(),
        ]);
    }
    table
}

/// Sessions in which words were found, as a table of plain text.
pub(crate) fn render_found_lines(found: &[Found]) -> String {
    plain_lines(&found_table(found, &ListView::plain()))
}

fn plain_lines(table: &Table) -> String {
    table.lines(&ListView::plain()).iter().map(|line| line.text() + "\n").collect()
}

/// Prints what waits for a user, with the session that each is of.
pub fn show_asks(asks: &[WaitingAsk], view: &ListView, printer: &mut Printer) -> Result<(), OutputClosed> {
    let mut table = Table::new(&ASK_COLUMNS, "Nothing waits for your answer.");
    let ids: Vec<&str> = asks.iter().map(|waiting| waiting.session.as_str()).collect();
    for (waiting, id) in asks.iter().zip(view.session_ids(&ids)) {
        let WaitingAsk { ask, title, .. } = waiting;
        let (risk, text) = describe_question(&ask.question);
        table.add([
            id.into(),
            risk,
            one_line(&text, EXCERPT).into(),
            one_line(title.as_deref().unwrap_or(""), TITLE).into(),
            ask.expires.map(|time| view.time(time)).unwrap_or_default().into(),
        ]);
    }
    table.hint("Answer in its conversation, or open it with `buddy resume ID`").print(view, printer)
}

/// The risk and the words of a question.
fn describe_question(question: &Question) -> (TableCell, String) {
    match question {
        Question::Approval(approval) => (risk(approval.risk), approval.action.clone()),
        Question::Batch { approvals } => {
            let highest = approvals.iter().map(|approval| approval.risk).max();
            let actions: Vec<&str> = approvals.iter().map(|approval| approval.action.as_str()).collect();
            (highest.map_or_else(|| "".into(), risk), actions.join("; "))
        }
        Question::Text { text, .. } => ("".into(), text.clone()),
    }
}

fn risk(risk: Risk) -> TableCell {
    match risk {
        Risk::Low => "low".into(),
        Risk::Medium => TableCell::waiting("medium"),
        Risk::High => TableCell::failed("high"),
    }
}

/// Prints what was said and done in a session.
pub fn show_transcript(transcript: &Transcript, printer: &mut Printer) -> Result<(), OutputClosed> {
    for (_, text) in list_item_texts(transcript) {
        printer.answer(&format!("{text}\n"))?;
    }
    Ok(())
}

/// The texts of a session, one for each item that has one.
pub(crate) fn list_item_texts(transcript: &Transcript) -> impl Iterator<Item = (&Item, String)> {
    transcript.items().iter().filter_map(|item| Some((item, item_text(item, transcript)?)))
}

fn item_text(item: &Item, transcript: &Transcript) -> Option<String> {
    let has_targets = transcript.targets().len() > 1;
    let cut = if item.status == ItemStatus::Interrupted { " [interrupted]" } else { "" };
    match &item.content {
        Content::UserMessage { ran: Some(ran), .. } if ran.background.is_some() => {
            Some(format!("ended in the background: {}\n{}", ran.command, describe_output(ran)))
        }
        Content::UserMessage { ran: Some(ran), .. } => {
            Some(format!("> ! {}\n{}", ran.command, describe_output(ran)))
        }
        Content::UserMessage { text, images, .. } => {
            let text: Vec<String> = std::iter::once(text.clone())
                .filter(|text| !text.is_empty())
                .chain(images.iter().map(label_image))
                .collect();
            Some(format!("> {}", text.join("\n")))
        }
        Content::AgentMessage { text } if text.is_empty() => None,
        Content::AgentMessage { text } => Some(format!("{text}{cut}\n")),
        Content::ToolCall(call) => {
            let outcome = match item.status {
                // A file says that it ran.
                _ if transcript.is_imported(item) => " [imported]".to_owned(),
                ItemStatus::Completed => String::new(),
                ItemStatus::Failed => " [failed]".to_owned(),
                ItemStatus::Denied => format!(" [not allowed{}]", describe_decision(item, transcript)),
                ItemStatus::Interrupted => " [interrupted]".to_owned(),
                ItemStatus::Pending | ItemStatus::Running => " [not finished]".to_owned(),
            };
            let is_allowed = matches!(item.status, ItemStatus::Completed | ItemStatus::Failed);
            let allowed = find_decider(item, transcript).filter(|_| is_allowed);
            let allowed = allowed.map(|name| match find_proposed_command(item, transcript) {
                Some(command) => format!(" [changed by {name} from `{}`]", one_line(&command, TITLE)),
                None => match find_reply(call) {
                    Some(reply) => format!(" [{name}: {}]", one_line(&reply, EXCERPT)),
                    None => format!(" [allowed by {name}]"),
                },
            });
            let outcome = allowed.unwrap_or_default() + &outcome;
            let target = call.target.as_ref().filter(|_| has_targets);
            let on = target.map(|target| format!(" on {target}")).unwrap_or_default();
            let cwd = transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
            Some(format!(
                "{}{outcome}{}",
                render_named_call(call, item.status, &on, cwd),
                render_stopped(call)
            ))
        }
        Content::Reminder { cause, .. } => Some(format!("({})", describe_reminder(*cause))),
        Content::Compaction { .. } => Some("(earlier conversation summarised)".to_owned()),
        Content::Unknown(unknown) => Some(describe_unknown(unknown)),
        _ => None,
    }
}

/// The line of content that a newer version added.
pub(crate) fn describe_unknown(unknown: &UnknownContent) -> String {
    format!("({}: this version of buddy cannot show it)", one_line(unknown.kind(), TITLE))
}

/// A reminder of buddy to the model, in the words of the reader.
pub(crate) fn describe_reminder(cause: ReminderCause) -> &'static str {
    match cause {
        ReminderCause::Unverified => "buddy asked the model to check its changes before it finishes",
        ReminderCause::Repeating => "buddy told the model that it repeats itself",
        ReminderCause::Incomplete => "buddy asked the model for a complete answer",
        ReminderCause::Limit => "a limit is reached; buddy asked the model for a report",
        ReminderCause::PlanBegan => "buddy told the model that plan mode is on",
        ReminderCause::PlanRecited => "buddy repeated the plan to the model",
        ReminderCause::PlanEnded => "buddy told the model that plan mode is off",
    }
}

/// The user who answered for a call, where one did.
pub(crate) fn find_decider(item: &Item, transcript: &Transcript) -> Option<String> {
    let by = transcript.decided_by(&item.id).filter(|by| by.kind() == PrincipalKind::Person)?;
    Some(one_line(&by.name, TITLE))
}

/// The reply of a user to a question of the agent.
fn find_reply(call: &ToolCall) -> Option<String> {
    if call.name != "ask_user" {
        return None;
    }
    let result = call.output.as_ref()?.result.as_ref()?.value();
    Some(result.get("answer")?.as_str()?.to_owned())
}

/// The command that the model proposed, where a user ran another one instead.
pub(crate) fn find_proposed_command(item: &Item, transcript: &Transcript) -> Option<String> {
    transcript.decision(&item.id)?.edit.as_ref()?;
    let Content::ToolCall(call) = &item.content else { return None };
    Some(call.input.value().get("command")?.as_str()?.to_owned())
}

/// Who decided that a call does not run, to follow the words that it was not allowed.
pub(crate) fn describe_decision(item: &Item, transcript: &Transcript) -> String {
    if let Some(name) = find_decider(item, transcript) {
        let reason = transcript.decision(&item.id).and_then(|decision| decision.reason.as_deref());
        let reason = reason.map(|reason| format!(": {}", one_line(reason, EXCERPT))).unwrap_or_default();
        return format!(" by {name}{reason}");
    }
    let Content::ToolCall(call) = &item.content else { return String::new() };
    let code = call.output.as_ref().and_then(|output| output.error.as_ref()).map(|error| error.code.as_str());
    match (transcript.decided_by(&item.id), code) {
        (Some(_), _) => ": nobody answered".to_owned(),
        (None, Some("approval_needed")) => ": nobody could be asked".to_owned(),
        (None, Some("forbidden")) => format!(" by policy{}", describe_refusal(call)),
        (None, _) => String::new(),
    }
}

/// The reasons that policy gave, to follow the words that say so.
fn describe_refusal(call: &ToolCall) -> String {
    let message =
        call.output.as_ref().and_then(|output| output.error.as_ref()).map(|error| error.message.as_str());
    let reason = message.map(|message| message.strip_prefix(NOT_ALLOWED).unwrap_or(message));
    reason.map(|reason| format!(": {}", one_line(reason, EXCERPT))).unwrap_or_default()
}

/// The stand-in for an image where none can be shown.
pub(crate) fn label_image(image: &Image) -> String {
    format!("[image: {}]", one_line(&image.label(), LABEL))
}

/// The output of a command that a user ran, and its end unless it succeeded.
pub(crate) fn describe_output(ran: &Ran) -> String {
    let text = printed_output(ran);
    match describe_end(ran) {
        Some(how) if text.is_empty() => how,
        Some(how) => format!("{text}\n{how}"),
        None => text,
    }
}

/// The output of a command that a user ran, whose lines have a shape of their own.
pub(crate) fn printed_output(ran: &Ran) -> String {
    let Some(outcome) = &ran.outcome else { return String::new() };
    let mut text = format!("{}{}", outcome.stdout, outcome.stderr);
    text.truncate(text.trim_end().len());
    text
}

/// A sentence about the end of such a command, unless it succeeded.
pub(crate) fn describe_end(ran: &Ran) -> Option<String> {
    let Some(outcome) = &ran.outcome else { return Some("exit status unknown".to_owned()) };
    let code = outcome.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}"));
    let signal = outcome.signal.map(|signal| format!("ended by signal {signal}"));
    outcome.note.clone().or(code).or(signal)
}
