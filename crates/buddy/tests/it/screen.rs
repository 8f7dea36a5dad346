//! Conversations on a real terminal: keys in, screen out.
//!
//! The terminal is one of tmux's, on a server of the test's own. Screens are compared with stored ones.

mod approvals;
mod commands;
mod editing;
mod effects;
mod first_start;
mod leaving;
mod lists;
mod looks;
mod past;
mod person;
mod pickers;
mod scenes;
mod shared;
mod size;
mod status;
mod trust;
mod turns;
mod two_terminals;
mod waiting;
mod watched;
mod window;

use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::ASKING;
use tokio::time::{Instant, sleep};

use crate::stage::{BUDDY, Stage, shell};

/// How long something may take to show on the screen of a busy machine.
const LIMIT: Duration = Duration::from_secs(30);
/// The beginnings of ids, and how many digits follow.
const IDS: [(&str, usize); 2] = [("ses_", 26), ("undo_", 32)];
/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(40);

/// buddy on a terminal.
struct Screen {
    stage: Arc<Stage>,
    socket: PathBuf,
    /// Variables beside the usual ones, each with its value.
    variables: Vec<String>,
}

impl Screen {
    /// A conversation in a trusted directory, on a terminal of this size.
    async fn start(turns: impl IntoIterator<Item = Turn>, columns: u32, rows: u32) -> Self {
        let stage = Stage::new(turns.into_iter().collect::<Vec<_>>()).await;
        Self::on(stage, &["--trust"], columns, rows).await
    }

    /// buddy with these arguments on a stage.
    async fn on(stage: Stage, arguments: &[&str], columns: u32, rows: u32) -> Self {
        let screen = Self::bare(stage, arguments, columns, rows, &[]);
        screen.wait_until("a prompt", has_prompt).await;
        screen
    }

    /// The same with some variables, and without waiting for anything.
    fn bare(stage: Stage, arguments: &[&str], columns: u32, rows: u32, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self::at(Arc::new(stage), "terminal", arguments, (columns, rows), variables)
    }

    /// buddy with these arguments on another terminal of the same stage.
    async fn beside(&self, arguments: &[&str]) -> Self {
        let screen = Self::at(self.stage.clone(), "beside", arguments, (100, 40), self.variables.clone());
        screen.wait_until("a prompt", has_status).await;
        screen
    }

    /// buddy with these arguments on the terminal of this name.
    fn at(
        stage: Arc<Stage>,
        terminal: &str,
        arguments: &[&str],
        (columns, rows): (u32, u32),
        variables: Vec<String>,
    ) -> Self {
        let socket = stage.home.path().join(terminal);
        let screen = Self { stage, socket, variables };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let keep = ["-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"];
        let new = ["new-session", "-d", "-x", &columns, "-y", &rows, "-s", "screen", "--"];
        let words: Vec<&str> = keep.into_iter().chain(new).collect();
        screen.buddy(&words, arguments);
        screen
    }

    /// Starts buddy on the same terminal again.
    async fn again(&self, arguments: &[&str]) {
        self.buddy(&["respawn-pane", "-k", "-t", "screen", "--"], arguments);
        self.tmux(&["clear-history", "-t", "screen"]);
        self.wait_until("a prompt", has_prompt).await;
    }

    fn buddy(&self, words: &[&str], arguments: &[&str]) {
        let variables = self.variables();
        let variables = variables.iter().map(String::as_str);
        let own = [BUDDY, "-c", "display.motion=false", "-c", "tmux.enabled=false"];
        let all: Vec<&str> = words
            .iter()
            .copied()
            .chain(["env", "-i"])
            .chain(variables)
            .chain(own)
            .chain(arguments.iter().copied())
            .collect();
        self.tmux(&all);
    }

    fn variables(&self) -> Vec<String> {
        let home = &self.stage.home;
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", home.path().display().to_string()),
            ("BUDDY_HOME", home.data().display().to_string()),
            ("BUDDY_BASE_URL", format!("{}/v1", self.stage.server.url())),
            ("BUDDY_MODEL", "scripted".to_owned()),
            ("BUDDY_API_KEY", "sk-test".to_owned()),
            (ASKING.0, ASKING.1.to_owned()),
            ("TERM", "tmux-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("BUDDY_PLACE", "ann@atlas".to_owned()),
            ("EDITOR", home.path().join("editor").display().to_string()),
        ]
        .map(|(name, value)| format!("{name}={value}"))
        .into_iter()
        .chain(self.variables.iter().cloned())
        .collect()
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        self.tmux_at(&self.socket.display().to_string(), arguments)
    }

    /// The answer of a tmux server.
    #[expect(clippy::disallowed_methods, reason = "the terminal of the test is tmux's")]
    fn tmux_at(&self, socket: &str, arguments: &[&str]) -> Output {
        let mut command = std::process::Command::new("tmux");
        let work = self.stage.home.work();
        command.args(["-S", socket]).args(arguments).current_dir(work);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Types a text.
    fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "screen", "-l", "--", text]);
    }

    /// Presses keys by tmux's names for them.
    fn keys(&self, keys: &[&str]) {
        let words: Vec<&str> = ["send-keys", "-t", "screen"].iter().chain(keys).copied().collect();
        self.tmux(&words);
    }

    /// Types a line and sends it.
    fn line(&self, text: &str) {
        self.text(text);
        self.keys(&["Enter"]);
    }

    /// Pastes a text, as a terminal does.
    fn paste(&self, text: &str) {
        let file = self.stage.home.path().join("paste");
        std::fs::write(&file, text).unwrap();
        self.tmux(&["load-buffer", &file.display().to_string()]);
        self.tmux(&["paste-buffer", "-p", "-t", "screen"]);
    }

    /// The text on the screen without the parts that differ from run to run.
    fn screen(&self) -> String {
        self.captured(&["capture-pane", "-p", "-t", "screen"])
    }

    /// The same with everything that scrolled away.
    fn everything(&self) -> String {
        self.captured(&["capture-pane", "-p", "-S", "-", "-t", "screen"])
    }

    /// The same, with rows joined that the terminal broke because it got narrower.
    fn everything_joined(&self) -> String {
        self.captured(&["capture-pane", "-p", "-J", "-S", "-", "-t", "screen"])
    }

    fn captured(&self, words: &[&str]) -> String {
        let output = self.tmux(words);
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<String> =
            with_broken_ids(&text).iter().map(|line| settled(line).trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until a text is on the screen, and returns the screen.
    async fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text)).await
    }

    /// Waits until words are on the screen, wherever rows break between them, and returns the screen.
    async fn wait_for_words(&self, words: &str) -> String {
        self.wait_until(words, |screen| flowing(screen).contains(words)).await
    }

    /// Waits until words are on the screen and the status line below them, which is painted last, and returns the screen.
    async fn wait_for_whole(&self, words: &str) -> String {
        self.wait_until(words, |screen| has_status(screen) && flowing(screen).contains(words)).await
    }

    /// Waits until a text is gone from the screen.
    async fn wait_gone(&self, text: &str) -> String {
        self.wait_until(text, |screen| !screen.contains(text)).await
    }

    /// Waits until buddy has left the terminal for good. tmux says so in words only once it has the exit status, which it
    /// misses on a busy machine.
    async fn wait_dead(&self) {
        let until = Instant::now() + LIMIT;
        let ask = ["display-message", "-p", "-t", "screen", "#{pane_dead}"];
        while self.tmux(&ask).stdout.trim_ascii() != b"1" {
            assert!(Instant::now() < until, "buddy is still there:\n{}", self.screen());
            sleep(LOOK).await;
        }
    }

    async fn wait_until(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                // The first look may have come in the middle of a painting.
                sleep(LOOK).await;
                let again = self.screen();
                return if is_there(&again) { again } else { screen };
            }
            assert!(Instant::now() < until, "waited for `{what}`:\n{screen}");
            sleep(LOOK).await;
        }
    }

    /// Waits until a question can be answered: keys in the same breath belong to the draft.
    async fn wait_for_question(&self, text: &str) -> String {
        self.wait_for(text).await;
        sleep(Duration::from_millis(1100)).await;
        // Looked at anew: the first look may have come in the middle of a painting.
        self.screen()
    }

    /// Waits until nothing runs, and returns the screen.
    async fn wait_idle(&self) -> String {
        self.wait_until("the end of the turn", |screen| !is_working(screen) && has_prompt(screen)).await
    }

    /// Fails unless each of these words is there once, wherever it has scrolled to.
    #[track_caller]
    fn check_each_once(&self, words: &[String]) {
        let all = self.everything_joined();
        for word in words {
            assert_eq!(all.matches(word.as_str()).count(), 1, "{word} once in:\n{all}");
        }
    }

    /// Gives the window another size where a stream pauses, and lets it go on when everything was painted for that size.
    async fn resize_at(&self, word: usize, columns: u32, rows: u32) {
        self.wait_for(&format!("word{word:03}")).await;
        let (columns, rows) = (columns.to_string(), rows.to_string());
        // tmux tells the new size a quarter of a second late, and what is painted in between is cut off. So it changes right
        // after a second, when nothing is painted until the next one.
        self.wait_second().await;
        self.tmux(&["resize-window", "-t", "screen", "-x", &columns, "-y", &rows]);
        self.wait_second().await;
        self.stage.server.gate(&format!("word{word:03}")).open();
    }

    /// Waits until the time that a turn takes is painted anew, and everything with it.
    async fn wait_second(&self) {
        let working = || {
            let shown = String::from_utf8(self.tmux(&["capture-pane", "-p", "-t", "screen"]).stdout).unwrap();
            let row = shown.lines().find(|row| is_activity(row))?;
            row.split(' ').find(|word| word.ends_with('s') && without_time(word) == "0s").map(str::to_owned)
        };
        let before = working();
        self.wait_until("another second", |_| working().is_some_and(|now| Some(now) != before)).await;
    }

    /// Leaves, and returns the last screen.
    async fn leave(&self) -> String {
        self.keys(&["C-d"]);
        self.wait_for_words("Resume with buddy resume ses_ID").await
    }
}

impl Drop for Screen {
    #[expect(clippy::disallowed_methods, reason = "the terminal ends with the test")]
    fn drop(&mut self) {
        let _ = std::process::Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// Whether the input is there.
fn has_prompt(screen: &str) -> bool {
    let has_input = |line: &str| {
        let after_place = line.strip_prefix("(ssh machine)").unwrap_or(line);
        ["›", ">"].iter().any(|sign| after_place == *sign || after_place.starts_with(&format!("{sign} ")))
    };
    has_status(screen) && screen.lines().rev().take(4).any(has_input)
}

/// Whether the last row is the status line.
fn has_status(screen: &str) -> bool {
    screen.lines().last().is_some_and(|status| {
        // A window of thirty columns has no room for the model.
        let is_short = status.trim_end().len() < 32 && status.contains("context 120");
        is_short || status.starts_with("  Ask ") || status.contains("scripted") || status.contains("/yard")
    })
}

/// Whether it is told that something goes on.
fn is_working(screen: &str) -> bool {
    screen.lines().any(is_activity)
}

/// Whether a row is the rule above the input that tells what goes on.
fn is_activity(row: &str) -> bool {
    let has_rule = |ends: &[&str]| ends.iter().any(|end| row.ends_with(end));
    (row.starts_with("● ") && has_rule(&["──", "━━", "╌╌"]))
        || (row.starts_with("* ") && has_rule(&["--", "=="]))
}

/// A screen as one line, with one space wherever there are several or a row ends, without the edge of a card.
fn flowing(screen: &str) -> String {
    screen.split_whitespace().filter(|word| *word != "▌").collect::<Vec<_>>().join(" ")
}

/// The rows of a screen, in which the rest of an id that a row broke is `REST`.
fn with_broken_ids(text: &str) -> Vec<String> {
    let mut missing = 0;
    let mut rows = Vec::new();
    for row in text.lines() {
        let begin: String = row.chars().take_while(char::is_ascii_alphanumeric).collect();
        let is_rest = missing > 0 && begin.len() == missing;
        rows.push(if is_rest { row.replacen(&begin, "REST", 1) } else { row.to_owned() });
        missing = IDS.iter().find_map(|(name, digits)| missing_digits(row, name, *digits)).unwrap_or(0);
    }
    rows
}

/// How many digits an id at the end of a row lacks, if one is there.
fn missing_digits(row: &str, name: &str, digits: usize) -> Option<usize> {
    let (_, shown) = row.trim_end().rsplit_once(name)?;
    let is_id = shown.chars().all(|letter| letter.is_ascii_alphanumeric());
    digits.checked_sub(shown.len()).filter(|_| is_id)
}

/// A line without what differs from run to run.
fn settled(line: &str) -> String {
    let mut line = line.to_owned();
    // Also where the end of the row cut it.
    while let Some((before, rest)) = line.split_once("ses_0") {
        let end = rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        line = format!("{before}ses_ID{end}");
    }
    while let Some((before, rest)) = line.split_once("/tmp/buddy-it-") {
        let end = rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        line = format!("{before}/HOME{end}");
    }
    if let Some((_, rest)) = line.split_once("buddy-tour-") {
        let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
        let (named, zeros) = (format!("buddy-tour-{digits}"), "0".repeat(digits.len()));
        line = line.replace(&named, &format!("buddy-tour-{zeros}"));
    }
    // A call on a busy machine may take so long that its time is told.
    let line = line.split(' ').map(without_time).collect::<Vec<_>>().join(" ");
    // The times of calls and turns are told only if they are long.
    let line = line.replace(", 0s,", ",").replace("  0s, ", "  ").replace(", 0s", "");
    let line = line.strip_prefix("  0s   ").map_or(line.clone(), |rest| format!("  {rest}"));
    line.strip_suffix("  0s").map_or(line.clone(), str::to_owned)
}

/// A word, with nothing for the seconds that something has taken.
fn without_time(word: &str) -> &str {
    let seconds = word.trim_end_matches([':', ',']).strip_suffix('s');
    let is_time = seconds.is_some_and(|digits| digits.len() < 3 && digits.parse::<u8>().is_ok());
    match (is_time, word.chars().last()) {
        (true, Some(':')) => "0s:",
        (true, Some(',')) => "0s,",
        (true, _) => "0s",
        (false, _) => word,
    }
}

/// So many words that differ from each other.
fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("word{number:03}")).collect()
}

/// An answer of these words that streams, and pauses after some of them until the gate of that word is opened.
fn streaming(words: &[String], pauses: &[usize]) -> Turn {
    let mut stream = turn().chunk_chars(8).chunk_delay(Duration::from_millis(5));
    let mut begin = 0;
    for &end in pauses {
        stream = stream.text(format!("{} ", words[begin..end].join(" "))).gate(&format!("word{end:03}"));
        begin = end;
    }
    stream.text(words[begin..].join(" "))
}

/// A model that wants to make a directory and then says that it is done.
fn making(name: &str) -> [Turn; 2] {
    [turn().text("I make it.").call("run_shell", shell(&format!("mkdir {name}"))), turn().text("So be it.")]
}
