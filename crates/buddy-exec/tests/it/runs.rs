//! Starting commands and waiting for their exit.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use buddy_exec::{Ended, Exit, LogFile, Stdin, TargetError};

use crate::stage::{PATIENCE, Stage, argv, sh};

async fn check(script: &str) -> Exit {
    Stage::new().run(sh(script)).await
}

#[tokio::test]
async fn reports_codes_and_signals() {
    let exit = check("exit 7").await;
    assert_eq!((exit.code, exit.signal, exit.ended), (Some(7), None, Ended::Exited));
    let exit = check("true").await;
    assert_eq!((exit.code, exit.signal, exit.leftovers, exit.survivors), (Some(0), None, 0, 0));
    let exit = check("kill -9 $$").await;
    assert_eq!((exit.code, exit.signal, exit.ended), (None, Some(9), Ended::Exited));
}

#[tokio::test]
async fn keeps_the_streams_apart() {
    let exit = check("echo out; echo err >&2").await;
    assert_eq!((exit.stdout.text().as_str(), exit.stderr.text().as_str()), ("out\n", "err\n"));
}

#[tokio::test]
async fn stdin_ends_at_once() {
    let exit = check("cat; echo $?; read line; echo $?").await;
    assert_eq!(exit.stdout.text(), "0\n1\n");
}

#[tokio::test]
async fn there_is_no_terminal_to_ask_at() {
    assert_ne!(check(": < /dev/tty").await.code, Some(0));
}

#[tokio::test]
async fn stdin_bytes_arrive_whole() {
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut exec = argv(&["cat"]);
    exec.stdin = Stdin::Bytes(bytes.clone());
    (exec.output.keep_head, exec.output.keep_tail) = (bytes.len(), 0);
    assert_eq!(Stage::new().run(exec).await.stdout.head, bytes);
}

#[tokio::test]
async fn stdin_that_nobody_reads_holds_nothing_up() {
    let mut exec = argv(&["true"]);
    exec.stdin = Stdin::Bytes(vec![0; 8_000_000]);
    assert_eq!(Stage::new().run(exec).await.code, Some(0));
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    let mut exec = argv(&["env"]);
    exec.env.push(("GREETING".into(), "hello\nworld".into()));
    let exit = Stage::new().run(exec).await;
    assert_eq!(exit.stdout.text(), "GREETING=hello\nworld\nPATH=/usr/local/bin:/usr/bin:/bin\n");
}

#[tokio::test]
async fn the_supervisor_shows_nothing_of_our_environment() {
    assert_eq!(check("wc -c < /proc/$PPID/environ").await.stdout.text().trim(), "0");
}

#[tokio::test]
async fn the_program_is_looked_up_in_the_given_path() {
    let stage = Stage::new();
    let program = stage.path("greet");
    std::fs::write(&program, "#!/bin/sh\necho greetings\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut exec = argv(&["greet"]);
    exec.env = vec![("PATH".into(), program.parent().unwrap().to_str().unwrap().into())];
    assert_eq!(stage.run(exec).await.stdout.text(), "greetings\n");
}

#[tokio::test]
async fn relative_directories_start_at_the_targets_own() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("below")).unwrap();
    let mut exec = argv(&["pwd"]);
    exec.cwd = "below".into();
    assert_eq!(stage.run(exec).await.stdout.text().trim(), stage.path("below").to_str().unwrap());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let stage = Stage::new();
    let mut exec = argv(&["no-such-program-anywhere", "-x"]);
    exec.output.log = Some(LogFile { path: stage.path("exec-1.log"), cap_bytes: 100 });
    match stage.start(exec).await.unwrap_err() {
        TargetError::CommandNotStarted { program, source } => {
            assert_eq!(program, "no-such-program-anywhere");
            assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
    assert!(!stage.path("exec-1.log").exists(), "a command that never ran has no log");
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let stage = Stage::new();
    std::fs::write(stage.path("file"), "").unwrap();
    for name in ["missing", "file"] {
        let mut exec = argv(&["true"]);
        exec.cwd = name.into();
        let error = stage.start(exec).await.unwrap_err();
        assert!(
            matches!(&error, TargetError::CwdUnusable { cwd, .. } if *cwd == stage.path(name)),
            "{error:?}"
        );
        assert!(error.to_string().contains(name));
    }
}

#[tokio::test]
async fn commands_that_cannot_be_are_refused() {
    let stage = Stage::new();
    assert!(matches!(stage.start(argv(&[])).await, Err(TargetError::EmptyCommand)));
    assert!(matches!(stage.start(argv(&["a\0b"])).await, Err(TargetError::CommandNotStarted { .. })));
    let too_long = "x".repeat(4_000_000);
    assert!(matches!(
        stage.start(argv(&["true", &too_long])).await,
        Err(TargetError::CommandNotStarted { .. })
    ));
    let far_too_long = "x".repeat(20_000_000);
    assert!(matches!(stage.start(argv(&["true", &far_too_long])).await, Err(TargetError::TooLarge { .. })));
}

#[tokio::test]
async fn a_supervisor_that_is_none_is_an_error_and_not_a_wait() {
    for (program, stdin) in
        [("/no/such/supervisor", Stdin::Null), ("/bin/true", Stdin::Bytes(vec![0; 5_000_000]))]
    {
        let stage = Stage::with_supervisor(Path::new(program), Duration::ZERO);
        let mut exec = argv(&["true"]);
        exec.stdin = stdin;
        let error = tokio::time::timeout(PATIENCE, stage.start(exec)).await.unwrap().unwrap_err();
        let is_told = matches!(error, TargetError::SupervisorNotStarted { .. } | TargetError::SupervisorLost);
        assert!(is_told, "{error:?}");
    }
}

#[tokio::test]
async fn reports_that_come_together_are_both_heard() {
    let reports = r#"{"started":{"pid":1}}\n{"exited":{"code":5,"signal":null,"ended":"exited","took_us":1,"leftovers":0,"survivors":0,"hit":{"processes":false,"memory":false},"swept":[],"is_lost":false}}\n"#;
    let stage = Stage::with_scripted_supervisor(&format!("read spec; printf '{reports}' >&0"));
    assert_eq!(stage.run(argv(&["true"])).await.code, Some(5));
}

#[tokio::test]
async fn twenty_at_once_do_not_mix() {
    let stage = std::sync::Arc::new(Stage::new());
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..20 {
        let stage = stage.clone();
        tasks.spawn(async move {
            let exit = stage.run(sh(&format!("sleep 0.1; echo {number}; exit {number}"))).await;
            assert_eq!((exit.code, exit.stdout.text()), (Some(number), format!("{number}\n")));
        });
    }
    assert!(tasks.join_all().await.len() == 20);
}

#[tokio::test]
async fn the_exit_is_handed_out_once() {
    let stage = Stage::new();
    let mut running = stage.start(argv(&["true"])).await.unwrap();
    assert!(running.wait().await.is_ok());
    assert!(matches!(running.wait().await, Err(TargetError::ExitTaken)));
}
