//! The same conversation at every depth of colour, on both grounds, and in ASCII.

use super::working::streaming;
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
