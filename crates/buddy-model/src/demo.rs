//! The demo model: a small scripted guide for a machine without a model.
//!
//! It is not a language model and always says so. It uses the same pipeline as a real one: it streams and
//! calls real tools, and policy judges its calls and asks for them like any others. Its answer depends on the
//! prompt alone.

use std::time::Duration;

use buddy_protocol::Usage;
use futures::{StreamExt, stream};
use serde_json::{Map, Value, json};

use crate::{Arguments, Delta, Model, Prompt, PromptItem, Reply, ReplyItem, ReplyStream, StopReason};

/// The name under which the demo model runs.
pub const DEMO_MODEL: &str = "buddy-demo";

/// The start of every answer.
const BADGE: &str = "[demo]";
/// The number of characters of a tool's output that it shows again.
const SHOWN: usize = 600;
/// The beginning of the result of a call that failed.
const FAILED: &str = "error ";

const WELCOME: &str = "I am buddy's built-in demo, not a language model: I follow a small script, but everything around \
me is real. Let me look around with two real tools.";

const MENU: &str = "Try one of these:\n\
    - `tour` shows a command, and when buddy asks about one\n\
    - `run <command>` runs a command; your approval mode says whether buddy asks first\n\
    - `read <file>`, `list [directory]` and `time` use the other tools\n\
    - `connect` tells how to connect a real model";

const CONNECT: &str = "To connect a real model, say `/login`: it takes a key, logs in, or uses a server on this machine or at \
another address, and the conversation goes on with it. These are found at the next start too:\n\
    - OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY in the environment\n\
    - a local server (Ollama, llama.cpp, LM Studio or vLLM)\n\
    - BUDDY_BASE_URL, BUDDY_MODEL and BUDDY_API_KEY for any OpenAI-compatible server\n\
    - a profile in ~/.config/buddy/buddy.toml";

/// The guide.
#[derive(Debug, Clone)]
pub struct DemoModel {
    /// The pause between two words.
    pace: Duration,
}

impl DemoModel {
    /// A guide that pauses this long between words, so that users can read along.
    pub fn new(pace: Duration) -> Self {
        Self { pace }
    }
}

impl Model for DemoModel {
    fn name(&self) -> &str {
        DEMO_MODEL
    }

    fn call(&self, prompt: Prompt) -> ReplyStream {
        let reply = answer(&prompt);
        let words: Vec<String> = reply.items.iter().flat_map(words).collect();
        let pace = self.pace;
        let spoken = stream::iter(words).then(move |word| async move {
            tokio::time::sleep(pace).await;
            Ok(Delta::Text(word))
        });
        Box::pin(spoken.chain(stream::once(async { Ok(Delta::Finished(reply)) })))
    }
}

fn words(item: &ReplyItem) -> Vec<String> {
    match item {
        ReplyItem::Text { text, .. } => text.split_inclusive(' ').map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The next text and calls of the guide.
fn answer(prompt: &Prompt) -> Reply {
    let asked = prompt.items.iter().rposition(is_request).unwrap_or(0);
    let said = match prompt.items.get(asked) {
        Some(PromptItem::User { text, .. }) => text.trim(),
        _ => "",
    };
    let results: Vec<(&str, &str)> = prompt.items.iter().skip(asked).filter_map(result).collect();
    let (verb, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    let rest = rest.trim();
    match (verb.to_lowercase().trim_matches(['`', '/', '.', '!']), results.as_slice()) {
        ("connect" | "model" | "login", _) => say(CONNECT, vec![]),
        ("help" | "menu" | "?", _) => say(MENU, vec![]),
        ("tour", []) => {
            say("Here comes a command. It writes a file and removes it again.", vec![shell(&writing())])
        }
        // A folder that is not trusted can be read, and so can one in which the user said no.
        ("tour", [(_, output)]) if !is_done(output) => say(
            &format!("{}\n\nCommands that only read run without a prompt:", refusal(output)),
            vec![shell("echo \"hello from buddy\"; ls")],
        ),
        ("tour", [(_, refused), (name, output), ..]) if !is_done(refused) => {
            let trust = "If this folder is untrusted, run `/trust` to allow changes here.";
            say(&format!("{}\n\n{trust}", report(name, output)), vec![])
        }
        ("run", []) if !rest.is_empty() => say("I run what you asked for.", vec![shell(rest)]),
        ("read", []) if !rest.is_empty() => say("I read it.", vec![("read_file", json!({"path": rest}))]),
        ("list", []) => say("I list it.", vec![("list_directory", listing(rest))]),
        ("time", []) => say("I look at the clock.", vec![("time", json!({}))]),
        ("tour" | "run" | "read" | "list" | "time", [.., (name, output)]) => {
            say(&report(name, output), vec![])
        }
        (_, []) => say(WELCOME, vec![("list_directory", json!({})), ("time", json!({}))]),
        (_, results) => say(&greeting(results), vec![]),
    }
}

/// A command that writes to a new place and leaves nothing there.
fn writing() -> String {
    let file = format!("/tmp/buddy-tour-{:08x}.txt", rand::random::<u32>());
    format!("echo \"hello from buddy\" | tee {file} && rm {file}")
}

/// Whether an item has words of the user, and not of buddy itself.
fn is_request(item: &PromptItem) -> bool {
    matches!(item, PromptItem::User { text, .. } if !text.starts_with("<reminder "))
}

fn is_done(output: &str) -> bool {
    !output.starts_with(FAILED)
}

/// Why a call was not done.
fn refusal(output: &str) -> String {
    let why = output.strip_prefix(FAILED).and_then(|rest| rest.split_once(": ")).map(|(_, why)| why);
    let why = why.map(|why| why.split("\nhint: ").next().unwrap_or(why));
    format!("It was not done:\n\n{}", shown(why.unwrap_or("for an unknown reason")))
}

/// The value of a line in the header of a result.
fn field<'a>(output: &'a str, name: &str) -> Option<&'a str> {
    output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The text below a name in a result, or beside it where it is short.
fn block<'a>(output: &'a str, name: &str) -> &'a str {
    let below = format!("{name}:\n");
    match output.split_once(&format!("\n{below}")) {
        Some((_, text)) => text,
        None => output.strip_prefix(&below).or_else(|| field(output, name)).unwrap_or_default(),
    }
}

fn result(item: &PromptItem) -> Option<(&str, &str)> {
    match item {
        PromptItem::ToolResult { name, output, .. } => Some((name, output)),
        _ => None,
    }
}

fn listing(rest: &str) -> Value {
    if rest.is_empty() { json!({}) } else { json!({"path": rest}) }
}

fn shell(command: &str) -> (&'static str, Value) {
    let why = "the demo shows how a command is approved and run";
    ("run_shell", json!({"command": command, "why": why, "risk": "low", "mutation": false, "privesc": false}))
}

fn say(text: &str, calls: Vec<(&str, Value)>) -> Reply {
    let stop = if calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
    // A code block begins on its own line.
    let gap = if text.starts_with("```") { "\n\n" } else { " " };
    let mut items = vec![ReplyItem::Text { text: format!("{BADGE}{gap}{text}"), private: None }];
    items.extend(calls.into_iter().map(|(name, arguments)| ReplyItem::ToolCall {
        id: format!("demo_{:016x}", rand::random::<u64>()),
        name: name.to_owned(),
        arguments: Arguments::Object { value: object(arguments), repaired: false },
        private: None,
    }));
    // No request is sent, so no tokens are used.
    Reply { items, stop, usage: Some(Usage::default()), model: Some(DEMO_MODEL.to_owned()) }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A text about the results of the first look around.
fn greeting(results: &[(&str, &str)]) -> String {
    let output = |wanted: &str| results.iter().find(|(name, _)| *name == wanted).map(|(_, output)| *output);
    let listed = output("list_directory").filter(|output| is_done(output));
    let entries = listed.map(|output| block(output, "entries").lines().count());
    let weekday = output("time").and_then(|output| field(output, "weekday utc"));
    let here = entries.map_or_else(String::new, |count| match count {
        1 => "This directory has 1 entry. ".to_owned(),
        count => format!("This directory has {count} entries. "),
    });
    let today = weekday.map_or_else(String::new, |day| format!("The clock says it is {day}. "));
    format!("{here}{today}I am only a demo and cannot answer what you asked.\n\n{MENU}")
}

/// A text about the result of a call.
fn report(name: &str, output: &str) -> String {
    let text = match name {
        _ if !is_done(output) => refusal(output),
        "run_shell" => {
            let code = field(output, "exit code").unwrap_or("unknown");
            let streams = [block(output, "stdout"), block(output, "stderr")];
            match streams.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default() {
                "" => format!("The command ended with exit code {code} and printed nothing."),
                printed => {
                    format!("The command ended with exit code {code}. It printed:\n\n{}", shown(printed))
                }
            }
        }
        "read_file" => match (field(output, "image"), field(output, "width"), field(output, "height")) {
            (Some(_), Some(width), Some(height)) => {
                format!("It is an image of {width} by {height} pixels. A real model would see it.")
            }
            _ => shown(block(output, "content")),
        },
        _ => shown(output),
    };
    format!(
        "{text}\n\nThat was real; I am the only part that is a demo. Say `connect` to see how to connect a model."
    )
}

fn shown(text: &str) -> String {
    let kept: String = text.chars().take(SHOWN).collect();
    format!("```\n{}\n```", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> PromptItem {
        PromptItem::user(text)
    }

    fn done(name: &str, output: &str) -> PromptItem {
        PromptItem::result("c", name, output)
    }

    fn check(items: Vec<PromptItem>, calls: &[&str]) -> String {
        let reply = answer(&Prompt { items, ..Prompt::default() });
        let called: Vec<&str> = reply
            .items
            .iter()
            .filter_map(|item| match item {
                ReplyItem::ToolCall { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(called, calls);
        let Some(ReplyItem::Text { text, .. }) = reply.items.first() else { panic!("it says nothing") };
        assert!(text.starts_with(BADGE), "{text}");
        text.clone()
    }

    #[test]
    fn a_command_that_prints_nothing_is_not_said_to_print() {
        let silent =
            check(vec![user("run true"), done("run_shell", "exit code: 0\nstdout: \nstderr: ")], &[]);
        assert!(silent.contains("exit code 0 and printed nothing."), "{silent}");
        let failed = check(vec![user("run x"), done("run_shell", "exit code: 1\nstdout: \nstderr: no")], &[]);
        assert!(failed.contains("It printed:") && failed.contains("no"), "{failed}");
        let loud =
            check(vec![user("run date"), done("run_shell", "exit code: 0\nstdout: now\nstderr: ")], &[]);
        assert!(loud.contains("It printed:"), "{loud}");
    }

    #[test]
    fn it_looks_around_first_and_says_that_it_is_a_demo() {
        assert!(check(vec![user("hello")], &["list_directory", "time"]).contains("not a language model"));
        let looked = "path: /w\nentries:\na\nb\nc";
        assert!(check(vec![user("hello"), done("list_directory", looked)], &[]).contains("3 entries"));
        let read = "path: a.txt\ncontent: a\nfirst line: 1";
        let shown = check(vec![user("read a.txt"), done("read_file", read)], &[]);
        assert!(shown.contains("\n\n```\n"), "a block begins a line: {shown}");
        let image = "image: image/png\nwidth: 3\nheight: 2";
        let told = check(vec![user("read a.png"), done("read_file", image)], &[]);
        assert!(told.contains("an image of 3 by 2 pixels"), "{told}");
    }

    #[test]
    fn the_tour_runs_a_command_and_reports_its_result() {
        check(vec![user("tour")], &["run_shell"]);
        let ran = "exit code: 0\nstdout:\nhello from buddy";
        assert!(check(vec![user("tour"), done("run_shell", ran)], &[]).contains("hello from buddy"));
        let denied = "error denied: the user said no\nhint: go on without it";
        let told = check(vec![user("tour"), done("run_shell", denied)], &["run_shell"]);
        assert!(told.contains("It was not done:\n\n```\nthe user said no\n```\n\n"), "{told}");
    }

    #[test]
    fn the_tour_of_a_folder_that_is_only_read_shows_what_is_possible() {
        let refused = "error forbidden: only read";
        let told = check(vec![user("tour"), done("run_shell", refused)], &["run_shell"]);
        assert!(told.contains("only read") && told.contains("without a prompt"), "{told}");
        let ran = "exit code: 0\nstdout:\nhello from buddy\na.txt";
        let told = check(vec![user("tour"), done("run_shell", refused), done("run_shell", ran)], &[]);
        assert!(told.contains("a.txt") && told.contains("`/trust`") && told.contains("`connect`"), "{told}");
    }

    #[test]
    fn the_tour_writes_to_a_new_place_and_removes_it() {
        let (one, other) = (writing(), writing());
        assert_ne!(one, other);
        let file = one.split_whitespace().find(|word| word.starts_with("/tmp/")).unwrap();
        assert!(one.ends_with(&format!("&& rm {file}")), "{one}");
    }

    #[test]
    fn it_tells_how_to_connect_a_model() {
        for words in ["connect", "Connect!", "model", "login now"] {
            let told = check(vec![user(words)], &[]);
            assert!(told.contains("ANTHROPIC_API_KEY") && !told.contains("start buddy again"), "{words}");
            assert!(told.find("/login") < told.find("ANTHROPIC_API_KEY"), "{words}: {told}");
        }
    }

    #[test]
    fn it_uses_no_tokens() {
        let reply = answer(&Prompt { items: vec![user("hello")], ..Prompt::default() });
        assert_eq!(reply.usage, Some(Usage::default()));
    }
}
