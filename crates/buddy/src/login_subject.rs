//! The meaning of a name on the command line: a provider, or a profile that uses one or has a key.

use std::collections::BTreeSet;

use anyhow::Context;
use buddy_model::Endpoint;

use crate::auth_store::LoginSection;
use crate::config::{AuthKind, Config, is_builtin_login};
use crate::start_error::UsageError;

/// The subject of a login.
#[derive(Debug)]
pub(crate) enum LoginSubject<'a> {
    /// A provider.
    Provider { name: &'a str, section: &'a LoginSection },
    /// A profile with a key, at this address.
    Key { profile: &'a str, address: String },
}

/// The meaning of a name; without one, the profile in use, or the only provider that the user configured.
pub(crate) fn find<'a>(config: &'a Config, name: Option<&str>) -> anyhow::Result<LoginSubject<'a>> {
    if let Some((name, section)) = name.and_then(|name| config.login.get_key_value(name)) {
        return Ok(LoginSubject::Provider { name, section });
    }
    let in_use = config.agent.model.split('/').next().unwrap_or_default();
    let wish = name.unwrap_or(in_use);
    let uses_login = config.models.get(wish).is_some_and(|profile| profile.auth == AuthKind::Login);
    let mut own = config.login.iter().filter(|(name, _)| !is_builtin_login(name));
    if let (None, false, Some((name, section)), None) = (name, uses_login, own.next(), own.next()) {
        return Ok(LoginSubject::Provider { name, section });
    }
    let (profile, address) = self::profile(config, Some(wish))?;
    if !uses_login {
        return Ok(LoginSubject::Key { profile, address });
    }
    let found = config.login.iter().find(|(_, section)| section.serves(&address));
    let (name, section) = found.with_context(|| {
        format!("no login is configured for `{profile}`: add {address} to the `addresses` of a `[login.…]` section")
    })?;
    Ok(LoginSubject::Provider { name, section })
}

/// A profile with the address of its API; without a name, the one in use.
pub(crate) fn profile<'a>(config: &'a Config, name: Option<&str>) -> anyhow::Result<(&'a str, String)> {
    let in_use = config.agent.model.split('/').next().unwrap_or_default();
    let wish = name.unwrap_or(in_use);
    let Some((name, profile)) = config.models.get_key_value(wish) else {
        let known: BTreeSet<&str> =
            config.login.keys().chain(config.models.keys()).map(String::as_str).collect();
        let known: Vec<&str> = known.into_iter().collect();
        let message = format!("there is no profile or provider `{wish}`; use one of {}", known.join(", "));
        return Err(UsageError::new(message).into());
    };
    let base = profile.api_base_url.as_deref();
    let base = base.with_context(|| format!("`models.{name}.api_base_url` is not set"))?;
    Ok((name, Endpoint::parse(base)?.to_string()))
}

/// The profiles that take an API key at a provider's addresses, each with its address.
pub(crate) fn keyed_profiles<'a>(config: &'a Config, section: &LoginSection) -> Vec<(&'a str, String)> {
    let keyed = config.models.iter().filter(|(_, profile)| profile.auth == AuthKind::ApiKey);
    let addressed = keyed.filter_map(|(name, _)| profile(config, Some(name)).ok());
    addressed.filter(|(_, address)| section.serves(address)).collect()
}
