//! Changes of a session: the commands for them, and the text about each.

use buddy_protocol::{ApprovalPolicy, Change, Command, SessionChanged, Transcript, TurnOutcome};

use crate::amounts::{describe_span, read_seconds};
use crate::table::ListView;
use crate::targets;

/// The text about `all`. Which host the session works on is not known here.
const ALL: &str = "Approvals: buddy allows everything except secrets, new hosts, files that run code later and changes outside the workspace; in production, everything that no rule denies";

/// Reads the mode after `/approve`.
pub(crate) fn read_approvals(policy: &str) -> Result<Command, String> {
    let window = || Some(ApprovalPolicy::Window { seconds: read_seconds(policy)? });
    let policy = ApprovalPolicy::from_name(policy).or_else(window).ok_or_else(|| {
        "use /approve auto, ask, edits, all, none, or a time such as /approve 10m".to_owned()
    })?;
    Ok(Command::Change(Change { approvals: Some(policy), ..Change::default() }))
}

/// Plan mode on or off.
pub(crate) fn set_plan(is_on: bool) -> Command {
    Command::Change(Change { plan_only: Some(is_on), ..Change::default() })
}

/// The question at the end of a turn that only planned.
pub(crate) const GO_AHEAD: &str = "Go ahead? y leaves plan mode and begins; anything else goes on planning.";

/// The prompt to the agent after a yes to it.
pub(crate) const GO_ON: &str = "Go ahead with the plan.";

/// Whether a line says yes to the question at the end of a plan, with a letter or in the question's own words.
pub(crate) fn is_go_ahead(transcript: &Transcript, line: &str) -> bool {
    let words: Vec<String> = line
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', '!']).to_ascii_lowercase())
        .collect();
    let is_yes = ["y", "yes", "go ahead", "yes go ahead"].contains(&words.join(" ").as_str());
    let is_planned = transcript.last_turn().is_some_and(|turn| turn.outcome == TurnOutcome::Completed);
    is_yes && transcript.is_plan_only() && is_planned
}

/// Takes the shared panes, or gives them back.
pub(crate) fn set_panes(is_taken: bool) -> Command {
    Command::Change(Change { panes_taken: Some(is_taken), ..Change::default() })
}

/// The text about a change.
pub(crate) fn describe_change(changed: &SessionChanged) -> Option<String> {
    let approvals = changed.approvals.map(|policy| match policy {
        ApprovalPolicy::Ask => "Approvals: buddy asks before every change".to_owned(),
        ApprovalPolicy::All => ALL.to_owned(),
        ApprovalPolicy::None => "Approvals: buddy denies everything that needs approval".to_owned(),
        ApprovalPolicy::Edits => {
            "Approvals: buddy accepts edits in the workspace and asks for the rest".to_owned()
        }
        ApprovalPolicy::Auto => {
            "Approvals: buddy asks only for what leaves the workspace or is dangerous".to_owned()
        }
        ApprovalPolicy::Window { seconds } => {
            let time = describe_span(seconds);
            format!(
                "Approvals: for {time} buddy allows everything that is not dangerous; then the earlier mode returns"
            )
        }
    });
    let plan = changed.plan_only.map(|is_on| {
        let text = if is_on { "Plan mode is on: buddy changes nothing" } else { "Plan mode is off" };
        text.to_owned()
    });
    let panes = changed.panes_taken.map(|is_taken| {
        let text = if is_taken {
            "The panes are yours: the agent types nothing until you enter /pane give"
        } else {
            "The agent has the panes again"
        };
        text.to_owned()
    });
    let targets = changed
        .targets
        .as_ref()
        .map(|targets| targets::tabulate_targets(targets, &ListView::plain()).text(&ListView::plain()));
    let model = changed.model.as_ref().map(|model| format!("model: {model}"));
    let title = changed.title.as_ref().map(|title| format!("title: {title}"));
    plan.or(approvals).or(panes).or(targets).or(model).or(title)
}
