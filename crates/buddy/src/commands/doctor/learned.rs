//! What was learned about models, kept in `models.json` among the data.
//!
//! One entry for each profile, base URL and model; the newest examination wins. Nothing secret is in it. Two doctors at
//! the same time leave a whole file, with the entry of the one that wrote last.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use buddy_model::diagnose::{Diagnosis, Verdict};
use buddy_protocol::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::replace;
use crate::models::Line;
use crate::system::SystemClock;

/// The most entries; the oldest goes first.
const MAX_ENTRIES: usize = 200;

#[derive(Debug, Default, Serialize, Deserialize)]
struct File {
    models: Vec<Lesson>,
}

/// What was learned about one model at one place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lesson {
    profile: String,
    base_url: String,
    model: String,
    /// When, in UTC.
    when: String,
    /// By the name of the check.
    verdicts: BTreeMap<String, Value>,
    context_window: Option<u64>,
    quirks: Vec<String>,
}

impl Lesson {
    pub(super) fn of(line: &Line, diagnosis: &Diagnosis) -> Self {
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
            context_window: diagnosis.context_window,
            quirks: diagnosis.quirks.clone(),
        }
    }

    fn key(&self) -> (&str, &str, &str) {
        (&self.profile, &self.base_url, &self.model)
    }
}

/// Puts it into the file, for the person alone and in one step. A file that cannot be read is begun anew.
pub(super) fn keep(data: &Path, lesson: Lesson) -> io::Result<PathBuf> {
    let path = data.join("models.json");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut file: File = serde_json::from_str(&text).unwrap_or_default();
    file.models.retain(|known| known.key() != lesson.key());
    file.models.push(lesson);
    let surplus = file.models.len().saturating_sub(MAX_ENTRIES);
    file.models.drain(..surplus);
    DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    replace(&path, &(serde_json::to_string_pretty(&file)? + "\n"))?;
    Ok(path)
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
            quirks: Vec::new(),
        }
    }

    fn kept(data: &Path) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(data.join("models.json")).unwrap();
        let file: File = serde_json::from_str(&text).unwrap();
        file.models.into_iter().map(|lesson| (lesson.model, lesson.when)).collect()
    }

    #[test]
    fn the_newest_wins_others_stay_and_damage_is_begun_anew() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        for (model, when) in [("a", "1"), ("b", "2"), ("a", "3")] {
            keep(&data, lesson(model, when)).unwrap();
        }
        let pair = |model: &str, when: &str| (model.to_owned(), when.to_owned());
        assert_eq!(kept(&data), [pair("b", "2"), pair("a", "3")]);
        std::fs::write(data.join("models.json"), "{oops").unwrap();
        keep(&data, lesson("c", "4")).unwrap();
        assert_eq!(kept(&data), [pair("c", "4")]);
    }

    #[test]
    fn the_file_stays_small() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..MAX_ENTRIES + 3 {
            keep(home.path(), lesson(&number.to_string(), "")).unwrap();
        }
        let kept = kept(home.path());
        assert_eq!((kept.len(), kept[0].0.as_str()), (MAX_ENTRIES, "3"));
    }
}
