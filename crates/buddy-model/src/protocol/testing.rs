//! Shared parts of the tests of several wires.

use crate::{Frame, Framing};

/// The frames of every stream in a folder of fixtures.
pub(crate) fn fixture_frames(folder: &str) -> Vec<Vec<Frame>> {
    let folder = buddy_testkit::package().join("fixtures").join(folder);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sse"));
    files.sort();
    let framed = files.iter().map(|file| {
        let (mut framer, mut frames) = (Framing::Sse.framer(), Vec::new());
        framer.push(&std::fs::read(file).unwrap(), &mut frames).unwrap();
        frames
    });
    framed.collect()
}
