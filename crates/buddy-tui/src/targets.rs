//! `/target`: what a line says about the targets of a session, and how they are listed.

use buddy_protocol::{Change, Command, SessionTarget, TargetChange, TargetWish, Transcript};

use crate::table::{ListView, Table, TableCell, TableColumn};

const HELP: &str = "say /target, /target add ssh HOST[:DIR], /target add container NAME[:DIR], /target add local [DIR], \
                    /target use NAME, or /target remove NAME";

/// The wish of a line after `/target`.
#[derive(Debug, PartialEq)]
pub(crate) enum TargetWishLine {
    /// To see them.
    List,
    /// To change them.
    Send(Command),
    /// Something that is not understood, with what is said to it.
    Help(String),
}

/// The target that calls mean which name none.
pub(crate) fn find_default_target(transcript: &Transcript) -> SessionTarget {
    let cwd = transcript.started().map(|started| started.cwd.clone()).unwrap_or_default();
    transcript.targets().first().cloned().unwrap_or_else(|| SessionTarget::local(cwd))
}

/// Reads a line after `/target`.
pub(crate) fn read_target_line(line: &str) -> TargetWishLine {
    let words: Vec<&str> = line.split_whitespace().collect();
    let change = match words.as_slice() {
        [] => return TargetWishLine::List,
        ["add", kind] => wish(kind, ""),
        ["add", kind, text] => wish(kind, text),
        ["use", name] => Ok(TargetChange::Use { name: (*name).to_owned() }),
        ["remove", name] => Ok(TargetChange::Remove { name: (*name).to_owned() }),
        _ => Err(HELP.to_owned()),
    };
    match change {
        Ok(change) => {
            TargetWishLine::Send(Command::Change(Change { target: Some(change), ..Change::default() }))
        }
        Err(help) => TargetWishLine::Help(help),
    }
}

fn wish(kind: &str, text: &str) -> Result<TargetChange, String> {
    let target = TargetWish::parse(kind, text).map_err(|error| error.to_string())?;
    Ok(TargetChange::Add { target })
}

/// The targets of a session as a list, the default marked.
pub(crate) fn list_targets(transcript: &Transcript, view: &ListView) -> Table {
    let cwd = transcript.started().map(|started| started.cwd.clone()).unwrap_or_default();
    match transcript.targets() {
        [] => tabulate_targets(&[SessionTarget::local(cwd)], view),
        targets => tabulate_targets(targets, view),
    }
}

/// These targets as a list, the default marked.
pub(crate) fn tabulate_targets(targets: &[SessionTarget], view: &ListView) -> Table {
    let columns = [
        TableColumn::word(""),
        TableColumn::word("TARGET"),
        TableColumn::wrapped("HOST"),
        TableColumn::wrapped("DIRECTORY"),
    ];
    let mut table = Table::new(&columns, "").hint("Change the default with `/target use NAME`");
    for (place, target) in targets.iter().enumerate() {
        let mark = if place == 0 { "*" } else { "" };
        // The home of another host is not this one's.
        let (host, directory) = match &target.place {
            Some(place) => (place.as_str(), target.cwd.clone()),
            None => ("this machine", view.path(&target.cwd)),
        };
        table.add([mark, target.name.as_str(), host, directory.as_str()].map(TableCell::from));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(line: &str) -> TargetChange {
        match read_target_line(line) {
            TargetWishLine::Send(Command::Change(Change { target: Some(change), .. })) => change,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_are_read() {
        assert_eq!(read_target_line(" "), TargetWishLine::List);
        assert_eq!(change("use ssh:atlas"), TargetChange::Use { name: "ssh:atlas".to_owned() });
        assert_eq!(change("remove local"), TargetChange::Remove { name: "local".to_owned() });
        let TargetChange::Add { target } = change("add ssh ann@atlas:/srv") else { panic!("not added") };
        assert_eq!(
            (target.host.to_string().as_str(), target.directory.as_deref()),
            ("ssh:ann@atlas", Some("/srv"))
        );
        for bad in ["add", "add ssh", "add tcp x", "use", "remove a b", "list"] {
            assert!(matches!(read_target_line(bad), TargetWishLine::Help(_)), "{bad}");
        }
    }

    #[test]
    fn the_default_is_marked() {
        let mut atlas = SessionTarget::local("/srv");
        (atlas.name, atlas.place) = ("ssh:atlas".to_owned(), Some("ann@atlas".to_owned()));
        let listed = tabulate_targets(&[atlas, SessionTarget::local("/w")], &ListView::plain());
        let expected = [
            "   TARGET     HOST          DIRECTORY",
            "*  ssh:atlas  ann@atlas     /srv",
            "   local      this machine  /w",
        ];
        assert_eq!(listed.text(&ListView::plain()).lines().collect::<Vec<_>>(), expected);
        let narrow = ListView::in_window(&crate::text::TerminalLook::plain(), 30);
        for line in listed.lines(&narrow) {
            assert!(line.width() <= 30, "{}", line.text());
        }
    }
}
