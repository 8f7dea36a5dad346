//! Programs that run a command which they are given: it is judged as if it stood alone.

use std::path::Path;
use std::process::{Command, Stdio};

use buddy_policy::{Mode, Verdict};

use crate::stage::{ask, check, is_stopped, pattern, policy, rules, run, with_grants};

/// Every way to hand a command on. `CMD` stands for its words, `TEXT` for a quoted word with all of it.
const FORMS: &[&str] = &[
    "npm exec -- CMD",
    "npm exec CMD",
    "npm x -y -- CMD",
    "npm x -c TEXT",
    "npm -c TEXT exec",
    "npm exec --call=TEXT",
    "npm --prefix sub exec -- CMD",
    "npm explore pad -- CMD",
    "npx -c TEXT",
    "npx --yes CMD",
    "npx -p pad CMD",
    "pnpm exec CMD",
    "pnpm dlx CMD",
    "pnpm -r --filter x exec CMD",
    "pnpm exec -c TEXT",
    "pnpm CMD",
    "corepack pnpm exec CMD",
    "yarn exec CMD",
    "yarn dlx -q CMD",
    "yarn workspace x exec CMD",
    "yarn workspaces foreach -A exec CMD",
    "bun x CMD",
    "bun exec TEXT",
    "uv run CMD",
    "uv run --frozen --with x -- CMD",
    "uv tool run CMD",
    "uvx CMD",
    "pipx run CMD",
    "poetry run CMD",
    "pipenv run CMD",
    "pdm run CMD",
    "hatch run CMD",
    "tox exec -e py -- CMD",
    "conda run -n x CMD",
    "bundle exec CMD",
    "composer exec -- CMD",
    "cargo watch -s TEXT",
    "rustup run stable CMD",
    "stack exec -- CMD",
    "cabal exec -- CMD",
    "opam exec -- CMD",
    "mix cmd CMD",
    "just -c CMD",
    "just --command CMD",
    "git bisect run CMD",
    "git -C sub submodule --quiet foreach --recursive TEXT",
    "git rebase -x TEXT main",
    "git rebase --exec=TEXT main",
    "mise exec -- CMD",
    "mise x -c TEXT",
    "asdf exec CMD",
    "direnv exec . CMD",
    "fnm exec --using 20 -- CMD",
    "nvm exec 20 CMD",
    "pyenv exec CMD",
    "nix shell nixpkgs#x -c CMD",
    "nix develop --command CMD",
    "nix-shell -p x --run TEXT",
    "watch -n 1 CMD",
    "parallel CMD ::: a",
    "parallel TEXT ::: a",
    "concurrently TEXT",
    "nodemon --exec TEXT",
    "hyperfine TEXT",
    "hyperfine --prepare TEXT true",
    "cross-env A=b CMD",
    "dotenv -- CMD",
    "valgrind -q CMD",
    "ssh host CMD",
    "docker exec box CMD",
    "docker compose exec box CMD",
    "coverage run --branch -m CMD",
    "entr CMD",
    "sshpass -p x CMD",
    "xvfb-run -a CMD",
    "ccache CMD",
];

#[test]
fn a_command_in_another_one_is_judged_like_the_command_itself() {
    let mut missed = Vec::new();
    for form in FORMS {
        let line = form.replace("CMD", "touch /srv/x").replace("TEXT", "'touch /srv/x'");
        // A module of Python is no program, and asks like an unknown one.
        if form.contains("coverage") {
            continue;
        }
        let decision = ask(&run(&line), &policy(Mode::Production));
        let is_named = decision.reasons.iter().any(|reason| reason.contains("`/srv/x`"));
        if decision.verdict != Verdict::Ask || !is_named {
            missed.push(format!("{line}: {:?} {:?}", decision.verdict, decision.reasons));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Lines that make the file `OUT` if their program is installed.
const REAL: &[&str] = &[
    "npm exec --offline -c 'touch OUT'",
    "npm -c 'touch OUT' --offline exec",
    "npx --offline -c 'touch OUT'",
    "make -f - <<< 'a:; touch OUT'",
    "echo 'a:; touch OUT' | make -f /dev/stdin",
    "make -f <(echo 'a:; touch OUT')",
    "make 'X=touch OUT;' -f x.mk",
    "make SHELL=./sh -f x.mk",
    "git bisect start HEAD HEAD~1 && git bisect run touch OUT",
    "git rebase -x 'touch OUT' HEAD~1",
    "git rebase --exec='touch OUT' HEAD~1",
    "parallel touch ::: OUT",
    "parallel 'true {}; touch OUT' ::: a",
    "echo 'touch OUT' | parallel",
    "parallel ::: 'touch OUT'",
    "timeout 2 watch -n 9 -t 'touch OUT'",
    "valgrind -q touch OUT",
    "setsid -w touch OUT",
    "strace -o log touch OUT",
    "dbus-run-session touch OUT",
    "prlimit touch OUT",
    "ssh-agent touch OUT",
    "uv run --offline --no-project touch OUT",
    "poetry run touch OUT",
    "hyperfine -r 1 -w 0 'touch OUT'",
    "echo a | entr -z touch OUT",
];

#[expect(clippy::disallowed_methods, reason = "the test holds the judge against the real programs")]
fn bash(line: &str, directory: &Path) {
    Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", line])
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", directory)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("bash is needed for this test");
}

#[test]
fn the_real_programs_run_what_the_table_says_they_run() {
    let mut ran = 0;
    let mut missed = Vec::new();
    for line in REAL {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path();
        bash(
            "git init -q && git config user.email x@example.org && git config user.name x \
             && for i in 1 2 3; do git commit -q --allow-empty -m $i; done; printf 'a:\n\t$(X) true\n' > x.mk; \
             printf '#!/bin/sh\ntouch OUT\n' > sh; chmod +x sh",
            directory,
        );
        bash(line, directory);
        if !directory.join("OUT").exists() {
            continue;
        }
        ran += 1;
        let decision = ask(&run(line), &policy(Mode::Production));
        if decision.verdict == Verdict::Allow && !decision.parts.iter().any(|part| part.starts_with("touch"))
        {
            missed.push(*line);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(ran > 8, "enough of the programs are installed: {ran}");
}

#[test]
fn a_denial_holds_for_a_command_in_another_one() {
    let mut denying = policy(Mode::Production);
    denying.rules.add(buddy_policy::RuleTier::User, rules("deny = [{ command = \"frobnicate *\" }]"));
    for form in FORMS.iter().filter(|form| !form.contains("coverage")) {
        let line = form.replace("CMD", "frobnicate x").replace("TEXT", "'frobnicate x'");
        assert_eq!(ask(&run(&line), &denying).verdict, Verdict::Deny, "{line}");
    }
}

#[test]
fn a_launcher_never_only_reads() {
    for line in
        ["npx cat x", "uv run ls", "npm exec -- ls", "bundle exec true", "poetry run cat x", "pnpm ls"]
    {
        let decision = ask(&run(line), &policy(Mode::Development));
        assert!(!decision.is_read_only && decision.verdict == Verdict::Ask, "{line}");
    }
}

#[test]
fn launched_commands_that_cannot_be_read_ask_in_production() {
    for line in [
        "npx \"$X\"",
        "npm $X",
        "uv \"$X\" touch y",
        "pnpm --weird touch /srv/x",
        "npx -c \"$X\"",
        "npm exec --weird x",
        "npm init evil",
        "npm create evil@latest",
        "pnpm create evil",
        "npx frobnicate",
        "uvx frobnicate",
        "pipx run frobnicate",
        "uv run - < x",
        "uv run python -c x",
        "poetry run python -c x",
        "uv run -m timeit x",
        "nix run nixpkgs#x",
        "nix-shell --run \"$X\"",
        "echo 'touch x' | parallel",
        "parallel ::: 'touch x'",
        "parallel {} ::: 'touch x'",
        "make -f -",
        "make -f /dev/stdin",
        "make -f <(echo x)",
        "make --file=$F",
        "just -f /dev/stdin",
        "ninja -f /dev/stdin",
        "make SHELL=./x",
        "make 'CC=touch x'",
        "make 'X=y; touch z'",
        "cargo --config build.rustc-wrapper=./x build",
        "cargo test --config 'x'",
        "go test -exec ./x ./...",
        "go build -toolexec=./x",
        "go env -w GOFLAGS=-toolexec=./x",
        "rake -e x",
        "latexmk -e x",
        "pdflatex -shell-escape x",
        "bazel run --run_under=x //y",
        "mix run -e x",
        "elixir --eval x",
        "ts-node -e x",
        "rails runner x",
        "npm --script-shell=./x test",
        "npm config set script-shell ./x",
        "apt-get -o APT::Update::Pre-Invoke::=x update",
        "hg --config alias.x=!y x",
        "direnv allow",
        "socat - EXEC:./x",
        "deno eval x",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    is_stopped("npx -c 'rm -rf ~'");
    is_stopped("uv run rm -rf ~");
}

#[test]
fn launchers_of_an_ordinary_day_ask_nothing_in_production() {
    for line in [
        "npx eslint .",
        "npx --yes prettier --write src",
        "npx eslint -c eslint.config.js src",
        "npx tsc --noEmit",
        "npm exec -- jest",
        "npm run build -- --watch",
        "npm run \"$script\"",
        "npm init -y",
        "npm config get registry",
        "pnpm exec vitest run",
        "pnpm dev",
        "pnpm install",
        "pnpm --filter web build",
        "yarn build",
        "yarn workspace web build",
        "uv run pytest -q",
        "uv run tool.py --x",
        "uv run python tool.py",
        "uv run -m pytest",
        "uv run --frozen ruff check .",
        "uv sync",
        "uvx ruff check",
        "poetry run pytest",
        "poetry install",
        "pdm run pytest",
        "bundle exec rspec",
        "bundle exec rake spec",
        "cargo run -- --config x.toml",
        "cargo watch -x test",
        "go run ./cmd/x",
        "go test $(go list ./...)",
        "mise exec -- cargo build",
        "coverage run -m pytest",
        "hyperfine 'target/release/x a'",
        "concurrently 'npm run a' 'npm run b'",
        "make CFLAGS='-O2 -g' ARGS='a b'",
        "make CC=clang",
        "just build",
        "valgrind --leak-check=full ./x",
    ] {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn allowing_a_launcher_allows_its_command() {
    let grant = buddy_policy::Grant::command("uv run *", "local").expect("a grant");
    let grants = [grant];
    for mode in [Mode::Development, Mode::Production] {
        let decision = with_grants(&run("uv run frobnicate x"), &policy(mode), &grants);
        assert_eq!(decision.verdict, Verdict::Allow, "{mode:?} {:?}", decision.reasons);
        let decision = with_grants(&run("uv run touch /srv/x"), &policy(mode), &grants);
        assert_ne!(decision.verdict, Verdict::Allow, "{mode:?}");
    }
    let decision = ask(&run("uv run pytest -q"), &policy(Mode::Development));
    assert_eq!(decision.reasons, ["it runs `uv`", "it can reach the network"]);
    assert!(
        decision.offers.iter().any(|offer| offer.grant.to_string() == "uv run *"),
        "{:?}",
        decision.offers
    );
    let mut ruled = policy(Mode::Production);
    let rule = buddy_policy::Rule::command(pattern("npx *"));
    ruled.rules.add(
        buddy_policy::RuleTier::User,
        buddy_policy::Rules { allow: vec![rule], ..buddy_policy::Rules::default() },
    );
    assert_eq!(ask(&run("npx frobnicate"), &ruled).verdict, Verdict::Allow);
}
