//! Files that hold secrets: their names are seen, and their contents are not read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use buddy_exec::{Bounds, Reach, TargetError};
use buddy_protocol::NameSet;

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};

fn bounds(cell: &Cell) -> Bounds {
    let sealed_names =
        NameSet::trees([".ssh"]).with_files([".env", ".env.*", "*.pem"]).without([".env.example"]);
    Bounds { sealed_names, ..cell.bounds() }
}

#[tokio::test]
async fn contents_are_not_read_by_any_name_and_names_are_seen() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for name in [".env", "app/.env.local", "app/keys/a.pem", ".ssh/id", ".env.example", "plain"] {
            cell.file(name, &format!("<{name}>\n"));
        }
        fs::write(cell.out("secret"), "outside\n").unwrap();
        fs::rename(cell.out("secret"), cell.out("x.pem")).unwrap();
        symlink(cell.out("x.pem"), cell.ws("link")).unwrap();
        let script = "cat .env.example plain; cat .env app/.env.local app/keys/a.pem .ssh/id link $OUT/x.pem; \
            mv app moved; cat moved/.env.local; ln moved/.env.local hard; cat hard; cp .env copy; cat copy; \
            tar c . 2>/dev/null | grep -a -o '<[a-z./]*>'; cat /proc/self/root$WS/.env";
        let exit = cell.run_in(bounds(&cell), script).await;
        let shown = exit.stdout.text();
        for name in [".env", "app/.env.local", "app/keys/a.pem", ".ssh/id"] {
            assert!(!shown.contains(&format!("<{name}>")), "{kind:?}: {name}: {shown}");
        }
        assert!(!shown.contains("outside"), "{kind:?}: {shown}");
        assert!(shown.starts_with("<.env.example>\n<plain>\n"), "{kind:?}: {shown}");
        let exit = cell.run_in(bounds(&cell), "ls -A; ls .ssh").await;
        // A directory that looks like the own one of a repository is searched like any other.
        cell.file("HEAD", "ref: refs/heads/main\n");
        for name in ["objects", "refs"] {
            cell.file(&format!("{name}/x"), "");
        }
        let guarded = Bounds { guarded_names: NameSet::trees([".git/config"]), ..bounds(&cell) };
        let shown = cell.run_in(guarded, "cat .env moved/.env.local").await.stdout.text();
        assert!(!shown.contains('<'), "{kind:?}: {shown}");
        for name in [".env\n", ".ssh\n", "id\n"] {
            assert!(exit.stdout.text().contains(name), "{kind:?}: {}", exit.stderr.text());
        }
    }
}

/// Two commands: the first renames a directory, or puts it where no search reaches; the second reads the
/// files in it.
#[tokio::test]
async fn a_secret_stays_sealed_when_its_directory_moves() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        for name in ["a/.docker/config.json", ".ssh/id", "b/.config/gh/hosts.yml", "sub/.env"] {
            cell.file(name, "<secret>\n");
        }
        let names =
            NameSet::trees([".ssh"]).with_files([".docker/config.json", ".config/gh/hosts.yml", ".env"]);
        let bounds = || Bounds {
            sealed_names: names.clone(),
            guarded_names: NameSet::trees([".envrc"]),
            ..cell.bounds()
        };
        let script = "mv a/.docker a/dk; mv .ssh ssh; mv b/.config b/c; mv b/.config/gh b/gh; \
            d=D/$(printf 'e/%.0s' $(seq 80)); mkdir -p $d; mv sub $d/sub";
        cell.run_in(bounds(), script).await;
        let exit = cell.run_in(bounds(), "grep -rhs '<' . ; find . -type f -exec cat {} + 2>/dev/null").await;
        assert_eq!(exit.stdout.text(), "", "{kind:?}");
    }
}

#[tokio::test]
async fn certificates_are_read_and_keys_are_not() {
    let (certificate, key) = ("-----BEGIN CERTIFICATE-----\n<c>\n", "-----BEGIN PRIVATE KEY-----\n<k>\n");
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("cacert.pem", certificate);
        cell.file("both.pem", &format!("{certificate}{key}"));
        cell.file("key.pem", key);
        let exit = cell.run_in(bounds(&cell), "grep -h '<' *.pem").await;
        assert_eq!(exit.stdout.text(), "<c>\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn secrets_in_directories_elsewhere_that_a_command_goes_through_are_sealed() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let place = cell.out("app");
        fs::create_dir_all(place.join("deep/er")).unwrap();
        for name in [".env", "deep/er/key.pem", "deep/plain"] {
            fs::write(place.join(name), format!("<{name}>\n")).unwrap();
        }
        let bounds = Bounds { searched: vec![place.clone()], ..bounds(&cell) };
        let exit = cell
            .run_in(bounds, "grep -rh '<' $OUT/app; cat $OUT/app/.e*; find $OUT/app -type f -exec cat {} +")
            .await;
        assert_eq!(exit.stdout.text(), "<deep/plain>\n<deep/plain>\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn settings_without_a_secret_are_read() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file(".npmrc", "registry=https://mirror.example/\n//mirror.example/:_authToken=${NPM_TOKEN}\n");
        cell.file("app/.npmrc", "//mirror.example/:_authToken=npm_abc\n");
        cell.file("home/.npmrc", "fund=false\n");
        cell.file("home/.yarnrc.yml", "npmAuthToken: abc\n");
        let names = || NameSet::trees([".npmrc", ".yarnrc.yml"]);
        let hidden = vec![cell.ws("home/.npmrc"), cell.ws("home/.yarnrc.yml")];
        let bounds = Bounds { sealed_names: names(), blank_names: names(), hidden, ..cell.bounds() };
        let shown =
            cell.run_in(bounds, "cat .npmrc app/.npmrc home/.npmrc home/.yarnrc.yml").await.stdout.text();
        assert!(shown.contains("registry=") && shown.contains("fund=false"), "{kind:?}: {shown}");
        assert!(!shown.contains("abc"), "{kind:?}: {shown}");
    }
}

/// Runs git as a user would, outside of the jail.
#[expect(clippy::disallowed_methods, reason = "what a user runs is started by no target")]
fn git(cell: &Cell, words: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command
        .args(["-c", "safe.directory=*", "-c", "user.name=n", "-c", "user.email=e", "-C"])
        .arg(cell.ws(""));
    let output = command.args(words).env("HOME", "/nonexistent").output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A repository that tracks secrets, with one commit, some time ago.
fn tracked(kind: Kind) -> Cell {
    let cell = Cell::new(kind);
    for name in ["config/x.pem", ".env", "file", ".npmrc"] {
        cell.file(name, &format!("<{name}>\n"));
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        fs::File::open(cell.ws(name)).unwrap().set_modified(then).unwrap();
    }
    fs::set_permissions(cell.ws(".env"), fs::Permissions::from_mode(0o755)).unwrap();
    git(&cell, &["init", "-q", "-b", "main"]);
    git(&cell, &["add", "."]);
    git(&cell, &["commit", "-qm", "one"]);
    let mut left = vec![cell.ws(".git")];
    while let Some(path) = left.pop() {
        cell.give(&path);
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    cell
}

#[tokio::test]
async fn git_sees_tracked_secrets_unchanged_and_commits_none_of_them() {
    for kind in ALL {
        let cell = tracked(kind);
        let sealed_names = NameSet::trees([".npmrc"]).with_files([".env", "*.pem"]);
        let blank_names = NameSet::trees([".npmrc"]);
        let bounds = || Bounds {
            sealed_names: sealed_names.clone(),
            blank_names: blank_names.clone(),
            ..cell.bounds()
        };
        let exit = cell
            .run_in(bounds(), "export HOME=/nonexistent; git status -s; git diff; git diff --stat HEAD")
            .await;
        assert_eq!((exit.stdout.text(), exit.stderr.text()), (String::new(), String::new()), "{kind:?}");
        let script = "export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; \
            set -e; echo two >> file; git stash -q; git stash pop -q; git add -A; git commit -qm two; echo three >> file; \
            git commit -qam three; git show --format= --name-only HEAD HEAD~";
        let exit = cell.run_in(bounds(), script).await;
        // Without mounts nothing is made beside a sealed file, so `git stash` cannot write there.
        if WITH_MOUNTS.contains(&kind) {
            assert_eq!(exit.stdout.text(), "file\nfile\n", "{kind:?}: {}", exit.stderr.text());
        }
        // Every way of a command to have git read them.
        let script = "export HOME=/nonexistent GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; \
            cat .env config/x.pem .npmrc; unset GIT_CONFIG_COUNT; chmod +r .env; touch .env .npmrc; git add -A; git commit -qam four; \
            git rm -q --cached .env .npmrc; git add -A; git commit -qam five; git update-index --really-refresh";
        let exit = cell.run_in(bounds(), script).await;
        assert!(!exit.stdout.text().contains('<'), "{kind:?}: {}", exit.stdout.text());
        assert!(exit.stderr.text().contains("Permission denied"), "{kind:?}: {}", exit.stderr.text());
        for name in [".env", "config/x.pem", ".npmrc"] {
            let committed = git(&cell, &["log", "--format=", "-p", "--", name]);
            let added: Vec<&str> =
                committed.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
            assert_eq!(added, [format!("+<{name}>")], "{kind:?}: {name}: {committed}");
            assert_eq!(fs::read_to_string(cell.ws(name)).unwrap(), format!("<{name}>\n"), "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_further_name_of_a_secret_is_sealed_too() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file(".env", "<secret>\n");
        cell.file("app/x", "<app>\n");
        fs::hard_link(cell.ws(".env"), cell.ws("notes.txt")).unwrap();
        fs::hard_link(cell.out("secret"), cell.ws("app/hidden.txt")).unwrap();
        let bounds = Bounds { hidden: vec![cell.out("secret")], ..bounds(&cell) };
        let exit = cell.run_in(bounds.clone(), "cat notes.txt app/hidden.txt; cat app/x").await;
        assert_eq!(exit.stdout.text(), "<app>\n", "{kind:?}");
        let still = Bounds { write: Reach::Nothing, ..bounds.clone() };
        let exit = cell.run_in(still, "cat notes.txt app/hidden.txt; cat app/x").await;
        assert_eq!(exit.stdout.text(), "<app>\n", "{kind:?}: where nothing is written");
        let opened = Bounds { opened: vec![cell.ws(".env")], ..bounds };
        assert_eq!(cell.run_in(opened, "cat notes.txt").await.stdout.text(), "<secret>\n", "{kind:?}");
    }
}

#[tokio::test]
async fn an_opened_file_is_read_and_the_home_is_sealed_too() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file(".env", "secret\n");
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("project")).unwrap();
        fs::write(home.path().join("project/.env"), "of the home\n").unwrap();
        cell.give(home.path());
        let opened = Bounds { opened: vec![cell.ws(".env")], ..bounds(&cell) };
        let mut exec = cell.exec(opened, "cat .env $HOME/project/.env");
        exec.env.push(("HOME".into(), home.path().to_str().unwrap().into()));
        assert_eq!(cell.stage.run(exec).await.stdout.text(), "secret\n", "{kind:?}");
    }
}

#[tokio::test]
async fn secrets_that_a_command_makes_are_its_own() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let exit = cell.run_in(bounds(&cell), "echo own > .env; cat .env").await;
        assert_eq!(exit.stdout.text(), "own\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn decoys_do_not_leave_a_secret_open() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for number in 0..500 {
            cell.file(&format!(".env.{number}"), "decoy\n");
        }
        cell.file("deep/down/.env", "secret\n");
        let script = "cat deep/down/.env; find . -name .env -exec cat {} +";
        let error = cell.stage.start(cell.exec(bounds(&cell), script)).await.unwrap_err();
        assert!(
            matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bounds"),
            "{kind:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn the_targets_of_links_with_secret_names_and_copies_are_sealed() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for name in ["conf/production", "awsc", "store/mail", "by-place", "x.pem.bak", ".ssh.old/id", "plain"]
        {
            cell.file(name, &format!("<{name}>\n"));
        }
        cell.file(".ssh/config", "<config>\n");
        cell.file("ca", "-----BEGIN CERTIFICATE-----\n<ca>\n");
        symlink("conf/production", cell.ws(".env")).unwrap();
        symlink("../awsc", cell.ws(".ssh/id")).unwrap();
        symlink("ca", cell.ws("ca.pem")).unwrap();
        symlink("plain", cell.ws(".env.example")).unwrap();
        fs::create_dir(cell.ws("deep")).unwrap();
        symlink("../store", cell.ws("deep/.ssh")).unwrap();
        let names = bounds(&cell).sealed_names.with_copies();
        let bounds = Bounds { sealed_names: names, sealed: vec![cell.ws("by-place")], ..cell.bounds() };
        let script = "cat .env conf/production awsc .ssh/id .ssh/config store/mail by-place x.pem.bak .ssh.old/id; \
            cat ca plain .env.example | grep '<'; ln awsc hard && cat hard";
        let exit = cell.run_in(bounds, script).await;
        assert_eq!(exit.stdout.text(), "<ca>\n<plain>\n<plain>\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn a_link_with_a_secrets_name_to_a_program_stops_no_command() {
    for kind in ALL {
        let cell = Cell::new(kind);
        symlink("/usr/bin/env", cell.ws(".env")).unwrap();
        symlink("/usr", cell.ws(".ssh")).unwrap();
        let exit = cell.run_in(bounds(&cell), "env true && echo ran").await;
        assert_eq!(exit.stdout.text(), "ran\n", "{kind:?}: {}", exit.stderr.text());
    }
}

/// A command that only reads, in a home with the names `w` for the workspace and `p` for other projects.
fn reading(cell: &Cell, script: &str) -> buddy_exec::Exec {
    let bounds = Bounds { write: Reach::Nothing, anchors: vec![cell.ws(""), cell.out("w")], ..bounds(cell) };
    let mut exec = cell.exec(bounds, script);
    exec.env.push(("HOME".into(), cell.out("").to_str().unwrap().trim_end_matches('/').into()));
    exec
}

#[tokio::test]
async fn more_secrets_than_mounts_leave_none_open() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for number in 0..150 {
            cell.file(&format!(".env.{number}"), "decoy\n");
            let project = cell.out(&format!("p/{number}"));
            fs::create_dir_all(&project).unwrap();
            fs::write(project.join(".env"), "<secret>\n").unwrap();
            fs::write(project.join("plain"), format!("plain {number}\n")).unwrap();
        }
        cell.file("app/deep/.env", "<secret>\n");
        let script =
            "cat app/deep/.env $OUT/p/*/.env; grep -r '<' . $OUT/p; cat $OUT/p/149/plain; ls -A $OUT/p/149";
        let exit = cell.stage.run(reading(&cell, script)).await;
        assert_eq!(exit.stdout.text(), "plain 149\n.env\nplain\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn a_flood_of_names_leaves_no_secret_of_another_project_open() {
    for kind in [Kind::Full, Kind::Bare] {
        let cell = Cell::new(kind);
        fs::create_dir_all(cell.out("w")).unwrap();
        for number in 0..25_000 {
            fs::write(cell.out(&format!("w/{number}")), "").unwrap();
        }
        for number in 0..6 {
            fs::create_dir_all(cell.out(&format!("p{number}"))).unwrap();
            fs::write(cell.out(&format!("p{number}/.env")), "<secret>\n").unwrap();
            fs::write(cell.out(&format!("p{number}/plain")), "plain\n").unwrap();
        }
        let exit =
            cell.stage.run(reading(&cell, "cat $OUT/p?/.env; cat $OUT/p3/plain $OUT/w/7 && echo read")).await;
        assert_eq!(exit.stdout.text(), "plain\nread\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn files_of_a_directory_with_too_many_names_are_not_read() {
    for kind in [Kind::Full, Kind::Bare] {
        let cell = Cell::new(kind);
        fs::create_dir_all(cell.out("p")).unwrap();
        for number in 0..21_000 {
            fs::write(cell.out(&format!("p/{number}")), "").unwrap();
        }
        fs::write(cell.out("p/.env"), "<secret>\n").unwrap();
        fs::create_dir_all(cell.out("q")).unwrap();
        fs::write(cell.out("q/plain"), "plain\n").unwrap();
        let exit =
            cell.stage.run(reading(&cell, "cat $OUT/p/.env; cat $OUT/q/plain; cat $OUT/sentinel")).await;
        assert_eq!(exit.stdout.text(), "plain\nsentinel\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn a_further_name_of_a_secret_in_another_project_is_sealed_too() {
    for kind in ALL {
        let cell = Cell::new(kind);
        fs::create_dir_all(cell.out("p")).unwrap();
        fs::write(cell.out("p/.env"), "<secret>\n").unwrap();
        fs::hard_link(cell.out("p/.env"), cell.out("p/settings.txt")).unwrap();
        let exit =
            cell.stage.run(reading(&cell, "cat $OUT/p/.env $OUT/p/settings.txt; cat $OUT/sentinel")).await;
        assert_eq!(exit.stdout.text(), "sentinel\n", "{kind:?}: {}", exit.stderr.text());
    }
}

/// A link that the user has at the start of a name: the rest of the name holds secrets behind it.
#[tokio::test]
async fn secrets_behind_a_link_are_sealed_by_the_whole_name() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let secrets =
            ["conf/dk/config.json", "conf/dk/config.json.bak", "c2/gh/hosts.yml", "g4/x.db", "c3/gh/y"];
        for name in secrets.iter().chain(&["conf/dk/plain", "c2/plain", "plain"]) {
            cell.file(name, &format!("<{name}>\n"));
        }
        fs::create_dir_all(cell.ws("deep/er")).unwrap();
        for (target, name) in [
            ("conf/dk", ".docker"),
            ("c2", ".config"),
            ("../g4", "c2/gcloud"),
            ("../../middle", "deep/er/.config"),
            ("c3", "middle"),
        ] {
            symlink(target, cell.ws(name)).unwrap();
        }
        let names = NameSet::trees([".config/gh", ".config/gcloud"]).with_files([".docker/config.json"]);
        let bounds = Bounds { sealed_names: names.with_copies(), ..cell.bounds() };
        let script =
            format!("cat {} conf/dk/plain c2/plain plain; cat .docker/* .config/*/*", secrets.join(" "));
        let exit = cell.run_in(bounds, &script).await;
        let shown = exit.stdout.text();
        for name in secrets {
            assert!(!shown.contains(&format!("<{name}>")), "{kind:?}: {name}: {shown}");
        }
        assert!(
            shown.starts_with("<conf/dk/plain>\n<c2/plain>\n<plain>\n"),
            "{kind:?}: {}",
            exit.stderr.text()
        );
    }
}

/// Links at the start of names that are too many to look behind leave no secret open.
#[tokio::test]
async fn decoys_of_links_do_not_leave_a_secret_open() {
    let cell = Cell::new(Kind::Ordinary);
    cell.file("x/plain", "plain\n");
    for number in 0..1_100 {
        fs::create_dir(cell.ws(&format!("d{number}"))).unwrap();
        symlink("../x", cell.ws(&format!("d{number}/.docker"))).unwrap();
    }
    let names = NameSet::default().with_files([".docker/config.json"]);
    let bounds = Bounds { sealed_names: names, ..cell.bounds() };
    let error = cell.stage.start(cell.exec(bounds, "cat x/plain")).await.unwrap_err();
    assert!(matches!(&error, TargetError::NotJailed { layer, .. } if layer == "bounds"), "{error:?}");
}
