//! Pushes over a network: a grant holds for the repository and the addresses that the user was shown, whatever the same words mean later.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use buddy_protocol::{Approval, Fact, Question};
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::{Program, Started};
use serde_json::json;

use crate::git::{HONEST, bash};
use crate::stage::{APPROVE, Stage, conversation, run, shell};

/// Two bare repositories that a git daemon serves on this machine.
struct Remotes {
    port: u16,
    directory: PathBuf,
}

impl Remotes {
    async fn serve(directory: PathBuf) -> Self {
        std::fs::create_dir_all(&directory).unwrap();
        bash(&directory, &directory, "git init -q --bare allowed.git && git init -q --bare elsewhere.git")
            .await;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = directory.clone();
        thread::spawn(move || {
            for connection in listener.incoming() {
                answer(&served, connection.unwrap().into());
            }
        });
        Self { port, directory }
    }

    fn address(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}.git", self.port)
    }

    /// The commit that a repository has as its branch.
    async fn received(&self, name: &str) -> Option<String> {
        let repository = self.directory.join(format!("{name}.git"));
        let show = Program::new("/usr/bin/env").args(["git", "rev-parse", "-q", "--verify", "main"]);
        let shown = show.cwd(repository).run().await;
        Some(shown.text().trim().to_owned()).filter(|text| !text.is_empty())
    }
}

/// Serves one connection to its end.
#[expect(clippy::disallowed_methods, reason = "the test plays a server of git")]
fn answer(served: &Path, connection: OwnedFd) {
    let output = connection.try_clone().unwrap();
    let daemon = Command::new("git")
        .args(["daemon", "--inetd", "--export-all", "--enable=receive-pack"])
        .arg(format!("--base-path={}", served.display()))
        .arg(served)
        .stdin(Stdio::from(connection))
        .stdout(Stdio::from(output))
        .stderr(Stdio::null())
        .status();
    daemon.unwrap();
}

/// A trusted project on a stage with remotes, in the approval mode that people begin with.
struct Project {
    stage: Stage,
    remotes: Remotes,
}

impl Project {
    /// A project whose model has these turns and whose `origin` is the repository that the user allows.
    async fn new(turns: Vec<Turn>) -> Self {
        let stage = Stage::apart(turns).await;
        let remotes = Remotes::serve(stage.home.path().join("served")).await;
        let project = Self { stage, remotes };
        project.bash(HONEST).await;
        project.bash("git remote add origin \"$ALLOWED\" && git config push.default current").await;
        project.stage.buddy(["trust"]).run().await.expect_code(0);
        project
    }

    async fn bash(&self, script: &str) {
        let (allowed, elsewhere) = (self.remotes.address("allowed"), self.remotes.address("elsewhere"));
        let given = format!("ALLOWED={allowed}\nELSEWHERE={elsewhere}\nset -e\n{script}");
        bash(&self.stage.home.work(), self.stage.home.path(), &given).await;
    }

    async fn head(&self) -> String {
        let show =
            Program::new("/usr/bin/env").args(["git", "rev-parse", "main"]).cwd(self.stage.home.work());
        show.run().await.expect_code(0).text().trim().to_owned()
    }

    fn converse(&self) -> Started {
        self.stage.usual([]).converse()
    }

    /// The approvals of all questions in the log.
    async fn asked(&self) -> Vec<Approval> {
        let log = self.stage.only_log().await;
        let asked = log.events.into_iter().filter_map(|event| match event.fact {
            Fact::Asked(ask) => match ask.ask.question {
                Question::Approval(approval) => Some(approval),
                _ => None,
            },
            _ => None,
        });
        asked.collect()
    }
}

/// Work for the next push, by the user.
const MORE: &str = "git commit -q --allow-empty -m more";

/// Makes the top of the work tree a bare repository with another remote, as a command in the jail can.
const BARE_SWAP: &str = "cp -r .git/objects objects; cp -r .git/refs refs; cp .git/HEAD HEAD; mv .git/HEAD .git/HEADx
printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = true\\n[remote \"origin\"]\\n\\turl = %s\\n' \"$ELSEWHERE\" > config";

/// The user allows a push for the session; then a script changes what its words mean, and the same words ask again with this text.
async fn check_change(command: &str, script: &str, told: &str) {
    let turns = vec![run(command), turn().text("Done."), run(command), turn().text("Done again.")];
    let project = Project::new(turns).await;
    let first = project.head().await;
    let mut started = project.converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"a\n").await;
    started.stdout.wait_for("Done.", 1).await;
    assert_eq!(project.remotes.received("allowed").await, Some(first.clone()), "{script}");
    project.bash(&format!("{MORE}\n{script}")).await;
    started.write(b"again\n").await;
    tokio::select! {
        () = started.stderr.wait_for(APPROVE, 2) => {}
        () = started.stdout.wait_for("Done again.", 1) => panic!("{script}: {}", started.stderr.text()),
    }
    started.write(b"n\n").await;
    started.stdout.wait_for("Done again.", 1).await;
    let finished = started.finish().await;
    let told = told.replace("ALLOWED", &project.remotes.address("allowed"));
    let told = told.replace("ELSEWHERE", &project.remotes.address("elsewhere"));
    assert!(finished.stderr.contains(&told), "{script}: no {told} in {finished}");
    assert_eq!(project.remotes.received("elsewhere").await, None, "{script}");
    assert_eq!(project.remotes.received("allowed").await, Some(first), "{script}");
}

#[tokio::test]
async fn a_granted_push_goes_on_unasked_while_it_leads_to_the_same_place() {
    for (command, more) in [
        ("git push origin main", MORE.to_owned()),
        // A change that a user makes beside it leads it nowhere else.
        ("git push", format!("{MORE} && git remote add other \"$ELSEWHERE\" && git config user.name Bea")),
        ("git status && git push -u origin main", MORE.to_owned()),
    ] {
        let turns = vec![run(command), turn().text("Done."), run(command), turn().text("Done again.")];
        let project = Project::new(turns).await;
        let mut started = project.converse();
        started.write(b"go\n").await;
        started.stderr.wait_for(APPROVE, 1).await;
        let address = project.remotes.address("allowed");
        let shown = started.stderr.text();
        assert!(shown.contains(&format!("to     {address}")), "{shown}");
        started.write(b"?\n").await;
        started.stderr.wait_for(&format!("connects to {address}"), 1).await;
        started.write(b"a\n").await;
        started.stdout.wait_for("Done.", 1).await;
        assert_eq!(project.remotes.received("allowed").await, Some(project.head().await), "{command}");
        project.bash(&more).await;
        started.write(b"again\n").await;
        started.stdout.wait_for("Done again.", 1).await;
        let finished = started.finish().await;
        assert_eq!(project.remotes.received("allowed").await, Some(project.head().await), "{finished}");
        let asked = project.asked().await;
        assert_eq!(asked.len(), 1, "{asked:#?}");
        assert_eq!(asked[0].destinations, std::slice::from_ref(&address), "{asked:#?}");
        let covers = format!("leads to `{address}`");
        assert!(asked[0].offers.iter().all(|offer| offer.covers.contains(&covers)), "{asked:#?}");
    }
}

#[tokio::test]
async fn a_push_asks_again_when_the_address_of_its_remote_changes() {
    let told = "`origin` now leads to `ELSEWHERE`; you allowed `ALLOWED`";
    for script in
        ["git remote set-url origin \"$ELSEWHERE\"", "git remote set-url --push origin \"$ELSEWHERE\""]
    {
        check_change("git push origin main", script, told).await;
    }
    let both = "git config --add remote.origin.pushurl \"$ALLOWED\" && git config --add remote.origin.pushurl \"$ELSEWHERE\"";
    let told = "`origin` now leads to `ALLOWED`, `ELSEWHERE`; you allowed `ALLOWED`";
    check_change("git push origin main", both, told).await;
}

#[tokio::test]
async fn a_push_asks_again_when_its_address_is_rewritten() {
    let told = "`origin` now leads to `ELSEWHERE`; you allowed `ALLOWED`";
    for script in [
        "git config url.\"$ELSEWHERE\".insteadOf \"$ALLOWED\"",
        "git config url.\"$ELSEWHERE\".pushInsteadOf \"$ALLOWED\"",
        "printf '[remote \"origin\"]\\n\\tpushurl = %s\\n' \"$ELSEWHERE\" > .git/more && git config include.path more",
    ] {
        check_change("git push origin main", script, told).await;
    }
}

#[tokio::test]
async fn a_push_without_a_remote_asks_again_when_another_one_is_meant() {
    let told = "it now leads to `ELSEWHERE`; you allowed `ALLOWED`";
    for setting in ["branch.main.pushRemote", "remote.pushDefault", "branch.main.remote"] {
        let script = format!("git remote add other \"$ELSEWHERE\" && git config {setting} other");
        check_change("git push", &script, told).await;
    }
}

#[tokio::test]
async fn a_push_asks_again_in_another_repository() {
    let told = "`origin` now leads to `ELSEWHERE`; you allowed `ALLOWED`";
    check_change("git push origin main", BARE_SWAP, told).await;
    let other = "cp -r .git ../other && rm -r .git && printf 'gitdir: ../other\\n' > .git";
    check_change("git push origin main", other, "git now works in the repository").await;
    let same = "cp -r .git ../other && rm -r .git && cp -r ../other .git";
    check_change("git push origin main", same, "is another one than when you allowed this").await;
}

#[tokio::test]
async fn a_push_asks_again_when_git_connects_in_another_way() {
    let told = "settings that decide how git connects to `origin`";
    check_change("git push origin main", "git config http.proxy http://127.0.0.1:9", told).await;
    let lfs = "printf '[lfs]\\n\\turl = https://elsewhere.example/lfs\\n' > .lfsconfig";
    check_change("git push origin main", lfs, told).await;
}

#[tokio::test]
async fn an_unasked_command_leads_a_granted_push_nowhere_else() {
    let push = "git push origin main";
    let turns = vec![run(push), run("bash swap.sh"), run(push), turn().text("Done.")];
    let project = Project::new(turns).await;
    let address = project.remotes.address("elsewhere");
    let swap = BARE_SWAP.replace("$ELSEWHERE", &address);
    std::fs::write(project.stage.home.work().join("swap.sh"), swap).unwrap();
    let first = project.head().await;
    let mut started = project.converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"a\n").await;
    tokio::select! {
        () = started.stderr.wait_for(APPROVE, 2) => {}
        () = started.stdout.wait_for("Done.", 1) => panic!("{}", started.stderr.text()),
    }
    let shown = started.stderr.text();
    assert!(shown.contains(&format!("`origin` now leads to `{address}`")), "{shown}");
    started.write(b"n\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await;
    assert_eq!(project.remotes.received("elsewhere").await, None);
    assert_eq!(project.remotes.received("allowed").await, Some(first));
}

#[tokio::test]
async fn a_grant_for_the_project_is_bound_to_the_destination_too() {
    let push = "git push origin main";
    let turns = vec![
        run(push),
        turn().text("Done."),
        run(push),
        turn().text("Done."),
        run(push),
        turn().text("Done."),
    ];
    let project = Project::new(turns).await;
    let session = async |answer: &'static [u8]| {
        let mut started = project.converse();
        started.write(b"go\n").await;
        tokio::select! {
            () = started.stderr.wait_for(APPROVE, 1) => started.write(answer).await,
            () = started.stdout.wait_for("Done.", 1) => {}
        }
        started.stdout.wait_for("Done.", 1).await;
        started.finish().await.stderr
    };
    session(b"p 2\n").await;
    let listed = project.stage.buddy(["grants"]).run().await.expect_code(0).text();
    assert!(listed.contains("git push origin main"), "{listed}");
    project.bash(MORE).await;
    let again = session(b"n\n").await;
    assert!(!again.contains(APPROVE), "{again}");
    assert_eq!(project.remotes.received("allowed").await, Some(project.head().await));
    project.bash(&format!("{MORE} && git remote set-url origin \"$ELSEWHERE\"")).await;
    let changed = session(b"n\n").await;
    assert!(changed.contains("`origin` now leads to"), "{changed}");
    assert_eq!(project.remotes.received("elsewhere").await, None);
}

#[tokio::test]
async fn a_destination_that_changes_while_the_person_reads_is_shown_again() {
    let push = "git push origin main";
    let project = Project::new(vec![run(push), turn().text("Done.")]).await;
    let mut started = project.converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    project.bash("git remote set-url origin \"$ELSEWHERE\"").await;
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 2).await;
    let address = project.remotes.address("elsewhere");
    assert!(started.stderr.text().contains(&format!("to     {address}")), "{}", started.stderr.text());
    started.write(b"n\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await;
    for name in ["allowed", "elsewhere"] {
        assert_eq!(project.remotes.received(name).await, None, "{name}");
    }
}

#[tokio::test]
async fn a_login_in_an_address_is_not_shown() {
    let (_stage, mut started) = {
        let (stage, started) = conversation([run("git push origin main"), turn().text("Done.")]).await;
        let script = format!("{HONEST}\ngit remote add origin https://ann:hunter2@localhost:9/a.git");
        bash(&stage.home.work(), stage.home.path(), &script).await;
        (stage, started)
    };
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    let shown = started.stderr.text();
    assert!(shown.contains("to     https://localhost:9/a.git") && !shown.contains("hunter2"), "{shown}");
    started.write(b"n\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await;
}

#[tokio::test]
async fn the_tool_for_pushes_is_bound_as_the_command_is() {
    let push = |project_address: &str| {
        turn().call("git_push", json!({"remote": "origin", "url": project_address, "branch": "main"}))
    };
    let stage_turns =
        |address: &str| vec![push(address), turn().text("Done."), push(address), turn().text("Done again.")];
    // The tool does not speak the protocol of the daemon; a folder is as good.
    let stage = Stage::apart(stage_turns("../backup.git")).await;
    let work = stage.home.work();
    let script = "git init -q --bare ../backup.git && git init -q --bare ../elsewhere.git && git remote add origin ../backup.git";
    bash(&work, stage.home.path(), &format!("{HONEST}\n{script}")).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    let mut started = stage.usual([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let swap = BARE_SWAP.replace("$ELSEWHERE", "../elsewhere.git");
    bash(&work, stage.home.path(), &swap).await;
    started.write(b"again\n").await;
    tokio::select! {
        () = started.stderr.wait_for(APPROVE, 2) => started.write(b"y\n").await,
        () = started.stdout.wait_for("Done again.", 1) => {}
    }
    started.stdout.wait_for("Done again.", 1).await;
    started.finish().await;
    bash(&work, &work, "test -z \"$(git -C ../elsewhere.git for-each-ref)\"").await;
}

#[tokio::test]
async fn no_grant_of_a_push_is_given_without_its_question() {
    let stage = Stage::new(vec![turn().text("Done.")]).await;
    for pattern in ["git push *", "git push origin main", "git -C sub fetch *", "git lfs push *"] {
        let refused = stage.buddy(["grants", "--allow", pattern]).run().await.expect_code(1);
        assert!(refused.stderr.contains("only to the place that its question shows"), "{refused}");
    }
    stage.buddy(["grants", "--allow", "git log *"]).run().await.expect_code(0);
    let listed = stage.buddy(["grants"]).run().await.expect_code(0).text();
    assert!(listed.contains("git log *") && !listed.contains("push"), "{listed}");
}

#[tokio::test]
async fn no_push_starts_beside_a_command_that_could_lead_it_elsewhere() {
    let mut beside = shell("git commit -q --allow-empty -m more; sleep 600");
    beside["wait"] = json!("1s");
    let push = "git push origin main";
    let turns = vec![run(push), turn().call("run_shell", beside), run(push), turn().text("Done.")];
    let project = Project::new(turns).await;
    let first = project.head().await;
    let mut started = project.converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"a\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await;
    let results = project.stage.results();
    assert_eq!(results[0]["result"]["exit_code"], json!(0), "{results:#?}");
    assert_eq!(results[2]["error"]["code"], "rival", "{results:#?} {finished}");
    let told = results[2]["error"]["message"].as_str().unwrap();
    assert!(told.contains("`git commit -q --allow-empty -m more; sleep 600` (proc-"), "{told}");
    assert!(
        told.contains("could redirect this command: it can change the addresses of remotes in `.git`"),
        "{told}"
    );
    let hint = results[2]["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("after it has ended by itself") && hint.contains("`/kill proc-"), "{hint}");
    assert_eq!(project.remotes.received("allowed").await, Some(first.clone()));
    assert_ne!(project.head().await, first, "the other command ran");
}
