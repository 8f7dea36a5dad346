//! The environment at the start of a turn, after changes and after a compaction.

use super::*;

fn fact(name: &str, value: &str) -> EnvironmentFact {
    EnvironmentFact { name: name.to_owned(), value: value.to_owned() }
}

/// The texts of a history that the user or buddy wrote.
fn written(history: &[PromptItem]) -> Vec<&str> {
    let texts = history.iter().filter_map(|item| match item {
        PromptItem::User { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn the_environment_stands_first_and_later_only_its_changes_are_told() {
    let mut bench = Bench::new(5);
    bench.surroundings = vec![fact("host", "a@b"), fact("git branch", "main")];
    bench.prompt("one").reply("done", &[]);
    let whole = "<environment>\nhost: a@b\ngit branch: main\n</environment>";
    assert_eq!(written(&bench.history), [whole, "one"]);
    let first = bench.history.clone();
    bench.prompt("two").reply("done", &[]);
    assert_eq!(written(&bench.history), [whole, "one", "two"], "nothing changed");
    bench.surroundings = vec![fact("host", "a@b"), fact("git branch", "fix")];
    bench.prompt("three").reply("done", &["c"]).end_call("c", ItemStatus::Completed);
    let change = "<environment changed=\"true\">\ngit branch: fix\n</environment>";
    assert_eq!(written(&bench.history), [whole, "one", "two", change, "three"]);
    assert_eq!(bench.history[..first.len()], first, "what was sent stays as it was");
    assert_eq!(bench.resumed(), bench.history);
}

#[test]
fn a_compaction_leaves_all_facts_about_the_environment_first() {
    let mut bench = Bench::new(9);
    bench.surroundings = vec![fact("host", "a@b"), fact("git branch", "main")];
    bench.prompt("one").reply("done", &[]);
    bench.surroundings = vec![fact("git branch", "fix")];
    bench.prompt("two").reply("done", &[]);
    let by = Principal::person("ann");
    bench.feed(Input::CompactRequested { by, window: 1_000 }).feed(summarised("so far"));
    bench.prompt("three");
    let texts = written(&bench.history);
    assert_eq!(texts[0], "<environment>\nhost: a@b\ngit branch: fix\n</environment>");
    assert!(texts[1].starts_with("<summary") && texts[2] == "three" && texts.len() == 3, "{texts:?}");
    assert_eq!(bench.resumed(), bench.history);
}

#[test]
fn a_look_around_can_be_interrupted_and_steered() {
    let ids = Arc::new(Counter(Mutex::new(0)));
    let mut machine = Machine::new(ids, vec!["local".to_owned()], 5, Vec::new());
    let prompted = |text| Input::Prompted { by: Principal::person("ann"), said: Content::said(text) };
    machine.step(prompted("one"));
    let effects = machine.step(Input::Interrupted(Principal::person("ann")));
    assert!(matches!(effects.first(), Some(Effect::DropAside)) && machine.is_idle());
    machine.step(prompted("two"));
    machine.step(prompted("and three"));
    let effects = machine.step(Input::LookedAround(vec![fact("host", "a@b")]));
    let Some(Effect::CallModel(call)) = effects.last() else { panic!("the model is called") };
    assert_eq!(written(&call.history).len(), 4, "the interrupted prompt, the block, and both prompts");
}
