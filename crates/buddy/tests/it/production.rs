//! Production keeps buddy's own directories from commands that nobody was asked about, and your other sessions from all commands: with
//! bubblewrap, without it, and where no mount can be made.

mod gnu_screen;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Program;
use serde_json::{Value, json};

use crate::stage::{Stage, done, shell};

/// How long something that has to happen may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The means of a machine to hide files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machine {
    Bubblewrap,
    OnlyNamespaces,
    Nothing,
}

const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";
const WITHOUT_MOUNTS: &str = "echo 0 > /proc/sys/user/max_mnt_namespaces";

/// Buddy on such a machine, in production.
fn buddy(stage: &Stage, machine: Machine, words: &str) -> Program {
    let program = match machine {
        Machine::Bubblewrap => stage.in_bash(&format!("exec \"$BUDDY\" {words}")),
        Machine::OnlyNamespaces => stage.in_bash(&format!(
            "exec unshare --map-root-user --mount sh -c '{WITHOUT_BUBBLEWRAP} && exec \"$BUDDY\" {words}'"
        )),
        Machine::Nothing => stage.in_bash(&format!(
            "exec unshare --map-root-user --mount sh -c '{WITHOUT_BUBBLEWRAP} && {WITHOUT_MOUNTS} && exec \"$BUDDY\" {words}'"
        )),
    };
    program.env("BUDDY_ENV", "production")
}

async fn stage(commands: &[String]) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    fs::write(stage.home.work().join("plain.txt"), "plain\n").unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    let calls = commands.iter().map(|line| turn().call("run_shell", shell(line)));
    stage.server = ModelServer::start(calls.chain([done()]).collect::<Vec<Turn>>()).await;
    stage
}

/// A command that only reads, and a model that says so.
fn reader() -> Turn {
    let mut call = shell("cat plain.txt");
    call["mutation"] = json!(false);
    turn().call("run_shell", call)
}

/// Commands that would give themselves every right, for the next time that buddy starts.
fn planting(stage: &Stage) -> Vec<String> {
    let (data, config) = (stage.home.data(), stage.home.path().join(".config/buddy"));
    let (data, config) = (data.display(), config.display());
    vec![
        format!("echo all > {data}/grants.json"),
        format!(
            "sh -c 'echo all > {data}/trusted.json; mkdir -p {data}/config; echo all > {data}/config/guards.toml'"
        ),
        format!("mkdir -p {config}; echo all > {config}/rules.toml; echo all > {config}/config.toml"),
        format!("python3 -c 'open(\"{data}/grants.json\", \"w\").write(\"all\")'"),
        format!("python3 -c 'import os; os.rename(\"{data}\", \"{data}2\")'"),
        format!("rm -rf {data}/logs {data}/buddy.db"),
        "echo ran > ran.txt".to_owned(),
        format!("echo kept > {data}/shared/note.txt"),
    ]
}

/// Programs that write into a directory, or through a link, as they are given: each overwrites buddy's files and its log.
fn unpacking(stage: &Stage) -> Vec<String> {
    let (data, config) = (stage.home.data(), stage.home.path().join(".config/buddy"));
    let (data, config) = (data.display(), config.display());
    vec![
        format!("tar xf evil.tar -C {data}"),
        format!("tar xf evil.tar -C {config}"),
        format!("tar cf - -C evil . | tar xf - -C {data}"),
        format!("unzip -oq evil.zip -d {data}"),
        format!("cd {data} && unzip -oq {}/evil.zip", stage.home.work().display()),
        format!("rsync -a evil/ {data}/"),
        format!("rsync -a --delete evil/ {data}/"),
        format!("rsync -a --remove-source-files {data}/ taken/"),
        format!("sqlite3 {data}/buddy.db \"PRAGMA writable_schema = ON; DELETE FROM events\""),
        format!("sqlite3 {data}/buddy.db .dump > dump.sql"),
        format!("sqlite3 evil.db \"ATTACH '{data}/buddy.db' AS own; DROP TABLE own.events\""),
        format!("cp -a evil/. {data}/"),
        format!("ln -sfn {data} own; cp evil/grants.json own/"),
        format!("ln -f {data}/buddy.db twin.db; sqlite3 twin.db 'DELETE FROM events'"),
        format!("bsdtar xf evil.tar -C {data}"),
        format!("cd evil && find . | cpio -pdum {data}"),
        format!("install -m 644 evil/grants.json {data}/grants.json"),
        format!("dd if=evil/grants.json of={data}/buddy.db conv=notrunc"),
    ]
}

/// An archive of each kind with files of buddy's own names, and a makefile that runs these commands.
async fn add_archives(stage: &Stage, commands: &[String]) {
    let make = "mkdir -p evil/config && for f in grants.json trusted.json anchors buddy.db rules.toml config.toml config/guards.toml; \
                do echo all > evil/$f; done && tar cf evil.tar -C evil . && (cd evil && zip -qr ../evil.zip .)";
    stage.in_bash(make).run().await.expect_code(0);
    let rows: Vec<String> = commands.iter().map(|line| format!("\t-{}\n", line.replace('$', "$$"))).collect();
    let rows = rows.concat();
    fs::write(stage.home.work().join("Makefile"), format!("all:\n{rows}\techo built > built.txt\n")).unwrap();
}

#[tokio::test]
async fn no_archiver_copier_or_database_writes_files_of_buddys_own_unasked() {
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces, Machine::Nothing] {
        let mut stage = stage(&[]).await;
        let commands = unpacking(&stage);
        add_archives(&stage, &commands).await;
        let calls = commands.iter().map(|line| turn().call("run_shell", shell(line)));
        let make = turn().call("run_shell", shell("make"));
        stage.server = ModelServer::start(calls.chain([make, done()]).collect::<Vec<Turn>>()).await;
        let (data, config) = (stage.home.data(), stage.home.path().join(".config/buddy"));
        let before = fs::read(data.join("trusted.json")).unwrap();
        buddy(&stage, machine, "exec -c agent.max_iterations=200 go").run().await;
        // This reads the log and checks it.
        let results = stage.results();
        assert_eq!(results.len(), commands.len() + 1, "{machine:?}: {results:?}");
        assert_eq!(fs::read(data.join("trusted.json")).unwrap(), before, "{machine:?}: {results:?}");
        for name in ["grants.json", "config/guards.toml", "rules.toml", "config.toml"] {
            assert!(
                !data.join(name).exists() && !config.join(name).exists(),
                "{machine:?}: {name}: {results:?}"
            );
        }
        let work = stage.home.work();
        assert!(!work.join("taken/trusted.json").exists(), "{machine:?}: {results:?}");
        let dumped = fs::read_to_string(work.join("dump.sql")).unwrap_or_default();
        assert!(!dumped.contains("CREATE TABLE events"), "{machine:?}: {dumped}");
        let is_built = work.join("built.txt").exists();
        assert_eq!(
            is_built,
            machine != Machine::Nothing,
            "{machine:?}: the makefile ran them all: {results:?}"
        );
    }
}

#[tokio::test]
async fn no_unasked_command_makes_files_of_buddys_own() {
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces, Machine::Nothing] {
        let mut stage = stage(&[]).await;
        let commands = planting(&stage);
        let calls = commands.iter().map(|line| turn().call("run_shell", shell(line)));
        stage.server = ModelServer::start(calls.chain([reader(), done()]).collect::<Vec<Turn>>()).await;
        let config = stage.home.path().join(".config/buddy");
        let before = fs::read(stage.home.data().join("trusted.json")).unwrap();
        buddy(&stage, machine, "exec -c agent.max_iterations=200 go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), commands.len() + 1, "{machine:?}: {results:?}");
        assert!(!stage.home.data().join("grants.json").exists(), "{machine:?}");
        assert!(!stage.home.data().join("config/guards.toml").exists(), "{machine:?}");
        assert_eq!(fs::read(stage.home.data().join("trusted.json")).unwrap(), before, "{machine:?}");
        assert!(!config.join("rules.toml").exists() && !config.join("config.toml").exists(), "{machine:?}");
        assert!(stage.home.data().join("buddy.db").exists() && stage.home.data().join("logs").exists());
        let (can_hide, work) = (machine != Machine::Nothing, stage.home.work());
        assert_eq!(work.join("ran.txt").exists(), can_hide, "{machine:?}: {results:?}");
        assert_eq!(stage.home.data().join("shared/note.txt").exists(), can_hide, "{machine:?}: {results:?}");
        let last = results.last().unwrap();
        assert_eq!(last["result"]["stdout"], "plain\n", "{machine:?}: {last}");
        let told = results.iter().any(|result| result.to_string().contains("install bubblewrap"));
        assert_eq!(told, !can_hide, "{machine:?}: {results:?}");
    }
}

/// Links that a repository carries, in every way that leads through them.
const THROUGH_LINKS: &[&str] = &[
    "rm -r out/",
    "rm -rf out/*",
    "rm out/*.txt",
    "find out/ -type f -delete",
    "find out/ -exec rm -rf {} +",
    "find -L . -type f -exec truncate -s0 {} +",
    "truncate -s0 o*t/f.txt",
    "truncate -s0 fl*",
    "tee fl* < plain.txt",
    "sort -o flin[k] plain.txt",
    "cp d/flink fl*",
    "cp -r d/. .",
    "tar cf t.tar -C d flink && tar xf t.tar --overwrite",
    "gzip -rf out",
    "printf x >> deep/er/flink",
];

#[tokio::test]
async fn no_link_carries_a_change_out_of_the_workspace_unasked() {
    let commands: Vec<String> = THROUGH_LINKS.iter().map(|&line| line.to_owned()).collect();
    let stage = stage(&commands).await;
    let (work, outside) = (stage.home.work(), stage.home.path().join("vic"));
    for directory in [&outside, &work.join("d"), &work.join("deep/er")] {
        fs::create_dir_all(directory).unwrap();
    }
    fs::write(outside.join("f.txt"), "kept\n").unwrap();
    fs::write(work.join("d/flink"), "other\n").unwrap();
    std::os::unix::fs::symlink(&outside, work.join("out")).unwrap();
    for link in ["flink", "deep/er/flink"] {
        std::os::unix::fs::symlink(outside.join("f.txt"), work.join(link)).unwrap();
    }
    buddy(&stage, Machine::Bubblewrap, "exec -c agent.max_iterations=200 go").run().await;
    let results = stage.results();
    assert_eq!(results.len(), commands.len());
    for (line, result) in commands.iter().zip(&results) {
        assert!(result["error"]["code"] == "approval_needed", "{line}: {result}");
    }
    assert_eq!(fs::read_to_string(outside.join("f.txt")).unwrap(), "kept\n");
}

/// Lines that bring a tracked link to a place and then change something through it.
const MOVED_LINKS: &[&str] = &[
    "mv lf g && echo x > g",
    "mv lf g; tee g < plain.txt",
    "mv lf near/ && echo x > near/lf",
    "mv l* near && echo x > near/lf",
    "bash -c 'mv lf g'; cat plain.txt > g",
    "cp -a lf g && echo x > g",
    "cp -a lf h && mv h g && echo x > g",
    "cp -r d c; echo x > c/out/f.txt",
    "cp -r d c && rm c/out/f.txt",
    "cp -r d c && truncate -s 0 c/out/f.txt",
    "rsync -a d/ c && echo x > c/out/f.txt",
    "ln lf g && echo x > g",
];

/// A repository with links to `../vic`.
const LINKS: &str = "set -e; git init -q . && git config user.email a@b.example && git config user.name a
ln -s ../vic/f.txt lf && mkdir d near && ln -s ../../vic d/out && git add -A && git commit -q -m one";

/// The same with links that come out of an archive, from a branch, a stash or a patch.
const UNPACKED_LINKS: &[&str] = &[
    "tar xf a.tar && tee out/f.txt < plain.txt",
    "tar xf a.tar -C sub && cp plain.txt sub/out/f.txt",
    "tar xf a.tar; cd out; echo x > f.txt",
    "tar xf a.tar && tar xf b.tar",
    "(sleep 1; echo x > out/f.txt) & tar xf a.tar; wait",
    "for i in 1 2; do echo x > out/f.txt; tar xf a.tar; done",
    "unzip -q a.zip && cp plain.txt out/f.txt",
    "git checkout -q links && cp plain.txt out/f.txt",
    "git stash pop -q; cp plain.txt out/f.txt",
    "git apply links.diff && cp plain.txt out/f.txt",
    "patch -p1 < links.diff && cp plain.txt out/f.txt",
];

/// A tree without a link, and archives, a branch, a stash and a patch with links to `../vic`.
const PACKED: &str = "set -e; git init -q -b main . && git config user.email a@b.example && git config user.name a
mkdir near sub && echo a > near/a.txt && git add -A && git commit -q -m one
mkdir packed && (cd packed && ln -s ../vic out && tar cf ../a.tar out && zip -qy ../a.zip out)
rm -r packed && mkdir -p packed/out && echo x > packed/out/f.txt && tar cf b.tar -C packed out/f.txt && rm -r packed
git checkout -q -b links && ln -s ../vic out && git add out && git commit -q -m two && git diff HEAD~1 HEAD > links.diff
git checkout -q main && ln -s ../vic out && git stash push -q -u -- out";

/// buddy's results for lines in a tree that a script makes, beside `vic/f.txt`.
async fn beside_a_victim(lines: &[&str], tree: &str, words: &str) -> (Vec<Value>, String) {
    let commands: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    let stage = stage(&commands).await;
    let victim = stage.home.path().join("vic/f.txt");
    fs::create_dir_all(victim.parent().unwrap()).unwrap();
    fs::write(&victim, "kept\n").unwrap();
    stage.in_bash(tree).run().await.expect_code(0);
    buddy(&stage, Machine::Bubblewrap, words).run().await;
    let results = stage.results();
    assert_eq!(results.len(), lines.len());
    (results, fs::read_to_string(victim).unwrap_or_default())
}

#[tokio::test]
async fn no_link_that_the_line_itself_brings_carries_a_change_out_unasked() {
    for (lines, tree) in [(MOVED_LINKS, LINKS), (UNPACKED_LINKS, PACKED)] {
        let (results, victim) = beside_a_victim(lines, tree, "exec -c agent.max_iterations=200 go").await;
        let refused = |result: &Value| result["error"]["code"] == "approval_needed";
        let ran: Vec<(&&str, &Value)> =
            lines.iter().zip(&results).filter(|(_, result)| !refused(result)).collect();
        assert!(ran.is_empty(), "{ran:#?}");
        assert_eq!(victim, "kept\n");
        // The links lead there: once everything is approved, the first line does what it says.
        let (_, victim) = beside_a_victim(&lines[..1], tree, "exec --approve all go").await;
        assert_ne!(victim, "kept\n");
    }
}

/// The same programs where no link comes.
#[tokio::test]
async fn lines_that_bring_no_link_run_unasked() {
    let lines = [
        "mv near/a.txt b.txt && echo x > b.txt",
        "cp -r near far && echo x > far/a.txt",
        "mkdir -p up && tar xf b.tar -C up",
        "git checkout -q -b new && echo x > n.txt",
        "echo x > l2 && mv l2 l3 && rm l3",
        "tar xf b.tar > log.txt",
    ];
    let (results, _) = beside_a_victim(&lines, PACKED, "exec -c agent.max_iterations=200 go").await;
    for (line, result) in lines.iter().zip(&results) {
        assert_eq!(result["result"]["exit_code"], 0, "{line}: {result}");
    }
}

/// The setting holds where there is no other jail.
#[tokio::test]
async fn without_the_network_no_command_reaches_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("import socket\nsocket.create_connection((\"127.0.0.1\", {port}), 5)\n");
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces] {
        let stage = stage(&["echo x > ran.txt; python3 s.py".to_owned()]).await;
        fs::write(stage.home.work().join("s.py"), &script).unwrap();
        buddy(&stage, machine, "exec -c tools.network=false go").run().await;
        assert!(stage.home.work().join("ran.txt").exists(), "{machine:?}: {:?}", stage.results());
        assert!(listener.accept().is_err(), "{machine:?}");
    }
}

#[tokio::test]
async fn where_nothing_can_be_hidden_a_command_runs_once_a_person_allowed_it() {
    let commands = ["echo ran > ran.txt".to_owned(), "echo more > more.txt".to_owned()];
    let stage = stage(&commands).await;
    let mut started = buddy(&stage, Machine::Nothing, "").converse();
    started.write(b"go\n").await;
    for count in 1..=2 {
        started.stderr.wait_for("-- approve? [", count).await;
        started.stderr.wait_for("/n] ", count).await;
        let said = started.stderr.text();
        assert!(said.contains("install bubblewrap"), "{said}");
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{}\n", if count == 1 { &yes } else { "n" }).as_bytes()).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(fs::read_to_string(stage.home.work().join("ran.txt")).unwrap(), "ran\n");
    assert!(!stage.home.work().join("more.txt").exists());
}

#[tokio::test]
async fn where_nothing_can_be_hidden_all_means_all() {
    let stage = stage(&["echo ran > ran.txt".to_owned()]).await;
    buddy(&stage, Machine::Nothing, "exec --approve all go").run().await.expect_code(0);
    assert_eq!(fs::read_to_string(stage.home.work().join("ran.txt")).unwrap(), "ran\n");
}

/// A tmux of the user, in which a program writes down what is typed.
struct Server {
    socket: PathBuf,
    typed: PathBuf,
}

impl Server {
    fn start(place: &Path, name: &str) -> Self {
        let server = Self { socket: place.join(name), typed: place.join(format!("{name}.typed")) };
        let keep = format!("exec cat > {}", server.typed.display());
        server.tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "mine", &keep]);
        server
    }

    #[expect(clippy::disallowed_methods, reason = "the test plays a user with a tmux of their own")]
    fn tmux(&self, words: &[&str]) {
        let mut command = std::process::Command::new("tmux");
        assert!(
            command.arg("-S").arg(&self.socket).args(words).env_remove("TMUX").status().unwrap().success()
        );
    }

    /// The typed text, once a line of the user's own has arrived.
    async fn typed(&self) -> String {
        self.tmux(&["send-keys", "-t", "mine", "end-of-test", "Enter"]);
        let end = Instant::now() + PATIENCE;
        loop {
            let text = fs::read_to_string(&self.typed).unwrap_or_default();
            if text.ends_with("end-of-test\n") {
                return text.replace("end-of-test\n", "");
            }
            assert!(Instant::now() < end, "nothing can be typed there at all: {text:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[tokio::test]
async fn no_command_types_through_a_server_of_the_person() {
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces] {
        let place = tempfile::tempdir().unwrap();
        // The one that buddy runs in, and one that only a look finds.
        let [outer, other] = ["outer", "other"].map(|name| Server::start(place.path(), name));
        let sockets = [&outer, &other].map(|server| server.socket.display().to_string());
        let say = |word: &str| -> String {
            let line = |socket: &String| {
                format!(
                    "tmux -S {socket} send-keys -t mine {word} Enter; tmux -S {socket} run-shell 'echo {word} > {socket}.ran'; "
                )
            };
            sockets.iter().map(line).collect()
        };
        // Nobody is asked about a build, and the user is asked about tmux.
        let commands = ["make".to_owned(), say("asked")];
        let stage = stage(&commands).await;
        fs::write(
            stage.home.work().join("Makefile"),
            format!("all:\n\t-{}\n\tenv > environment\n\techo built > built\n", say("unasked")),
        )
        .unwrap();
        let program =
            buddy(&stage, machine, "").env("TMUX", format!("{},1,0", sockets[0])).env("DISPLAY", ":7");
        let mut started = program.converse();
        started.write(b"go\n").await;
        started.stderr.wait_for("-- approve? [", 1).await;
        started.stderr.wait_for("/n] ", 1).await;
        let said = started.stderr.text();
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{yes}\n").as_bytes()).await;
        started.stdout.wait_for("So be it.", 1).await;
        let own = format!("!tmux -S {} send-keys -t mine own Enter; exit 3\n", sockets[0]);
        started.write(own.as_bytes()).await;
        started.stderr.wait_for("exit code 3", 1).await;
        started.finish().await.expect_code(0);
        let results = stage.results();
        assert_eq!(
            fs::read_to_string(stage.home.work().join("built")).unwrap(),
            "built\n",
            "{machine:?}: {results:?}"
        );
        let environment = fs::read_to_string(stage.home.work().join("environment")).unwrap();
        assert!(!environment.contains("TMUX=") && !environment.contains("DISPLAY="), "{environment}");
        assert_eq!(outer.typed().await, "own\n", "{machine:?}: {results:?}");
        assert!(!Path::new(&format!("{}.ran", sockets[0])).exists(), "{machine:?}: {results:?}");
        // Without bubblewrap this buddy is in a namespace of users of its own, from which the servers outside cannot be looked at.
        if machine == Machine::Bubblewrap {
            assert_eq!(other.typed().await, "", "{machine:?}: {results:?}");
            assert!(!Path::new(&format!("{}.ran", sockets[1])).exists(), "{machine:?}: {results:?}");
        }
    }
}

/// A repository in the workspace whose history holds a secret.
const TRACKED: &str = "git init -q && echo KEY=s3cr3t > .env && echo x > a.txt && mkdir sub && echo y > sub/b.txt && git add -f . \
     && git -c user.email=x@example.org -c user.name=x commit -qm first && git clone -q . plain && rm plain/.env \
     && git -C plain -c user.email=x@example.org -c user.name=x commit -qam second";

#[tokio::test]
async fn a_secret_that_git_tracks_does_not_come_out_of_its_store_unasked() {
    let asked = [
        "git show HEAD:.env",
        "git show",
        "git log -p",
        "git grep KEY HEAD",
        "git cat-file -p $(git rev-parse HEAD:.env)",
        "git archive HEAD | tar xO .env",
        "git blame .env",
        "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD",
        "git format-patch --root --stdout HEAD",
        "git checkout-index --prefix=x -a; cat x.env",
        "git bundle create all HEAD",
        "git -C sub show HEAD:.env",
        "cd sub && git log -p",
        "npm exec -c 'git show HEAD:.env'",
    ];
    let unasked = [
        "git status --short",
        "git log --oneline",
        "git show HEAD:a.txt",
        "git log -p -- sub",
        "git show --stat",
    ];
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces] {
        let lines: Vec<String> = asked.iter().chain(&unasked).map(|line| (*line).to_owned()).collect();
        let stage = stage(&lines).await;
        stage.in_bash(TRACKED).run().await.expect_code(0);
        buddy(&stage, machine, "exec -c agent.max_iterations=200 go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), lines.len(), "{machine:?}: {results:?}");
        for (line, result) in lines.iter().zip(&results) {
            assert!(!result.to_string().contains("s3cr3t"), "{machine:?} {line}: {result}");
        }
        assert!(!stage.home.work().join("all").exists() && !stage.home.work().join("x.env").exists());
        for (line, result) in unasked.iter().zip(results.iter().skip(asked.len())) {
            assert_eq!(result["result"]["exit_code"], 0, "{machine:?} {line}: {result}");
        }
    }
}

#[tokio::test]
async fn no_reader_tells_secrets_behind_a_link_in_the_workspace() {
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces] {
        let mut stage = stage(&[]).await;
        let work = stage.home.work();
        for (name, link, target) in
            [("conf/dk/config.json", ".docker", "conf/dk"), ("c2/gcloud/x.db", "sub/.config", "../c2")]
        {
            fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
            fs::write(work.join(name), "s3cr3t\n").unwrap();
            fs::create_dir_all(work.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, work.join(link)).unwrap();
        }
        let lines =
            ["cat plain.txt", "cat conf/dk/config.json", "grep -rh . .", "head c2/gcloud/x.db", "cat c2/*/*"];
        let read = |line: &&str| {
            let mut call = shell(line);
            call["mutation"] = json!(false);
            turn().call("run_shell", call)
        };
        let file = turn().call("read_file", json!({"path": "c2/gcloud/x.db"}));
        let search = turn().call("grep", json!({"pattern": ".", "all": true}));
        let turns: Vec<Turn> = lines.iter().map(read).chain([file, search, done()]).collect();
        stage.server = ModelServer::start(turns).await;
        buddy(&stage, machine, "exec -c agent.max_iterations=200 go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), lines.len() + 2, "{machine:?}: {results:?}");
        assert!(
            results.iter().all(|result| !result.to_string().contains("s3cr3t")),
            "{machine:?}: {results:?}"
        );
        assert!(results[0].to_string().contains("plain\\n"), "{machine:?}: {results:?}");
    }
}

#[tokio::test]
async fn a_repository_that_tracks_no_secret_is_read_unasked() {
    let lines = ["git -C plain show --format= HEAD:a.txt", "git -C plain log -p", "git -C plain grep x"];
    let stage = stage(&lines.map(str::to_owned)).await;
    stage.in_bash(TRACKED).run().await.expect_code(0);
    buddy(&stage, Machine::Bubblewrap, "exec -c agent.max_iterations=200 go").run().await;
    let results = stage.results();
    assert_eq!(results.len(), lines.len(), "{results:?}");
    for (line, result) in lines.iter().zip(&results) {
        assert_eq!(result["result"]["exit_code"], 0, "{line}: {result}");
    }
}

#[tokio::test]
async fn once_a_person_allowed_it_the_secret_is_read_and_the_session_is_marked() {
    let lines = ["git show HEAD:.env", "curl -s http://127.0.0.1:9/"];
    let stage = stage(&lines.map(str::to_owned)).await;
    stage.in_bash(TRACKED).run().await.expect_code(0);
    let mut started = buddy(&stage, Machine::Bubblewrap, "").converse();
    started.write(b"go\n").await;
    for count in 1..=2 {
        started.stderr.wait_for("-- approve? [", count).await;
        started.stderr.wait_for("/n] ", count).await;
        let said = started.stderr.text();
        assert!(said.contains(".env`, which can hold secrets"), "{said}");
        assert_eq!(said.contains("this session could have read a secret"), count == 2, "{said}");
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{}\n", if count == 1 { &yes } else { "n" }).as_bytes()).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.results()[0].to_string().contains("s3cr3t"), "{:?}", stage.results());
}

/// A program that no table knows, on the path: it writes the file that its second word names.
fn add_program(stage: &Stage) -> String {
    use std::os::unix::fs::PermissionsExt;
    let programs = stage.home.path().join("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("frob"), "#!/bin/sh\necho over > \"$2\"\n").unwrap();
    fs::set_permissions(programs.join("frob"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display())
}

#[tokio::test]
async fn a_grant_reaches_no_file_outside_by_a_link() {
    for (command, is_inside) in [
        ("frob create sub/f", true),
        ("frob create near/f", true),
        ("frob create lnk/f", false),
        ("frob create lnk/../victim/f", false),
        ("frob create l*k/f", false),
    ] {
        let stage = stage(&[command.to_owned()]).await;
        let (work, victim) = (stage.home.work(), stage.home.path().join("victim"));
        let path = add_program(&stage);
        for directory in [&victim, &work.join("sub")] {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("f"), "precious\n").unwrap();
        }
        std::os::unix::fs::symlink(&victim, work.join("lnk")).unwrap();
        std::os::unix::fs::symlink("sub", work.join("near")).unwrap();
        stage.buddy(["grants", "--allow", "frob create *"]).run().await.expect_code(0);
        let run = stage.buddy(["exec", "go"]).env("BUDDY_ENV", "production").env("PATH", path).run().await;
        assert_eq!(fs::read_to_string(victim.join("f")).unwrap(), "precious\n", "{command}");
        let is_over = fs::read_to_string(work.join("sub/f")).unwrap() == "over\n";
        assert_eq!(is_over, is_inside, "{command}: {:?}", stage.results());
        run.expect_code(if is_inside { 0 } else { 5 });
    }
}
