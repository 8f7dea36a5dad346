//! Programs that a user runs at their own terminal, such as their editor.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Runs a program with the terminal of this process, until it ends. The program acts for the user, with all
/// their rights.
#[expect(clippy::disallowed_methods, reason = "this crate starts processes")]
pub fn run_attended(argv: &[String], cwd: &Path, env: &[(String, String)]) -> io::Result<ExitStatus> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no program to run"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.status()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gets_its_words_and_says_how_it_ended() {
        let words = |text: &[&str]| text.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let status = run_attended(&words(&["/bin/sh", "-c", "exit 3"]), Path::new("/"), &[]).unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(run_attended(&[], Path::new("/"), &[]).is_err());
        assert!(run_attended(&words(&["/nowhere/editor"]), Path::new("/"), &[]).is_err());
    }
}
