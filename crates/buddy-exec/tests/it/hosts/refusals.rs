//! Calls that are refused before anything happens, and their errors.

use std::path::PathBuf;
use std::sync::Arc;

use buddy_exec::{
    Bounds, ContainerSettings, ContainerTransport, Reach, RemoteSettings, RemoteTarget, SshSettings,
    SshTransport, TargetError,
};
use buddy_testkit::ssh_host::SshHost;

use super::place::{GRACE, Place, sh, ssh_settings};

#[tokio::test]
async fn a_command_with_bounds_is_not_run_on_another_host() {
    let place = Place::busybox().await;
    let mut exec = sh("touch ran");
    exec.bounds = Bounds { write: Reach::Beneath(vec![place.path("")]), ..Bounds::open() };
    match place.start(exec).await.unwrap_err() {
        TargetError::NotJailed { layer, reason } => {
            assert_eq!(layer, "host");
            assert!(reason.contains("ask the user to approve it"), "the way out is named: {reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(!place.path("ran").exists());
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_told() {
    let mut settings = SshSettings::new("127.0.0.1", Vec::new());
    settings.config = Some(PathBuf::from("/dev/null"));
    settings.destination = "ssh://127.0.0.1:1".to_owned();
    let error = SshTransport::attach(settings).await.unwrap_err();
    assert!(
        matches!(&error, TargetError::Unreachable { reason, .. } if reason.contains("refused")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_key_that_is_not_accepted_is_told() {
    let host = SshHost::start().unwrap();
    let config = std::fs::read_to_string(host.config()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("config");
    let without: Vec<&str> = config.lines().filter(|line| !line.contains("IdentityFile")).collect();
    std::fs::write(
        &own,
        format!("{}\n  IdentityFile {}\n", without.join("\n"), folder.path().join("none").display()),
    )
    .unwrap();
    let error = SshTransport::attach(ssh_settings(own)).await.unwrap_err();
    let is_told =
        matches!(&error, TargetError::Unreachable { reason, .. } if reason.contains("Permission denied"));
    assert!(is_told, "{error:?}");
}

#[tokio::test]
async fn the_login_directory_is_the_place_to_work_in_and_a_missing_one_is_told() {
    let host = SshHost::start().unwrap();
    let transport = Arc::new(SshTransport::attach(ssh_settings(host.config())).await.unwrap());
    let attach = async |cwd: Option<&str>| {
        let settings = RemoteSettings { cwd: cwd.map(str::to_owned), grace: GRACE };
        RemoteTarget::attach(transport.clone(), settings).await
    };
    let target = attach(None).await.unwrap();
    let described = buddy_exec::Target::describe(&target);
    assert_eq!(target.home(), Some(host.home().as_path()));
    let account = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = account.lines().find(|line| line.starts_with(&format!("{}:", described.user))).unwrap();
    assert_eq!(described.cwd.to_str(), line.split(':').nth(5));
    assert_eq!((described.name.as_str(), described.os.starts_with("Linux ")), ("ssh:machine", true));
    let Err(error) = attach(Some("/no/such/directory")).await else { panic!("it is not there") };
    assert!(matches!(error, TargetError::CwdUnusable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_container_that_does_not_run_is_told_and_options_are_refused() {
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let attach = async |name: &str| {
        let settings = ContainerSettings { name: name.to_owned(), env: env.clone() };
        ContainerTransport::attach(settings).await.unwrap_err()
    };
    for name in ["--privileged", "-v/:/h", "--network=host", "x --privileged"] {
        let error = attach(name).await;
        assert!(error.to_string().contains("not the name of a container"), "{error}");
    }
    let error = attach("no-such-container-anywhere").await;
    assert!(matches!(error, TargetError::Unreachable { .. }), "{error:?}");
}
