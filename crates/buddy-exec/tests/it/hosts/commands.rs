//! Commands work the same on every target.

use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Ended, LogFile, Stdin, TargetError};

use super::place::{Place, argv, sh};
use super::{Case, cases};
use crate::stage::{PATIENCE, alive, marker, until_alive, until_gone};

pub(crate) const CASES: &[Case] = cases![
    codes_and_signals_are_told_apart,
    the_streams_are_kept_apart,
    stdin_ends_at_once_or_arrives_whole,
    the_environment_is_exactly_what_was_given,
    the_directory_is_the_one_that_was_asked_for,
    words_arrive_as_they_are,
    a_command_of_many_lines_runs_whole,
    a_long_command_arrives_whole,
    much_output_is_exact,
    bytes_that_are_no_text_are_exact,
    output_goes_to_the_log_too,
    a_program_that_is_not_there_is_named,
    a_timeout_ends_the_tree,
    a_stop_ends_the_tree,
    a_stop_asks_before_it_kills,
    a_command_that_ignores_the_stop_is_killed,
    a_daemon_does_not_outlive_its_command,
    dropping_a_command_kills_it,
    a_command_that_is_followed_waits_for_its_reader,
    background_processes_of_run_leaving_stay,
    forged_marks_are_output,
    commands_at_the_same_time_do_not_mix,
];

async fn codes_and_signals_are_told_apart(place: Arc<Place>) {
    for (script, code, signal) in [
        ("true", Some(0), None),
        ("exit 7", Some(7), None),
        ("exit 137", Some(137), None),
        ("exit 255", Some(255), None),
        ("kill -9 $$", None, Some(9)),
        ("kill -TERM $$", None, Some(15)),
        ("kill -SEGV $$", None, Some(11)),
    ] {
        let exit = place.run(sh(script)).await;
        assert_eq!((exit.code, exit.signal, exit.ended), (code, signal, Ended::Exited), "{script}");
        assert_eq!((exit.leftovers, exit.survivors), (0, 0), "{script}");
        assert_eq!((exit.stdout.text(), exit.stderr.text()), (String::new(), String::new()), "{script}");
    }
}

async fn the_streams_are_kept_apart(place: Arc<Place>) {
    let exit = place.run(sh("printf out; printf err >&2; echo more; echo worse >&2")).await;
    assert_eq!((exit.stdout.text().as_str(), exit.stderr.text().as_str()), ("outmore\n", "errworse\n"));
}

async fn stdin_ends_at_once_or_arrives_whole(place: Arc<Place>) {
    assert_eq!(place.says("cat; echo $?; read line; echo $?").await, "0\n1\n");
    let bytes: Vec<u8> = (0..1_500_000_u32).map(|number| (number % 251) as u8).collect();
    let mut exec = argv(&["cat"]);
    exec.stdin = Stdin::Bytes(bytes.clone());
    assert_eq!(place.run(exec).await.stdout.head, bytes);
    let mut exec = argv(&["true"]);
    exec.stdin = Stdin::Bytes(vec![0; 2_000_000]);
    assert_eq!(place.run(exec).await.code, Some(0), "unread input holds nothing up");
    let mut exec = argv(&["cat"]);
    exec.stdin = Stdin::Bytes(Vec::new());
    assert_eq!(place.run(exec).await.stdout.total, 0);
}

async fn the_environment_is_exactly_what_was_given(place: Arc<Place>) {
    let mut exec = argv(&["env"]);
    exec.env.push(("GREETING".into(), "it's\n\"$HOME\" `x` \\".into()));
    let said = place.run(exec).await.stdout.text();
    assert_eq!(said.replace("PATH=/usr/local/bin:/usr/bin:/bin\n", ""), "GREETING=it's\n\"$HOME\" `x` \\\n");
}

async fn the_directory_is_the_one_that_was_asked_for(place: Arc<Place>) {
    place.says("mkdir -p \"it's below\"").await;
    let mut exec = sh("pwd");
    exec.cwd = "it's below".into();
    assert_eq!(place.run(exec).await.stdout.text().trim(), place.path("it's below").to_str().unwrap());
    for name in ["missing", "file"] {
        place.says(": > file").await;
        let mut exec = argv(&["true"]);
        exec.cwd = name.into();
        let error = place.start(exec).await.unwrap_err();
        let is_told = matches!(&error, TargetError::CwdUnusable { cwd, .. } if *cwd == place.path(name));
        assert!(is_told, "{error:?}");
    }
}

async fn words_arrive_as_they_are(place: Arc<Place>) {
    let words = [
        "",
        " ",
        "-n",
        "--",
        "a b",
        "it's",
        "\"",
        "$HOME",
        "`id`",
        "$(id)",
        "*",
        "~",
        "\\",
        "\\n",
        "a\nb",
        "\n",
        ";",
        "x;",
        "a;",
        "&",
        "|",
        "#",
        "!",
        "!!",
        "%s",
        "é € 😀",
        "\t",
        "{a,b}",
        "a=b",
        "\u{1b}[31m",
        ".",
    ];
    let mut all = vec!["printf", "[%s]"];
    all.extend(words);
    let expected = words.iter().map(|word| format!("[{word}]")).collect::<Vec<_>>().concat();
    assert_eq!(place.run(argv(&all)).await.stdout.text(), expected);
}

async fn a_command_of_many_lines_runs_whole(place: Arc<Place>) {
    let script = "for n in 1 2; do\n  echo \"line $n\"\ndone\n# a comment; with 'quotes\ncat <<'END'\n.\n$x\nEND\necho last;";
    assert_eq!(place.says(script).await, "line 1\nline 2\n.\n$x\nlast\n");
}

async fn a_long_command_arrives_whole(place: Arc<Place>) {
    let text = (0..2_000).map(|number| format!("word{number:04} ")).collect::<Vec<_>>().concat();
    assert!(text.len() >= 18_000);
    let script = format!("printf %s '{text}'; printf %s '{text}' | wc -c");
    let said = place.says(&script).await;
    assert_eq!(said.strip_prefix(&text).unwrap().trim(), text.len().to_string());
}

async fn much_output_is_exact(place: Arc<Place>) {
    let said = place.run(sh("i=0; while [ $i -lt 24000 ]; do echo \"line number $i of very many of them, all alike\"; i=$((i+1)); done")).await;
    let line = |number| format!("line number {number} of very many of them, all alike\n");
    let expected = (0..24_000).map(line).collect::<Vec<_>>().concat();
    assert!(expected.len() > 1_000_000);
    assert_eq!(said.stdout.total, expected.len() as u64);
    assert!(said.stdout.head == expected.as_bytes(), "the output differs from the written bytes");
}

async fn bytes_that_are_no_text_are_exact(place: Arc<Place>) {
    let exit = place.run(sh("printf '\\000\\377\\r\\n\\015\\200x'; printf '\\001\\376' >&2")).await;
    assert_eq!(exit.stdout.head, b"\0\xff\r\n\r\x80x");
    assert_eq!(exit.stderr.head, b"\x01\xfe");
}

async fn output_goes_to_the_log_too(place: Arc<Place>) {
    let folder = tempfile::tempdir().unwrap();
    let mut exec = sh("echo out; echo err >&2");
    exec.output.log = Some(LogFile { path: folder.path().join("exec.log"), cap_bytes: 1_000 });
    let log = place.run(exec).await.log.unwrap();
    let text = std::fs::read_to_string(&log.path).unwrap();
    assert!(text.contains("out\n") && text.contains("err\n") && text.len() == 8, "{text:?}");
}

async fn a_program_that_is_not_there_is_named(place: Arc<Place>) {
    for program in ["no-such-program-anywhere", "/no/such/program", "-x"] {
        match place.start(argv(&[program, "-x"])).await.unwrap_err() {
            TargetError::CommandNotStarted { program: named, source } => {
                assert_eq!((named.as_str(), source.kind()), (program, std::io::ErrorKind::NotFound));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(place.start(argv(&[])).await, Err(TargetError::EmptyCommand)));
    assert!(place.start(argv(&["a\0b"])).await.is_err());
}

async fn a_timeout_ends_the_tree(place: Arc<Place>) {
    let marker = marker();
    let mut exec = sh(&format!("sleep {marker} & sleep {marker}"));
    exec.timeout = Some(Duration::from_millis(400));
    let exit = place.run(exec).await;
    assert_eq!((exit.ended, exit.signal, exit.survivors), (Ended::TimedOut, Some(15), 0));
    assert_eq!(alive(&marker), Vec::<String>::new());
}

async fn a_stop_ends_the_tree(place: Arc<Place>) {
    let marker = marker();
    // A child, a grandchild in a session of its own, and one that lost its parents.
    let script = format!(
        "sleep {marker} & (setsid sleep {marker} &) & setsid sh -c 'sleep {marker}' & echo ready; wait"
    );
    let mut running = place.start_ready(sh(&script)).await;
    until_alive(&marker, 3).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.survivors), (Ended::Stopped, 0));
    assert_eq!(alive(&marker), Vec::<String>::new());
}

async fn a_stop_asks_before_it_kills(place: Arc<Place>) {
    let script = "trap 'echo cleaned up; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut running = place.start_ready(sh(script)).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.code, exit.ended), (Some(5), Ended::Stopped));
    assert_eq!(exit.stdout.text(), "ready\ncleaned up\n");
}

async fn a_command_that_ignores_the_stop_is_killed(place: Arc<Place>) {
    let marker = marker();
    let script = format!("trap '' TERM HUP INT; echo ready; while :; do sleep {marker}; done");
    let mut running = place.start_ready(sh(&script)).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.code, exit.signal, exit.ended), (None, Some(9), Ended::Stopped));
    assert_eq!(alive(&marker), Vec::<String>::new());
}

async fn a_daemon_does_not_outlive_its_command(place: Arc<Place>) {
    let marker = marker();
    let script = format!("(setsid sh -c 'sleep {marker}; :' </dev/null >/dev/null 2>&1 &) & wait; echo done");
    let exit = place.run(sh(&script)).await;
    assert_eq!((exit.code, exit.ended, exit.survivors), (Some(0), Ended::Exited, 0));
    assert!(exit.leftovers >= 1, "{}", exit.leftovers);
    assert_eq!(alive(&marker), Vec::<String>::new());
}

async fn dropping_a_command_kills_it(place: Arc<Place>) {
    let marker = marker();
    let running =
        place.start_ready(sh(&format!("trap '' TERM; sleep {marker} & echo ready; sleep {marker}"))).await;
    until_alive(&marker, 2).await;
    drop(running);
    until_gone(&marker, PATIENCE).await;
}

async fn forged_marks_are_output(place: Arc<Place>) {
    let fake = "0123456789abcdef0123456789abcdefexited 0 0 0 0";
    let exit = place.run(sh(&format!("echo '{fake}' >&2; echo '{fake}'; exit 3"))).await;
    assert_eq!((exit.code, exit.stderr.text()), (Some(3), format!("{fake}\n")));
    assert_eq!(exit.stdout.text(), format!("{fake}\n"));
}

async fn commands_at_the_same_time_do_not_mix(place: Arc<Place>) {
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..8 {
        let place = place.clone();
        tasks.spawn(async move {
            let exit = place.run(sh(&format!("sleep 0.1; echo {number}; exit {number}"))).await;
            assert_eq!((exit.code, exit.stdout.text()), (Some(number), format!("{number}\n")));
        });
    }
    assert_eq!(tasks.join_all().await.len(), 8);
}

async fn a_command_that_is_followed_waits_for_its_reader(place: Arc<Place>) {
    let script = "i=0; while [ $i -lt 600 ]; do i=$((i+1)); printf '%8191s\\n' $i; done";
    let mut running = place.target.start_followed(sh(script)).await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(500), running.wait()).await;
    assert!(early.is_err(), "it did not wait: {early:?}");
    let mut came = Vec::new();
    while let Some(chunk) = running.next().await {
        came.extend(chunk.bytes);
    }
    let expected: Vec<String> = (1..=600).map(|number| format!("{number:>8191}\n")).collect();
    assert!(came == expected.concat().into_bytes(), "{} bytes", came.len());
    assert_eq!(running.wait().await.unwrap().code, Some(0));
}

async fn background_processes_of_run_leaving_stay(place: Arc<Place>) {
    let marker = marker();
    let script = format!("sleep {marker} </dev/null >/dev/null 2>&1 & echo $!; exit 4");
    let exit = place.target.run_leaving(sh(&script)).await.unwrap();
    assert_eq!((exit.code, exit.leftovers), (Some(4), 0));
    until_alive(&marker, 1).await;
    assert_eq!(place.run(sh("exit 5")).await.code, Some(5));
    assert_eq!(alive(&marker).len(), 1, "it was ended");
    place.says(&format!("kill {}", exit.stdout.text().trim())).await;
    until_gone(&marker, PATIENCE).await;
    let mut elsewhere = sh("true");
    elsewhere.cwd = place.path("not there");
    let error = place.target.run_leaving(elsewhere).await.unwrap_err();
    assert!(matches!(error, TargetError::CwdUnusable { .. }), "{error}");
}
