//! The name by which a question about hosts calls a command.

use buddy_policy::package_manager;

/// Words at the beginning of a line that run nothing of interest.
const ASIDES: &[&str] = &["cd", "echo", "export", "printf", "set", "test", "true", ":"];

/// The program that people know a command by, of the simple commands that it is made of.
pub(super) fn name_program(commands: &[String]) -> String {
    let programs = commands.iter().filter_map(|part| {
        let mut words = part.split_whitespace();
        let first = words.next()?;
        // People know a module of Python by its own name.
        let is_module = first.starts_with("python") && words.next() == Some("-m");
        Some((part, words.next().filter(|_| is_module).unwrap_or(first)))
    });
    let is_manager = |part: &String| package_manager(std::slice::from_ref(part)).is_some();
    // Among other commands, it is the one that reaches the hosts of packages.
    let manager = programs.clone().find(|(part, _)| is_manager(part));
    if let Some((_, named)) = manager {
        return named.rsplit('/').next().unwrap_or(named).to_owned();
    }
    let mut names = programs.map(|(_, name)| name);
    let named = names.clone().find(|name| !ASIDES.contains(name)).or(names.next());
    named.unwrap_or("the command").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_its_program_or_module() {
        for (commands, name) in [
            (&["pip install x"][..], "pip"),
            (&["python3 -m pip install x"], "pip"),
            (&["cd sub", "python -m build"], "build"),
            (&["python3 -c print"], "python3"),
            (&["python3"], "python3"),
            (&["echo x"], "echo"),
            (&["python3 -m venv .venv", ".venv/bin/pip install -q pytest"], "pip"),
            (&["cd web", "make", "npm ci"], "npm"),
            (&[], "the command"),
        ] {
            let commands: Vec<String> = commands.iter().map(|&part| part.to_owned()).collect();
            assert_eq!(name_program(&commands), name, "{commands:?}");
        }
    }
}
