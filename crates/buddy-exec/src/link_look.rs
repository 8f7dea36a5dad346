//! Links of this machine, for [`buddy_protocol::climb`].

use std::io;
use std::path::Path;

use buddy_protocol::{LinkLook, LinkLookup};

/// Looks up links in the file system of this machine.
pub fn link_lookup() -> LinkLookup {
    LinkLookup::new(look_at_link)
}

/// Whether a name is a link.
pub(crate) fn look_at_link(name: &Path) -> LinkLook {
    match std::fs::read_link(name) {
        Ok(target) => LinkLook::Link(target),
        Err(error) => match error.kind() {
            // The kernel's answer for something that is no link, and for nothing at all.
            io::ErrorKind::InvalidInput | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                LinkLook::Plain
            }
            _ => LinkLook::Unknown,
        },
    }
}
