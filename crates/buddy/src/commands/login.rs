//! `buddy login` and `buddy logout`. What they say goes to the standard error; no secret is ever said.

mod browser;
mod elsewhere;
mod guide;
mod input;
mod status;

use std::future::Future;
use std::sync::Arc;

use buddy_model::{DeviceCode, Login, LoginErrorKind, LoginGrant, Tokens};
use buddy_protocol::Operations;
use buddy_protocol::operations::LogOut;
use buddy_tui::Exit;
use secrecy::SecretString;

use crate::auth_store::{AuthStore, Kept, LoginSection, StoredKey, StoredLogin};
use crate::cli::{Login as LoginArguments, Logout};
use crate::commands::login::guide::Occasion;
use crate::commands::login::input::Pasted;
use crate::commands::printer;
use crate::commands::setup::Invocation;
use crate::config::Config;
use crate::environment::Environment;
use crate::login_subject::{self as subject, Subject};
use crate::rendering::print_log_out;
use crate::signals::unless_interrupted;
use crate::system::SystemClock;

pub(crate) use guide::{Welcomed, has_screen, welcome};

/// Logs in, keeps a key, or tells who is logged in.
pub(crate) async fn run(invocation: &Invocation<'_>, arguments: LoginArguments) -> anyhow::Result<Exit> {
    let loaded = invocation.load()?;
    let store = AuthStore::of_user(invocation.environment)?;
    warn(&store);
    if arguments.status {
        return status::show(&store, &loaded.config, arguments.name.as_deref());
    }
    let name = arguments.name.as_deref();
    let is_bare = name.is_none() && !arguments.api_key && !arguments.device && !arguments.browser;
    if is_bare && guide::has_screen(invocation.environment, loaded.config.display.screen_reader) {
        return guide::guide(invocation, Occasion::Login).await;
    }
    if arguments.api_key {
        let (profile, address) = subject::profile(&loaded.config, name)?;
        return interruptible(keep_key(&store, profile, address)).await;
    }
    match subject::find(&loaded.config, name)? {
        Subject::Provider { name, section } => {
            let flow = flow(&arguments, section, invocation.environment);
            interruptible(log_in(invocation.environment, &store, &loaded.config, name, section, flow)).await
        }
        Subject::Key { profile, address } => interruptible(keep_key(&store, profile, address)).await,
    }
}

/// Forgets logins and keys.
pub(crate) async fn logout(invocation: &Invocation<'_>, arguments: Logout) -> anyhow::Result<Exit> {
    let request = match arguments {
        Logout { all: true, .. } => LogOut::All,
        Logout { name: Some(name), .. } => LogOut::Named(name),
        Logout { name: None, .. } => LogOut::Active,
    };
    let operations = invocation.operations();
    let log_out = async { Ok(print_log_out(&operations.log_out(request).await?, &mut printer())) };
    interruptible(log_out).await
}

/// How to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Device,
    Browser,
    /// In a browser, until the user wants another way.
    BrowserOrBack,
}

/// What the user asked for; else a browser where there is a screen, else a code, where the provider has codes.
fn flow(arguments: &LoginArguments, section: &LoginSection, environment: &Environment) -> Flow {
    let has_screen = browser::has_screen(environment) && section.authorize_url.is_some();
    match section.device_url {
        _ if arguments.device => Flow::Device,
        Some(_) if !arguments.browser && !has_screen => Flow::Device,
        _ => Flow::Browser,
    }
}

async fn log_in(
    environment: &Environment,
    store: &AuthStore,
    config: &Config,
    name: &str,
    section: &LoginSection,
    flow: Flow,
) -> anyhow::Result<Exit> {
    let provider = section.provider(name);
    let login = Login::new(provider.clone(), Arc::new(SystemClock))?;
    let outcome = match flow {
        Flow::Device => login.device(show_code).await.map(LoginGrant::Tokens),
        Flow::Browser => {
            let open = |url: &_| browser::open(environment, url);
            login.browser(open, input::pasted(Pasted::Filled)).await
        }
        Flow::BrowserOrBack => {
            let open = |url: &_| {
                browser::open(environment, url);
                printer().status("Press Enter to go back.");
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
            printer().status(&format!("buddy: {error}"));
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
    let mut printer = printer();
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
    printer().status(&format!("Logged in to {name}. Its key is saved for {}.", names.join(", ")));
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
    let mut printer = printer();
    printer.status(&format!("Open this page on any device:\n\n    {}\n", code.url));
    printer.status(&format!("and enter this code:\n\n    {}\n", code.code));
    if let Some(url) = &code.complete_url {
        printer.status(&format!("or open this page, which has the code in it:\n\n    {url}\n"));
    }
    let minutes = code.expires_in.as_secs().div_ceil(60);
    printer.status(&format!("Waiting for up to {minutes} min. Enter no code that you did not ask for."));
}

async fn keep_key(store: &AuthStore, profile: &str, address: String) -> anyhow::Result<Exit> {
    put_key(store, profile, input::key(profile).await?, address.clone()).await?;
    tell_kept(profile, &address);
    Ok(Exit::Ok)
}

/// Writes a key down, for this address.
async fn put_key(store: &AuthStore, profile: &str, key: SecretString, address: String) -> anyhow::Result<()> {
    let locked = store.lock().await?;
    let mut contents = locked.read()?;
    contents.api_keys.insert(profile.to_owned(), StoredKey { key: Kept(key), address });
    Ok(locked.write(&contents)?)
}

fn tell_kept(profile: &str, address: &str) {
    printer().status(&format!("Saved the key for `{profile}`. buddy sends it to {address}."));
}

fn warn(store: &AuthStore) {
    for warning in store.close_to_others() {
        printer().status(&format!("warning: {warning}"));
    }
}

/// Runs until an interrupt, which leaves everything as it was.
async fn interruptible(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    Ok(unless_interrupted(work).await?.unwrap_or(Exit::Interrupted))
}
