//! The steps of the day.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::measure::model::Call;

/// A step: the calls of the agent, and a shell line that checks their effect at the end of the day.
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) call: Call,
    pub(crate) proof: &'static str,
}

const STEP: &str = "step";

/// All steps, in their order.
pub(crate) fn steps(docs: SocketAddr) -> Vec<Step> {
    let mut steps = vec![
        shell("git status", ""),
        shell("git log --oneline -n 5", ""),
        shell("git diff", ""),
        shell("ls -la", ""),
        tool("read_file", json!({"path": "src/lib.rs"}), ""),
        shell("grep -rn double src", ""),
        shell("cargo build", "test -x target/debug/app"),
        edit("src/lib.rs", "n * 2", "n + n", "grep -q 'n + n' src/lib.rs"),
        shell("cargo test", ""),
        shell("cargo add greet", "grep -q greet Cargo.toml"),
        edit(
            "src/main.rs",
            "println!(\"{}\"",
            "println!(\"{} {}\", greet::hello()",
            "grep -q greet src/main.rs",
        ),
        shell("cargo build", "grep -q greet Cargo.lock"),
        shell("cargo run --quiet", ""),
        shell("npm install pad", "test -f node_modules/pad/index.js"),
        shell("npm test", ""),
        edit("sums/triple.py", "n * 3", "3 * n", "grep -q '3 \\* n' sums/triple.py"),
        shell("python -m pytest -q tests", ""),
        shell(
            "python -m venv .venv && .venv/bin/pip install shout",
            ".venv/bin/python -c 'import shout; shout.shout(\"a\")'",
        ),
        shell("make", ""),
        tool("write_file", json!({"path": "docs/notes.md", "content": "# Notes\n"}), "test -f docs/notes.md"),
    ];
    steps.push(named("curl of the documentation", shell(&format!("curl -s http://{docs}/docs"), "")));
    steps.extend([
        shell("git switch -c topic", "git rev-parse -q --verify topic"),
        shell("git add -A", ""),
        shell("git commit -m 'app: greet'", "git log --format=%s topic | grep -q greet"),
        edit("README.md", "More to come.", "Run it.", "grep -q 'Run it' README.md"),
        shell("git commit -a --amend --no-edit", "git show topic:README.md | grep -q 'Run it'"),
        shell("git switch main && git merge topic", "git show main:README.md | grep -q 'Run it'"),
        shell("rm -r build", "test ! -e build"),
        shell("git log --stat -n 2", ""),
        named(
            "`git push` over the network",
            shell("git push origin topic", "git --git-dir ../remote.git rev-parse -q --verify topic"),
        ),
    ]);
    steps
}

fn named(name: &str, step: Step) -> Step {
    Step { name: name.to_owned(), ..step }
}

fn tool(name: &'static str, arguments: Value, proof: &'static str) -> Step {
    let object = arguments["path"].as_str().or(arguments["pattern"].as_str()).unwrap_or_default();
    let title = format!("{name} {object}").trim_end().to_owned();
    Step { name: title, call: Call { label: STEP, name, arguments }, proof }
}

fn edit(path: &str, old: &str, new: &str, proof: &'static str) -> Step {
    tool("edit_file", json!({"path": path, "old": old, "new": new}), proof)
}

fn shell(command: &str, proof: &'static str) -> Step {
    let arguments = json!({
        "command": command, "why": "the day's work", "risk": "low", "mutation": false, "privesc": false, "wait": "5m",
    });
    Step { name: format!("`{command}`"), call: Call { label: STEP, name: "run_shell", arguments }, proof }
}
