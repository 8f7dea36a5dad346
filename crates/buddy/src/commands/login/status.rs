//! `buddy login --status`.

use buddy_protocol::{Clock, UnixMillis};
use buddy_tui::{Exit, Printer};

use crate::auth_store::{AuthContents, AuthStore, StoredLogin};
use crate::config::Config;
use crate::login_subject::{LoginSubject, find, keyed_profiles};
use crate::system::SystemClock;

/// Tells who is logged in; of one name, also by the exit code.
pub(super) fn show(store: &AuthStore, config: &Config, name: Option<&str>) -> anyhow::Result<Exit> {
    let contents = store.read()?;
    let mut printer = Printer::standard();
    let Some(name) = name else {
        let lines = all(&contents);
        if lines.is_empty() {
            printer.status("No logins and no keys.");
        }
        for line in lines {
            printer.status(&line);
        }
        return Ok(Exit::Ok);
    };
    let line = match find(config, Some(name))? {
        LoginSubject::Provider { section, .. } if section.gives_key() => {
            let kept = keyed_profiles(config, section).into_iter();
            let lines = kept.filter(|(profile, _)| contents.api_keys.contains_key(*profile));
            let lines: Vec<String> = lines.map(|(profile, address)| of_key(profile, &address)).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        LoginSubject::Provider { name, .. } => contents.logins.get(name).map(|login| of_login(name, login)),
        LoginSubject::Key { profile, .. } => {
            contents.api_keys.get(profile).map(|key| of_key(profile, &key.address))
        }
    };
    let exit = if line.is_some() { Exit::Ok } else { Exit::Auth };
    printer.status(&line.unwrap_or_else(|| format!("Not logged in to `{name}`. Run `buddy login {name}`.")));
    Ok(exit)
}

fn all(contents: &AuthContents) -> Vec<String> {
    let logins = contents.logins.iter().map(|(name, login)| of_login(name, login));
    let keys = contents.api_keys.iter().map(|(profile, key)| of_key(profile, &key.address));
    logins.chain(keys).collect()
}

fn of_login(name: &str, login: &StoredLogin) -> String {
    let who = login.account.as_ref().map(|account| format!(" as {account}")).unwrap_or_default();
    let until = match (login.is_live(SystemClock.now()), &login.refresh) {
        (true, _) => login.expires_at.map(|end| format!(", token until {}", time(end))).unwrap_or_default(),
        (false, Some(_)) => ", the next call renews the token".to_owned(),
        (false, None) => format!(", ended: run `buddy login {name}`"),
    };
    format!("{name}: logged in{who}{until}, for {}", login.addresses.join(", "))
}

fn of_key(profile: &str, address: &str) -> String {
    format!("{profile}: API key, for {address}")
}

fn time(at: UnixMillis) -> String {
    let milliseconds = i64::try_from(at.0).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(milliseconds);
    time.map_or_else(|_| "ever".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}
