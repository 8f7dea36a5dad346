//! `-p`, which stands for `exec`.

use buddy_testkit::model::turn;

use crate::stage::{Printed, Stage, prompt};

async fn check(arguments: &[&str], input: &str, expected: &str) {
    let stage = Stage::new([turn().text("All right.")]).await;
    let finished = stage.buddy(arguments).input(input).run().await.expect_code(0);
    assert_eq!(finished.stdout, b"All right.\n", "{finished}");
    assert_eq!(prompt(&stage.requests()[0].body), expected);
}

#[tokio::test]
async fn the_prompt_may_stand_anywhere_or_come_from_the_input() {
    check(&["-p", "say it"], "", "say it").await;
    check(&["--print", "say it"], "", "say it").await;
    check(&["say it", "-p"], "", "say it").await;
    check(&["-p"], "from the pipe", "from the pipe").await;
    check(&["-p", "look:"], "a\nb", "look:\n\n<stdin>\na\nb\n</stdin>").await;
    check(&["-p", "sessions"], "", "sessions").await;
}

#[tokio::test]
async fn options_of_exec_stand_before_and_after_it() {
    for arguments in
        [&["-p", "--json", "hi"][..], &["--json", "-p", "hi"], &["-m", "other", "-p", "hi", "--json"]]
    {
        let stage = Stage::new([turn().text("Yes.")]).await;
        let printed = Printed::of(&stage.buddy(arguments).run().await.expect_code(0));
        assert_eq!(printed.result["text"], "Yes.");
        assert!(!printed.events.is_empty());
    }
}

#[tokio::test]
async fn other_commands_do_not_have_it() {
    let stage = Stage::new([]).await;
    for arguments in [&["sessions", "-p"][..], &["-pm", "other", "hi"], &["-p", "--frobnicate"]] {
        let finished = stage.buddy(arguments).run().await.expect_code(2);
        assert!(finished.stdout.is_empty(), "{finished}");
    }
    assert!(stage.requests().is_empty());
}

#[tokio::test]
async fn the_help_has_it_and_the_exit_codes() {
    let stage = Stage::new([]).await;
    let help = stage.buddy(["--help"]).run().await.expect_code(0).text();
    assert!(help.contains("-p, --print"), "{help}");
    let help = stage.buddy(["-p", "--help"]).run().await.expect_code(0).text();
    for part in ["Exit codes: 0 done", "124 timeout", "--output-schema", "--ephemeral", "--add-dir"] {
        assert!(help.replace('\n', " ").contains(part), "{part}: {help}");
    }
}
