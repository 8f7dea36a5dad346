//! The lessons of doctor about models, kept in `models.json` among the data.
//!
//! One entry for each profile, base URL and model; the newest examination wins. Nothing secret is in it. Two doctors at
//! the same time leave a whole file, with the entry of the one that wrote last.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use buddy_model::Switches;
use buddy_model::diagnose::{Diagnosis, Verdict};
use buddy_protocol::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model_line::ModelLine;
use crate::config::{Profile, replace, text_of};
use crate::system::SystemClock;

/// The most entries; the oldest goes first.
const MAX_ENTRIES: usize = 200;
/// The name of the file.
const FILE: &str = "models.json";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LessonFile {
    models: Vec<Lesson>,
}

/// All that was learned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lessons {
    file: LessonFile,
    warning: Option<String>,
}

impl Lessons {
    /// Reads them. A file that cannot be read teaches nothing, and is told.
    pub(crate) fn read(data: &Path) -> Self {
        let path = data.join(FILE);
        if path.symlink_metadata().is_err() {
            return Self::default();
        }
        let read = text_of(&path).map_err(|error| error.to_string());
        let parsed = read.and_then(|text| {
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
        });
        match parsed {
            Ok(file) => Self { file, warning: None },
            Err(error) => {
                let warning = format!("{error}; `buddy doctor provider` writes it again");
                Self { file: LessonFile::default(), warning: Some(warning) }
            }
        }
    }

    /// Warnings about the file.
    pub(crate) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The lessons about a model of a profile at its present address.
    pub(crate) fn about(&self, name: &str, profile: &Profile, model: &str) -> Option<&Lesson> {
        let key = (name, profile.shown_base_url(), model);
        self.file.models.iter().find(|lesson| lesson.key() == key)
    }
}

/// The lessons about one model at one place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lesson {
    profile: String,
    base_url: String,
    model: String,
    /// When, in UTC.
    when: String,
    /// By the name of the check.
    verdicts: BTreeMap<String, Value>,
    /// By the server's own word.
    pub(crate) context_window: Option<u64>,
    /// The needs of calls.
    #[serde(default)]
    pub(crate) switches: Switches,
    quirks: Vec<String>,
}

impl Lesson {
    pub(crate) fn of(line: &ModelLine, diagnosis: &Diagnosis) -> Self {
        let now = i64::try_from(SystemClock.now().0).ok();
        let when = now.and_then(|now| jiff::Timestamp::from_millisecond(now).ok());
        let verdict = |verdict: Verdict| Value::from(verdict.to_string());
        let verdicts = diagnosis.checks.iter().map(|check| (check.name.to_owned(), verdict(check.verdict)));
        Self {
            profile: line.profile.clone(),
            base_url: line.base_url.clone(),
            model: line.model.clone(),
            when: when.map(|when| when.to_string()).unwrap_or_default(),
            verdicts: verdicts.collect(),
            context_window: diagnosis.server_window,
            switches: diagnosis.switches,
            quirks: diagnosis.quirks.clone(),
        }
    }

    /// Keeps what an older lesson knew and this one, whose model did not answer, could not find out.
    fn inherit(&mut self, older: &Self) {
        if self.verdicts.get("answers").and_then(Value::as_str) != Some("ok") {
            self.context_window = self.context_window.or(older.context_window);
            self.switches = self.switches.or(older.switches);
        }
    }

    fn key(&self) -> (&str, &str, &str) {
        (&self.profile, &self.base_url, &self.model)
    }
}

impl Lesson {
    /// Puts it into the file, for the user alone and in one step. A file that cannot be read is begun anew.
    pub(crate) fn keep(mut self, data: &Path) -> io::Result<PathBuf> {
        let path = data.join(FILE);
        let mut file = Lessons::read(data).file;
        if let Some(older) = file.models.iter().find(|known| known.key() == self.key()) {
            self.inherit(older);
        }
        file.models.retain(|known| known.key() != self.key());
        file.models.push(self);
        let surplus = file.models.len().saturating_sub(MAX_ENTRIES);
        file.models.drain(..surplus);
        DirBuilder::new().recursive(true).mode(0o700).create(data)?;
        replace(&path, &(serde_json::to_string_pretty(&file)? + "\n"))?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(model: &str, when: &str) -> Lesson {
        let (profile, base_url) = ("p".to_owned(), "http://h".to_owned());
        let (model, when) = (model.to_owned(), when.to_owned());
        Lesson {
            profile,
            base_url,
            model,
            when,
            verdicts: BTreeMap::new(),
            context_window: None,
            switches: Switches::default(),
            quirks: Vec::new(),
        }
    }

    fn kept(data: &Path) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(data.join("models.json")).unwrap();
        let file: LessonFile = serde_json::from_str(&text).unwrap();
        file.models.into_iter().map(|lesson| (lesson.model, lesson.when)).collect()
    }

    #[test]
    fn the_newest_wins_others_stay_and_damage_is_begun_anew() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        for (model, when) in [("a", "1"), ("b", "2"), ("a", "3")] {
            lesson(model, when).keep(&data).unwrap();
        }
        let pair = |model: &str, when: &str| (model.to_owned(), when.to_owned());
        assert_eq!(kept(&data), [pair("b", "2"), pair("a", "3")]);
        std::fs::write(data.join("models.json"), "{oops").unwrap();
        lesson("c", "4").keep(&data).unwrap();
        assert_eq!(kept(&data), [pair("c", "4")]);
    }

    #[test]
    fn a_model_that_does_not_answer_is_not_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let switches = Switches { stream: Some(false), ..Switches::default() };
        let known = Lesson { context_window: Some(7), switches, ..lesson("a", "1") };
        known.keep(home.path()).unwrap();
        lesson("a", "2").keep(home.path()).unwrap();
        let profile = Profile { api_base_url: Some("http://h?key=1".to_owned()), ..Profile::default() };
        let about = |model: &str| {
            let lessons = Lessons::read(home.path());
            let lesson = lessons.about("p", &profile, model)?;
            Some((lesson.when.clone(), lesson.context_window, lesson.switches))
        };
        assert_eq!(about("a"), Some(("2".to_owned(), Some(7), switches)));
        assert_eq!(about("b"), None);
        let mut answered = lesson("a", "3");
        answered.verdicts.insert("answers".to_owned(), "ok".into());
        answered.keep(home.path()).unwrap();
        assert_eq!(about("a"), Some(("3".to_owned(), None, Switches::default())));
    }

    #[test]
    fn the_file_stays_small() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..MAX_ENTRIES + 3 {
            lesson(&number.to_string(), "").keep(home.path()).unwrap();
        }
        let kept = kept(home.path());
        assert_eq!((kept.len(), kept[0].0.as_str()), (MAX_ENTRIES, "3"));
    }
}
