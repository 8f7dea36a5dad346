//! Approvals and grants belong to one target.

use buddy_testkit::model::turn;
use buddy_testkit::program::Started;
use serde_json::{Value, json};

use super::yard::{Machine, container, shell_on, with_engine};
use crate::stage::Stage;

/// The same path on both hosts, so that only the target tells them apart.
fn write(machine: &Machine, name: &str, target: &str) -> Value {
    json!({"path": machine.path(name).to_str().unwrap(), "content": "x", "target": target})
}

async fn answer(talk: &mut Started, count: usize, target: &str, line: &str) {
    talk.stderr.wait_for("approve? [", count).await;
    let said = talk.stderr.text();
    let last = said.rsplit("on ").find(|part| part.starts_with(target));
    assert!(last.is_some(), "the question names {target}: {said}");
    talk.write(format!("{line}\n").as_bytes()).await;
}

#[tokio::test]
async fn a_question_shows_the_account_and_host_of_its_target() {
    let web = container();
    let inside = format!("container:{}", web.name());
    let stage = Stage::new([
        turn().call("run_shell", shell_on(&inside, "rm -rf /srv/data")),
        turn().call("run_shell", shell_on("local", "rm -rf /srv/no-such-data")),
        turn().text("Done."),
    ])
    .await;
    let program = stage.buddy(["--container", web.name(), "--local"]).env("BUDDY_ENV", "production");
    let program = program.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    let mut talk = with_engine(&web, program).converse();
    talk.write(b"work\n").await;
    answer(&mut talk, 1, &inside, "n").await;
    answer(&mut talk, 2, "local", "n").await;
    talk.stdout.wait_for("Done.", 1).await;
    let said = talk.finish().await.expect_code(0).stderr;
    let log = stage.only_log().await;
    let targets = log.transcript.targets();
    let places: Vec<&str> = targets.iter().filter_map(|target| target.place.as_deref()).collect();
    assert_ne!(places[0], places[1]);
    assert!(said.contains(&format!("{}$ rm -rf /srv/data", places[0])), "{said}");
    assert!(said.contains(&format!("{}$ rm -rf /srv/no-such-data", places[1])), "{said}");
}

#[tokio::test]
async fn a_grant_for_one_target_is_none_for_another() {
    let machine = Machine::new();
    let stage = Stage::new([
        turn().call("write_file", write(&machine, "a", "ssh:machine")),
        turn().call("write_file", write(&machine, "b", "ssh:machine")),
        turn().call("write_file", write(&machine, "c", "local")),
        turn().text("Done."),
    ])
    .await;
    let program = machine.known_to(stage.buddy(["--local", "--ssh", &machine.flag(), "--trust"]));
    let mut talk = program.env("BUDDY_ENV", "development").converse();
    talk.write(b"work\n").await;
    answer(&mut talk, 1, "ssh:machine", "u").await;
    answer(&mut talk, 2, "local", "n").await;
    talk.stdout.wait_for("Done.", 1).await;
    talk.finish().await.expect_code(0);
    let is_made = |name| machine.path(name).exists();
    assert_eq!((is_made("a"), is_made("b"), is_made("c")), (true, true, false));
    assert_eq!(stage.results()[2]["error"]["code"], "denied");
    let listed = stage.buddy(["grants"]).run().await.expect_code(0);
    assert!(listed.text().contains("  ssh:machine  "), "{listed}");
}
