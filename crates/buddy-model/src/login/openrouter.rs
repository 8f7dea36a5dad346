//! OpenRouter where it differs from the standards: no client, no state, and an API key instead of tokens.
//!
//! The state of a login is a part of the path that the browser comes back to, so that no other page can end it.

use secrecy::SecretString;
use url::Url;

use super::answer::{ProviderAnswer, bad};
use crate::{LoginError, LoginErrorKind};

/// The page to open for a code that comes back to `redirect`.
pub(super) fn question(mut url: Url, redirect: &str, challenge: &str) -> Url {
    url.query_pairs_mut()
        .append_pair("callback_url", redirect)
        .append_pair("code_challenge", challenge)
        .append_pair("code_challenge_method", "S256");
    url
}

/// The key in an answer.
pub(super) fn key(answer: &ProviderAnswer) -> Result<SecretString, LoginError> {
    let key = answer.text("key").filter(|key| is_key(key));
    key.map(Into::into).ok_or_else(|| bad("the provider's answer has no key"))
}

/// Whether a text can be sent as a key.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_graphic())
}

/// The code in an address that came back, which must be below the path that was drawn for this login.
pub(super) fn code(url: &Url, path: &str) -> Result<SecretString, LoginError> {
    let foreign = || LoginError::new(LoginErrorKind::Foreign, "the answer does not belong to this login");
    if url.path() != path {
        return Err(foreign());
    }
    let mut codes = url.query_pairs().filter(|(name, _)| name == "code");
    let code = codes.next().filter(|(_, code)| !code.is_empty() && codes.next().is_none());
    code.map(|(_, code)| code.into_owned().into())
        .ok_or_else(|| LoginError::new(LoginErrorKind::Denied, "the login was not allowed in the browser"))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn check(url: &str) -> Result<String, LoginErrorKind> {
        let code = code(&Url::parse(url).unwrap(), "/callback/s1");
        code.map(|code| code.expose_secret().to_owned()).map_err(|error| error.kind)
    }

    #[test]
    fn the_path_says_whose_login_it_is() {
        assert_eq!(check("http://localhost:3000/callback/s1?code=c%2F1").unwrap(), "c/1");
        for foreign in ["http://localhost:3000/callback?code=c", "http://localhost:3000/callback/s2?code=c"] {
            assert_eq!(check(foreign), Err(LoginErrorKind::Foreign), "{foreign}");
        }
        for denied in ["", "?code=", "?code=a&code=b", "?error=access_denied"] {
            let url = format!("http://localhost:3000/callback/s1{denied}");
            assert_eq!(check(&url), Err(LoginErrorKind::Denied), "{denied}");
        }
    }
}
