//! `buddy logout`.

use std::collections::BTreeMap;
use std::sync::Arc;

use buddy_model::{Login, LoginError, Revocation};
use buddy_tui::Exit;

use crate::auth_store::{AuthStore, Contents, StoredLogin};
use crate::cli::Logout;
use crate::commands::login::subject::{Subject, find, keyed_profiles};
use crate::commands::printer;
use crate::config::Config;
use crate::system::SystemClock;

/// Forgets first, so that nothing here is used again, and then gives tokens back.
pub(super) async fn run(store: &AuthStore, config: &Config, arguments: &Logout) -> anyhow::Result<Exit> {
    let locked = store.lock().await?;
    let mut contents = locked.read()?;
    let (logins, keys) = if arguments.all {
        let Contents { logins, api_keys, .. } = std::mem::take(&mut contents);
        (logins, api_keys.into_keys().collect())
    } else {
        named(config, &mut contents, arguments.name.as_deref())?
    };
    if logins.is_empty() && keys.is_empty() {
        printer().status("Not logged in.");
        return Ok(Exit::Ok);
    }
    locked.write(&contents)?;
    drop(locked);
    for profile in keys {
        printer().status(&format!("Removed the key for `{profile}`."));
    }
    let mut exit = Exit::Ok;
    for (name, login) in logins {
        let line = match give_back(config, &name, &login).await {
            Ok(Revocation::Done) => format!("Logged out of {name}."),
            Ok(Revocation::NotOffered) => {
                format!(
                    "Logged out of {name} here. The provider cannot revoke tokens, so they stay valid until they expire."
                )
            }
            Err(error) => {
                exit = Exit::Failed;
                format!("Logged out of {name} here, but buddy could not revoke its tokens: {error}")
            }
        };
        printer().status(&line);
    }
    Ok(exit)
}

type Forgotten = (BTreeMap<String, StoredLogin>, Vec<String>);

/// Takes out what a name means. A name that the configuration no longer has may still be in the file.
fn named(config: &Config, contents: &mut Contents, name: Option<&str>) -> anyhow::Result<Forgotten> {
    let mut logins = BTreeMap::new();
    let mut keys = Vec::new();
    if let Some(name) = name {
        logins.extend(contents.logins.remove_entry(name));
        keys.extend(contents.api_keys.remove_entry(name).map(|(profile, _)| profile));
    }
    if logins.is_empty() && keys.is_empty() {
        match find(config, name)? {
            Subject::Provider { section, .. } if section.gives_key() => {
                let profiles = keyed_profiles(config, section).into_iter();
                let removed = profiles.filter_map(|(profile, _)| contents.api_keys.remove_entry(profile));
                keys.extend(removed.map(|(profile, _)| profile));
            }
            Subject::Provider { name, .. } => logins.extend(contents.logins.remove_entry(name)),
            Subject::Key { profile, .. } => {
                keys.extend(contents.api_keys.remove_entry(profile).map(|(profile, _)| profile));
            }
        }
    }
    Ok((logins, keys))
}

/// Tokens go back only to the provider they came from.
async fn give_back(config: &Config, name: &str, login: &StoredLogin) -> Result<Revocation, LoginError> {
    let Some(section) = config.login.get(name).filter(|section| section.token_url == login.token_url) else {
        return Ok(Revocation::NotOffered);
    };
    Login::new(section.provider(name), Arc::new(SystemClock))?.revoke(&login.tokens()).await
}
