//! Over every tool: what a grant lets go on afterwards is no more than the words of its offer promised.

use std::path::Path;

use buddy_policy::{Action, Intent, Mode, Now, Offer, Policy, Scope, Verdict, decide};
use buddy_protocol::ApprovalPolicy;
use buddy_web::Endpoints;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::registry;

/// A call, and what can be said about it without policy.
struct Sample {
    tool: &'static str,
    /// The command, file, repository or host that it is about.
    about: &'static str,
    intent: Intent,
}

fn advised(command: &str) -> Value {
    json!({"command": command, "why": "x", "risk": "low", "mutation": true, "privesc": false})
}

fn sample(tool: &'static str, about: &'static str, input: Value) -> Sample {
    let place = CallPlace {
        cwd: "/w".into(),
        home: None,
        endpoints: Endpoints::usual().unwrap(),
        links: buddy_exec::link_lookup(),
        has_panes: false,
    };
    let entry = registry::find(tool).unwrap();
    let intent = entry.prepare(input).unwrap_or_else(|failure| panic!("{tool}: {failure:?}")).intent(&place);
    Sample { tool, about, intent: intent.in_tier(entry.tier) }
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for path in ["/w/src/lib.rs", "/w/a.txt", "/w/Makefile", "/w/AGENTS.md", "/w/.env", "/tmp/x"] {
        samples.push(sample("write_file", path, json!({"path": path, "content": "x"})));
        samples.push(sample("edit_file", path, json!({"path": path, "old": "x", "new": "y"})));
        samples.push(sample("make_directory", path, json!({"path": path})));
        samples.push(sample("delete_path", path, json!({"path": path})));
        samples.push(sample("read_file", path, json!({"path": path})));
        let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-x\n+y\n*** End Patch\n");
        samples.push(sample("apply_patch", path, json!({"patch": patch})));
    }
    for top in ["/w", "/w/sub"] {
        samples.push(sample("git_add", top, json!({"path": top, "files": ["a.txt"]})));
        samples.push(sample("git_commit", top, json!({"path": top, "message": "Fix add"})));
    }
    let push = |branch: &str| json!({"remote": "origin", "url": "git@host:x", "branch": branch});
    samples.push(sample("git_push", "main", push("main")));
    samples.push(sample("git_push", "topic", push("topic")));
    for command in [
        "cargo test",
        "cargo test -p a",
        "cargo build",
        "make",
        "rm -r old",
        "git push",
        "touch a.txt",
        "npm publish",
    ] {
        samples.push(sample("run_shell", command, advised(command)));
        samples.push(sample("process_start", command, advised(command)));
    }
    for host in ["docs.rs", "evil.test"] {
        samples.push(sample("fetch_url", host, json!({"url": format!("https://{host}/a")})));
    }
    for (tool, input) in [
        ("list_directory", json!({})),
        ("update_plan", json!({"steps": []})),
        ("ask_user", json!({"question": "x"})),
        ("time", json!({})),
        ("grep", json!({"pattern": "x"})),
        ("glob", json!({"pattern": "x"})),
        ("web_search", json!({"query": "x"})),
        ("search_youtube", json!({"query": "x"})),
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_log", json!({})),
        ("git_branch", json!({})),
        ("process_stop", json!({"id": "proc-1"})),
        ("process_status", json!({})),
        ("process_logs", json!({"id": "proc-1"})),
        ("tmux_capture_pane", json!({})),
        ("tmux_send_keys", json!({"keys": ["Enter"]})),
        ("tmux_create_session", json!({"session": "x"})),
        ("tmux_kill_session", json!({"session": "x"})),
        ("tmux_create_pane", json!({"pane": "x"})),
        ("tmux_kill_pane", json!({"pane": "x"})),
    ] {
        samples.push(sample(tool, "", input));
    }
    samples
}

/// Whether the words of an offer promise a call. Each promise is read off the sentence that the user saw.
fn promises(offer: &Offer, sample: &Sample, is_confined: bool) -> bool {
    let (covers, about) = (&offer.covers, sample.about);
    let names = |text: &str| covers.contains(&format!("`{text}`"));
    // A process that runs on has the network of the machine.
    let is_told = sample.tool != "process_start" || offer.grant.network || !is_confined;
    let runs = matches!(sample.tool, "run_shell" | "process_start" | "git_push") && is_told;
    assert_eq!(offer.grant.network, covers.ends_with("; it can reach the network"), "{covers}");
    let writes = matches!(sample.tool, "write_file" | "edit_file" | "make_directory" | "apply_patch");
    let decides_later = about.ends_with("Makefile") || about.ends_with("AGENTS.md");
    match &offer.grant.scope {
        Scope::Writes(directory) => {
            assert!(
                covers.starts_with("every write of a file beneath") && names(&directory.to_string_lossy())
            );
            assert!(covers.contains("except places that decide what runs later"));
            writes && Path::new(about).starts_with(directory) && !decides_later
        }
        Scope::File(_) => covers.starts_with("every write of") && writes && names(about),
        Scope::Repository { .. } => names(sample.tool) && names(about),
        Scope::Fetches(host) => {
            assert!(covers.starts_with("every fetch and upload of tools and commands at") && names(host));
            let is_there = |action: &Action| matches!(action, Action::Fetch(address) if address.contains(&format!("://{host}/")));
            sample.intent.actions.iter().all(is_there)
        }
        Scope::Command { line, .. } => {
            assert!(covers.starts_with("exactly"));
            let is_push = sample.tool == "git_push" && line.contains(&format!("refs/heads/{about}:"));
            runs && (line == about || is_push)
        }
        Scope::Commands(pattern) => {
            let start = pattern.as_str().trim_end_matches(" *");
            assert!(covers.starts_with("every command that starts with") && names(start));
            runs && about.starts_with(start)
        }
        Scope::Nearby(authority) => {
            assert!(covers.starts_with("every connection of tools and") && names(authority));
            let is_there = |action: &Action| matches!(action, Action::Fetch(address) if address.contains(&format!("://{authority}/")));
            sample.intent.actions.iter().all(is_there)
        }
        // The broker offers them while a command runs, and no call by itself.
        Scope::Hosts { .. } => false,
    }
}

#[test]
fn a_grant_allows_no_more_than_its_label_says() {
    let samples = samples();
    let mut offered = 0;
    for approvals in [ApprovalPolicy::Ask, ApprovalPolicy::Auto, ApprovalPolicy::Edits] {
        for mode in [Mode::Development, Mode::Production] {
            let mut policy = Policy { mode, ..Policy::plain("/w".into()) };
            policy.places.scratch = vec!["/tmp".into()];
            let verdict = |intent: &Intent, grants: &[buddy_policy::Grant]| {
                decide(intent, &policy, &Now { grants, ..Now::with(approvals) })
            };
            for asked in &samples {
                for offer in verdict(&asked.intent, &[]).offers {
                    offered += 1;
                    let grants = [offer.grant.clone()];
                    for other in &samples {
                        let before = verdict(&other.intent, &[]).verdict;
                        let after = verdict(&other.intent, &grants).verdict;
                        let is_opened = before != Verdict::Allow && after == Verdict::Allow;
                        assert!(
                            !is_opened || promises(&offer, other, policy.is_confined()),
                            "`{}` ({}) let {} {} go on",
                            offer.grant,
                            offer.covers,
                            other.tool,
                            other.about
                        );
                    }
                    assert_eq!(
                        verdict(&asked.intent, &grants).verdict,
                        Verdict::Allow,
                        "{} {}: `{}`",
                        asked.tool,
                        asked.about,
                        offer.grant
                    );
                    assert!(
                        promises(&offer, asked, policy.is_confined()),
                        "{} {}: `{}` {}",
                        asked.tool,
                        asked.about,
                        offer.grant,
                        offer.covers
                    );
                }
            }
        }
    }
    assert!(offered > 40, "{offered}");
}

#[test]
fn every_tool_has_a_sample() {
    let samples = samples();
    for name in registry::names() {
        assert!(samples.iter().any(|sample| sample.tool == name), "{name}");
    }
}
