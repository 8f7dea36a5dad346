//! The kind of a project, as far as its usual files show: languages, and the commands to build, test and check it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use serde_json::Value;

/// A description of a project, from the files at its top.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The name of its directory.
    pub name: String,
    /// Its languages.
    pub languages: Vec<&'static str>,
    /// The purpose of a command, and the command.
    pub commands: Vec<(&'static str, String)>,
    /// Files that a newcomer reads.
    pub documents: Vec<&'static str>,
}

/// The top directory of a project: the names in it, and the text of those files of [`ProjectTop::READ`] that exist.
#[derive(Debug, Default)]
pub struct ProjectTop {
    /// All names.
    pub names: BTreeSet<String>,
    /// The text of files, by name.
    pub texts: HashMap<&'static str, String>,
}

impl ProjectTop {
    /// The files whose text names commands.
    pub const READ: &'static [&'static str] =
        &["package.json", "pyproject.toml", "Makefile", "makefile", "justfile", "Justfile"];
    /// The longest file that is read, in bytes.
    pub const MAX_BYTES: u64 = 1 << 20;

    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }
}

/// A file that tells a language and the commands that go with it.
struct Build {
    file: &'static str,
    language: &'static str,
    /// The purpose of a command, and the command.
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
    /// The project whose top directory has this name and these files.
    pub fn of(name: String, top: &ProjectTop) -> Self {
        let mut project = Self { name, ..Self::default() };
        for Build { file, language, commands } in BUILDS {
            if top.has(file) {
                project.add_language(language);
                project
                    .commands
                    .extend(commands.iter().map(|(what, command)| (*what, (*command).to_owned())));
            }
        }
        project.look_at_node(top);
        project.look_at_python(top);
        project.look_at_targets(top);
        project.documents.extend(DOCUMENTS.iter().filter(|name| top.has(name)));
        project
    }

    fn add_language(&mut self, language: &'static str) {
        if !self.languages.contains(&language) {
            self.languages.push(language);
        }
    }

    fn look_at_node(&mut self, top: &ProjectTop) {
        let Some(text) = top.text("package.json") else { return };
        self.add_language(if top.has("tsconfig.json") { "TypeScript" } else { "JavaScript" });
        let locks =
            [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
        let manager = locks.iter().find(|(lock, _)| top.has(lock)).map_or("npm", |(_, name)| name);
        let package: Value = serde_json::from_str(text).unwrap_or_default();
        for (script, what) in TARGETS {
            if package["scripts"].get(script).is_some_and(Value::is_string) {
                self.commands.push((what, format!("{manager} run {script}")));
            }
        }
    }

    fn look_at_python(&mut self, top: &ProjectTop) {
        let text = top.text("pyproject.toml");
        if text.is_none() && !top.has("setup.py") && !top.has("requirements.txt") {
            return;
        }
        self.add_language("Python");
        let text = text.unwrap_or_default();
        let runner = if top.has("uv.lock") { "uv run " } else { "" };
        if text.contains("pytest") || top.has("pytest.ini") || top.has("tests") {
            self.commands.push(("test", format!("{runner}pytest")));
        }
        if text.contains("[tool.ruff") {
            self.commands.push(("check", format!("{runner}ruff check .")));
        }
    }

    /// Targets of a Makefile and recipes of a justfile.
    fn look_at_targets(&mut self, top: &ProjectTop) {
        let files = [("Makefile", "make"), ("makefile", "make"), ("justfile", "just"), ("Justfile", "just")];
        for (file, program) in files {
            let Some(text) = top.text(file) else { continue };
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
    pub fn agents_file(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], languages: &[&str], commands: &[&str]) {
        let mut top = ProjectTop::default();
        for (name, content) in files {
            top.names.insert((*name).to_owned());
            if let Some(read) = ProjectTop::READ.iter().find(|read| *read == name) {
                top.texts.insert(read, (*content).to_owned());
            }
        }
        let project = Project::of("harbour".to_owned(), &top);
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
