//! Values that have a password or a key in them, under any variable name.

/// The prefixes of keys of well-known services.
const KEY_STARTS: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "shpat_",
];

/// The shortest such key, in characters.
const LEAST_KEY: usize = 20;

/// The text before a password in a list of settings, in any case.
const SETTINGS: &[&str] = &[
    "password=",
    "passwd=",
    "pwd=",
    "accountkey=",
    "sharedaccesskey=",
    "secret=",
    "token=",
    "api_key=",
    "apikey=",
];

/// Whether a value has a credential in it, as far as its form tells.
pub(super) fn has_credential(value: &str) -> bool {
    has_user_with_password(value) || has_setting(value) || value.split([',', ' ', ';']).any(is_key)
}

/// `scheme://user:password@host`, or a user that is a key itself.
fn has_user_with_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ', '"', '\'']).next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else { return false };
        match user.split_once(':') {
            Some((_, password)) => !password.is_empty(),
            None => user.chars().count() >= LEAST_KEY,
        }
    })
}

fn has_setting(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let follows = |start: &str| {
        lower.split(start).skip(1).any(|rest| !rest.is_empty() && !rest.starts_with([';', '&', ' ']))
    };
    SETTINGS.iter().any(|start| follows(start))
}

fn is_key(word: &str) -> bool {
    let is_long = word.chars().count() >= LEAST_KEY;
    let is_known = || KEY_STARTS.iter().any(|start| word.starts_with(start)) && !word.contains('/');
    let is_signed = || word.starts_with("eyJ") && word.matches('.').count() == 2;
    is_long && (is_known() || is_signed()) || word.contains("-----BEGIN")
}
