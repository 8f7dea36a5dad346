//! The account of a plan of `ChatGPT`: tokens name it, and requests name it in a header.

use reqwest::header::{HeaderName, HeaderValue};

use super::LoginToken;
use super::tokens::claims;

/// The claim with what the vendor says about an account, and the field of it that names the account.
const CLAIM: &str = "https://api.openai.com/auth";
const ACCOUNT_FIELD: &str = "chatgpt_account_id";
/// The header that requests name the account with.
const ACCOUNT_HEADER: HeaderName = HeaderName::from_static("chatgpt-account-id");

/// The account that a token names.
pub(super) fn account_id(token: &str) -> Option<String> {
    let claims = claims(token)?;
    let id = claims.get(CLAIM)?.get(ACCOUNT_FIELD)?.as_str()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// The header for a token whose account is named. One that cannot be sent is none.
pub(crate) fn account_header(token: &LoginToken) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(token.account_id.as_deref()?).ok()?;
    value.set_sensitive(true);
    Some((ACCOUNT_HEADER, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_named_by_a_token_or_not_at_all() {
        // {"https://api.openai.com/auth":{"chatgpt_account_id":"acc-1"}}
        let token =
            "e30.eyJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW50X2lkIjoiYWNjLTEifX0.x";
        assert_eq!(account_id(token).as_deref(), Some("acc-1"));
        let header =
            |id: &str| account_header(&LoginToken { secret: "t".into(), account_id: Some(id.to_owned()) });
        assert_eq!(header("acc-1").unwrap().0.as_str(), "chatgpt-account-id");
        assert!(header("a\r\nevil: 1").is_none());
        assert_eq!(account_id("e30.e30.x"), None);
        assert_eq!(account_id("sk-opaque"), None);
    }
}
