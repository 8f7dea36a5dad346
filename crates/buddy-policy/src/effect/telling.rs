//! Programs that, with one word alone, print their version or usage and do nothing else.
//!
//! The program behind a name can be a script or a launcher that keeps files, so this counts as reading only
//! if the kernel holds all processes of a command to reading.

use crate::shell::ShellWord;

/// Programs by the words that make them print information.
pub(crate) const TELLING: &[(&[&str], &[&str])] = &[
    (
        &[
            "python", "python2", "python3", "pip", "pip3", "ruby", "perl", "lua", "php", "cargo", "rustc",
            "rustup", "rustfmt", "cmake", "ninja", "meson", "uv", "ruff", "black", "mypy", "pytest",
            "poetry", "curl", "wget", "ctest",
        ],
        &["--version", "-V", "--help"],
    ),
    (
        &["node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "tsc", "eslint", "prettier", "gem", "bundle"],
        &["--version", "-v", "--help"],
    ),
    (
        &[
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "ld",
            "ar",
            "make",
            "gmake",
            "bash",
            "git",
            "tar",
            "gzip",
            "grep",
            "sed",
            "awk",
            "gawk",
            "find",
            "ls",
            "cat",
            "jq",
            "rg",
            "fd",
            "docker",
            "podman",
            "java",
            "javac",
            "mvn",
            "gradle",
            "ghc",
            "swift",
            "zig",
            "nvim",
            "vim",
            "ssh-keygen",
            "rsync",
            "protoc",
            "sqlite3",
            "tmux",
            "gh",
            "bwrap",
            "strace",
            "gdb",
            "julia",
            "dotnet",
            "nix",
            "just",
            "terraform",
            "helm",
            "xz",
            "zstd",
            "unzip",
            "openssl",
            "pkg-config",
            "go",
        ],
        &["--version", "--help"],
    ),
    (&["tmux", "ssh"], &["-V"]),
    (&["java", "javac"], &["-version"]),
    (&["go", "zig", "openssl", "terraform"], &["version"]),
    (&["php", "ruby", "perl"], &["-v"]),
];

/// Whether a program with these words prints its version or its usage.
pub(super) fn only_tells(program: &str, arguments: &[ShellWord]) -> bool {
    let [word] = arguments else { return false };
    let is_told = |(names, words): &(&[&str], &[&str])| {
        names.contains(&program) && word.literal().is_some_and(|word| words.contains(&word))
    };
    TELLING.iter().any(is_told)
}
