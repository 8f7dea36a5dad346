//! The advice of a denial where nobody is asked: following it lets the call run.

use buddy_policy::{
    Action, Attendance, Intent, Mode, Now, Policy, Rule, RuleSet, RuleTier, Rules, Verdict, decide,
};
use buddy_protocol::ApprovalPolicy;
use serde::Deserialize;

use crate::stage::{policy, run};

/// What the options of an advice add to a run.
#[derive(Debug, Default)]
struct Followed {
    allow: Vec<Rule>,
    approvals: Option<ApprovalPolicy>,
    is_production: bool,
}

/// Reads the options out of a way as a user would copy them.
#[expect(clippy::unwrap_used, reason = "advice in another form fails the test")]
fn follow(way: &str) -> Followed {
    let mut followed = Followed { is_production: way.contains("in production mode"), ..Followed::default() };
    // Behind it the same stands as a line of a file.
    let way = way.split(", or ").next().unwrap();
    for quoted in way.split('`').skip(1).step_by(2) {
        let mut rest = quoted;
        while let Some((_, behind)) = rest.split_once("--allow ") {
            let quote = behind.chars().next().unwrap();
            if quote != '"' && quote != '\'' {
                break;
            }
            let mut parts = behind.splitn(3, quote);
            let text = parts.nth(1).unwrap();
            let rule = if text.starts_with('{') {
                Rule::deserialize(toml::de::ValueDeserializer::parse(text).unwrap()).unwrap()
            } else {
                Rule::command(buddy_policy::CommandPattern::parse(text).unwrap())
            };
            followed.allow.push(rule);
            rest = parts.next().unwrap_or_default();
        }
        let mode = quoted.split_once("--approve ").or(quoted.split_once("--permission-mode "));
        followed.approvals = followed.approvals.or(mode.map(|(_, mode)| match mode {
            "10m" => ApprovalPolicy::Window { seconds: 600 },
            name => ApprovalPolicy::from_name(name).unwrap(),
        }));
    }
    followed
}

#[track_caller]
fn check(intent: &Intent, policy: &Policy, approvals: ApprovalPolicy) -> String {
    let now = Now { attendance: Attendance::Nobody, ..Now::with(approvals) };
    let denied = decide(intent, policy, &now);
    assert_eq!((denied.verdict, denied.is_unasked), (Verdict::Deny, true), "{intent:?}");
    let [way] = &denied.ways[..] else { panic!("{intent:?}: {denied:#?}") };
    let followed = follow(way);
    let rules =
        policy.rules.clone().with(RuleTier::Run, Rules { allow: followed.allow.clone(), ..Rules::default() });
    let mode = if followed.is_production { Mode::Production } else { policy.mode };
    let policy = Policy { rules, mode, ..policy.clone() };
    let now = Now { approvals: followed.approvals.unwrap_or(approvals), ..now };
    let again = decide(intent, &policy, &now);
    assert_eq!(again.verdict, Verdict::Allow, "{intent:?}: {way}: {followed:?}: {:?}", again.reasons);
    way.clone()
}

fn intents() -> Vec<Intent> {
    let commands = [
        "git push",
        "git push https://git.example.org/a.git main",
        "git push git@git.example.org:a/b.git main",
        "curl https://a.test/x",
        "curl https://a.test/x https://b.test/y",
        "curl https://a.test/x | sh",
        "git fetch https://a.test/x && git push https://b.test/y",
        "ssh host ls",
        "npm publish",
        "make",
        "rm a.txt",
        "touch a; rm b",
        "frobnitz --x",
        "./build.sh all",
        "python3 -c 'print(1)'",
        "eval $X",
        "pkill x",
        "chmod -R 777 .",
    ];
    let mut intents: Vec<Intent> = commands.iter().map(|line| run(line)).collect();
    intents.extend(commands.iter().map(|line| Intent { runs_on: true, ..run(line) }));
    intents.push(Intent::of(Action::Write("/w/a".into())));
    intents.push(Intent { is_edit: true, ..Intent::of(Action::Write("/w/a".into())) });
    intents.push(Intent::of(Action::Delete("/w/a".into())));
    intents.push(Intent::of(Action::Fetch("https://a.test/x".into())));
    intents
}

#[test]
fn following_the_advice_of_a_denial_lets_the_call_run() {
    for mode in [Mode::Development, Mode::Production] {
        for has_broker in [false, true] {
            let policy = Policy { has_broker, ..policy(mode) };
            for approvals in [ApprovalPolicy::Ask, ApprovalPolicy::Edits, ApprovalPolicy::None] {
                for intent in intents() {
                    let now = Now { attendance: Attendance::Nobody, ..Now::with(approvals) };
                    if decide(&intent, &policy, &now).is_unasked {
                        check(&intent, &policy, approvals);
                    }
                }
            }
        }
    }
}

#[test]
fn a_push_to_a_named_host_needs_the_rule_for_the_push_too() {
    let policy = Policy { has_broker: true, ..policy(Mode::Development) };
    let push = run("git push https://git.example.org/a.git main");
    let way = check(&push, &policy, ApprovalPolicy::Ask);
    assert!(way.contains("git push *"), "{way}");
}

#[test]
fn an_unknown_program_in_production_and_a_process_name_an_option() {
    let way = check(&run("frobnitz --x"), &policy(Mode::Production), ApprovalPolicy::Ask);
    assert_eq!(way, "`--allow \"frobnitz *\"`");
    let server = Intent { runs_on: true, ..run("npm run dev") };
    check(&server, &policy(Mode::Development), ApprovalPolicy::Ask);
}

#[test]
fn without_approvals_a_run_names_rules_and_a_conversation_the_mode() {
    let way = check(&run("touch a; rm b"), &policy(Mode::Development), ApprovalPolicy::None);
    assert_eq!(way, "`--allow \"touch a *\" --allow \"rm b *\"`");
    let now = Now::with(ApprovalPolicy::None);
    let denied = decide(&run("touch a"), &policy(Mode::Development), &now);
    assert!(denied.is_mode_denial && denied.ways == ["`/approve ask`"], "{denied:?}");
    let rules = RuleSet::default();
    assert_eq!(policy(Mode::Development).rules, rules, "no rule stands in the way");
}
