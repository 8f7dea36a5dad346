//! What a project is, as far as its usual files show: languages, and the commands to build, test and check it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// How much of a file is looked at.
const MAX_BYTES: u64 = 1 << 20;

/// What was found out about a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) languages: Vec<&'static str>,
    /// What a command is for, and the command.
    pub(crate) commands: Vec<(&'static str, String)>,
    /// Files that say more.
    pub(crate) documents: Vec<&'static str>,
}

/// A file that tells a language and the commands that go with it.
struct Build {
    file: &'static str,
    language: &'static str,
    /// What a command is for, and the command.
    commands: &'static [(&'static str, &'static str)],
}

const BUILDS: &[Build] = &[
    Build {
        file: "Cargo.toml",
        language: "Rust",
        commands: &[
            ("build", "cargo build"),
            ("test", "cargo test"),
            ("check", "cargo clippy --all-targets"),
        ],
    },
    Build {
        file: "go.mod",
        language: "Go",
        commands: &[("build", "go build ./..."), ("test", "go test ./..."), ("check", "go vet ./...")],
    },
    Build { file: "pom.xml", language: "Java", commands: &[("build", "mvn package"), ("test", "mvn test")] },
    Build {
        file: "build.gradle",
        language: "Java",
        commands: &[("build", "gradle build"), ("test", "gradle test")],
    },
    Build {
        file: "build.gradle.kts",
        language: "Kotlin",
        commands: &[("build", "gradle build"), ("test", "gradle test")],
    },
    Build {
        file: "CMakeLists.txt",
        language: "C or C++",
        commands: &[("build", "cmake -B build && cmake --build build"), ("test", "ctest --test-dir build")],
    },
    Build {
        file: "mix.exs",
        language: "Elixir",
        commands: &[("build", "mix compile"), ("test", "mix test")],
    },
    Build { file: "Gemfile", language: "Ruby", commands: &[("build", "bundle install")] },
    Build { file: "composer.json", language: "PHP", commands: &[("build", "composer install")] },
    Build {
        file: "Package.swift",
        language: "Swift",
        commands: &[("build", "swift build"), ("test", "swift test")],
    },
    Build { file: "deno.json", language: "TypeScript", commands: &[("test", "deno test")] },
];

/// Documents that a newcomer reads.
const DOCUMENTS: &[&str] = &["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "STYLE.md", "docs"];

/// Names of targets and scripts that are worth telling.
const TARGETS: &[(&str, &str)] = &[
    ("build", "build"),
    ("test", "test"),
    ("check", "check"),
    ("lint", "check"),
    ("fmt", "format"),
    ("format", "format"),
];

impl Project {
    /// Looks at a directory.
    pub(crate) fn look(directory: &Path) -> Self {
        let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut project = Self { name: name.unwrap_or_default(), ..Self::default() };
        for Build { file, language, commands } in BUILDS {
            if directory.join(file).is_file() {
                project.speaks(language);
                project
                    .commands
                    .extend(commands.iter().map(|(what, command)| (*what, (*command).to_owned())));
            }
        }
        project.look_at_node(directory);
        project.look_at_python(directory);
        project.look_at_targets(directory);
        project.documents.extend(DOCUMENTS.iter().filter(|name| directory.join(name).exists()));
        project
    }

    fn speaks(&mut self, language: &'static str) {
        if !self.languages.contains(&language) {
            self.languages.push(language);
        }
    }

    fn look_at_node(&mut self, directory: &Path) {
        let Some(text) = text(&directory.join("package.json")) else { return };
        let is_typed = directory.join("tsconfig.json").is_file();
        self.speaks(if is_typed { "TypeScript" } else { "JavaScript" });
        let locks =
            [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
        let manager =
            locks.iter().find(|(lock, _)| directory.join(lock).exists()).map_or("npm", |(_, name)| name);
        let package: Value = serde_json::from_str(&text).unwrap_or_default();
        for (script, what) in TARGETS {
            if package["scripts"].get(script).is_some_and(Value::is_string) {
                self.commands.push((what, format!("{manager} run {script}")));
            }
        }
    }

    fn look_at_python(&mut self, directory: &Path) {
        let text = text(&directory.join("pyproject.toml"));
        let is_python = text.is_some()
            || ["setup.py", "requirements.txt"].iter().any(|name| directory.join(name).is_file());
        if !is_python {
            return;
        }
        self.speaks("Python");
        let text = text.unwrap_or_default();
        let runner = if directory.join("uv.lock").is_file() { "uv run " } else { "" };
        if text.contains("pytest")
            || directory.join("pytest.ini").is_file()
            || directory.join("tests").is_dir()
        {
            self.commands.push(("test", format!("{runner}pytest")));
        }
        if text.contains("[tool.ruff") {
            self.commands.push(("check", format!("{runner}ruff check .")));
        }
    }

    /// Targets of a Makefile and recipes of a justfile.
    fn look_at_targets(&mut self, directory: &Path) {
        let files = [("Makefile", "make"), ("makefile", "make"), ("justfile", "just"), ("Justfile", "just")];
        for (file, program) in files {
            let Some(text) = text(&directory.join(file)) else { continue };
            for (target, what) in TARGETS {
                let is_there = text.lines().any(|line| {
                    line.strip_prefix(target)
                        .is_some_and(|rest| rest.trim_start().starts_with(':') && !rest.contains(":="))
                });
                if is_there {
                    self.commands.push((what, format!("{program} {target}")));
                }
            }
        }
    }

    /// The file that agents read.
    pub(crate) fn agents_file(&self) -> String {
        let mut text = format!("# {}\n\nNotes for agents, and for people who are new here.\n", self.name);
        if !self.languages.is_empty() {
            let _ = write!(text, "\n## What it is\n\nWritten in {}.\n", self.languages.join(", "));
        }
        if !self.documents.is_empty() {
            let names: Vec<String> = self.documents.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(text, "\nRead first: {}.\n", names.join(", "));
        }
        if !self.commands.is_empty() {
            text.push_str("\n## Commands\n\n");
        }
        for (what, command) in &self.commands {
            let _ = writeln!(text, "- {what}: `{command}`");
        }
        text.push_str("\n## Conventions\n\nWhat a newcomer would get wrong belongs here.\n");
        text
    }
}

fn text(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], languages: &[&str], commands: &[&str]) {
        let directory = tempfile::TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(directory.path().join(name), content).unwrap();
        }
        let project = Project::look(directory.path());
        assert_eq!(project.languages, languages);
        let found: Vec<String> =
            project.commands.iter().map(|(what, command)| format!("{what}: {command}")).collect();
        assert_eq!(found, commands);
    }

    #[test]
    fn usual_files_tell_what_a_project_is() {
        check(&[], &[], &[]);
        check(
            &[("go.mod", "")],
            &["Go"],
            &["build: go build ./...", "test: go test ./...", "check: go vet ./..."],
        );
        check(
            &[
                ("package.json", r#"{"scripts": {"test": "x", "lint": "y", "odd": "z"}}"#),
                ("pnpm-lock.yaml", ""),
                ("tsconfig.json", ""),
            ],
            &["TypeScript"],
            &["test: pnpm run test", "check: pnpm run lint"],
        );
        check(
            &[("pyproject.toml", "[tool.ruff]\n[tool.pytest]"), ("uv.lock", "")],
            &["Python"],
            &["test: uv run pytest", "check: uv run ruff check ."],
        );
        check(
            &[("Makefile", "test: all\n\tx\nbuild := y\n.PHONY: lint\nfmt :\n")],
            &[],
            &["test: make test", "format: make fmt"],
        );
    }

    #[test]
    fn a_broken_file_tells_nothing_and_harms_nothing() {
        check(&[("package.json", "{")], &["JavaScript"], &[]);
    }

    #[test]
    fn the_file_says_what_was_found() {
        let project = Project {
            name: "harbour".to_owned(),
            languages: vec!["Rust"],
            commands: vec![("test", "cargo test".to_owned())],
            documents: vec!["README.md"],
        };
        insta::assert_snapshot!(project.agents_file());
    }
}
