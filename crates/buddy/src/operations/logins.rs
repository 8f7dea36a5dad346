//! Logging out.

use std::collections::BTreeMap;
use std::sync::Arc;

use buddy_model::{Login, LoginError, Revocation};
use buddy_protocol::operations::{ForgottenKey, ForgottenLogin, LogOut, LogOutReport, TokenRevocation};

use super::place::OperationPlace;
use crate::auth_store::{AuthContents, AuthStore, StoredLogin};
use crate::config::{Config, load};
use crate::login_subject::{LoginSubject, find, keyed_profiles};
use crate::system::SystemClock;

/// Forgets first, so that nothing here is used again, and then gives tokens back.
pub(super) async fn log_out(place: &OperationPlace, request: &LogOut) -> anyhow::Result<LogOutReport> {
    let loaded = load(&place.environment, &place.cwd, &place.request)?;
    let store = AuthStore::of_user(&place.environment)?;
    let mut warnings = loaded.warnings.clone();
    warnings.extend(store.close_to_others());
    let locked = store.lock().await?;
    let mut contents = locked.read()?;
    let (logins, keys) = match request {
        LogOut::All => {
            let AuthContents { logins, api_keys, .. } = std::mem::take(&mut contents);
            (logins, api_keys.into_keys().collect())
        }
        LogOut::Active => take_named(&loaded.config, &mut contents, None)?,
        LogOut::Named(name) => take_named(&loaded.config, &mut contents, Some(name))?,
    };
    if logins.is_empty() && keys.is_empty() {
        return Ok(LogOutReport { warnings, ..LogOutReport::default() });
    }
    locked.write(&contents)?;
    drop(locked);
    let mut report = LogOutReport { warnings, ..LogOutReport::default() };
    report.keys.extend(keys.into_iter().map(|profile| ForgottenKey { profile }));
    for (provider, login) in logins {
        let tokens = match give_back(&loaded.config, &provider, &login).await {
            Ok(Revocation::Done) => TokenRevocation::Done,
            Ok(Revocation::NotOffered) => TokenRevocation::NotOffered,
            Err(error) => TokenRevocation::Failed(error.to_string()),
        };
        report.logins.push(ForgottenLogin { provider, tokens });
    }
    Ok(report)
}

type Forgotten = (BTreeMap<String, StoredLogin>, Vec<String>);

/// Takes out what a name means. A name that the configuration no longer has may still be in the file.
fn take_named(config: &Config, contents: &mut AuthContents, name: Option<&str>) -> anyhow::Result<Forgotten> {
    let mut logins = BTreeMap::new();
    let mut keys = Vec::new();
    if let Some(name) = name {
        logins.extend(contents.logins.remove_entry(name));
        keys.extend(contents.api_keys.remove_entry(name).map(|(profile, _)| profile));
    }
    if logins.is_empty() && keys.is_empty() {
        match find(config, name)? {
            LoginSubject::Provider { section, .. } if section.gives_key() => {
                let profiles = keyed_profiles(config, section).into_iter();
                let removed = profiles.filter_map(|(profile, _)| contents.api_keys.remove_entry(profile));
                keys.extend(removed.map(|(profile, _)| profile));
            }
            LoginSubject::Provider { name, .. } => logins.extend(contents.logins.remove_entry(name)),
            LoginSubject::Key { profile, .. } => {
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
