//! Logging in to a provider, and writing keys down.

use std::future::Future;
use std::sync::Arc;

use buddy_model::{DeviceCode, Login, LoginErrorKind, LoginGrant, Tokens};
use buddy_tui::{Exit, Printer};
use secrecy::SecretString;

use super::input::Pasted;
use super::{browser, input};
use crate::auth_store::{AuthStore, KeptSecret, LoginSection, StoredKey, StoredLogin};
use crate::config::Config;
use crate::environment::Environment;
use crate::login_subject as subject;
use crate::signals::unless_interrupted;
use crate::system::SystemClock;

/// How to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoginFlow {
    Device,
    Browser,
    /// In a browser, until the user wants another way.
    BrowserOrBack,
}

pub(super) async fn log_in(
    environment: &Environment,
    store: &AuthStore,
    config: &Config,
    name: &str,
    section: &LoginSection,
    flow: LoginFlow,
) -> anyhow::Result<Exit> {
    let provider = section.provider(name);
    let login = Login::new(provider.clone(), Arc::new(SystemClock))?;
    let outcome = match flow {
        LoginFlow::Device => login.device(show_code).await.map(LoginGrant::Tokens),
        LoginFlow::Browser => {
            let open = |url: &_| browser::open(environment, url);
            login.browser(open, input::pasted(Pasted::Filled)).await
        }
        LoginFlow::BrowserOrBack => {
            let open = |url: &_| {
                browser::open(environment, url);
                Printer::standard().status("Press Enter to go back.");
            };
            login.browser(open, input::pasted(Pasted::Any)).await
        }
    };
    let tokens: Tokens = match outcome {
        Ok(LoginGrant::Tokens(tokens)) => tokens,
        Ok(LoginGrant::Key(key)) => {
            keep_granted(store, config, name, section, &key).await?;
            return Ok(Exit::Ok);
        }
        Err(error) => {
            Printer::standard().status(&format!("buddy: {error}"));
            return Ok(exit_of(error.kind));
        }
    };
    let who = tokens.account.as_ref().map(|account| format!(" as {account}")).unwrap_or_default();
    let login = StoredLogin::new(&provider, section.origins(), tokens);
    let addresses = login.addresses.join(", ");
    let locked = store.lock().await?;
    let mut contents = locked.read()?;
    contents.logins.insert(name.to_owned(), login);
    locked.write(&contents)?;
    let mut printer = Printer::standard();
    printer.status(&format!("Logged in to {name}{who}. buddy sends its tokens to {addresses}."));
    Ok(Exit::Ok)
}

/// Keeps the key that a login gave, for each profile at the provider's addresses.
async fn keep_granted(
    store: &AuthStore,
    config: &Config,
    name: &str,
    section: &LoginSection,
    key: &SecretString,
) -> anyhow::Result<()> {
    let profiles = subject::keyed_profiles(config, section);
    if profiles.is_empty() {
        anyhow::bail!("Logged in to {name}, but no profile uses {}.", section.addresses.join(", "));
    }
    for (profile, address) in &profiles {
        put_key(store, profile, key.clone(), address.clone()).await?;
    }
    let names: Vec<String> = profiles.iter().map(|(profile, _)| format!("`{profile}`")).collect();
    Printer::standard().status(&format!("Logged in to {name}. Its key is saved for {}.", names.join(", ")));
    Ok(())
}

fn exit_of(kind: LoginErrorKind) -> Exit {
    match kind {
        LoginErrorKind::Denied
        | LoginErrorKind::Expired
        | LoginErrorKind::Refused
        | LoginErrorKind::Foreign => Exit::Auth,
        LoginErrorKind::Setup | LoginErrorKind::Transport | LoginErrorKind::BadAnswer => Exit::Failed,
    }
}

fn show_code(code: &DeviceCode) {
    let mut printer = Printer::standard();
    printer.status(&format!("Open this page on any device:\n\n    {}\n", code.url));
    printer.status(&format!("and enter this code:\n\n    {}\n", code.code));
    if let Some(url) = &code.complete_url {
        printer.status(&format!("or open this page, which has the code in it:\n\n    {url}\n"));
    }
    let minutes = code.expires_in.as_secs().div_ceil(60);
    printer.status(&format!("Waiting for up to {minutes} min. Enter no code that you did not ask for."));
}

pub(super) async fn keep_key(store: &AuthStore, profile: &str, address: String) -> anyhow::Result<Exit> {
    put_key(store, profile, input::key(profile).await?, address.clone()).await?;
    tell_kept(profile, &address);
    Ok(Exit::Ok)
}

/// Writes a key down, for this address.
pub(super) async fn put_key(
    store: &AuthStore,
    profile: &str,
    key: SecretString,
    address: String,
) -> anyhow::Result<()> {
    let locked = store.lock().await?;
    let mut contents = locked.read()?;
    contents.api_keys.insert(profile.to_owned(), StoredKey { key: KeptSecret(key), address });
    Ok(locked.write(&contents)?)
}

pub(super) fn tell_kept(profile: &str, address: &str) {
    Printer::standard().status(&format!("Saved the key for `{profile}`. buddy sends it to {address}."));
}

/// Runs until an interrupt, which leaves everything as it was.
pub(super) async fn interruptible(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    Ok(unless_interrupted(work).await?.unwrap_or(Exit::Interrupted))
}
