//! Files that a program runs although no word names them: makefiles, package scripts, build scripts.
//!
//! They are pinned like a script: if one of them changes between the question and the start, buddy asks again.

use crate::shell::ShellWord;

/// The most files that are pinned for one command line because of this table; each is read twice for a question.
pub(crate) const MAX_RECIPES: usize = 32;

/// A program, and the files that it runs from the directory that it starts in.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) names: &'static [&'static str],
    pub(crate) files: &'static [&'static str],
    /// Options whose value is another directory to look in.
    directories: &'static [&'static str],
    /// Options whose value is the file.
    named: &'static [&'static str],
}

const fn recipe(names: &'static [&'static str], files: &'static [&'static str]) -> Recipe {
    Recipe { names, files, directories: &[], named: &[] }
}

impl Recipe {
    const fn options(self, directories: &'static [&'static str], named: &'static [&'static str]) -> Self {
        Self { directories, named, ..self }
    }
}

const COMPOSE: &[&str] =
    &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile"];

/// The table.
pub(crate) const RECIPES: &[Recipe] = &[
    recipe(&["make", "gmake", "bmake"], &["GNUmakefile", "makefile", "Makefile"])
        .options(&["-C", "--directory"], &["-f", "--file", "--makefile"]),
    recipe(&["just"], &["justfile", "Justfile", ".justfile"])
        .options(&["-d", "--working-directory"], &["-f", "--justfile"]),
    recipe(&["task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"])
        .options(&["-d", "--dir"], &["-t", "--taskfile"]),
    recipe(&["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "turbo", "nx", "lerna"], &["package.json"])
        .options(&["--prefix", "-C", "--dir", "--cwd", "-w", "--workspace"], &[]),
    recipe(&["cargo", "cargo-nextest"], &["Cargo.toml", "build.rs", ".cargo/config.toml"])
        .options(&["-C"], &["--manifest-path"]),
    recipe(&["pytest", "py.test"], &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"])
        .options(&["--rootdir"], &["-c", "--config-file"]),
    recipe(&["tox"], &["tox.ini", "pyproject.toml", "setup.cfg", "setup.py"])
        .options(&["--root", "--workdir"], &["-c", "--conf"]),
    recipe(&["nox"], &["noxfile.py"]).options(&[], &["-f", "--noxfile"]),
    recipe(
        &["pip", "pip3", "uv", "poetry", "pdm", "hatch", "build", "pipenv"],
        &["pyproject.toml", "setup.py", "setup.cfg"],
    )
    .options(&["--directory", "--project"], &[]),
    recipe(&["cmake"], &["CMakeLists.txt", "CMakePresets.json"]).options(&["-S"], &["-P", "-C"]),
    recipe(&["ctest"], &["CTestTestfile.cmake"]).options(&["--test-dir"], &["-S"]),
    recipe(&["meson"], &["meson.build"]),
    recipe(&["ninja"], &["build.ninja"]).options(&["-C"], &["-f"]),
    recipe(&["scons"], &["SConstruct"]).options(&["-C"], &["-f"]),
    recipe(&["bazel", "bazelisk"], &["MODULE.bazel", "WORKSPACE", "BUILD.bazel", "BUILD", ".bazelrc"]),
    recipe(
        &["gradle", "gradlew"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
    )
    .options(&["-p", "--project-dir"], &["-b", "--build-file"]),
    recipe(&["mvn", "mvnw"], &["pom.xml", ".mvn/jvm.config", ".mvn/wrapper/maven-wrapper.properties"])
        .options(&[], &["-f", "--file"]),
    recipe(&["ant"], &["build.xml"]).options(&[], &["-f", "-buildfile", "-file"]),
    recipe(&["sbt"], &["build.sbt"]),
    recipe(&["lein"], &["project.clj"]),
    recipe(&["mix"], &["mix.exs"]),
    recipe(&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]).options(&[], &["-f", "--rakefile"]),
    recipe(&["bundle", "bundler"], &["Gemfile", "Rakefile"]),
    recipe(&["composer"], &["composer.json"]).options(&["-d", "--working-dir"], &[]),
    recipe(&["docker", "podman", "nerdctl", "docker-compose", "podman-compose"], COMPOSE)
        .options(&["--project-directory"], &["-f", "--file"]),
    recipe(&["pre-commit"], &[".pre-commit-config.yaml"]).options(&[], &["-c", "--config"]),
    recipe(&["jest"], &["jest.config.js", "jest.config.ts", "package.json"])
        .options(&["--rootDir"], &["-c", "--config"]),
    recipe(&["vite", "vitest"], &["vite.config.js", "vite.config.ts", "vitest.config.ts"])
        .options(&["--root"], &["-c", "--config"]),
    recipe(&["webpack"], &["webpack.config.js"]).options(&[], &["-c", "--config"]),
    recipe(&["gulp"], &["gulpfile.js"]).options(&["--cwd"], &["-f", "--gulpfile"]),
    recipe(&["grunt"], &["Gruntfile.js"]).options(&["--base"], &["--gruntfile"]),
    recipe(&["eslint"], &["eslint.config.js", ".eslintrc.js"]).options(&[], &["-c", "--config"]),
    recipe(&["deno"], &["deno.json", "deno.jsonc"]).options(&[], &["-c", "--config"]),
    recipe(&["foreman", "overmind", "honcho"], &["Procfile"]).options(&["-d"], &["-f"]),
    recipe(&["awk", "gawk", "mawk", "nawk"], &[]).options(&[], &["-f", "--file", "-i", "--include"]),
    recipe(&["sed", "gsed"], &[]).options(&[], &["-f", "--file"]),
    recipe(&["gdb"], &[]).options(&[], &["-x", "--command", "-ix", "--init-command"]),
    recipe(&["node", "nodejs", "bun"], &[]).options(&[], &["-r", "--require", "--import", "--loader"]),
];

/// The files that a program with these words runs, some of them in directories that options name.
pub(crate) fn recipe_files(program: &str, arguments: &[ShellWord]) -> Vec<ShellWord> {
    let module = module(program, arguments);
    let program = module.unwrap_or(program);
    let Some(recipe) = RECIPES.iter().find(|recipe| recipe.names.contains(&program)) else {
        // A module of the project.
        let path = module.unwrap_or_default().replace('.', "/");
        let files = ["", "/__main__", "/__init__"].map(|end| ShellWord::Literal(format!("{path}{end}.py")));
        return if path.is_empty() { Vec::new() } else { files.to_vec() };
    };
    let mut files = values(arguments, recipe.named);
    files.extend(recipe.files.iter().map(|file| ShellWord::Literal((*file).to_owned())));
    for directory in values(arguments, recipe.directories) {
        files.extend(recipe.files.iter().map(|file| within(&directory, file)));
    }
    files
}

/// The files that an interpreter takes for a word that names no file, or a directory.
pub(crate) fn stands_for(program: &str, word: &ShellWord) -> Vec<ShellWord> {
    let ends: &[&str] = if program.starts_with("node") || program == "bun" {
        &[".js", ".cjs", ".mjs", ".ts", "/package.json", "/index.js"]
    } else if program.starts_with("python") || program.starts_with("pypy") {
        &["/__main__.py"]
    } else {
        &[]
    };
    let Some(text) = word.literal().filter(|text| !text.rsplit('/').next().unwrap_or_default().contains('.'))
    else {
        let is_here = matches!(word.literal(), Some("." | ".."));
        return if is_here {
            ends.iter()
                .filter(|end| end.starts_with('/'))
                .map(|end| within(word, end.trim_start_matches('/')))
                .collect()
        } else {
            Vec::new()
        };
    };
    ends.iter().map(|end| ShellWord::Literal(format!("{text}{end}"))).collect()
}

/// Whether an option names a file to run that cannot be pinned: stdin, a device, or a computed name.
pub(crate) fn reads_recipe(program: &str, arguments: &[ShellWord]) -> bool {
    let Some(recipe) = RECIPES.iter().find(|recipe| recipe.names.contains(&program)) else { return false };
    // They take a configuration by the same letter, and no program.
    let is_build =
        recipe.named.iter().any(|option| !matches!(*option, "-c" | "--config" | "--config-file" | "--conf"));
    let is_stream = |word: &ShellWord| match word {
        ShellWord::Literal(text) => text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/"),
        ShellWord::Home { .. } => false,
        ShellWord::Glob(_) | ShellWord::Unknown(_) => true,
    };
    is_build && values(arguments, recipe.named).iter().any(is_stream)
}

/// `python3 -m pytest` runs the same files as `pytest`.
fn module<'a>(program: &str, arguments: &'a [ShellWord]) -> Option<&'a str> {
    let at = arguments
        .iter()
        .position(|word| word.literal() == Some("-m"))
        .filter(|_| program.starts_with("python"))?;
    arguments.get(at + 1).and_then(ShellWord::literal)
}

fn within(directory: &ShellWord, file: &str) -> ShellWord {
    match directory {
        ShellWord::Literal(directory) => ShellWord::Literal(format!("{directory}/{file}")),
        ShellWord::Home { rest, source } => {
            ShellWord::Home { rest: format!("{rest}/{file}"), source: source.clone() }
        }
        other => ShellWord::Unknown(other.unexpanded()),
    }
}

/// The values of these options, joined to them or as the next word.
fn values(arguments: &[ShellWord], options: &[&str]) -> Vec<ShellWord> {
    let mut values = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.unexpanded();
        for option in options {
            match text.strip_prefix(option) {
                Some("") => values.extend(arguments.get(at + 1).cloned()),
                Some(joined) if option.len() == 2 || joined.starts_with('=') => {
                    let joined = joined.strip_prefix('=').unwrap_or(joined);
                    values.push(if word.literal().is_some() {
                        ShellWord::Literal(joined.to_owned())
                    } else {
                        word.clone()
                    });
                }
                _ => {}
            }
        }
    }
    values
}
