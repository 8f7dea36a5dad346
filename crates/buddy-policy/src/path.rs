//! Paths compared by their components, cleaned of `.` and `..` without asking the disk, and names folded as file
//! systems fold them.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// The path without `.` and with every `..` taken away together with what it leaves.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// Whether the path is one of these places or beneath one.
pub(crate) fn is_beneath_any(path: &Path, places: &[PathBuf]) -> bool {
    places.iter().any(|place| path.starts_with(clean(place)))
}

/// Whether the path is one of these places, beneath one, or above one.
pub(crate) fn touches_any(path: &Path, places: &[PathBuf]) -> bool {
    places.iter().map(|place| clean(place)).any(|place| path.starts_with(&place) || place.starts_with(path))
}

/// A name as the most forgiving file system sees it: without case, decomposed, and without characters that nobody sees.
pub(crate) fn folded(name: &str) -> String {
    let is_seen = |character: &char| !buddy_protocol::is_hidden(*character);
    name.nfd().filter(is_seen).flat_map(char::to_lowercase).collect::<String>().nfc().collect()
}

/// The folded names of a path, without its root.
pub(crate) fn folded_names(path: &Path) -> Vec<String> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(folded(&OsStr::to_string_lossy(name))),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// The path for people, with everything that hides or steers made visible.
pub(crate) fn shown(path: &Path) -> String {
    crate::display_command(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_without_the_disk() {
        assert_eq!(clean(Path::new("/w/./a/../.env")), Path::new("/w/.env"));
        assert_eq!(clean(Path::new("/../..//etc")), Path::new("/etc"));
    }

    #[test]
    fn places_are_compared_by_component() {
        let places = [PathBuf::from("/srv/ws")];
        assert!(is_beneath_any(Path::new("/srv/ws/a"), &places));
        assert!(!is_beneath_any(Path::new("/srv/ws-evil/a"), &places));
        assert!(touches_any(Path::new("/srv"), &places));
    }

    #[test]
    fn names_are_folded_whatever_their_form() {
        assert_eq!(folded(".GIT"), ".git");
        assert_eq!(folded("e\u{301}"), folded("\u{c9}"));
        assert_eq!(folded(".g\u{200c}it"), ".git");
    }
}
