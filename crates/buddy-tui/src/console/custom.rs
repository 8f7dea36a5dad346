//! Commands of the user's own: prompts with a name.

/// A prompt that a command sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its purpose.
    pub note: String,
    /// The prompt. `$ARGUMENTS` stands for everything after the name, `$1` to `$9` for single words of it.
    pub text: String,
}

impl CustomCommand {
    /// The prompt with these arguments. If the text has no place for them, they come at the end.
    pub(crate) fn prompt(&self, arguments: &str) -> String {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let mut prompt = String::new();
        let mut is_used = false;
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            prompt.push_str(before);
            if let Some(after) = after.strip_prefix("ARGUMENTS") {
                prompt.push_str(arguments);
                (is_used, rest) = (true, after);
                continue;
            }
            let digit = after.chars().next().and_then(|digit| digit.to_digit(10)).filter(|digit| *digit > 0);
            if let Some(place) = digit.and_then(|digit| usize::try_from(digit).ok()) {
                prompt.push_str(words.get(place - 1).copied().unwrap_or_default());
                (is_used, rest) = (true, after.get(1..).unwrap_or_default());
            } else {
                prompt.push('$');
                rest = after;
            }
        }
        prompt.push_str(rest);
        if !is_used && !arguments.is_empty() {
            prompt = format!("{prompt}\n\n{arguments}");
        }
        prompt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_where_the_text_wants_them() {
        let check = |text: &str, arguments: &str, prompt: &str| {
            let command = CustomCommand { name: "x".into(), note: String::new(), text: text.into() };
            assert_eq!(command.prompt(arguments), prompt);
        };
        check("Review $ARGUMENTS now.", "a b", "Review a b now.");
        check("From $1 to $2, $3.", "a b", "From a to b, .");
        check("It costs $5x and $HOME$", "", "It costs x and $HOME$");
        check("Say hello.", "to ann", "Say hello.\n\nto ann");
        check("$ARGUMENTS", "$1 stays", "$1 stays");
    }
}
