//! Programs that run programs given as text: shells, and the languages.

use super::files::outcome;
use crate::shell::ShellWord;

/// Shells that read roughly the same language as `sh`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"];

/// Those that evaluate more texts than bash does: patterns with code in them, numbers of builtins, more expansions.
const EVALUATING: &[&str] = &["zsh", "ksh", "mksh"];

/// A language, by the beginnings of its programs' names.
struct Language {
    name: &'static str,
    /// Options after which a program stands.
    code: &'static [&'static str],
    /// Options that only steer: whole, or, with a star at the end, by their beginning. Any other option could
    /// run a program.
    plain: &'static [&'static str],
    /// Options that only steer, with the word behind them.
    valued: &'static [&'static str],
}

const fn language_of(name: &'static str, code: &'static [&'static str]) -> Language {
    Language { name, code, plain: &[], valued: &[] }
}

const PYTHON: &[&str] =
    &["-u", "-B", "-O", "-OO", "-s", "-S", "-E", "-I", "-P", "-q", "-v", "-b", "-bb", "-d", "-x"];
const NODE: &[&str] = &[
    "--test*",
    "--watch*",
    "--trace-*",
    "--inspect*",
    "--harmony*",
    "--max-*",
    "--stack-size=*",
    "--enable-source-maps",
    "--no-warnings",
    "--no-deprecation",
    "--expose-gc",
    "--unhandled-rejections=*",
    "--check",
    "-c",
    "--experimental-strip-types",
    "--experimental-vm-modules",
];

const LANGUAGES: &[Language] = &[
    Language {
        name: "python",
        code: &["-c"],
        plain: PYTHON,
        valued: &["-W", "-X", "--check-hash-based-pycs"],
    },
    Language { name: "pypy", code: &["-c"], plain: PYTHON, valued: &["-W", "-X"] },
    Language {
        name: "perl",
        code: &["-e", "-E"],
        plain: &["-w", "-W", "-X", "-t", "-T", "-c"],
        valued: &["-I"],
    },
    Language { name: "ruby", code: &["-e"], plain: &["-w", "-W*", "-c", "--yjit"], valued: &["-I"] },
    Language {
        name: "node",
        code: &["-e", "--eval", "-p", "--print", "-pe"],
        plain: NODE,
        valued: &["-C", "--conditions", "--title"],
    },
    Language {
        name: "nodejs",
        code: &["-e", "--eval", "-p", "--print"],
        plain: NODE,
        valued: &["-C", "--conditions", "--title"],
    },
    Language {
        name: "bun",
        code: &["-e", "--eval", "-p"],
        plain: &["--watch", "--hot", "--smol", "--bun"],
        valued: &[],
    },
    Language {
        name: "deno",
        code: &["eval"],
        plain: &["-A", "--allow-*", "--no-check", "--quiet", "-q"],
        valued: &[],
    },
    Language { name: "php", code: &["-r", "-R", "-B", "-E"], plain: &["-n", "-q", "-l"], valued: &[] },
    Language { name: "lua", code: &["-e"], plain: &["-i", "-W", "-E"], valued: &[] },
    Language { name: "Rscript", code: &["-e"], plain: &["--vanilla", "--no-save", "--verbose"], valued: &[] },
    language_of("osascript", &["-e"]),
    language_of("pwsh", &["-c", "-Command", "-EncodedCommand"]),
    language_of("fish", &["-c"]),
    language_of("tclsh", &[]),
    language_of("expect", &["-c"]),
    language_of("groovy", &["-e"]),
    Language { name: "julia", code: &["-e", "-E"], plain: &["--project", "--project=*", "-q"], valued: &[] },
];

/// Modules of Python that run the project's own code or only print information, as programs of the same name
/// do. Others can be told to run text, or to write anywhere.
const MODULES: &[&str] = &[
    "pytest",
    "unittest",
    "doctest",
    "nose2",
    "tox",
    "nox",
    "coverage",
    "mypy",
    "pyright",
    "ruff",
    "black",
    "isort",
    "flake8",
    "pylint",
    "pyflakes",
    "bandit",
    "pip",
    "build",
    "http.server",
    "flask",
    "uvicorn",
    "gunicorn",
    "hypercorn",
    "celery",
    "django",
    "alembic",
    "pre_commit",
    "sphinx",
    "mkdocs",
    "jupyter",
    "ipykernel",
    "poetry",
    "hatch",
    "pdm",
    "pipenv",
    "uv",
    "twine",
    "setuptools_scm",
    "site",
    "sysconfig",
    "platform",
    "this",
    "calendar",
];

/// Small languages whose first operand is the program.
const FILTERS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// The program that an interpreter is given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GivenProgram {
    /// Text on its command line.
    Text(ShellWord),
    /// A file.
    File(ShellWord),
    /// The text of its stdin.
    Input,
    /// Code that is not shell.
    Code,
    /// An installed module, by its name.
    Module,
    /// It is not certain.
    Unclear,
}

/// Whether a program is a shell that evaluates more texts than bash does.
pub(crate) fn evaluates_more(program: &str) -> bool {
    EVALUATING.contains(&program)
}

/// Whether a program is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Whether a program runs programs given as text.
pub(crate) fn is_interpreter(program: &str) -> bool {
    is_shell(program) || FILTERS.contains(&program) || program == "sed" || language(program).is_some()
}

fn language(program: &str) -> Option<&'static Language> {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.iter().find(|language| language.name == stem)
}

/// The program that an interpreter with these words runs; `None` if it is no interpreter.
pub(crate) fn given(program: &str, arguments: &[ShellWord]) -> Option<GivenProgram> {
    if is_shell(program) {
        return Some(shell(arguments));
    }
    if FILTERS.contains(&program) {
        return Some(GivenProgram::Code);
    }
    language(program).map(|language| code(language, arguments))
}

fn shell(arguments: &[ShellWord]) -> GivenProgram {
    let mut words = arguments.iter();
    let mut takes_text = false;
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            return if takes_text { GivenProgram::Unclear } else { file(word) };
        };
        match text {
            "--" => break,
            "-" => return GivenProgram::Input,
            "--version" | "--help" => return GivenProgram::Module,
            "--login" | "--posix" | "--norc" | "--noprofile" | "--restricted" | "--verbose" => {}
            "-o" | "+o" | "-O" | "+O" => drop(words.next()),
            _ if text.starts_with("--") => return GivenProgram::Unclear,
            _ if text.starts_with('-') || text.starts_with('+') => {
                let letters = text.chars().skip(1);
                if !letters.clone().all(|letter| "abcefhiklmnprstuvxBCEHPT".contains(letter)) {
                    return GivenProgram::Unclear;
                }
                takes_text |= text.starts_with('-') && letters.clone().any(|letter| letter == 'c');
                if !takes_text && letters.clone().any(|letter| letter == 's') {
                    return GivenProgram::Input;
                }
            }
            _ => return if takes_text { GivenProgram::Text(word.clone()) } else { file(word) },
        }
    }
    match words.next() {
        Some(word) if takes_text => GivenProgram::Text(word.clone()),
        Some(word) => file(word),
        None if takes_text => GivenProgram::Unclear,
        None => GivenProgram::Input,
    }
}

fn code(language: &Language, arguments: &[ShellWord]) -> GivenProgram {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return file(word) };
        match text {
            _ if language.is_code(text) => return GivenProgram::Code,
            "-m" => return module(words.as_slice()),
            "--version" | "-V" | "--help" => return GivenProgram::Module,
            "-" => return GivenProgram::Input,
            _ if language.valued.contains(&text) => drop(words.next()),
            _ if language.is_plain(text) => {}
            _ if text.starts_with('-') => return GivenProgram::Unclear,
            _ => return file(word),
        }
    }
    GivenProgram::Input
}

impl Language {
    /// Whether a program stands in this word or behind it.
    fn is_code(&self, text: &str) -> bool {
        let is_short = |option: &str| option.len() == 2;
        let is_inline = self.code.iter().any(|option| {
            text == *option
                || (is_short(option) && text.starts_with(option))
                || text.starts_with(&format!("{option}="))
        });
        let is_cluster = text.starts_with('-') && !text.starts_with("--") && !self.is_plain(text);
        let letters =
            self.code.iter().filter(|option| is_short(option)).filter_map(|option| option.chars().nth(1));
        is_inline || (is_cluster && letters.into_iter().any(|letter| text.contains(letter)))
    }

    fn is_plain(&self, text: &str) -> bool {
        let fits = |plain: &&str| match plain.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning),
            None => text == *plain,
        };
        self.plain.iter().any(fits)
            || self.valued.iter().any(|valued| valued.len() == 2 && text.starts_with(valued))
    }
}

/// The name of a module of Python in the table of files.
pub(crate) fn module_program(module: &str) -> String {
    format!("python -m {module}")
}

/// The module that a language with these words runs, and its own words.
pub(crate) fn module_words<'a>(
    program: &str,
    arguments: &'a [ShellWord],
) -> Option<(&'a str, &'a [ShellWord])> {
    let language = language(program).filter(|language| matches!(language.name, "python" | "pypy"))?;
    let mut words = arguments.iter();
    while let Some(text) = words.next().and_then(ShellWord::literal) {
        match text {
            "-m" => {
                let (name, words) = words.as_slice().split_first()?;
                return Some((name.literal()?, words));
            }
            _ if language.valued.contains(&text) => drop(words.next()),
            _ if language.is_plain(text) => {}
            _ => return None,
        }
    }
    None
}

/// The program that a module with these words runs.
fn module(words: &[ShellWord]) -> GivenProgram {
    let Some(name) = words.first().and_then(ShellWord::literal) else { return GivenProgram::Unclear };
    let top = name.split('.').next().unwrap_or(name);
    let is_listed = outcome(&module_program(name), words.get(1..).unwrap_or_default()).is_some();
    if is_listed || MODULES.contains(&name) || MODULES.contains(&top) {
        GivenProgram::Module
    } else {
        GivenProgram::Unclear
    }
}

fn file(word: &ShellWord) -> GivenProgram {
    match word {
        ShellWord::Unknown(_) | ShellWord::Glob(_) => GivenProgram::Unclear,
        ShellWord::Literal(text) if text.starts_with("/dev/") || text.starts_with("/proc/") => {
            GivenProgram::Unclear
        }
        _ => GivenProgram::File(word.clone()),
    }
}
