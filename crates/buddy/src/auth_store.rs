//! Logins and keys that buddy keeps for the user: `auth.json` beside the configuration.
//!
//! One login belongs to one provider and is used by all profiles whose address the provider serves. A token goes only
//! to the addresses that were shown when the user logged in, a refresh token only to the place it came from. All
//! changes happen under a lock that other processes respect, and what was read before the lock is read again.

mod contents;
mod file;
mod lock;
mod logins;
mod section;
mod tokens;

pub(crate) use contents::{AuthContents, KeptSecret, StoredKey, StoredLogin};
pub(crate) use file::AuthStore;
pub(crate) use logins::Logins;
pub(crate) use section::LoginSection;
