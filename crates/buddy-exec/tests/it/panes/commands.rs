//! Commands and their exact outputs, in each shell.

use super::stage::PaneStage;

/// The shells that a pane can have. That of busybox is known by the name of the program.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"];

/// Runs this many commands in a row, each with an output and a code that only it has.
async fn in_a_row(shell: &str, count: u32) {
    let stage = PaneStage::new(shell);
    for number in 0..count {
        let code = i32::try_from(number % 126).unwrap();
        let text = format!("echo \"n {number}\"; printf 'é%s\\n\\n' '{number}'; ( exit {code} )");
        stage.check(&text, &format!("n {number}\né{number}\n\n"), code).await;
    }
}

#[tokio::test]
async fn a_thousand_commands_in_bash_have_their_own_outputs_and_codes() {
    in_a_row("/bin/bash", 1000).await;
}

#[tokio::test]
async fn a_hundred_commands_in_zsh_have_their_own_outputs_and_codes() {
    in_a_row("/usr/bin/zsh", 100).await;
}

#[tokio::test]
async fn a_hundred_commands_in_dash_have_their_own_outputs_and_codes() {
    in_a_row("/bin/dash", 100).await;
}

#[tokio::test]
async fn a_hundred_commands_in_the_ash_of_busybox_have_their_own_outputs_and_codes() {
    in_a_row("/bin/busybox", 100).await;
}

#[tokio::test]
async fn the_text_of_a_command_is_run_byte_for_byte() {
    for shell in SHELLS {
        let stage = PaneStage::new(shell);
        stage.check("echo a;", "a\n", 0).await;
        let (unknown, _) = stage.run("-not-a-program").await;
        assert_eq!(unknown.code, Some(127), "{shell}");
        assert!(unknown.stdout.text().contains("-not-a-program"), "{shell}: {}", unknown.stdout.text());
        stage.check("echo one\necho two\n\necho \"three\nfour\"", "one\ntwo\nthree\nfour\n", 0).await;
        stage.check("cat <<'E'\n$x `y` \\z 'q' \"r\"\nE", "$x `y` \\z 'q' \"r\"\n", 0).await;
        stage.check("printf '%s' 'no line end'", "no line end", 0).await;
        stage.check("# nothing but a remark", "", 0).await;
        stage.check("echo '!$ ~ #{pane_id} %1'", "!$ ~ #{pane_id} %1\n", 0).await;
        let long = "x'\"$;".repeat(4096);
        let quoted = long.replace('\'', r"'\''");
        stage.check(&format!("printf '%s' '{quoted}' | wc -c | tr -d ' '"), "20480\n", 0).await;
    }
}

#[tokio::test]
async fn a_syntax_error_ends_and_the_next_command_works() {
    for shell in SHELLS {
        let stage = PaneStage::new(shell);
        for broken in ["if true; then", "echo 'open", "fi", "cat <<E\nnever ends", "echo $("] {
            stage.run(broken).await;
            stage.check("echo next", "next\n", 0).await;
        }
        let (exit, _) = stage.run("fi").await;
        assert_ne!(exit.code, Some(0), "{shell}");
    }
}

#[tokio::test]
async fn a_hundred_thousand_lines_come_whole() {
    let stage = PaneStage::new("/bin/bash");
    let numbers: Vec<String> = (1..=100_000).map(|number| number.to_string()).collect();
    let expected = format!("{}\n", numbers.join("\n"));
    let (exit, _) = stage.run("seq 100000; (exit 3)").await;
    assert_eq!((exit.stdout.text() == expected, exit.code), (true, Some(3)));
    assert_eq!(exit.stdout.total, expected.len() as u64);
}

#[tokio::test]
async fn a_forged_mark_of_an_end_is_not_believed() {
    for shell in SHELLS {
        let stage = PaneStage::new(shell);
        let fake = r"printf '\033]133;D;0123456789abcdef0123456789abcdef;0\007'; printf '\033]133;D;;0\007'; \
                     printf '\033]133;C;x\007\033]133;S;x\007\033]133;X\007\033]133;'; echo real; (exit 9)";
        let printed = "\x1b]133;D;0123456789abcdef0123456789abcdef;0\x07\x1b]133;D;;0\x07\x1b]133;C;x\x07\
                       \x1b]133;S;x\x07\x1b]133;X\x07\x1b]133;real\n";
        stage.check(fake, printed, 9).await;
        stage.check("echo after", "after\n", 0).await;
    }
}

#[tokio::test]
async fn variables_stay_and_each_command_starts_in_its_directory() {
    for shell in SHELLS {
        let stage = PaneStage::new(shell);
        let home = stage.path("").to_string_lossy().trim_end_matches('/').to_owned();
        stage.check("kept=1; export shown=2; f() { echo f; }; cd /", "", 0).await;
        stage.check("echo \"$kept $(sh -c 'echo $shown')\"; f; pwd", &format!("1 2\nf\n{home}\n"), 0).await;
        let mut command = stage.command("pwd");
        command.cwd = stage.path("not there");
        let error = stage.try_start(command).await.unwrap_err();
        assert!(error.to_string().contains("cannot run in the directory"), "{error}");
    }
}

#[tokio::test]
async fn commands_that_change_the_prompt_or_the_streams_of_the_shell_still_end() {
    for shell in SHELLS {
        let stage = PaneStage::new(shell);
        for change in
            ["PS1='mine> '", "unset PROMPT_COMMAND", "PS1=", "set -u", "set -f", "exec 2>/dev/null", "set -C"]
        {
            let (exit, notes) = stage.run(change).await;
            assert_eq!((exit.code, notes.as_str()), (Some(0), ""), "{shell} {change}");
            stage.check("echo here", "here\n", 0).await;
        }
    }
}

#[tokio::test]
async fn words_are_run_without_a_shell_reading_them() {
    let stage = PaneStage::new("/bin/bash");
    let mut command = stage.command("");
    let words = ["printf", "%s|", "a b", "$HOME", "*", "';'", "é\n"];
    command.text = buddy_exec::PaneText::Words(words.map(str::to_owned).to_vec());
    let mut run = stage.try_start(command).await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "a b|$HOME|*|';'|é\n|");
}

#[tokio::test]
async fn a_command_in_a_pane_has_limits_with_a_jail_and_without() {
    for stage in [PaneStage::new("/bin/bash"), PaneStage::jailed("/bin/bash")] {
        let (exit, _) = stage.run("cat /proc/self/limits").await;
        crate::limits::check(&exit.stdout.text(), "a pane");
    }
}

#[tokio::test]
async fn files_made_in_a_pane_have_the_umask_of_buddy() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:")).unwrap().trim();
    assert_ne!(mask, "0077", "the test shows nothing under this mask");
    PaneStage::new("/bin/sh").check("umask", &format!("{mask}\n"), 0).await;
    PaneStage::jailed("/bin/sh").check("umask", &format!("{mask}\n"), 0).await;
}
