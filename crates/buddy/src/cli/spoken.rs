//! A prompt in the place of a command: `buddy fix the tests`.

use std::ffi::OsString;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;
use super::own_help::own_help;

/// The hint below the error about a word that is neither.
const ONE_WORD: &str = "  tip: to say one word to the agent: buddy exec";

impl Cli {
    /// Reads the command line. Words that name no command begin a conversation, when they are several or one has a space in
    /// it; options may stand before and behind them. A single word is more likely a command with a slip in it.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let error = match Self::try_parse_from(&arguments) {
            Err(error) if error.kind() == ErrorKind::InvalidSubcommand => error,
            Err(error) if error.kind() == ErrorKind::DisplayHelp => {
                return Err(own_help(&arguments).unwrap_or(error));
            }
            read => return read,
        };
        let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
            return Err(error);
        };
        let is_word = |place: &usize| arguments.get(*place).is_some_and(|argument| argument == word.as_str());
        let places = (1..arguments.len()).filter(is_word);
        for place in places {
            let (before, said) = arguments.split_at(place);
            if Self::try_parse_from(before).is_err() {
                continue;
            }
            let end = said.iter().position(|word| word.as_encoded_bytes().starts_with(b"-"));
            let (words, behind) = said.split_at(end.unwrap_or(said.len()));
            let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
            let prompt = words.unwrap_or_default().join(" ");
            if !prompt.trim().contains(char::is_whitespace) {
                break;
            }
            let cli = Self::try_parse_from(before.iter().chain(behind))?;
            return Ok(Self { prompt: Some(prompt), ..cli });
        }
        Err(error)
    }

    /// The hint for somebody who gave a word that is no command; none for other errors.
    pub(crate) fn tip(error: &clap::Error) -> Option<String> {
        match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(word)) if error.kind() == ErrorKind::InvalidSubcommand => {
                Some(format!("{ONE_WORD} '{word}'"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[&str]) -> Result<Cli, clap::Error> {
        Cli::read(std::iter::once("buddy").chain(line.iter().copied()).map(OsString::from))
    }

    #[track_caller]
    fn check(line: &[&str], prompt: &str, model: Option<&str>) {
        let cli = read(line).unwrap();
        assert_eq!((cli.prompt.as_deref(), cli.model.as_deref()), (Some(prompt), model), "{line:?}");
        assert!(cli.command.is_none());
    }

    #[test]
    fn several_words_are_a_prompt_with_options_on_either_side() {
        check(&["fix", "the", "tests"], "fix the tests", None);
        check(&["fix the tests"], "fix the tests", None);
        check(&["-m", "fix", "fix", "it"], "fix it", Some("fix"));
        check(&["show me", "-m", "opus"], "show me", Some("opus"));
        check(&["list", "the", "sessions"], "list the sessions", None);
    }

    #[test]
    fn a_command_stays_one_and_a_single_word_is_an_error_that_helps() {
        assert!(read(&["sessions"]).unwrap().command.is_some());
        assert!(read(&["--plan"]).unwrap().prompt.is_none());
        for word in ["sesions", "hello", " hello "] {
            let error = read(&[word]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidSubcommand);
            assert_eq!(Cli::tip(&error), Some(format!("{ONE_WORD} '{word}'")));
        }
        assert_eq!(Cli::tip(&read(&["--nonsense"]).unwrap_err()), None);
    }

    #[test]
    fn an_option_that_there_is_not_is_told_behind_a_prompt_too() {
        assert_eq!(read(&["fix", "it", "--nonsense"]).unwrap_err().kind(), ErrorKind::UnknownArgument);
    }
}
