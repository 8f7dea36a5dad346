//! The table against an environment, the kernel's list, and a tmux whose socket has a name that nobody guesses.

use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;

fn sessions(variables: &[(&str, &str)]) -> OtherSessions {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let home = [("HOME".to_owned(), "/nowhere".to_owned())];
    OtherSessions::new(&Environment::of(home.into_iter().chain(variables).collect()).unwrap())
}

#[test]
fn variables_name_sockets_in_many_ways() {
    let check = |value: &str, expected: &[&str]| {
        let paths: Vec<PathBuf> = paths_in(value).collect();
        assert_eq!(paths, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{value}");
    };
    check("/tmp/tmux-0/default,42,0", &["/tmp/tmux-0/default"]);
    check("unix:/tmp/kitty", &["/tmp/kitty"]);
    check("unix:@kitty", &[]);
    check("unix:abstract=/tmp/x,guid=1", &["/tmp/x"]);
    check("unix:path=/run/bus,guid=1;unix:path=/tmp/bus", &["/run/bus", "/tmp/bus"]);
    check("unix:///var/run/docker.sock", &["/var/run/docker.sock"]);
    check("tcp://127.0.0.1:2375", &[]);
    check("wayland-0", &[]);
    check("", &[]);
}

#[test]
fn the_list_of_the_kernel_is_read() {
    let line =
        |flags: &str, path: &str| format!("0000000000000000: 00000002 00000000 {flags} 0001 01 4711{path}");
    let path = |text: &str| Listening::of(text).map(|socket| (socket.number, socket.path.to_owned()));
    assert_eq!(path(&line(LISTENING, " /tmp/a b")), Some((4711, "/tmp/a b".to_owned())));
    assert_eq!(path(&line(LISTENING, " beside")), Some((4711, "beside".to_owned())));
    for other in
        [line("00000000", " /tmp/a"), line(LISTENING, " @abstract"), line(LISTENING, ""), String::new()]
    {
        assert_eq!(path(&other), None, "{other}");
    }
    assert!(is_named("/tmp/vscode-ipc-7.sock") && !is_named("/tmp/other.sock"));
}

#[test]
fn a_directory_with_something_needed_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = folder.path().canonicalize().unwrap();
    let sessions = sessions(&[("XDG_RUNTIME_DIR", runtime.to_str().unwrap())]);
    assert!(sessions.closed(&[]).closed.contains(&runtime));
    let again = self::sessions(&[("XDG_RUNTIME_DIR", runtime.to_str().unwrap())]);
    assert!(!again.closed(&[&runtime.join("work")]).closed.contains(&runtime));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test plays a user with a tmux of their own")]
fn a_server_is_found_whatever_its_socket_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let _other = UnixListener::bind(place.join("other")).unwrap();
    let sessions = sessions(&[]);
    sessions.closed(&[]);
    let socket = place.join("some name");
    let tmux = |words: &[&str]| {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&socket).args(words).env_remove("TMUX").status().unwrap().success()
    };
    assert!(tmux(&["-f", "/dev/null", "new-session", "-d", "sleep 60"]));
    let found = sessions.closed(&[]).closed;
    assert!(tmux(&["kill-server"]));
    assert!(found.contains(&socket), "{found:?}");
    assert!(!found.contains(&place.join("other")), "other programs may listen: {found:?}");
    let is_gone = || !sessions.closed(&[]).closed.contains(&socket);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !is_gone() {
        assert!(std::time::Instant::now() < end, "a server that ended is no way");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
