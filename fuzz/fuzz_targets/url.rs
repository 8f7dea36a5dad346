//! An address on the web. An accepted address parses as itself again and names no host but the one it shows.
//! A literal IP address is judged as the one that a socket would connect to.
#![no_main]

use buddy_web::{AllowedHost, WebUrl, is_global};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = text.parse::<AllowedHost>();
    let Ok(url) = WebUrl::parse(text) else { return };
    assert!(url.as_str().starts_with("http://") || url.as_str().starts_with("https://"));
    assert!(url.as_str().is_ascii());
    assert_eq!(WebUrl::parse(url.as_str()).ok().as_ref(), Some(&url));
    let authority = url.as_str().split("//").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    assert!(!authority.contains('@') && !authority.contains('\\'));
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    if let Ok(address) = host.trim_matches(['[', ']']).parse() {
        let _ = is_global(address);
    }
});
