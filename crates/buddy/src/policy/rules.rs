//! Files of rules, one a tier, read anew when they change. Those of a project are the version that the user trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use buddy_policy::{CommandPattern, RuleSet, RuleTier, Rules};

use super::guards::{Guards, check_guards};
use crate::config::{KeptRead, RULES_FILE, TrustStore, read_rules, text_of};

/// The rules of whoever manages the machine.
const MANAGED: &str = "/etc/buddy/rules.toml";

/// The rules that hold in one directory, kept as long as no file changes.
pub(super) struct RuleFiles {
    files: Vec<(RuleTier, PathBuf)>,
    project: Option<ProjectRules>,
    guards: Guards,
    fixed: FixedRules,
    known: KeptRead<RuleSet>,
}

/// The rules of a project that is trusted.
pub(super) struct ProjectRules {
    pub(super) directory: PathBuf,
    pub(super) trust: TrustStore,
}

/// Rules that stay the same as long as buddy runs.
#[derive(Debug, Clone, Default)]
pub(super) struct FixedRules {
    /// Those of the command line.
    pub(super) run: Rules,
    /// `tools.shell_denylist`.
    pub(super) denylist: Vec<CommandPattern>,
}

impl RuleFiles {
    /// The rules of this machine, of the user, and of a project that is trusted.
    pub(super) fn new(
        user: Option<&Path>,
        project: Option<ProjectRules>,
        guards: Guards,
        fixed: FixedRules,
    ) -> Self {
        let file = |tier, directory: &Path| (tier, directory.join("rules.toml"));
        let managed = (RuleTier::Managed, PathBuf::from(MANAGED));
        let user = user.map(|directory| file(RuleTier::User, directory));
        let files = std::iter::once(managed).chain(user).collect();
        Self { files, project, guards, fixed, known: KeptRead::default() }
    }

    /// The rules as the files have them now.
    ///
    /// Files that cannot be read or understood are an error before they were ever read; later on, what was understood
    /// last stays in effect.
    pub(super) fn rules(&self) -> anyhow::Result<Arc<RuleSet>> {
        self.known.get(self.paths(), || self.read()).or_else(|error| {
            let last = self.known.last().ok_or_else(|| anyhow::anyhow!("{error:#}"))?;
            tracing::error!(%error, "the rules cannot be read; those that were read last stay in effect");
            Ok(last)
        })
    }

    /// The files that the rules depend on.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let trust = self.project.iter().map(|project| project.trust.file());
        let paths = self.files.iter().map(|(_, path)| path.as_path()).chain(trust);
        paths.chain([self.guards.approved_file()])
    }

    fn read(&self) -> anyhow::Result<RuleSet> {
        let mut rules = RuleSet::default();
        for (tier, path) in &self.files {
            if path.exists() {
                rules.add(*tier, read_rules(path, &text_of(path)?)?);
            }
        }
        if let Some(project) = &self.project {
            rules.add(RuleTier::Project, project.rules()?);
        }
        if let Some(text) = self.guards.standing()?.approved {
            rules.add(RuleTier::User, check_guards(&text)?);
        }
        if !self.fixed.denylist.is_empty() {
            rules.deny_commands(RuleTier::User, self.fixed.denylist.clone());
        }
        rules.add(RuleTier::Run, self.fixed.run.clone());
        Ok(rules)
    }
}

impl ProjectRules {
    fn rules(&self) -> anyhow::Result<Rules> {
        let path = self.directory.join(RULES_FILE);
        let text = self.trust.trusted_text(&self.directory, RULES_FILE).with_context(|| {
            format!("the version of {} that you trusted is lost. Trust it again: buddy trust", path.display())
        })?;
        let rules = read_rules(&path, &text.unwrap_or_default());
        rules.context("the rules that you trusted cannot be used. Fix them and trust them again: buddy trust")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use buddy_policy::{Action, Intent, Mode, Now, Policy, Verdict, decide};
    use buddy_protocol::ApprovalPolicy;

    struct Stage {
        home: tempfile::TempDir,
        files: RuleFiles,
    }

    impl Stage {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            for directory in ["user", "project/.buddy"] {
                std::fs::create_dir_all(home.path().join(directory)).unwrap();
            }
            let (user, directory) = (home.path().join("user"), home.path().join("project"));
            let project = ProjectRules { directory, trust: TrustStore::new(&home.path().join("data")) };
            let files =
                RuleFiles::new(Some(&user), Some(project), Guards::new(home.path()), FixedRules::default());
            Self { home, files }
        }

        /// Trusts the project as it is.
        fn trust(&self) {
            let project = self.files.project.as_ref().unwrap();
            project.trust.add(&project.directory).unwrap();
        }

        /// With these rules of the run.
        fn ruled(mut self, rules: &str) -> Self {
            self.files.fixed.run = toml::from_str(rules).unwrap();
            self
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.home.path().join(path), text).unwrap();
        }

        fn verdict(&self, command: &str) -> Verdict {
            let rules = (*self.files.rules().unwrap()).clone();
            let policy = Policy { rules, mode: Mode::Development, ..Policy::plain("/w".into()) };
            let intent = Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() });
            decide(&intent, &policy, &Now::with(ApprovalPolicy::Ask)).verdict
        }
    }

    #[test]
    fn a_project_tightens_and_does_not_loosen() {
        let stage = Stage::new();
        stage.write("user/rules.toml", "allow = [\"make *\"]\nask = [\"ninja *\"]\n");
        stage.write(
            "project/.buddy/rules.toml",
            "allow = [\"ninja *\", \"meson *\"]\ndeny = [\"make install *\"]\n",
        );
        stage.trust();
        assert_eq!(stage.verdict("make all"), Verdict::Allow);
        assert_eq!(stage.verdict("make install x"), Verdict::Deny);
        assert_eq!(stage.verdict("ninja all"), Verdict::Ask);
        assert_eq!(stage.verdict("meson setup"), Verdict::Ask);
    }

    #[test]
    fn a_rule_of_the_run_tightens_and_loosens_only_what_would_ask_by_itself() {
        let stage =
            Stage::new().ruled("allow = [\"make *\", \"ninja *\", \"meson *\"]\ndeny = [\"cmake *\"]\n");
        stage.write(
            "user/rules.toml",
            "allow = [\"cmake *\"]\nask = [\"ninja *\"]\ndeny = [\"make install *\"]\n",
        );
        stage.write("project/.buddy/rules.toml", "deny = [\"meson install *\"]\n");
        stage.trust();
        assert_eq!(stage.verdict("make all"), Verdict::Allow);
        assert_eq!(stage.verdict("make install x"), Verdict::Deny);
        assert_eq!(stage.verdict("meson install x"), Verdict::Deny);
        assert_eq!(stage.verdict("ninja all"), Verdict::Ask);
        assert_eq!(stage.verdict("cmake ."), Verdict::Deny);
    }

    #[test]
    fn a_change_takes_effect_and_a_broken_file_does_not() {
        let stage = Stage::new();
        assert_eq!(stage.verdict("make all"), Verdict::Ask);
        stage.write("user/rules.toml", "allow = [\"make *\"]\n");
        assert_eq!(stage.verdict("make all"), Verdict::Allow);
        stage.write("user/rules.toml", "allow = [\"make *\"\n");
        assert_eq!(stage.verdict("make all"), Verdict::Allow, "what was understood last stays");
        stage.write("user/rules.toml", "deny = [\"make *\"]\n");
        assert_eq!(stage.verdict("make all"), Verdict::Deny);
    }

    #[test]
    fn the_rules_of_a_project_hold_as_they_were_trusted() {
        let stage = Stage::new();
        stage.write("user/rules.toml", "allow = [\"make *\"]\n");
        stage.write("project/.buddy/rules.toml", "deny = [\"make *\"]\n");
        assert_eq!(stage.verdict("make all"), Verdict::Allow, "nobody trusted them");
        stage.trust();
        assert_eq!(stage.verdict("make all"), Verdict::Deny);
        stage.write("project/.buddy/rules.toml", "");
        assert_eq!(stage.verdict("make all"), Verdict::Deny, "nobody saw the change");
        stage.trust();
        assert_eq!(stage.verdict("make all"), Verdict::Allow);
    }

    #[test]
    fn a_trusted_version_that_is_lost_is_an_error() {
        let stage = Stage::new();
        stage.write("project/.buddy/rules.toml", "deny = [\"make *\"]\n");
        stage.trust();
        for copy in std::fs::read_dir(stage.home.path().join("data/trusted")).unwrap() {
            std::fs::write(copy.unwrap().path(), "deny = []\n").unwrap();
        }
        assert!(format!("{:#}", stage.files.rules().unwrap_err()).contains("is damaged"));
    }

    #[test]
    fn a_broken_file_at_the_start_is_an_error() {
        let stage = Stage::new();
        stage.write("user/rules.toml", "permit = [\"make *\"]\n");
        let error = stage.files.rules().unwrap_err();
        assert!(format!("{error:#}").contains("rules.toml"), "{error:#}");
    }
}
