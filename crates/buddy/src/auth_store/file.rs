//! The file: private, never followed through a link, replaced in one step that survives a power cut.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use buddy_exec::{FileDraft, FileMode, FileSync};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::contents::{AuthContents, VERSION};
use crate::environment::Environment;

/// The file's name, and the beginning of those of its drafts, as [`FileDraft`] gives them.
const NAME: &str = "auth.json";
const DRAFT_PREFIX: &str = ".auth.json.";

/// Largest file that is read; hundreds of logins fit.
const MAX_BYTES: u64 = 1 << 20;

/// Why logins cannot be read or kept. Never quotes the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AuthStoreError(String);

impl AuthStoreError {
    pub(super) fn new(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Self {
        Self(format!("cannot {what} {}: {cause}", path.display()))
    }
}

/// The place of the file.
#[derive(Debug, Clone)]
pub(crate) struct AuthStore {
    directory: PathBuf,
}

impl AuthStore {
    /// The user's; none where there is no home.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        environment.config_home.as_ref().map(|home| Self { directory: home.join("buddy") })
    }

    /// The user's, for a command that needs it.
    pub(crate) fn of_user(environment: &Environment) -> anyhow::Result<Self> {
        Self::of(environment)
            .context("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for logins")
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its content; nothing when there is no file.
    pub(crate) fn read(&self) -> Result<AuthContents, AuthStoreError> {
        let path = self.path();
        let file = match open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(AuthContents::default()),
            Err(error) => return Err(AuthStoreError::new("open", &path, &error)),
        };
        let mut text = String::new();
        let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
        let read = read.map_err(|error| AuthStoreError::new("read", &path, &error))?;
        if read as u64 > MAX_BYTES {
            return Err(AuthStoreError::new("read", &path, &"it is too large"));
        }
        // The cause could quote a secret.
        let damaged =
            |_| AuthStoreError::new("read", &path, &"it is damaged; move it elsewhere and log in again");
        let contents: AuthContents = serde_json::from_str(&text).map_err(damaged)?;
        if contents.version > VERSION {
            return Err(AuthStoreError::new("read", &path, &"it was written by a newer buddy"));
        }
        Ok(contents)
    }

    /// Takes the rights of others away where they have some, and says so.
    pub(crate) fn close_to_others(&self) -> Vec<String> {
        let Ok(file) = open(&self.path()) else { return Vec::new() };
        let mut warnings = Vec::new();
        let directory = File::open(&self.directory);
        for (path, opened, mode) in
            [(self.path(), Ok(file), 0o600), (self.directory.clone(), directory, 0o700)]
        {
            let Ok(opened) = opened else { continue };
            let Ok(metadata) = opened.metadata() else { continue };
            let shown = path.display();
            if metadata.permissions().mode() & 0o777 & !mode == 0 {
                continue;
            }
            warnings.push(match opened.set_permissions(Permissions::from_mode(mode)) {
                Ok(()) => format!("others could read {shown}; they no longer can"),
                Err(error) => format!("others can read {shown}, and that cannot be changed: {error}"),
            });
        }
        warnings
    }

    /// Replaces it. Only whoever has the lock may.
    pub(super) fn write(&self, contents: &AuthContents) -> Result<(), AuthStoreError> {
        let path = self.path();
        let text = serde_json::to_string_pretty(contents)
            .map_err(|_| AuthStoreError::new("write", &path, &"it cannot be encoded"))?;
        // A link is not replaced either: whoever made it means another file.
        if let Err(error) = open(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(AuthStoreError::new("replace", &path, &error));
        }
        replace(&path, &text).map_err(|error| AuthStoreError::new("write", &path, &error))
    }

    /// Finishes what a process was doing when it was killed. Only whoever has the lock may.
    ///
    /// A draft that is whole was about to take the place of the file, and may have the only good refresh token in it,
    /// so it does. What was cut off is removed: it holds secrets too.
    pub(super) fn recover(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.directory)? {
            let draft = entry?;
            if !draft.file_name().to_string_lossy().starts_with(DRAFT_PREFIX) {
                continue;
            }
            let text = open(&draft.path()).and_then(|file| io::read_to_string(file.take(MAX_BYTES)));
            let is_whole = text.is_ok_and(|text| serde_json::from_str::<AuthContents>(&text).is_ok());
            if is_whole && !self.path().is_symlink() {
                std::fs::rename(draft.path(), self.path())?;
                File::open(&self.directory)?.sync_all()?;
            } else {
                std::fs::remove_file(draft.path())?;
            }
        }
        Ok(())
    }

    /// Makes the directory where it is missing.
    pub(super) fn make_directory(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)
    }
}

/// A draft that is whole stays if this process is killed, and is found by [`AuthStore::recover`].
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = FileDraft::written(path, text.as_bytes(), FileMode::PRIVATE, FileSync::Now)?;
    fail::fail_point!("login.drafted");
    draft.replace(path, FileSync::Now)
}

/// Opens a regular file, and nothing else that may stand in its place.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| {
        let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        if is_link { io::Error::other("it is a symbolic link, which is not followed") } else { error }
    })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth_store::contents::{KeptSecret, StoredKey};

    fn store() -> (tempfile::TempDir, AuthStore) {
        let home = tempfile::tempdir().unwrap();
        let store = AuthStore { directory: home.path().join("config/buddy") };
        store.make_directory().unwrap();
        (home, store)
    }

    fn one_key() -> AuthContents {
        let key = StoredKey { key: KeptSecret("sk-1".into()), address: "https://api".to_owned() };
        AuthContents { api_keys: [("claude".to_owned(), key)].into(), ..AuthContents::default() }
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_written_is_read_and_private() {
        let (_home, store) = store();
        assert!(store.read().unwrap().api_keys.is_empty());
        store.write(&one_key()).unwrap();
        assert_eq!(store.read().unwrap().api_keys.len(), 1);
        assert_eq!((mode(&store.path()), mode(&store.directory)), (0o600, 0o700));
        assert_eq!(std::fs::read_dir(&store.directory).unwrap().count(), 1);
    }

    #[test]
    fn rights_of_others_are_taken_away_with_a_warning() {
        let (_home, store) = store();
        store.write(&one_key()).unwrap();
        assert!(store.close_to_others().is_empty());
        std::fs::set_permissions(store.path(), Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(&store.directory, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(store.close_to_others().len(), 2);
        assert_eq!((mode(&store.path()), mode(&store.directory)), (0o600, 0o700));
    }

    #[test]
    fn links_are_refused_for_reading_and_writing() {
        let (home, store) = store();
        let elsewhere = home.path().join("elsewhere");
        std::fs::write(&elsewhere, "{}").unwrap();
        std::os::unix::fs::symlink(&elsewhere, store.path()).unwrap();
        for error in [store.read().unwrap_err(), store.write(&one_key()).unwrap_err()] {
            assert!(error.to_string().contains("symbolic link"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "{}");
    }

    #[test]
    fn damage_is_told_without_a_quote_and_nothing_is_lost() {
        let (_home, store) = store();
        for text in ["", "{", r#"{"version":1,"logins":"sk-secret"}"#, r#"{"version":2}"#] {
            std::fs::write(store.path(), text).unwrap();
            let error = store.read().unwrap_err().to_string();
            assert!(!error.contains("sk-secret"), "{error}");
            assert_eq!(std::fs::read_to_string(store.path()).unwrap(), text);
        }
    }

    #[test]
    fn a_whole_draft_of_the_dead_is_taken_and_half_a_one_removed() {
        let (_home, store) = store();
        let whole = serde_json::to_string(&one_key()).unwrap();
        let half: String = whole.chars().take(40).collect();
        std::fs::write(store.directory.join(".auth.json.half"), half).unwrap();
        store.recover().unwrap();
        assert!(!store.path().exists());
        std::fs::write(store.directory.join(".auth.json.whole"), whole).unwrap();
        store.recover().unwrap();
        assert_eq!(store.read().unwrap().api_keys.len(), 1);
        assert_eq!(std::fs::read_dir(&store.directory).unwrap().count(), 1);
    }
}
