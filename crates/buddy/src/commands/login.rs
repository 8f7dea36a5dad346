//! `buddy login` and `buddy logout`. What they say goes to the standard error; no secret is ever said.

mod browser;
mod elsewhere;
mod guide;
mod input;
mod sign_in;
mod status;

use buddy_protocol::Operations;
use buddy_protocol::operations::LogOut;
use buddy_tui::{Exit, Printer};

use crate::auth_store::{AuthStore, LoginSection};
use crate::cli::{LoginFlags, Logout};
use crate::commands::login::guide::Occasion;
use crate::commands::login::sign_in::{LoginFlow, interruptible, keep_key, log_in};
use crate::environment::Environment;
use crate::invocation::Invocation;
use crate::login_subject::{self as subject, LoginSubject};
use crate::rendering::print_log_out;

pub(crate) use guide::{Welcomed, has_screen, welcome};

/// Logs in, keeps a key, or tells who is logged in.
pub(crate) async fn run(invocation: &Invocation<'_>, arguments: LoginFlags) -> anyhow::Result<Exit> {
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
        LoginSubject::Provider { name, section } => {
            let flow = flow(&arguments, section, invocation.environment);
            interruptible(log_in(invocation.environment, &store, &loaded.config, name, section, flow)).await
        }
        LoginSubject::Key { profile, address } => interruptible(keep_key(&store, profile, address)).await,
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
    let log_out = async {
        Ok(print_log_out(&operations.log_out(operations.owner(), request).await?, &mut Printer::standard()))
    };
    interruptible(log_out).await
}

/// The way that the user asked for; else a browser where there is a screen, else a code, where the provider has codes.
fn flow(arguments: &LoginFlags, section: &LoginSection, environment: &Environment) -> LoginFlow {
    let has_screen = browser::has_screen(environment) && section.authorize_url.is_some();
    match section.device_url {
        _ if arguments.device => LoginFlow::Device,
        Some(_) if !arguments.browser && !has_screen => LoginFlow::Device,
        _ => LoginFlow::Browser,
    }
}

fn warn(store: &AuthStore) {
    for warning in store.close_to_others() {
        Printer::standard().status(&format!("warning: {warning}"));
    }
}
