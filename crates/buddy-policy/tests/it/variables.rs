//! Variables before a command: what they can make a program do, where nothing holds the program.

use buddy_policy::{Mode, Now, Verdict, decide};
use buddy_protocol::ApprovalPolicy;

use crate::stage::{check, policy, run};

/// Variables that carry options, programs and files for a program.
const CARRIERS: &[&str] = &[
    "ZIPOPT=-m zip -q x.zip a.txt",
    "ZIP=-m zip -q x.zip a.txt",
    "UNZIP=-o unzip a.zip",
    "GZIP=-f gzip a.txt",
    "XZ_DEFAULTS=-k xz a.txt",
    "TAR_OPTIONS=--remove-files tar cf a.tar a.txt",
    "RSYNC_CONNECT_PROG='rm a' rsync rsync://localhost/x .",
    "RSYNC_RSH=x rsync -n a b",
    "CURL_HOME=. curl -s http://localhost:1/",
    "WGETRC=x wget -q http://localhost:1/",
    "PIP_LOG=/home/ann/f pip list",
    "PIP_TARGET=/home/ann pip install x",
    "GNUPGHOME=. gpg --version",
    "MAGIC=x file a.txt",
    "NPM_CONFIG_PREFIX=/home/ann npm i -g x",
    "ANSIBLE_CONFIG=x make",
    "POETRY_HOME=/home/ann poetry install",
    "CONDA_PKGS_DIRS=/home/ann conda install x",
    "CARGO_TARGET_DIR=../photos cargo clean",
    "CARGO_BUILD_TARGET_DIR=../photos cargo build",
    "CYPRESS_CACHE_FOLDER=/home/ann cypress cache clear",
    "PYENV_ROOT=/home/ann pyenv versions",
    "TOX_WORK_DIR=/home/ann tox -r",
    "NOX_ENVDIR=/home/ann nox -r",
    "BUILD_DIR=/home/ann make clean",
    "DESTDIR=/home/ann make install",
    "X_LOG=/home/ann/f make",
    "SOME_CMD=x make",
    "SOME_PROG=x make",
];

#[test]
fn variables_that_carry_options_programs_and_files_ask_in_production() {
    for line in CARRIERS {
        check(Mode::Production, line, Verdict::Ask);
        let (given, command) = line.split_once(' ').unwrap();
        if !given.contains('\'') {
            check(Mode::Production, &format!("env {line}"), Verdict::Ask);
            check(Mode::Production, &format!("export {given}; {command}"), Verdict::Ask);
        }
    }
}

#[test]
fn a_variable_that_no_table_knows_asks_in_production() {
    for line in [
        "FROB=1 zip -q x.zip a.txt",
        "FROB=1 rsync -n a b",
        "FROB=1 git status",
        "env FROB=1 tar cf a.tar a.txt",
        "export FROB=1; zip -q x.zip a.txt",
        "FROB=1; export FROB; zip -q x.zip a.txt",
        "declare -x FROB=1; tar cf a.tar a.txt",
        "timeout 5 env FROB=1 gzip a.txt",
    ] {
        check(Mode::Production, line, Verdict::Ask);
        let decision = decide(&run(line), &policy(Mode::Development), &Now::with(ApprovalPolicy::Auto));
        assert_eq!(decision.verdict, Verdict::Allow, "the jail holds it: {line}: {:?}", decision.reasons);
    }
}

#[test]
fn variables_of_an_ordinary_day_ask_nothing_in_production() {
    for line in [
        "CI=1 make test",
        "RUST_BACKTRACE=1 cargo test",
        "RUST_LOG=debug cargo run",
        "NODE_ENV=test npm test",
        "DEBIAN_FRONTEND=noninteractive apt-get install -y x",
        "PYTHONUNBUFFERED=1 python3 app.py",
        "PIP_NO_INPUT=1 pip install -r requirements.txt",
        "LC_ALL=C sort a.txt",
        "env CI=1 npm test",
        "export CI=1; make",
        // The project's own code is as free with it as without.
        "FROB=1 make",
        "env DATABASE_URL=x npm test",
        "export FROB=1; make",
        "FROB=1 python3 app.py",
        // A program of the project, one that only prints, and a variable of the shell alone.
        "FROB=1 ./run.sh",
        "FROB=1 ls",
        "n=1; echo $n",
        "local_name=x; make",
    ] {
        check(Mode::Production, line, Verdict::Allow);
    }
}

#[test]
fn a_program_that_prints_its_result_removes_its_source_all_the_same() {
    for line in [
        "lz4 -c --rm /home/ann/f",
        "brotli -c --rm /home/ann/f",
        "brotli -cj /home/ann/f",
        "dpkg -x a.deb /home/ann",
        "dpkg-deb --raw-extract a.deb /home/ann/x",
        "cd /home/ann && file -C -m /usr/share/misc/magic",
        "cd /home/ann && file --compile -m x",
    ] {
        check(Mode::Production, line, Verdict::Ask);
    }
    for line in [
        "lz4 -c --rm a",
        "brotli -cj a",
        "dpkg -x a.deb x",
        "dpkg -l",
        "dpkg -c /home/ann/a.deb",
        "file -b x",
    ] {
        check(Mode::Production, line, Verdict::Allow);
    }
}
