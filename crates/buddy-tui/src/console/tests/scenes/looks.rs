//! The same conversation at every depth of colour, on both grounds, and in ASCII.

use super::endings::{notices, retrying, turn_done};
use super::working::{planned, steered, streaming, tools};
use super::*;
use crate::text::Theme;

fn short(stage: &mut SceneStage) {
    stage.prompt("fix it");
    stage.facts([
        ended(1, message("I’ll look at `main.rs` first.")),
        edited(2, "src/parser.rs", HUNK),
        ran(3, "cargo clippy", 101, "error: unused variable\n --> a.rs:1\n1\n2\n3\n"),
        plan(4, &[("Read", PlanStepState::Done), ("Write", PlanStepState::Active)]),
        running(5, ToolKind::Execute, "cargo build"),
    ]);
    stage.used(182_000, 180_000);
    stage.seat.wait(6_000);
}

#[test]
fn at_every_depth() {
    let mut shown = String::new();
    let depths = [Colors::True, Colors::Palette, Colors::Sixteen, Colors::Mono];
    for (colors, theme) in
        depths.into_iter().flat_map(|colors| [(colors, Theme::Dark), (colors, Theme::Light)])
    {
        let mut stage = SceneStage::new(&TerminalLook { colors, theme, ..palette() }, (80, 24));
        short(&mut stage);
        let _ = writeln!(shown, "{colors:?} {theme:?}\n{}", stage.encoded());
    }
    insta::assert_snapshot!("depths", shown.replace('\u{1b}', "␛"));
}

#[test]
fn in_ascii() {
    let look = TerminalLook { is_ascii: true, colors: Colors::None, ..palette() };
    let mut shown = String::new();
    for play in [short, streaming] {
        let mut stage = SceneStage::new(&look, (80, 30));
        play(&mut stage);
        shown.push_str(&stage.texts().join("\n"));
        shown.push('\n');
    }
    let own = shown.replace('’', "'");
    assert!(own.is_ascii(), "{own}");
    insta::assert_snapshot!("ascii", shown);
}

/// Every scene at every depth of colour, on both grounds and in ASCII, in windows of every size. The stage fails for a row that is
/// too wide and for rows that are too many.
#[test]
fn every_scene_fits_every_window_at_every_depth() {
    let scenes: [fn(&mut SceneStage); 8] =
        [short, streaming, tools, planned, steered, turn_done, notices, retrying];
    let depths = [Colors::True, Colors::Palette, Colors::Sixteen, Colors::Mono, Colors::None];
    let looks = depths.into_iter().flat_map(|colors| [(colors, Theme::Dark), (colors, Theme::Light)]);
    let looks: Vec<TerminalLook> =
        looks.map(|(colors, theme)| TerminalLook { colors, theme, ..palette() }).collect();
    for (scene, size) in scenes.into_iter().flat_map(|scene| SIZES.map(|size| (scene, size))) {
        for look in &looks {
            for is_ascii in [false, true] {
                let mut stage = SceneStage::new(&TerminalLook { is_ascii, ..look.clone() }, size);
                scene(&mut stage);
                assert!(!stage.texts().is_empty());
            }
        }
    }
}
