//! The paths that a prompt names for a use of git: those that git changes, and no others.

use std::path::Path;

use buddy_policy::{
    Attendance, Found, Landing, Mode, Now, Policy, Rule, RuleTier, Rules, Verdict, decide, outside, recalled,
};
use buddy_protocol::{ApprovalPolicy, RemoteLookup, RemoteName};

use crate::stage::{ask, pattern, policy, run};

/// The paths outside the workspace that the reasons name.
fn named(line: &str) -> Vec<String> {
    let decision = ask(&run(line), &policy(Mode::Production));
    let quoted = decision.reasons.iter().filter(|reason| reason.contains("outside the"));
    let mut paths: Vec<String> =
        quoted.filter_map(|reason| Some(reason.split('`').nth(1)?.to_owned())).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(decision.verdict, Verdict::Ask, "{line}: {:?}", decision.reasons);
    paths
}

#[test]
fn a_prompt_names_the_path_that_git_changes() {
    for (line, path) in [
        ("git clone /opt/source /srv/copy", "/srv/copy"),
        ("git clone https://a.test/x.git /srv/copy", "/srv/copy"),
        ("git clone --depth 1 -b main -o up ../source /srv/copy", "/srv/copy"),
        ("cd /srv/; git -C /srv clone ../source.git", "/srv/source"),
        ("git -C /srv clone git@a.test:owner/name.git", "/srv/name"),
        ("git -C /srv clone --bare /opt/source", "/srv/source.git"),
        ("git -C /srv clone /opt/source/.git copy", "/srv/copy"),
        ("git -C /srv/repo clean -fd", "/srv/repo"),
        ("git -C /srv -C repo clean -f old", "/srv/repo/old"),
        ("git -C /srv/repo rm one.txt", "/srv/repo /srv/repo/one.txt"),
        ("git -C /srv/repo restore one.txt", "/srv/repo /srv/repo/one.txt"),
        ("git -C /srv/repo reset --hard", "/srv/repo"),
        ("git -C /srv/repo add one.txt", "/srv/repo"),
        ("git --work-tree=/srv/tree reset --hard", "/srv/tree"),
        ("git --work-tree /srv/tree clean -f", "/srv/tree"),
        ("git --git-dir=/srv/store.git init", "/srv/store.git"),
        ("git --git-dir /srv/repo/.git add x", "/srv/repo"),
        ("git init -b main /srv/new", "/srv/new"),
        ("git -C /srv init new", "/srv/new"),
        ("git init --object-format sha256 /srv/new", "/srv/new"),
        ("git worktree add /srv/tree", "/srv/tree"),
        ("git worktree add -b topic /srv/tree main", "/srv/tree"),
        ("git worktree add --reason why /srv/tree", "/srv/tree"),
        ("git worktree remove /srv/tree", "/srv/tree"),
        ("git worktree move /w/tree /srv/tree", "/srv/tree"),
        ("git submodule add -b main https://a.test/x.git /srv/x", "/srv/x"),
        ("git -C /srv/repo submodule add https://a.test/x.git lib/x", "/srv/repo /srv/repo/lib/x"),
        ("git archive -o /srv/x.tar HEAD", "/srv/x.tar"),
        ("git -C /srv/repo archive -o /w/x.tar HEAD /opt", ""),
        ("git -C /srv archive --output=x.tar HEAD", "/srv/x.tar"),
        ("git format-patch -o /srv/out -1 HEAD", "/srv/out"),
        ("git -C /srv/repo format-patch -1", "/srv/repo"),
        ("git bundle create /srv/x.bundle HEAD main", "/srv/x.bundle"),
        ("git -C /srv bundle create x.bundle --all", "/srv/x.bundle"),
        ("git -C /srv/repo mv one.txt /srv/two.txt", "/srv/repo /srv/repo/one.txt /srv/two.txt"),
    ] {
        if path.is_empty() {
            let decision = ask(&run(line), &policy(Mode::Production));
            assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
            continue;
        }
        assert_eq!(named(line).join(" "), path, "{line}");
    }
}

#[test]
fn sources_inside_and_outside_the_workspace_are_only_read() {
    for line in [
        "git clone /opt/source copy",
        "git clone --reference /opt/other /opt/source copy",
        "git -C sub bundle verify /opt/x.bundle",
        "git worktree list",
        "git worktree add tree /opt",
        "git submodule status",
        "git init made",
    ] {
        let decision = ask(&run(line), &policy(Mode::Production));
        assert_eq!(decision.verdict, Verdict::Allow, "{line}: {:?}", decision.reasons);
    }
}

/// A policy under which `origin` and the remote that git uses by itself are the folder `/srv/bare.git`.
fn with_remote(mode: Mode) -> Policy {
    let mut policy = policy(mode);
    policy.places.remotes = RemoteLookup::new(|query| {
        let is_known =
            matches!(query.name, RemoteName::Named("origin") | RemoteName::Usual | RemoteName::All);
        (is_known && query.directory == "/w").then(|| "/w/../srv/bare.git".into()).into_iter().collect()
    });
    policy
}

#[test]
fn a_push_by_the_name_of_a_remote_writes_its_folder() {
    let landings = [Landing { path: "/srv/bare.git".into(), found: Found::Directory, directory: None }];
    let now = Now { landings: &landings, ..Now::with(ApprovalPolicy::Auto) };
    let policy = with_remote(Mode::Development);
    for line in ["git push", "git push origin main", "git push -u origin HEAD", "git push ../srv/bare.git"] {
        assert_eq!(outside(&run(line), &policy), ["/srv/bare.git".as_ref() as &Path], "{line}");
        let decision = decide(&run(line), &policy, &now);
        assert_eq!(decision.verdict, Verdict::Ask, "{line}");
        assert_eq!(decision.needs.written, ["/srv/bare.git".as_ref() as &Path], "{line}");
    }
    for line in ["git push other", "git -C sub push", "git fetch origin", "git push $x"] {
        let decision = decide(&run(line), &policy, &now);
        assert!(decision.needs.written.is_empty(), "{line}: {:?}", decision.reasons);
    }
}

#[test]
fn a_denied_push_to_a_folder_names_all_that_it_needs_at_once() {
    let landings = [Landing { path: "/srv/bare.git".into(), found: Found::Directory, directory: None }];
    for approvals in [ApprovalPolicy::Ask, ApprovalPolicy::Auto] {
        let now = Now { landings: &landings, attendance: Attendance::Nobody, ..Now::with(approvals) };
        let policy = with_remote(Mode::Development);
        let denied = decide(&run("git push"), &policy, &now);
        let [way] = &denied.ways[..] else { panic!("{denied:#?}") };
        assert!(
            way.contains(r#"write = ["/srv/bare.git"]"#) && way.contains(r#"--allow "git push *""#),
            "{way}"
        );
        let allow = vec![Rule::command(pattern("git push *"))];
        let rules = policy.rules.clone().with(RuleTier::Run, Rules { allow, ..Rules::default() });
        let mut followed = Policy { rules, ..policy };
        followed.places.scratch.push("/srv/bare.git".into());
        let again = decide(&run("git push"), &followed, &now);
        assert_eq!(again.verdict, Verdict::Allow, "{way}: {:?}", again.reasons);
    }
}

#[test]
fn a_place_that_the_account_may_not_change_is_no_matter_of_settings() {
    let found = Found::Closed("your account may not write in its directory".to_owned());
    let landings = [Landing { path: "/opt/x.txt".into(), found, directory: None }];
    let now = Now { landings: &landings, ..Now::with(ApprovalPolicy::Auto) };
    for line in ["touch /opt/x.txt", "echo x > /opt/x.txt"] {
        let denied = decide(&run(line), &policy(Mode::Development), &now);
        let told = denied.reasons.join("; ");
        assert!(
            denied.verdict == Verdict::Deny && told.contains("and your account may not"),
            "{line}: {told}"
        );
        assert!(!told.contains("`!`") && !told.contains("write = ["), "{line}: {told}");
    }
}

#[test]
fn a_fetch_by_the_name_of_a_remote_reads_the_repository_there() {
    let policy = with_remote(Mode::Development);
    for line in
        ["git fetch", "git fetch origin", "git pull origin main", "git fetch --all", "git remote update"]
    {
        assert_eq!(recalled(&run(line), &policy), ["/srv/bare.git".as_ref() as &Path], "{line}");
        let tracked = ["/srv/bare.git/.env".into()];
        let now = Now { tracked: &tracked, ..Now::with(ApprovalPolicy::Auto) };
        let decision = decide(&run(line), &policy, &now);
        assert!(decision.reads_secret && decision.verdict == Verdict::Ask, "{line}: {:?}", decision.reasons);
    }
    for line in ["git push origin", "git fetch other"] {
        assert!(recalled(&run(line), &policy).is_empty(), "{line}");
    }
}
