//! Facts name the user that caused them.

use super::*;

#[test]
fn facts_that_a_user_caused_have_the_user_as_author() {
    let authors = |bench: &Bench| {
        let pairs = bench.authors.iter().map(|(kind, name)| format!("{kind} {name}"));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let prompted = "turn.started ann, item.ended ann";
    let mut bench = Bench::new(9);
    bench.prompt("one").reply("done", &[]);
    assert_eq!(authors(&bench), prompted);
    let mut bench = Bench::new(9);
    bench.prompt("one").prompt("two").interrupt();
    assert_eq!(authors(&bench), format!("{prompted}, item.ended ann, turn.ended bob"));
    // An interrupt while calls run ends the turn when the last of them has ended.
    let mut bench = Bench::new(9);
    bench.prompt("one").reply("", &["c1"]).interrupt().interrupt().end_call("c1", ItemStatus::Interrupted);
    assert_eq!(authors(&bench), format!("{prompted}, turn.ended bob"));
    let mut bench = Bench::new(9);
    bench.feed(Input::PersonRan { by: Some(Principal::person("ann")), item: own_command(1) });
    assert_eq!(authors(&bench), "item.ended ann");
}
