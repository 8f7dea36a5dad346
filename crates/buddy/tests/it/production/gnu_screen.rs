//! GNU screen beside tmux: another server of the user that types for any client which reaches it.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Machine, PATIENCE, buddy, stage};

/// A screen of the user, in which a program writes down what is typed.
struct ScreenServer {
    sockets: PathBuf,
    typed: PathBuf,
}

impl ScreenServer {
    fn start(place: &Path, name: &str) -> Self {
        let server = Self { sockets: place.join(name), typed: place.join(format!("{name}.typed")) };
        fs::DirBuilder::new().mode(0o700).create(&server.sockets).unwrap();
        let keep = format!("exec cat > {}", server.typed.display());
        server.screen(&["-c", "/dev/null", "-dmS", "mine", "sh", "-c", &keep]);
        server
    }

    #[expect(clippy::disallowed_methods, reason = "the test plays a user with a screen of their own")]
    fn screen(&self, words: &[&str]) -> bool {
        let mut command = std::process::Command::new("screen");
        command.args(words).env("SCREENDIR", &self.sockets).env_remove("STY").status().unwrap().success()
    }

    /// The commands that type a word there, and have the server start a program.
    fn orders(&self, word: &str) -> String {
        let screen = format!("SCREENDIR={} screen -S mine", self.sockets.display());
        format!("{screen} -X stuff '{word}^M'; {screen} -X exec touch {}.ran; ", self.sockets.display())
    }

    /// The typed text, once a line of the user's own has arrived.
    async fn typed(&self) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let text = fs::read_to_string(&self.typed).unwrap_or_default();
            if text.ends_with("end-of-test\n") {
                return text.replace("end-of-test\n", "");
            }
            assert!(Instant::now() < end, "nothing can be typed there at all: {text:?}");
            // A server that has just begun hears nothing yet.
            self.screen(&["-S", "mine", "-X", "stuff", "end-of-test^M"]);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    fn ran(&self) -> bool {
        self.sockets.with_extension("ran").exists()
    }
}

impl Drop for ScreenServer {
    fn drop(&mut self) {
        self.screen(&["-S", "mine", "-X", "quit"]);
    }
}

#[tokio::test]
async fn no_command_types_through_a_screen_of_the_person() {
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces] {
        let place = tempfile::tempdir().unwrap();
        // The one that buddy runs in, and one that only a look finds.
        let [outer, other] = ["outer", "other"].map(|name| ScreenServer::start(place.path(), name));
        for server in [&outer, &other] {
            server.typed().await;
        }
        let say = |word: &str| outer.orders(word) + &other.orders(word);
        // Nobody is asked about a build, and the user is asked about screen.
        let stage = stage(&["make".to_owned(), say("asked")]).await;
        let rows = format!("\t-{}\n\tenv > environment\n\techo built > built\n", say("unasked"));
        fs::write(stage.home.work().join("Makefile"), format!("all:\n{rows}")).unwrap();
        let program = buddy(&stage, machine, "").env("STY", "1.mine").env("SCREENDIR", &outer.sockets);
        let mut started = program.converse();
        started.write(b"go\n").await;
        started.stderr.wait_for("-- approve? [", 1).await;
        started.stderr.wait_for("/n] ", 1).await;
        let said = started.stderr.text();
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{yes}\n").as_bytes()).await;
        started.stdout.wait_for("So be it.", 1).await;
        started.finish().await.expect_code(0);
        let (work, results) = (stage.home.work(), stage.results());
        assert_eq!(fs::read_to_string(work.join("built")).unwrap(), "built\n", "{machine:?}: {results:?}");
        let environment = fs::read_to_string(work.join("environment")).unwrap();
        assert!(!environment.contains("STY="), "{machine:?}: {environment}");
        assert_eq!((outer.typed().await.as_str(), outer.ran()), ("", false), "{machine:?}: {results:?}");
        // Without bubblewrap this buddy is in a namespace of users of its own, from which the servers outside cannot be looked at.
        if machine == Machine::Bubblewrap {
            assert_eq!((other.typed().await.as_str(), other.ran()), ("", false), "{machine:?}: {results:?}");
        }
    }
}

/// The orders of the other test do type, and do start a program, for whoever reaches the server.
#[tokio::test]
async fn a_program_that_reaches_the_server_types_there() {
    let place = tempfile::tempdir().unwrap();
    let server = ScreenServer::start(place.path(), "own");
    server.typed().await;
    let stage = stage(&[]).await;
    stage.in_bash(&server.orders("typed")).run().await.expect_code(0);
    assert!(server.typed().await.contains("typed\n"));
    let end = Instant::now() + PATIENCE;
    while !server.ran() {
        assert!(Instant::now() < end, "the server starts programs");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
