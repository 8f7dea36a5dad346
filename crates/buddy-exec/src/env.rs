//! Defaults in every environment of commands. The caller chooses the other variables.

/// Set when absent, so that no program waits for a user at a pager or draws on a terminal that is not there.
const DEFAULTS: &[(&str, &str)] = &[("GIT_PAGER", "cat"), ("PAGER", "cat"), ("TERM", "dumb")];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_defaults_only_where_nothing_is() {
        let given = [("TERM", "xterm")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [pair("TERM", "xterm"), pair("GIT_PAGER", "cat"), pair("PAGER", "cat")];
        assert_eq!(with_defaults(given.into_iter()), expected);
        assert!(with_defaults(std::iter::empty()).contains(&pair("TERM", "dumb")));
    }
}
