//! The words of an approval: its title, and what yes and no are called.

use anstyle::Style;
use buddy_protocol::Approval;

use crate::text::{Colors, Paint, StyledLine, TerminalLook};

/// The words of an approval.
pub(crate) struct ApprovalWords {
    pub(crate) title: String,
    /// Whether the title tells the whole action, so that the card need not repeat it.
    pub(super) is_told: bool,
    /// The text that the card shows below its title: the action, as far as the title does not name it.
    pub(super) subject: String,
    /// Whether it asks for connections.
    is_about_hosts: bool,
    pub(super) yes: &'static str,
    pub(super) no: &'static str,
}

impl ApprovalWords {
    /// The words of an approval, where some titles may be too long.
    pub(crate) fn of(approval: &Approval, fits: impl Fn(&str) -> bool) -> Self {
        let own = |title: &str| {
            if approval.actor == "buddy" { title.to_owned() } else { format!("{}: {title}", approval.actor) }
        };
        let action = approval.action.as_str();
        let once = |title: &str| Self {
            title: own(title),
            is_told: false,
            subject: action.to_owned(),
            is_about_hosts: false,
            yes: "Allow once",
            no: "Deny",
        };
        if approval.is_editable {
            return match approval.actor.as_str() {
                "buddy" => once("Run this command?"),
                actor => {
                    let whole = format!("{actor} wants to run a command");
                    let title = if fits(&whole) { whole } else { format!("{actor} wants to run") };
                    Self { title, ..once("") }
                }
            };
        }
        if let Some(diff) = &approval.diff {
            let verb = if is_new_file(diff) { "Create" } else { "Edit" };
            let path = action
                .strip_prefix("Write ")
                .map(strip_counts)
                .filter(|path| !path.contains('\n') && !path.contains(", which leads to "));
            let edit =
                |title: String, is_told| Self { title, is_told, yes: "Apply", no: "Reject", ..once("") };
            let named = path.map(|path| own(&format!("{verb} {path}?"))).filter(|title| fits(title));
            return named.map_or_else(|| edit(own("Change files?"), false), |title| edit(title, true));
        }
        let known = [
            ("Write ", "Write this file?"),
            ("Read ", "Read this file?"),
            ("Delete ", "Delete this?"),
            ("Fetch ", "Fetch this page?"),
            ("Search the web for ", "Search the web?"),
            ("Push ", "Push this branch?"),
            ("Change the repository ", "Change this repository?"),
            ("run once outside the jail: ", "Run it outside the sandbox?"),
        ];
        let title =
            known.iter().find(|(beginning, _)| action.starts_with(beginning)).map(|(_, title)| *title);
        match HostWish::of(action) {
            Some(wish) if title.is_none() => {
                let named = wish.titles().into_iter().map(|title| own(&title)).find(|title| fits(title));
                let hosts = wish.hosts.to_owned();
                let words = named.map_or_else(
                    || once("Allow this connection?"),
                    |title| Self { title, subject: hosts, ..once("") },
                );
                Self { is_about_hosts: true, ..words }
            }
            _ => {
                let is_about_hosts =
                    ["Fetch ", "Search the web for "].iter().any(|start| action.starts_with(start));
                Self { is_about_hosts, ..once(title.unwrap_or("Allow this?")) }
            }
        }
    }
}

impl ApprovalWords {
    pub(crate) fn is_about_hosts(&self) -> bool {
        self.is_about_hosts
    }

    /// A grant as the label of a key names it: of connections the hosts alone, of writes the directory as people write it, of pushes by
    /// the tool the branch and the remote.
    pub(crate) fn granted(&self, grant: &str, look: &TerminalLook) -> String {
        let hosts = grant.strip_prefix("reach ").filter(|_| self.is_about_hosts).map(str::to_owned);
        let beneath =
            grant.strip_prefix("write beneath ").map(|path| format!("writes in {}", look.path(path)));
        let file =
            grant.strip_prefix("write /").map(|path| format!("writes of {}", look.path(&format!("/{path}"))));
        hosts.or(beneath).or(file).or_else(|| pushes(grant)).unwrap_or_else(|| grant.to_owned())
    }
}

/// The pushes that a grant of the tool `git_push` covers, whose command has options before its branch and remote.
fn pushes(grant: &str) -> Option<String> {
    let (options, rest) = grant.strip_prefix("git push --porcelain ")?.split_once("--end-of-options ")?;
    let mut words = rest.split(' ').map(|word| word.trim_matches('\''));
    let (remote, reference) = (words.next()?, words.next()?);
    let branch = reference.split(':').next()?.strip_prefix("refs/heads/")?;
    let forced = if options.contains("--force-with-lease") { "forced pushes" } else { "pushes" };
    Some(format!("{forced} of {branch} to {remote}"))
}

/// Whether a diff has nothing before: its first change comes after no line.
fn is_new_file(diff: &str) -> bool {
    diff.starts_with("--- /dev/null") || diff.lines().nth(2).is_some_and(|line| line.starts_with("@@ -0,0 "))
}

/// The words between a program and the hosts that it wants to connect to.
const WANTS: &str = " wants to reach ";

/// A program's wish to connect to hosts, as an approval's action words it.
struct HostWish<'a> {
    program: &'a str,
    /// The hosts, each with the file that names it where that is known.
    hosts: &'a str,
}

impl<'a> HostWish<'a> {
    fn of(action: &'a str) -> Option<Self> {
        let (program, hosts) = action.split_once(WANTS)?;
        // An action that only quotes the words has more than a program before them.
        let is_program = !program.is_empty() && !program.contains(char::is_whitespace);
        (is_program && !hosts.contains('\n')).then_some(Self { program, hosts })
    }

    /// Titles that name the program and the hosts, the best first.
    fn titles(&self) -> [String; 3] {
        let Self { program, hosts } = self;
        let name = match hosts.split_once(" registry: ") {
            Some((whose, _)) => format!("{whose} registry"),
            None => [" (", " on ", ", and hosts "]
                .iter()
                .fold(*hosts, |name, end| name.split(end).next().unwrap_or(name))
                .to_owned(),
        };
        let some = if name.contains(", ") { "several hosts" } else { "a host" };
        [
            format!("{program}{WANTS}{name}"),
            format!("{program} wants {name}"),
            format!("{program}{WANTS}{some}"),
        ]
    }
}

/// A path without the numbers of lines behind it.
pub(super) fn strip_counts(path: &str) -> &str {
    match path.rsplit_once(" (+") {
        Some((path, counts)) if counts.ends_with(')') => path,
        _ => path,
    }
}

/// A reason in which each quoted path is as short as people write it: relative to `cwd`, or to the home.
pub(super) fn shorten_paths(reason: &str, cwd: &str, look: &TerminalLook) -> String {
    let part = |(place, part): (usize, &str)| match place % 2 {
        1 if part.starts_with('/') => look.path_in(part, cwd),
        _ => part.to_owned(),
    };
    reason.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

/// A reason in the colour of its risk. Names stand out by their own colour; where there are no colours, they keep their quotes.
pub(super) fn render_reason(reason: &str, ink: Paint, look: &TerminalLook) -> StyledLine {
    let style = look.style(ink);
    if look.colors < Colors::Palette || !has_plain_quotes(reason) {
        return StyledLine::styled(reason, style);
    }
    let parts = reason.split('`').enumerate();
    parts.fold(StyledLine::default(), |line, (place, part)| {
        line.and(part, if place % 2 == 1 { look.style(Paint::Strong) } else { style })
    })
}

/// Whether the quotes of a reason stand around whole words. Another one belongs to a name, so nothing tells where that ends.
fn has_plain_quotes(reason: &str) -> bool {
    let parts: Vec<&str> = reason.split('`').collect();
    let last = parts.len() - 1;
    let is_apart = |(place, part): (usize, &&str)| {
        let begins = place == 0
            || place == last && part.is_empty()
            || part.starts_with([' ', ',', ';', ':', '.', ')']);
        let ends = place == last || place == 0 && part.is_empty() || part.ends_with([' ', '(']);
        place % 2 == 1 || (begins && ends)
    };
    last.is_multiple_of(2) && parts.iter().enumerate().all(is_apart)
}

/// A quotation.
pub(super) fn quote(text: &str, look: &TerminalLook) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{text}{}", look.sign("“", "\""), look.sign("”", "\""))
}

/// A line of a command, in which the words that its risk comes from and the names in the reasons are underlined.
pub(super) fn mark_command(
    line: &str,
    (reasons, risky): (&[String], &[String]),
    look: &TerminalLook,
    risk: Paint,
) -> StyledLine {
    let strong = look.style(Paint::Strong);
    let marked = look.style(risk).bold().underline();
    let quoted = reasons.iter().flat_map(|reason| reason.split('`').skip(1).step_by(2));
    let mut named: Vec<&str> = quoted.filter(|name| *name != line).collect();
    named.extend(risky.iter().filter_map(|words| as_written(words, line)));
    named.retain(|name| !name.is_empty());
    // The longest first, so that a word within another one does not hide it.
    named.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut row = StyledLine::default();
    let mut rest = line;
    loop {
        let found = named.iter().filter_map(|name| find_word(rest, name).map(|at| (at, *name)));
        let Some((at, name)) = found.min_by_key(|(at, name)| (*at, std::cmp::Reverse(name.len()))) else {
            break;
        };
        let (Some(before), Some(after)) = (rest.get(..at), rest.get(at + name.len()..)) else { break };
        row = row.and(before, strong).and(name, marked);
        rest = after;
    }
    row.and(rest, if line.is_empty() { Style::new() } else { strong })
}

/// The first of these words, as many as stand side by side in the line.
fn as_written<'a>(words: &'a str, line: &str) -> Option<&'a str> {
    let mut part = words;
    while find_word(line, part).is_none() {
        part = part.rsplit_once(' ')?.0;
    }
    Some(part)
}

/// Where a text has a name that is not a part of a longer word.
fn find_word(text: &str, name: &str) -> Option<usize> {
    let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_paths_are_short() {
        let look = TerminalLook { home: "/home/ann".to_owned(), ..TerminalLook::plain() };
        let short = |reason: &str| shorten_paths(reason, "/home/ann/app", &look);
        assert_eq!(short("it writes `/home/ann/app/src/a.rs`"), "it writes `src/a.rs`");
        assert_eq!(short("it reads `/home/ann/.ssh/id` and /etc"), "it reads `~/.ssh/id` and /etc");
        assert_eq!(short("it removes `build`, in `/etc/x`"), "it removes `build`, in `/etc/x`");
    }

    #[test]
    fn names_in_reasons_stand_out_without_quotes() {
        let line = |reason: &str, colors| {
            let look = TerminalLook { colors, ..TerminalLook::plain() };
            render_reason(reason, Paint::Warning, &look)
        };
        let reaches = line("it reaches `a.test`, which you did not name", Colors::Palette);
        assert_eq!(reaches.text(), "it reaches a.test, which you did not name");
        assert_eq!(reaches.spans().len(), 3);
        assert_eq!(line("it reads `x`", Colors::None).text(), "it reads `x`");
        for odd in ["it reads `a`b`", "it reads `a`b`c`"] {
            assert_eq!(line(odd, Colors::Palette).text(), odd, "a name with a quote in it");
        }
    }

    #[track_caller]
    fn check_titles(action: &str, titles: [&str; 3]) {
        let wish = HostWish::of(action).unwrap();
        assert_eq!(wish.titles(), titles.map(str::to_owned));
        assert_eq!(format!("{}{WANTS}{}", wish.program, wish.hosts), action, "nothing is left out");
    }

    #[test]
    fn the_title_of_a_connection_names_the_program_and_the_host() {
        let cargo =
            ["cargo wants to reach example.com", "cargo wants example.com", "cargo wants to reach a host"];
        check_titles("cargo wants to reach example.com", cargo);
        check_titles("cargo wants to reach example.com (its registry, named in Cargo.toml)", cargo);
        check_titles(
            "cargo wants to reach example.com, and hosts that this index names for downloads",
            cargo,
        );
        let near = "127.0.0.1:8080 on this machine";
        let titles = ["./npm wants to reach 127.0.0.1:8080", "./npm wants 127.0.0.1:8080"];
        check_titles(
            &format!("./npm wants to reach {near}"),
            [titles[0], titles[1], "./npm wants to reach a host"],
        );
        check_titles(
            "npm wants to reach its registry: a.test (named in ~/.npmrc), b.test (named in .npmrc)",
            ["npm wants to reach its registry", "npm wants its registry", "npm wants to reach a host"],
        );
        check_titles(
            "curl wants to reach a.test, b.test",
            [
                "curl wants to reach a.test, b.test",
                "curl wants a.test, b.test",
                "curl wants to reach several hosts",
            ],
        );
        assert!(HostWish::of("Send this: cargo wants to reach example.com").is_none());
    }

    #[test]
    fn what_the_reasons_name_is_underlined() {
        let look = TerminalLook { colors: Colors::Mono, ..TerminalLook::plain() };
        let reasons = ["it removes `build`".to_owned(), "it pushes to `origin` with `--force`".to_owned()];
        let line = mark_command("rm -r build && git push --force origin", (&reasons, &[]), &look, Paint::Bad);
        assert_eq!(line.text(), "rm -r build && git push --force origin");
        let underlined =
            line.spans().iter().filter(|span| span.style() == look.style(Paint::Bad).bold().underline());
        assert_eq!(
            underlined.map(crate::text::Span::text).collect::<Vec<_>>(),
            ["build", "--force", "origin"]
        );
    }

    #[test]
    fn words_that_the_risk_comes_from_are_underlined_as_far_as_they_stand_together() {
        let look = TerminalLook { colors: Colors::Mono, ..TerminalLook::plain() };
        let check = |command: &str, risky: &str, expected: &[&str]| {
            let line = mark_command(command, (&[], &[risky.to_owned()]), &look, Paint::Bad);
            let marked = look.style(Paint::Bad).bold().underline();
            let found = line.spans().iter().filter(|span| span.style() == marked);
            assert_eq!(found.map(crate::text::Span::text).collect::<Vec<_>>(), expected, "{command}");
        };
        check("git push --force origin", "git push --force", &["git push --force"]);
        check("git  push --force origin", "git push --force", &["git"]);
        check("git \"push\" origin", "git push", &["git"]);
        check("charm x; rm -r x", "rm -r", &["rm -r"]);
        check("\"sudo\" ls", "sudo ls", &["sudo"]);
        check("do it", "rm", &[]);
    }
}
