//! Paths compared by their components, cleaned of `.` and `..` without asking the disk.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and with every `..` removed together with the name before it.
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
}
