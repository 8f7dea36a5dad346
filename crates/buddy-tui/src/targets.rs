//! `/target`: what a line says about the targets of a session, and how they are listed.

use buddy_protocol::{Change, Command, SessionTarget, TargetChange, TargetWish, Transcript};

const HELP: &str = "say /target, /target add ssh HOST[:DIR], /target add container NAME[:DIR], /target add local [DIR], \
                    /target use NAME, or /target remove NAME";

/// What a line after `/target` wants.
#[derive(Debug, PartialEq)]
pub(crate) enum TargetLine {
    /// To see them.
    List,
    /// To change them.
    Send(Command),
    /// Something that is not understood, with what is said to it.
    Help(String),
}

/// The target that calls mean which name none.
pub(crate) fn default_target(transcript: &Transcript) -> SessionTarget {
    let cwd = transcript.started().map(|started| started.cwd.clone()).unwrap_or_default();
    transcript.targets().first().cloned().unwrap_or_else(|| SessionTarget::local(cwd))
}

/// Reads a line after `/target`.
pub(crate) fn read(line: &str) -> TargetLine {
    let words: Vec<&str> = line.split_whitespace().collect();
    let change = match words.as_slice() {
        [] => return TargetLine::List,
        ["add", kind] => wish(kind, ""),
        ["add", kind, text] => wish(kind, text),
        ["use", name] => Ok(TargetChange::Use { name: (*name).to_owned() }),
        ["remove", name] => Ok(TargetChange::Remove { name: (*name).to_owned() }),
        _ => Err(HELP.to_owned()),
    };
    match change {
        Ok(change) => TargetLine::Send(Command::Change(Change { target: Some(change), ..Change::default() })),
        Err(help) => TargetLine::Help(help),
    }
}

fn wish(kind: &str, text: &str) -> Result<TargetChange, String> {
    let target = TargetWish::parse(kind, text).map_err(|error| error.to_string())?;
    Ok(TargetChange::Add { target })
}

/// The targets of a session, one a line, the default marked.
pub(crate) fn list(transcript: &Transcript) -> String {
    let cwd = transcript.started().map(|started| started.cwd.clone()).unwrap_or_default();
    let here = [SessionTarget::local(cwd)];
    let targets = match transcript.targets() {
        [] => &here,
        targets => targets,
    };
    lines(targets)
}

/// The same of these.
pub(crate) fn lines(targets: &[SessionTarget]) -> String {
    let width = targets.iter().map(|target| target.name.chars().count()).max().unwrap_or_default();
    let line = |(place, target): (usize, &SessionTarget)| {
        let mark = if place == 0 { '*' } else { ' ' };
        let at = target.place.as_deref().unwrap_or("this machine");
        format!("{mark} {:width$}  {at}  {}", target.name, target.cwd)
    };
    targets.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(line: &str) -> TargetChange {
        match read(line) {
            TargetLine::Send(Command::Change(Change { target: Some(change), .. })) => change,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_are_read() {
        assert_eq!(read(" "), TargetLine::List);
        assert_eq!(change("use ssh:atlas"), TargetChange::Use { name: "ssh:atlas".to_owned() });
        assert_eq!(change("remove local"), TargetChange::Remove { name: "local".to_owned() });
        let TargetChange::Add { target } = change("add ssh ann@atlas:/srv") else { panic!("not added") };
        assert_eq!(
            (target.host.to_string().as_str(), target.directory.as_deref()),
            ("ssh:ann@atlas", Some("/srv"))
        );
        for bad in ["add", "add ssh", "add tcp x", "use", "remove a b", "list"] {
            assert!(matches!(read(bad), TargetLine::Help(_)), "{bad}");
        }
    }

    #[test]
    fn the_default_is_marked() {
        let mut atlas = SessionTarget::local("/srv");
        (atlas.name, atlas.place) = ("ssh:atlas".to_owned(), Some("ann@atlas".to_owned()));
        let listed = lines(&[atlas, SessionTarget::local("/w")]);
        assert_eq!(listed, "* ssh:atlas  ann@atlas  /srv\n  local      this machine  /w");
    }
}
