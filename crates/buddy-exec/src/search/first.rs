//! The first results in the order of their paths, regardless of the order in which they arrive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Keeps results until their weights add up to a limit; results that sort behind the kept ones are dropped.
pub(super) struct First<T> {
    limit: usize,
    kept: Mutex<KeptResults<T>>,
}

struct KeptResults<T> {
    /// With the weight of each.
    results: BTreeMap<PathBuf, (usize, T)>,
    weight: usize,
    is_cut: bool,
}

impl<T> First<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::new(KeptResults { results: BTreeMap::new(), weight: 0, is_cut: false }) }
    }

    /// Whether a result of this path could still be among the first.
    pub(super) fn wants(&self, path: &Path) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = kept.weight > self.limit;
        let is_late = kept.results.last_key_value().is_some_and(|(last, _)| path > last.as_path());
        kept.is_cut |= is_full && is_late;
        !(is_full && is_late)
    }

    /// Adds a result. One more than the limit is kept, to know whether there are more.
    pub(super) fn add(&self, path: PathBuf, weight: usize, result: T) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.results.insert(path, (weight, result));
        let mut kept_weight = kept.weight + weight;
        while let Some(last) = kept.results.last_entry() {
            let last_weight = last.get().0;
            if kept_weight - last_weight <= self.limit {
                break;
            }
            kept_weight -= last_weight;
            last.remove();
            kept.is_cut = true;
        }
        kept.weight = kept_weight;
    }

    /// The results in order, and whether there were more.
    pub(super) fn into_results(self) -> (Vec<(PathBuf, T)>, bool) {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let results = kept.results.into_iter().map(|(path, (_, result))| (path, result)).collect();
        (results, kept.is_cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_in_order_and_knows_that_there_were_more() {
        let first = First::new(3);
        for name in ["e", "a", "d", "b", "c", "f"] {
            if first.wants(Path::new(name)) {
                first.add(PathBuf::from(name), 1, ());
            }
        }
        assert!(!first.wants(Path::new("g")));
        let (results, is_cut) = first.into_results();
        let names: Vec<_> = results.iter().map(|(path, ())| path.to_str().unwrap()).collect();
        assert_eq!((names, is_cut), (vec!["a", "b", "c", "d"], true));
    }

    #[test]
    fn has_all_when_they_fit() {
        let first = First::new(3);
        first.add("b".into(), 2, ());
        first.add("a".into(), 1, ());
        assert!(!first.into_results().1);
    }
}
