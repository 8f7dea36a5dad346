//! Files of a project that decide which programs run later: builds, checks, hooks, and instructions for agents.
//!
//! They are edited every day, so unlike guarded places they are ordinary files where `ask` covers each edit. `edits` still asks for all of
//! them: you accepted code. `auto` asks for those that take effect where you do not look, and treats the others like the code that they run.

use std::path::Path;

use buddy_protocol::{OpenedRoots, fold_path};

use crate::Places;
use crate::path::clean;

/// The time at which files of a kind take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Later {
    /// When you build or test, as the code beside them does.
    LikeCode,
    /// At a push, a commit, an install, the start of an editor or of an agent.
    Unseen,
}

/// A kind of files, for people, and their names, folded. A name with a slash is the end of a path; one that
/// ends with a slash is a directory with everything in it; a star stands for the rest of a name.
pub(crate) struct LaterKind {
    pub(crate) title: &'static str,
    pub(crate) later: Later,
    pub(crate) names: &'static [&'static str],
}

const fn unseen(title: &'static str, names: &'static [&'static str]) -> LaterKind {
    LaterKind { title, later: Later::Unseen, names }
}

const fn like_code(title: &'static str, names: &'static [&'static str]) -> LaterKind {
    LaterKind { title, later: Later::LikeCode, names }
}

const AGENTS: &str = "instructions for agents";
const INTEGRATION: &str = "continuous integration";

/// The table.
pub(crate) const LATER: &[LaterKind] = &[
    unseen(
        AGENTS,
        &[
            "agents.md",
            "agents.override.md",
            "claude.md",
            "claude.local.md",
            "gemini.md",
            "copilot-instructions.md",
            ".cursorrules",
            ".windsurfrules",
            ".clinerules",
            ".aider.conf.yml",
            "skill.md",
        ],
    ),
    unseen(
        INTEGRATION,
        &[
            ".github/workflows/",
            ".github/actions/",
            ".github/dependabot.yml",
            ".gitlab-ci.yml",
            ".gitlab/ci/",
            ".circleci/",
            "azure-pipelines.yml",
            "azure-pipelines.yaml",
            ".azure-pipelines/",
            "jenkinsfile",
            "jenkinsfile.*",
            "bitbucket-pipelines.yml",
            ".travis.yml",
            "appveyor.yml",
            ".drone.yml",
            ".woodpecker.yml",
            ".woodpecker/",
            ".buildkite/",
            "cloudbuild.yaml",
            "cloudbuild.yml",
            "buildspec.yml",
            ".ci/",
            ".forgejo/workflows/",
            ".gitea/workflows/",
            ".teamcity/",
            ".cirrus.yml",
            ".semaphore/",
            "netlify.toml",
            "vercel.json",
            "fly.toml",
            "render.yaml",
            "procfile",
            "app.yaml",
            "renovate.json",
        ],
    ),
    unseen(
        "hooks",
        &[
            ".pre-commit-config.yaml",
            ".pre-commit-hooks.yaml",
            "lefthook.yml",
            "lefthook.yaml",
            ".githooks/",
            ".lintstagedrc",
            ".lintstagedrc.*",
            "lint-staged.config.*",
        ],
    ),
    like_code(
        "builds and package scripts",
        &[
            "makefile",
            "gnumakefile",
            "makefile.*",
            "*.mk",
            "justfile",
            ".justfile",
            "*.just",
            "taskfile.yml",
            "taskfile.yaml",
            "package.json",
            "setup.py",
            "setup.cfg",
            "pyproject.toml",
            "build.rs",
            "cmakelists.txt",
            "*.cmake",
            "cmakepresets.json",
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle-wrapper.properties",
            "gradlew",
            "pom.xml",
            "mvnw",
            ".mvn/",
            "build.xml",
            "build.sbt",
            "rakefile",
            "rakefile.rb",
            "gemfile",
            "*.gemspec",
            "composer.json",
            "mix.exs",
            "project.clj",
            "meson.build",
            "sconstruct",
            "sconscript",
            "build.ninja",
            "build.bazel",
            "workspace.bazel",
            "module.bazel",
            ".bazelrc",
            "configure",
            "configure.ac",
            "noxfile.py",
            "tox.ini",
            "dune-project",
            "gulpfile.*",
            "gruntfile.*",
            "webpack.config.*",
            "vite.config.*",
            "rollup.config.*",
            "babel.config.*",
            "next.config.*",
            "nuxt.config.*",
            "svelte.config.*",
            "astro.config.*",
            "postcss.config.*",
            "tailwind.config.*",
            "metro.config.*",
            "build.zig",
            "package.swift",
            "*.csproj",
            "*.fsproj",
            "*.vbproj",
            "directory.build.props",
            "directory.build.targets",
            "tiltfile",
            "deno.json",
            "deno.jsonc",
            "default.nix",
            "pixi.toml",
        ],
    ),
    like_code(
        "tests that load themselves",
        &[
            "conftest.py",
            "pytest.ini",
            "sitecustomize.py",
            "usercustomize.py",
            "*.pth",
            "jest.config.*",
            "vitest.config.*",
            "karma.conf.js",
            ".mocharc.*",
            "eslint.config.*",
            ".eslintrc",
            ".eslintrc.*",
            ".prettierrc.*js",
            "prettier.config.*",
            "stylelint.config.*",
            ".stylelintrc.*js",
            "commitlint.config.*",
            ".commitlintrc.*js",
            "playwright.config.*",
            "cypress.config.*",
        ],
    ),
    unseen(
        "settings of package managers",
        &[
            ".npmrc",
            ".yarnrc",
            ".yarnrc.*",
            ".pnpmfile.cjs",
            ".pnpmrc",
            ".yarn/releases/",
            ".yarn/plugins/",
            ".bunfig.toml",
            "bunfig.toml",
            "pip.conf",
            ".pip/",
            "uv.toml",
            ".pypirc",
            "nuget.config",
            ".bundle/config",
            ".condarc",
            "rust-toolchain",
            "rust-toolchain.toml",
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
            ".nvmrc",
        ],
    ),
    like_code(
        "containers",
        &[
            "dockerfile",
            "dockerfile.*",
            "*.dockerfile",
            "containerfile",
            "compose.yml",
            "compose.yaml",
            "docker-compose.yml",
            "docker-compose.yaml",
            "docker-compose.*",
            "vagrantfile",
        ],
    ),
    unseen(
        "editors and debuggers",
        &[
            ".devcontainer/",
            ".gitpod.yml",
            ".idx/",
            ".devcontainer.json",
            "devcontainer.json",
            ".vscode/",
            ".idea/",
            ".editorconfig.js",
            ".vimrc",
            ".exrc",
            ".nvim.lua",
            ".dir-locals.el",
            ".gdbinit",
            ".lldbinit",
        ],
    ),
];

/// The time at which a file in a workspace takes effect; `None` for ordinary files.
pub(crate) fn runs_later(path: &Path, places: &Places) -> Option<Later> {
    find_kind(path, places).map(|kind| kind.later)
}

fn find_kind(path: &Path, places: &Places) -> Option<&'static LaterKind> {
    let parts = fold_path(&clean(path));
    let opened = OpenedRoots::new(places.workspace.iter().map(|root| clean(root))).depth_above(&parts);
    let is_kind = |kind: &&LaterKind| kind.names.iter().any(|name| is_named(&parts, opened, name));
    LATER.iter().find(is_kind)
}

/// The effect of such a file in words that follow `which`.
pub(crate) fn describe_later(path: &Path, places: &Places) -> Option<&'static str> {
    find_kind(path, places).map(|kind| match kind.title {
        AGENTS => "steers later runs of agents",
        INTEGRATION => "decides what runs after a push",
        _ => "can run code later",
    })
}

/// Whether a file of a workspace takes effect where you do not look: at a push, a commit, an install, or the start of an editor or
/// of an agent.
pub fn takes_effect_unseen(workspace: &Path, below: &Path) -> bool {
    let places = Places { workspace: vec![workspace.to_owned()], ..Places::default() };
    runs_later(&workspace.join(below), &places) == Some(Later::Unseen)
}

/// Whether a path has this name. The first `opened` parts are those of the workspace: the name may begin there and has to end below.
fn is_named(parts: &[String], opened: usize, name: &str) -> bool {
    let wanted: Vec<&str> = name.trim_end_matches('/').split('/').collect();
    let is_it = |window: &[String]| window.iter().zip(&wanted).all(|(part, wanted)| fits(part, wanted));
    if name.ends_with('/') {
        // A path in it, and not a file of that name.
        let from = (opened + 1).saturating_sub(wanted.len());
        let above = parts.get(from..parts.len().saturating_sub(1)).unwrap_or_default();
        return above.windows(wanted.len()).any(is_it);
    }
    parts.len().checked_sub(wanted.len()).and_then(|at| parts.get(at..)).is_some_and(is_it)
}

fn fits(part: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        Some((before, after)) => {
            part.len() > before.len() + after.len() && part.starts_with(before) && part.ends_with(after)
        }
        None => part == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_a_kind_of_files_does() {
        let places = Places { workspace: vec!["/w".into()], ..Places::default() };
        for (path, words) in [
            ("/w/AGENTS.md", Some("steers later runs of agents")),
            ("/w/.github/workflows/a.yml", Some("decides what runs after a push")),
            ("/w/.vimrc", Some("can run code later")),
            ("/w/a.txt", None),
        ] {
            assert_eq!(describe_later(Path::new(path), &places), words, "{path}");
        }
    }

    fn check(path: &str, expected: bool) {
        let places = Places { workspace: vec!["/home/u/.circleci/w".into()], ..Places::default() };
        assert_eq!(
            runs_later(&Path::new("/home/u/.circleci/w").join(path), &places).is_some(),
            expected,
            "{path}"
        );
    }

    #[test]
    fn names_are_found_anywhere_in_the_workspace_and_in_every_spelling() {
        for path in [
            "AGENTS.md",
            "sub/CLAUDE.md",
            "GEMINI.md",
            ".github/workflows/ci.yml",
            ".github/workflows/deep/x",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            "azure-pipelines.yml",
            "Jenkinsfile",
            "bitbucket-pipelines.yml",
            ".pre-commit-config.yaml",
            "package.json",
            "web/package.json",
            "Makefile",
            "makefile",
            "GNUmakefile",
            "justfile",
            "setup.py",
            "tests/conftest.py",
            ".npmrc",
            ".yarnrc.yml",
            "Dockerfile",
            "Dockerfile.dev",
            ".devcontainer/devcontainer.json",
            "rules.mk",
            "build.rs",
            "a/../Makefile",
        ] {
            check(path, true);
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in [
            "src/main.rs",
            "README.md",
            "docs/agents.md.txt",
            "makefile/x",
            ".github/CODEOWNERS",
            "x.json",
            "package.json.bak",
            "Dockerfiles/x",
            "mk",
            ".mk",
            "circleci/x",
            "src/package.rs",
            "Cargo.lock",
        ] {
            check(path, false);
        }
    }

    #[test]
    fn names_that_begin_above_the_workspace_count_if_they_end_below_it() {
        for (root, path, expected) in [
            ("/w/x/.github", "workflows/ci.yml", Some(Later::Unseen)),
            ("/w/x/.github", "dependabot.yml", Some(Later::Unseen)),
            ("/w/x/.github", "CODEOWNERS", None),
            ("/w/x/.github/workflows", "ci.yml", None),
            ("/w/x/.circleci", "config.yml", None),
        ] {
            let places = Places { workspace: vec![root.into()], ..Places::default() };
            assert_eq!(runs_later(&Path::new(root).join(path), &places), expected, "{root} {path}");
        }
    }
}
