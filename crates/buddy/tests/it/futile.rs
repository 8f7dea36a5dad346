//! Nobody is asked about a call that buddy or the kernel refuses all the same: what a user approves then happens.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use buddy_protocol::{Fact, ItemId};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, done, run};

/// A home with secrets and files of its own, and a trusted repository in it.
async fn stage(calls: Vec<Turn>) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    let home = stage.home.path();
    for name in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".npmrc",
        ".bashrc",
        "notes.txt",
        "docs/old.txt",
        "twice.txt",
        ".password-store/a.gpg",
    ] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "kept\n").unwrap();
    }
    fs::hard_link(home.join("twice.txt"), home.join("docs/second.txt")).unwrap();
    symlink("docs", home.join("linked")).unwrap();
    let work = stage.home.work();
    fs::write(work.join(".env"), "A=1\n").unwrap();
    fs::write(work.join("a.txt"), "a\n").unwrap();
    stage.in_bash("git init -q").run().await.expect_code(0);
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.server = ModelServer::start(calls.into_iter().chain([done()]).collect::<Vec<_>>()).await;
    stage
}

/// Makes the calls, says yes to every question, and gives for each call whether somebody was asked, and its result.
async fn approved(calls: Vec<Turn>, mode: &str) -> (Stage, Vec<(bool, Value)>) {
    let stage = stage(calls).await;
    let words = ["-c", "agent.max_iterations=200"];
    let mut started = stage.buddy(words).env("BUDDY_ENV", mode).converse();
    started.write(b"go\n").await;
    for count in 1.. {
        tokio::select! {
            () = started.stderr.wait_for("-- approve? [", count) => {}
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        started.stderr.wait_for("/n] ", count).await;
        let said = started.stderr.text();
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{yes}\n").as_bytes()).await;
    }
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    let asked: BTreeSet<ItemId> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Asked(asked) => asked.ask.item.clone(),
            _ => None,
        })
        .collect();
    let is_asked: Vec<bool> = log.calls().iter().map(|(item, _)| asked.contains(&item.id)).collect();
    let results = stage.results();
    assert_eq!(results.len(), is_asked.len());
    (stage, is_asked.into_iter().zip(results).collect())
}

/// Commands that cannot work in the jail, whatever a user says.
const IN_VAIN: &[&str] = &[
    "cat ~/.ssh/id_ed25519",
    "ls ~/.ssh",
    "head ~/.aws/credentials",
    "cp ~/.ssh/id_ed25519 stolen",
    "cat ~/.config/buddy/auth.json",
    "cat /etc/shadow",
    "rm -rf ~/.aws",
    "echo x >> ~/.bashrc",
    "rm ~/notes.txt",
    "mkdir ~/new",
    "mv a.txt ~/a.txt",
    "sed -i s/k/x/ ~/notes.txt",
    "echo x > ~/.config/autostart",
    "echo x > ~/missing/new.txt",
    "echo x > ~/twice.txt",
    "echo x > ~/linked/new.txt",
    "cp -r . ~/.config",
    "git config --global user.name x",
    "echo x > /etc/motd",
    "echo x > /dev/sda",
    "echo x > .git/hooks/pre-commit",
    "sudo true",
    "bash -c 'sudo true'",
    "su -c true",
    "doas true",
    "pkexec true",
    "mount -t tmpfs none /mnt",
    "umount /",
    "chroot / true",
    "unshare -r true",
    "nsenter -t 1 -m true",
    "useradd x",
    "passwd",
    "crontab a.txt",
    "at now",
    "systemd-run true",
    "newgrp",
    "modprobe x",
    "sysctl -w kernel.ostype=x",
    "iptables -L",
    "shutdown now",
    "mkfs.ext4 disk.img",
    "docker ps",
    "cd sub; docker compose up -d",
    "podman run x",
    "systemctl restart x",
    "rm -rf /",
];

/// Commands that a user is asked about and that then work.
const WORKING: &[&str] = &[
    "cat ~/.npmrc",
    "cat .env",
    "touch made.txt",
    "echo x > .envrc",
    "mkdir -p .vscode && echo {} > .vscode/settings.json",
    "mount",
    "mke2fs -q disk.img 1M",
    "debugfs -R ls disk.img",
    "capsh --print",
    "echo x > /dev/shm/x",
    "echo x > buddy.toml",
    "rm -r .vscode",
    "echo x > ~/new.txt",
    "echo more >> ~/notes.txt",
    "touch ../outside",
    "cp a.txt ~/a.txt",
    "mkdir ~/docs/new",
    "mv made.txt ~/docs/made.txt",
    "rm ~/docs/old.txt",
    "cp a.txt ~/docs",
];

/// Names of tools with their inputs.
type FileCalls = Vec<(&'static str, Value)>;

/// Calls of file tools that are refused in development, and those that work once somebody said yes.
fn file_calls() -> (FileCalls, FileCalls) {
    let path = |path: &str| json!({"path": path});
    let write = |path: &str| json!({"path": path, "content": "x"});
    let in_vain = vec![
        ("read_file", path("~/.ssh/id_ed25519")),
        ("read_file", path("~/.config/buddy/buddy.toml")),
        ("read_file", path("/etc/shadow")),
        ("write_file", write("~/.ssh/authorized_keys")),
        ("write_file", write("~/.bashrc")),
        ("write_file", write("~/missing/new.txt")),
        ("write_file", write("~/linked/new.txt")),
        ("delete_path", path("~/docs/../..")),
        ("write_file", write("~/.config/buddy/rules.toml")),
        ("delete_path", path("~/.bashrc")),
    ];
    let working = vec![
        ("read_file", path("~/.npmrc")),
        ("read_file", path(".env")),
        ("write_file", write(".envrc")),
        ("write_file", write(".env")),
        ("write_file", write(".git/hooks/post-commit")),
        ("delete_path", path(".envrc")),
        ("write_file", write("~/tool.txt")),
        ("delete_path", path("~/notes.txt")),
        ("make_directory", path("~/made")),
    ];
    (in_vain, working)
}

#[tokio::test]
async fn nobody_is_asked_about_what_cannot_happen_and_what_is_approved_happens() {
    let (refused, allowed) = file_calls();
    let call = |(name, input): &(&str, Value)| turn().call(name, input.clone());
    let in_vain: Vec<Turn> = IN_VAIN.iter().map(|line| run(line)).chain(refused.iter().map(call)).collect();
    let working: Vec<Turn> = WORKING.iter().map(|line| run(line)).chain(allowed.iter().map(call)).collect();
    let count = in_vain.len();
    let (stage, results) = approved(in_vain.into_iter().chain(working).collect(), "development").await;
    let (first, rest) = results.split_at(count);
    let named = |lines: &[&str], calls: &[(&str, Value)]| -> Vec<String> {
        let calls = calls.iter().map(|(name, input)| format!("{name} {}", input["path"]));
        lines.iter().map(|line| (*line).to_owned()).chain(calls).collect()
    };
    for (name, (is_asked, result)) in named(IN_VAIN, &refused).iter().zip(first) {
        assert!(!is_asked, "{name} was asked about in vain: {result}");
        assert_eq!(result["error"]["code"], "forbidden", "{name}: {result}");
    }
    for (name, (is_asked, result)) in named(WORKING, &allowed).iter().zip(rest) {
        assert!(*is_asked, "{name}: {result}");
        let is_done = result["ok"] == true && result["result"]["exit_code"].as_i64().unwrap_or(0) == 0;
        assert!(is_done && result["result"]["jail"].is_null(), "{name} was approved in vain: {result}");
    }
    for kept in [".ssh/id_ed25519", ".aws/credentials", ".bashrc", "twice.txt"] {
        assert_eq!(fs::read_to_string(stage.home.path().join(kept)).unwrap(), "kept\n", "{kept}");
    }
    let (home, work) = (stage.home.path(), stage.home.work());
    for gone in ["work/stolen", "missing", "docs/new.txt", "docs/old.txt", "notes.txt"] {
        assert!(!home.join(gone).exists(), "{gone}");
    }
    assert!(work.join("disk.img").exists() && work.join("a.txt").exists());
    for made in ["new.txt", "outside", "a.txt", "docs/new", "docs/made.txt", "docs/a.txt", "tool.txt", "made"]
    {
        assert!(home.join(made).exists(), "{made}");
    }
}

#[tokio::test]
async fn in_production_places_of_keys_are_denied_and_a_rule_opens_them() {
    let calls = || {
        vec![
            turn().call("read_file", json!({"path": "~/.ssh/id_ed25519"})),
            run("cat ~/.ssh/id_ed25519"),
            run("cat ~/.aws/credentials"),
            turn().call("write_file", json!({"path": "~/.ssh/authorized_keys", "content": "x"})),
            run("echo x >> ~/.ssh/authorized_keys"),
            run("cat ~/.config/buddy/rules.toml"),
        ]
    };
    for is_ruled in [false, true] {
        let stage = stage(calls()).await;
        let config = stage.home.path().join(".config/buddy");
        fs::create_dir_all(&config).unwrap();
        let rules = if is_ruled { "allow = [{ read = \"~/.ssh/**\" }]\n" } else { "" };
        fs::write(config.join("rules.toml"), rules).unwrap();
        let program = stage.exec(["go"]).env("BUDDY_ENV", "production");
        program.run().await;
        let results = stage.results();
        for (at, result) in results.iter().enumerate() {
            let is_opened = is_ruled && at < 2;
            assert_eq!(result["ok"], is_opened, "{at} {is_ruled}: {result}");
            assert_eq!(result.to_string().contains("kept"), is_opened, "{at} {is_ruled}: {result}");
            let is_told = result.to_string().contains("rules.toml opens it");
            assert_eq!(is_told, !is_opened, "{at} {is_ruled}: {result}");
        }
        assert!(!stage.home.path().join(".ssh/authorized_keys").exists());
    }
}
