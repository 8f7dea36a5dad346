//! Directories that a program builds again.

use std::path::Path;

/// Directories that a program builds again from the files beside them. Losing one that git ignores costs time
/// and nothing else.
const REBUILT: &[&str] = &[
    "target",
    "node_modules",
    "build",
    "dist",
    "out",
    "_build",
    "coverage",
    "__pycache__",
    "venv",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".svelte-kit",
    ".gradle",
    ".cache",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    "htmlcov",
    "zig-cache",
    ".zig-cache",
    "zig-out",
    "cmake-build-debug",
    "cmake-build-release",
    "DerivedData",
];

/// Whether a program builds a directory of this name again.
pub(super) fn is_rebuilt(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| REBUILT.contains(&name))
}
