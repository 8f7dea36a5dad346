//! Commands of the user's own: each Markdown file in `commands` beside the configuration, or in `.buddy/commands` of a
//! trusted project, is a prompt that `/name` sends.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use buddy_tui::CustomCommand;

/// The most files of one directory.
const MAX_FILES: usize = 200;
/// The most of one file.
const MAX_BYTES: u64 = 64 * 1024;

/// The folder with commands of the project in a directory. A link does not bring in files from elsewhere.
pub(crate) fn project_folder(cwd: &Path) -> Option<PathBuf> {
    let folder = cwd.join(".buddy/commands").canonicalize().ok()?;
    folder.starts_with(cwd.canonicalize().ok()?).then_some(folder)
}

/// The commands in these directories. Of two with the same name the later directory's counts.
pub(crate) fn custom_commands(directories: &[&Path]) -> Vec<CustomCommand> {
    let mut all: Vec<CustomCommand> = Vec::new();
    for directory in directories {
        for command in read(directory) {
            all.retain(|other| other.name != command.name);
            all.push(command);
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn read(directory: &Path) -> Vec<CustomCommand> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten().take(MAX_FILES) {
        let path = entry.path();
        // A further name of the file could be `.env`.
        let is_plain = |data: &Metadata| data.is_file() && data.nlink() == 1 && data.len() <= MAX_BYTES;
        let is_small = entry.metadata().is_ok_and(|data| is_plain(&data));
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        let name = path.file_stem().and_then(|name| name.to_str()).filter(|name| is_name(name));
        if let (true, true, Some(name)) = (is_small, is_markdown, name)
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            found.push(command(name, &text));
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    !name.is_empty() && name.chars().all(is_letter)
}

/// A command from the text of its file: what it is for stands as `description:` in a head between lines of dashes, else
/// the first line says it.
fn command(name: &str, text: &str) -> CustomCommand {
    let (head, body) = match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((head, body)) => (head, body),
        None => ("", text),
    };
    let described = head.lines().find_map(|line| line.strip_prefix("description:"));
    let note = described.or_else(|| body.lines().find(|line| !line.trim().is_empty())).unwrap_or_default();
    let note = note.trim().trim_matches('"').to_owned();
    CustomCommand { name: name.to_owned(), note, text: body.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_commands_and_those_of_the_later_directory_count() {
        let home = tempfile::tempdir().unwrap();
        let (user, project) = (home.path().join("user"), home.path().join("project"));
        for (directory, name, text) in [
            (&user, "review.md", "---\ndescription: \"look at it\"\n---\nReview $ARGUMENTS."),
            (&user, "plain.md", "\nSay hello.\n"),
            (&user, "bad name.md", "no"),
            (&user, "notes.txt", "no"),
            (&project, "plain.md", "Say goodbye."),
            (&project, "more.md", "Say more."),
        ] {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join(name), text).unwrap();
        }
        let found = custom_commands(&[&project, &user, Path::new("/nowhere")]);
        let shown: Vec<(&str, &str, &str)> =
            found.iter().map(|one| (one.name.as_str(), one.note.as_str(), one.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("more", "Say more.", "Say more."),
                ("plain", "Say hello.", "Say hello."),
                ("review", "look at it", "Review $ARGUMENTS.")
            ]
        );
    }

    #[test]
    fn a_folder_of_a_project_is_in_it() {
        let home = tempfile::tempdir().unwrap();
        let (project, other) = (home.path().join("project"), home.path().join("other/commands"));
        std::fs::create_dir_all(&other).unwrap();
        std::fs::create_dir_all(project.join(".buddy")).unwrap();
        assert_eq!(project_folder(&project), None);
        std::os::unix::fs::symlink(&other, project.join(".buddy/commands")).unwrap();
        assert_eq!(project_folder(&project), None);
        std::fs::remove_file(project.join(".buddy/commands")).unwrap();
        std::fs::create_dir(project.join(".buddy/commands")).unwrap();
        assert!(project_folder(&project).is_some());
    }
}
