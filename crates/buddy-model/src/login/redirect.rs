//! The address that a browser returns with. Pure: an address in, a code or an error out.

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::answer::Refusal;
use super::openrouter;
use crate::clean::clipped;
use crate::{LoginError, LoginErrorKind};

/// The values that an address must have to belong to this login.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) state: SecretString,
    pub(super) issuer: Option<String>,
    /// The path that stands for the state, where the provider gives none back.
    pub(super) path: Option<String>,
}

impl Expected {
    /// The code in the address. Checks that it belongs to this login before it trusts anything else in it.
    pub(super) fn code(&self, url: &Url) -> Result<SecretString, LoginError> {
        if let Some(path) = &self.path {
            return openrouter::code(url, path);
        }
        let field = |name: &str| {
            let mut values = url.query_pairs().filter(|(known, _)| known == name);
            // A field that occurs twice is ignored.
            values.next().filter(|_| values.next().is_none()).map(|(_, value)| value.into_owned())
        };
        if field("state").as_deref() != Some(self.state.expose_secret()) {
            return Err(foreign("the answer does not belong to this login"));
        }
        if self.issuer.is_some() && field("iss") != self.issuer {
            return Err(foreign("the answer comes from another issuer than the configured one"));
        }
        if let Some(code) = field("error") {
            let description = field("error_description").unwrap_or_default();
            let (code, description) = (clipped(&code, 60), clipped(&description, 200));
            let refusal = Refusal { status: 0, code, description };
            return Err(refusal.into_error());
        }
        let code = field("code").filter(|code| !code.is_empty());
        code.map(Into::into)
            .ok_or_else(|| LoginError::new(LoginErrorKind::BadAnswer, "the answer has no code"))
    }

    /// The code in the text that the user pasted: the address, or the part of it after the question mark.
    pub(super) fn pasted(&self, text: &str) -> Result<SecretString, LoginError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(foreign("nothing was pasted"));
        }
        if self.path.is_some() {
            let url = Url::parse(text).map_err(|_| foreign("paste the whole address from the browser"))?;
            return self.code(&url);
        }
        let query = text.split_once('?').map_or(text, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let url = Url::parse(&format!("http://127.0.0.1/?{query}"));
        let url = url.map_err(|_| foreign("what was pasted is not the address from the browser"))?;
        self.code(&url)
    }
}

fn foreign(message: &str) -> LoginError {
    LoginError::new(LoginErrorKind::Foreign, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str) -> Result<String, LoginErrorKind> {
        let expected = Expected { state: "s".into(), issuer: None, path: None };
        let code = expected.pasted(&format!("http://127.0.0.1:1/callback?{query}"));
        code.map(|code| code.expose_secret().to_owned()).map_err(|error| error.kind)
    }

    #[test]
    fn the_state_comes_first() {
        assert_eq!(check("code=c%2F1&state=s").unwrap(), "c/1");
        for foreign in
            ["code=c", "code=c&state=x", "code=c&state=", "code=c&state=s&state=s", "error=access_denied"]
        {
            assert_eq!(check(foreign), Err(LoginErrorKind::Foreign), "{foreign}");
        }
        assert_eq!(check("error=access_denied&state=s"), Err(LoginErrorKind::Denied));
        assert_eq!(check("state=s"), Err(LoginErrorKind::BadAnswer));
        assert_eq!(check("state=s&code=a&code=b"), Err(LoginErrorKind::BadAnswer));
    }

    #[test]
    fn a_configured_issuer_must_be_named() {
        let expected = Expected { state: "s".into(), issuer: Some("https://id".to_owned()), path: None };
        assert!(expected.pasted("code=c&state=s&iss=https%3A%2F%2Fid").is_ok());
        for other in ["code=c&state=s", "code=c&state=s&iss=https%3A%2F%2Fevil"] {
            assert_eq!(expected.pasted(other).unwrap_err().kind, LoginErrorKind::Foreign, "{other}");
        }
    }

    #[test]
    fn nonsense_that_is_pasted_is_refused() {
        let expected = Expected { state: "s".into(), issuer: None, path: None };
        for text in ["", "hello", "https://example.com/", "?", "#"] {
            assert_eq!(expected.pasted(text).unwrap_err().kind, LoginErrorKind::Foreign, "{text}");
        }
    }
}
