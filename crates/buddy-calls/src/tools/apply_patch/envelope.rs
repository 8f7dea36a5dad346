//! The form of a patch that begins with `*** Begin Patch`.

use buddy_protocol::ToolFailure;

use super::change::{Change, Edit, Hunks, bad};
use super::hunks::Hunk;

/// The first line.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Reads a patch.
pub(super) fn parse(text: &str) -> Result<Vec<Change>, ToolFailure> {
    let mut lines = text.lines().peekable();
    lines.next();
    let mut changes = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim() == END {
            return Ok(changes);
        }
        if line.trim().is_empty() {
            continue;
        }
        let mut body = Vec::new();
        while let Some(next) = lines.next_if(|next| !is_head(next)) {
            body.push(next);
        }
        changes.push(change(line, &body)?);
    }
    Err(bad(format!("the patch does not end with `{END}`")))
}

fn is_head(line: &str) -> bool {
    [ADD, DELETE, UPDATE].iter().any(|head| line.starts_with(head)) || line.trim() == END
}

fn change(head: &str, body: &[&str]) -> Result<Change, ToolFailure> {
    let named = |path: &str| match path.trim() {
        "" => Err(bad("a file in the patch has no name".to_owned())),
        path => Ok(path.to_owned()),
    };
    if let Some(path) = head.strip_prefix(ADD) {
        return Ok(Change { path: named(path)?, edit: Edit::Add { content: added(body)? } });
    }
    if let Some(path) = head.strip_prefix(DELETE) {
        if let Some(line) = body.iter().find(|line| !line.trim().is_empty()) {
            return Err(bad(format!("`{line}` stands below the removal of a file")));
        }
        return Ok(Change { path: named(path)?, edit: Edit::Delete });
    }
    let Some(path) = head.strip_prefix(UPDATE) else {
        return Err(bad(format!("`{head}` is not a line of a patch")));
    };
    let (to, body) = match body.split_first() {
        Some((first, rest)) if first.starts_with(MOVE) => {
            (Some(named(first.strip_prefix(MOVE).unwrap_or_default())?), rest)
        }
        _ => (None, body),
    };
    let hunks = hunks(body)?;
    if hunks.is_empty() && to.is_none() {
        return Err(bad(format!("the update of `{}` changes nothing", path.trim())));
    }
    Ok(Change { path: named(path)?, edit: Edit::Update { to, hunks: Hunks::ByContent(hunks) } })
}

fn added(body: &[&str]) -> Result<String, ToolFailure> {
    let mut content = String::new();
    for line in body {
        let line = line.strip_prefix('+').ok_or_else(|| bad(format!("`{line}` of a new file has no `+`")))?;
        content.push_str(line);
        content.push('\n');
    }
    Ok(content)
}

fn hunks(body: &[&str]) -> Result<Vec<Hunk>, ToolFailure> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut hunk = Hunk::default();
    let has_lines = |hunk: &Hunk| !hunk.old.is_empty() || !hunk.new.is_empty();
    for line in body {
        if *line == END_OF_FILE {
            hunk.is_at_end = true;
        } else if let Some(anchor) = line.strip_prefix("@@") {
            if has_lines(&hunk) {
                hunks.push(std::mem::take(&mut hunk));
            }
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor);
            if !anchor.trim().is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
        } else if let Some(line) = line.strip_prefix('-') {
            hunk.old.push(line.to_owned());
        } else if let Some(line) = line.strip_prefix('+') {
            hunk.new.push(line.to_owned());
        } else if line.is_empty() || line.starts_with(' ') {
            let line = line.strip_prefix(' ').unwrap_or(line);
            hunk.old.push(line.to_owned());
            hunk.new.push(line.to_owned());
        } else {
            return Err(bad(format!("`{line}` begins with none of ` `, `+`, `-` and `@@`")));
        }
    }
    if has_lines(&hunk) {
        hunks.push(hunk);
    }
    Ok(hunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_change() {
        let text = "*** Begin Patch\n*** Add File: a b\n+one\n+\n*** Delete File: c\n*** Update File: d\n\
                    *** Move to: e\n@@ class X\n@@ def y\n keep\n-old\n+new\n@@\n+end\n*** End of File\n*** End Patch";
        let changes = parse(text).unwrap();
        assert_eq!(changes[0].edit, Edit::Add { content: "one\n\n".to_owned() });
        assert_eq!((changes[1].path.as_str(), &changes[1].edit), ("c", &Edit::Delete));
        let Edit::Update { to, hunks: Hunks::ByContent(hunks) } = &changes[2].edit else { panic!() };
        assert_eq!(to.as_deref(), Some("e"));
        assert_eq!(hunks[0].anchors, ["class X", "def y"]);
        assert_eq!(
            (hunks[0].old.as_slice(), hunks[0].new.as_slice()),
            (&["keep", "old"].map(String::from)[..], &["keep", "new"].map(String::from)[..])
        );
        assert!(hunks[1].is_at_end && hunks[1].old.is_empty());
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for body in [
            "*** Add File: a\nno plus",
            "*** Delete File: a\n+x",
            "*** Update File: a",
            "*** Update File: a\n@@\n*x",
            "*** Rename File: a",
            "*** Add File:  \n+x",
        ] {
            let text = format!("*** Begin Patch\n{body}\n*** End Patch");
            assert_eq!(parse(&text).unwrap_err().code, "bad_patch", "{body}");
        }
        assert!(parse("*** Begin Patch\n*** Add File: a\n+x").is_err(), "cut off");
    }
}
