//! Placeholder until the renderer is merged: paragraphs only.

use crate::text::{Line, Look, wrap};

#[derive(Debug, Default)]
pub(crate) struct Markdown {
    source: String,
}

impl Markdown {
    pub(crate) fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    pub(crate) fn finished(&mut self, look: &Look, width: usize) -> Vec<Line> {
        let Some(end) = self.source.rfind('\n') else { return Vec::new() };
        let rest = self.source.split_off(end + 1);
        let done = std::mem::replace(&mut self.source, rest);
        rows(&done, look, width)
    }

    pub(crate) fn open(&self, look: &Look, width: usize, limit: usize) -> Vec<Line> {
        let mut rows = rows(&self.source, look, width);
        let excess = rows.len().saturating_sub(limit);
        rows.drain(..excess);
        rows
    }

    pub(crate) fn finish(self, look: &Look, width: usize) -> Vec<Line> {
        rows(&self.source, look, width)
    }
}

fn rows(text: &str, _: &Look, width: usize) -> Vec<Line> {
    let none = Line::default();
    text.lines().flat_map(|line| wrap(&Line::plain(line), width, &none, &none)).collect()
}
