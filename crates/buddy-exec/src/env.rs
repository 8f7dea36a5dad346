//! Defaults in every environment of commands. The caller chooses the other variables.

/// Set when absent, so that no program waits for a user at a pager or an editor, or draws on a terminal that is not there.
const DEFAULTS: &[(&str, &str)] = &[
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
    ("EDITOR", NO_EDITOR),
    ("VISUAL", NO_EDITOR),
    ("GIT_EDITOR", NO_EDITOR),
];

/// The editor where there is no terminal: it says so and fails. Programs give it to a shell with the name of a file behind it.
const NO_EDITOR: &str = "echo 'There is no terminal for an editor. Give the text on the command line, such as git commit -m, or set GIT_EDITOR=true to keep the text as it is.' >&2; exit 1; :";

/// The variables with the defaults for programs that run without a terminal.
pub fn with_defaults(vars: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut vars: Vec<(String, String)> = vars.collect();
    for (name, value) in DEFAULTS {
        if !vars.iter().any(|(present, _)| present == name) {
            vars.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    vars
}

/// The same variables for a shell on a terminal, where editors work.
pub(crate) fn on_a_terminal(mut vars: Vec<(String, String)>) -> Vec<(String, String)> {
    vars.retain(|(_, value)| value != NO_EDITOR);
    vars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_defaults_only_where_nothing_is() {
        let given = [("TERM", "xterm")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [pair("TERM", "xterm"), pair("GIT_PAGER", "cat"), pair("PAGER", "cat")];
        assert_eq!(on_a_terminal(with_defaults(given.into_iter())), expected);
        assert!(with_defaults(std::iter::empty()).contains(&pair("TERM", "dumb")));
    }
}
