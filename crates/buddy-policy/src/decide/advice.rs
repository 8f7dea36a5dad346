//! The advice of a denial where nobody could be asked: the options with which the call runs.
//!
//! Advice is tried before it is given: the intent is judged once more as it would be judged with these options, and only
//! those that let it run are named. The narrowest come first: the rules that the findings name, rules for its commands and
//! files, then approval modes, and at last production mode.

use std::path::PathBuf;

use buddy_protocol::ApprovalPolicy;

use crate::path::shown;
use crate::{Action, Attendance, Decision, Intent, Mode, Now, Policy, Rule, RuleTier, Rules, Verdict};

/// The time of a window that is advised.
const WINDOW_SECONDS: u64 = 600;
/// Characters of a pattern that mean nothing to a shell between double quotes, nor in a pattern.
const PLAIN: &str = "-_./:+@, *";

/// A way to allow it that a finding names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdvisedWay {
    pub(crate) text: String,
    /// The rule of a run that it is; a setting in a file is none.
    pub(crate) rule: Option<AdvisedRule>,
    /// The directory that it opens, of a setting that does. Other settings are not tried.
    pub(crate) opens: Option<PathBuf>,
}

/// A rule as `--allow` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdvisedRule {
    /// With the quotes that a shell needs.
    option: String,
    rule: Rule,
}

impl AdvisedRule {
    /// A rule for one thing: `{ fetch = "docs.rs" }`.
    pub(crate) fn of(kind: &str, text: &str) -> Option<Self> {
        let rule = Rule::of(kind, text).ok()?;
        let is_quotable = !text.contains(['"', '\'', '\\', '\n']);
        is_quotable.then(|| Self { option: format!("--allow '{{ {kind} = \"{text}\" }}'"), rule })
    }

    /// A rule for commands that start with these words.
    pub(crate) fn commands(start: &str) -> Option<Self> {
        let pattern = format!("{start} *");
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || PLAIN.contains(letter);
        let rule = Rule::of("command", &pattern).ok().filter(|_| start.chars().all(is_plain))?;
        Some(Self { option: format!("--allow \"{pattern}\""), rule })
    }

    /// The same rule with direct access to the network.
    pub(crate) fn with_network(self) -> Self {
        let text = &self.rule.text;
        let option = format!("--allow '{{ command = \"{text}\", network = true }}'");
        Self { option, rule: Rule { network: true, ..self.rule } }
    }
}

/// Judges an intent without advice.
pub(super) type JudgeOnce = fn(&Intent, &Policy, &Now<'_>) -> Decision;

/// The ways to allow a call that was denied because nobody could be asked, or because nothing is to be asked. `named` are those of the
/// findings, `commands` rules for the commands that no rule covers.
pub(crate) fn advise(
    (intent, policy, now): (&Intent, &Policy, &Now<'_>),
    named: &[AdvisedWay],
    commands: &[AdvisedRule],
    judge: JudgeOnce,
) -> Vec<String> {
    let trial = Trial { intent, policy, now, judge };
    let other_mode = if now.approvals == ApprovalPolicy::None { trial.other_mode() } else { None };
    // Options are for the next run; in a conversation the mode changes at once.
    if let Some(way) = other_mode.as_ref().filter(|_| now.attendance == Attendance::Somebody) {
        return vec![way.clone()];
    }
    if named.iter().any(|way| way.rule.is_none()) {
        return trial.with_settings(named, commands);
    }
    if let ([way], [rule]) = (named, &rules_of(named)[..])
        && trial.runs_with(std::slice::from_ref(rule))
    {
        return vec![way.text.clone()];
    }
    let sets = trial.rule_sets(named, commands);
    if let Some(set) = sets.iter().find(|set| trial.runs_with(set)) {
        return vec![format!("`{}`", options(set))];
    }
    other_mode.or_else(|| trial.by_mode(&sets)).into_iter().collect()
}

fn rules_of(named: &[AdvisedWay]) -> Vec<AdvisedRule> {
    named.iter().filter_map(|way| way.rule.clone()).collect()
}

fn options(rules: &[AdvisedRule]) -> String {
    rules.iter().map(|rule| rule.option.as_str()).collect::<Vec<_>>().join(" ")
}

/// A call that is judged once more.
#[derive(Clone, Copy)]
struct Trial<'a> {
    intent: &'a Intent,
    policy: &'a Policy,
    now: &'a Now<'a>,
    judge: JudgeOnce,
}

impl Trial<'_> {
    fn decision(&self, rules: &[AdvisedRule], approvals: ApprovalPolicy, mode: Mode) -> Decision {
        let allow = rules.iter().map(|advised| advised.rule.clone()).collect();
        let rules = self.policy.rules.clone().with(RuleTier::Run, Rules { allow, ..Rules::default() });
        let policy = Policy { mode, rules, ..self.policy.clone() };
        (self.judge)(self.intent, &policy, &Now { approvals, ..*self.now })
    }

    fn runs(&self, rules: &[AdvisedRule], approvals: ApprovalPolicy) -> bool {
        self.decision(rules, approvals, self.policy.mode).verdict == Verdict::Allow
    }

    /// The settings that the findings name, and the rules that are needed beside them.
    fn with_settings(&self, named: &[AdvisedWay], commands: &[AdvisedRule]) -> Vec<String> {
        let settings = named.iter().filter(|way| way.rule.is_none());
        let mut places = self.policy.places.clone();
        places.scratch.extend(settings.clone().filter_map(|way| way.opens.clone()));
        let policy = Policy { places, ..self.policy.clone() };
        let opened = Trial { policy: &policy, ..*self };
        let sets = opened.rule_sets(named, commands);
        // The ways of a denial are alternatives, and these belong together.
        let settings = settings.map(|way| way.text.as_str()).collect::<Vec<_>>().join(" and ");
        if opened.runs_with(&[]) {
            return vec![settings];
        }
        match sets.iter().find(|set| opened.runs_with(set)) {
            Some(set) => vec![format!("{settings} together with `{}`", options(set))],
            None => named.iter().map(|way| way.text.clone()).collect(),
        }
    }

    fn runs_with(&self, rules: &[AdvisedRule]) -> bool {
        self.runs(rules, self.now.approvals)
    }

    /// The rules to try together, the fewest first.
    fn rule_sets(&self, named: &[AdvisedWay], commands: &[AdvisedRule]) -> Vec<Vec<AdvisedRule>> {
        let named = rules_of(named);
        let direct: Vec<AdvisedRule> = commands.iter().cloned().map(AdvisedRule::with_network).collect();
        let files = self.file_rules();
        let joined = |parts: &[&[AdvisedRule]]| -> Vec<AdvisedRule> { parts.concat() };
        let mut sets = vec![
            named.clone(),
            commands.to_vec(),
            joined(&[commands, &named]),
            direct.clone(),
            joined(&[&direct, &named]),
            joined(&[&files, &named]),
        ];
        sets.retain(|set| !set.is_empty());
        sets.dedup();
        sets
    }

    /// Rules for the files that tools change.
    fn file_rules(&self) -> Vec<AdvisedRule> {
        let rule = |action: &Action| match action {
            Action::Write(path) => AdvisedRule::of("write", &shown(path)),
            Action::Delete(path) => AdvisedRule::of("delete", &shown(path)),
            _ => None,
        };
        self.intent.actions.iter().filter_map(rule).collect()
    }

    /// The mode to choose instead of `none`, which somebody chose so that nothing is asked.
    fn other_mode(&self) -> Option<String> {
        if self.now.attendance == Attendance::Somebody {
            let decision = self.decision(&[], ApprovalPolicy::Ask, self.policy.mode);
            return (decision.verdict != Verdict::Deny).then(|| "`/approve ask`".to_owned());
        }
        let modes = [ApprovalPolicy::Auto, ApprovalPolicy::All];
        let mode = modes.into_iter().find(|mode| self.runs(&[], *mode))?;
        Some(format!("`--approve {}`", mode.name()))
    }

    /// The mode with which it runs, alone or with the first rules that help.
    fn by_mode(&self, sets: &[Vec<AdvisedRule>]) -> Option<String> {
        let modes = [
            (ApprovalPolicy::Edits, "`--approve edits`"),
            (ApprovalPolicy::Window { seconds: WINDOW_SECONDS }, "`--approve 10m`"),
            (ApprovalPolicy::Auto, "`--permission-mode auto`"),
            (ApprovalPolicy::All, "`--approve all`"),
        ];
        if let Some((_, option)) = modes.iter().find(|(mode, _)| self.runs(&[], *mode)) {
            return Some(format!("{option}; no `--allow` covers it"));
        }
        let both = modes.iter().flat_map(|mode| sets.iter().map(move |set| (mode, set)));
        for ((mode, option), set) in both {
            if self.runs(set, *mode) {
                return Some(format!("{option} together with `{}`", options(set)));
            }
        }
        let widest = self.decision(&[], ApprovalPolicy::All, Mode::Production);
        (widest.verdict == Verdict::Allow)
            .then(|| "`--approve all` in production mode; nothing else does".to_owned())
    }
}
