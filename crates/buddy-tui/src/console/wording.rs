//! The words of an approval: its title, and what yes and no are called.

use anstyle::Style;
use buddy_protocol::Approval;

use crate::text::{Line, Look, Paint};

/// The words of an approval.
pub(super) struct ApprovalWords {
    pub(super) title: String,
    /// Whether the title tells the whole action, so that it need not be said again.
    pub(super) is_told: bool,
    pub(super) yes: &'static str,
    pub(super) no: &'static str,
}

impl ApprovalWords {
    /// The words of an approval, where some titles may be too long.
    pub(super) fn of(approval: &Approval, fits: impl Fn(&str) -> bool) -> Self {
        let own = |title: &str| {
            if approval.actor == "buddy" { title.to_owned() } else { format!("{}: {title}", approval.actor) }
        };
        let once = |title: &str| Self { title: own(title), is_told: false, yes: "Allow once", no: "Deny" };
        let action = approval.action.as_str();
        if approval.is_editable {
            return match approval.actor.as_str() {
                "buddy" => once("Run this command?"),
                actor => Self { title: format!("{actor} wants to run a command"), ..once("") },
            };
        }
        if let Some(diff) = &approval.diff {
            let verb = if diff.starts_with("--- /dev/null") { "Create" } else { "Edit" };
            let path = action
                .strip_prefix("Write ")
                .map(without_counts)
                .filter(|path| !path.contains('\n') && !path.contains(", which leads to "));
            let edit = |title: String, is_told| Self { title, is_told, yes: "Apply", no: "Reject" };
            let named = path.map(|path| own(&format!("{verb} {path}?"))).filter(|title| fits(title));
            return named.map_or_else(|| edit(own("Change files?"), false), |title| edit(title, true));
        }
        let known = [
            ("Write ", "Write this file?"),
            ("Read ", "Read this file?"),
            ("Delete ", "Delete this?"),
            ("Fetch ", "Fetch this page?"),
            ("Change the repository ", "Change this repository?"),
            ("run once outside the jail: ", "Run it outside the sandbox?"),
        ];
        let title =
            known.iter().find(|(beginning, _)| action.starts_with(beginning)).map(|(_, title)| *title);
        let is_egress = action.contains(" wants to reach ");
        once(title.unwrap_or(if is_egress { "Allow this connection?" } else { "Allow this?" }))
    }
}

/// A path without the numbers of lines behind it.
pub(super) fn without_counts(path: &str) -> &str {
    match path.rsplit_once(" (+") {
        Some((path, counts)) if counts.ends_with(')') => path,
        _ => path,
    }
}

/// A quotation.
pub(super) fn quoted(text: &str, look: &Look) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{text}{}", look.sign("“", "\""), look.sign("”", "\""))
}

/// A line of a command, in which what the reasons name is underlined.
pub(super) fn marked_command(line: &str, reasons: &[String], look: &Look, risk: Paint) -> Line {
    let strong = look.style(Paint::Strong);
    let marked = look.style(risk).bold().underline();
    let mut named: Vec<&str> =
        reasons.iter().flat_map(|reason| reason.split('`').skip(1).step_by(2)).collect();
    named.retain(|name| !name.is_empty() && *name != line);
    // The longest first, so that a word within another one does not hide it.
    named.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut row = Line::default();
    let mut rest = line;
    loop {
        let found = named.iter().filter_map(|name| rest.find(name).map(|at| (at, *name)));
        let Some((at, name)) = found.min_by_key(|(at, name)| (*at, std::cmp::Reverse(name.len()))) else {
            break;
        };
        let (Some(before), Some(after)) = (rest.get(..at), rest.get(at + name.len()..)) else { break };
        row = row.and(before, strong).and(name, marked);
        rest = after;
    }
    row.and(rest, if line.is_empty() { Style::new() } else { strong })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Colors;

    #[test]
    fn what_the_reasons_name_is_underlined() {
        let look = Look { colors: Colors::Mono, ..Look::plain() };
        let reasons = ["it removes `build`".to_owned(), "it pushes to `origin` with `--force`".to_owned()];
        let line = marked_command("rm -r build && git push --force origin", &reasons, &look, Paint::Bad);
        assert_eq!(line.text(), "rm -r build && git push --force origin");
        let underlined =
            line.spans().iter().filter(|span| span.style() == look.style(Paint::Bad).bold().underline());
        assert_eq!(
            underlined.map(crate::text::Span::text).collect::<Vec<_>>(),
            ["build", "--force", "origin"]
        );
    }
}
