//! Runs where nothing could keep a command to its bounds: it does not run, and the exit code says so.

use buddy_testkit::model::turn;

use crate::stage::{Printed, Stage, run};

/// A bubblewrap that any account could replace is never run, and never passed over.
const UNSAFE_BUBBLEWRAP: &str =
    "cp /bin/true fake && chmod 777 fake && mount --bind fake /usr/bin/bwrap && exec";

/// Neither bubblewrap nor Landlock, which the kernel of the test is made to refuse.
const NO_LAYER: &str = "mount --bind /dev/null /usr/bin/bwrap && exec strace -f -qq -o /dev/null \
     -e trace=landlock_create_ruleset -e inject=landlock_create_ruleset:error=EOPNOTSUPP";

#[tokio::test]
async fn where_no_layer_works_nothing_runs_and_the_exit_code_is_8() {
    for (way, layer, modes) in
        [(UNSAFE_BUBBLEWRAP, "bubblewrap", &["auto", "all"][..]), (NO_LAYER, "landlock", &["auto"])]
    {
        for mode in modes {
            let stage = Stage::new([run("touch made.txt"), turn().text("It did not run.")]).await;
            let words = format!("exec --trust --approve {mode} --json go");
            let line = format!("exec unshare --map-root-user --mount sh -c '{way} \"$BUDDY\" {words}'");
            let finished = stage.in_bash(&line).run().await.expect_code(8);
            let printed = Printed::of(&finished);
            assert_eq!(printed.result["status"], "not_jailed", "{finished}");
            let results = stage.results();
            assert_eq!(results[0]["error"]["code"], "not_jailed", "{mode}: {results:?}");
            let message = results[0]["error"]["message"].as_str().unwrap();
            assert!(message.contains(layer), "{mode}: the layer is named: {message}");
            assert!(!stage.home.work().join("made.txt").exists(), "{mode}: {layer}");
        }
    }
}
