//! The inner side of a way out.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use super::refusal::{PROCESS, Refusal, refused};
use super::words::{Place, Plan};
use crate::WAY_OUT_PORT;
use crate::descriptors::send_descriptors;

/// Makes the listener in the command's own network and hands it out. Without such a network, nothing is
/// handed out.
pub(super) fn open(plan: &Plan, way_out: Option<OwnedFd>) -> Result<(), Refusal> {
    let Some(way_out) = way_out.filter(|_| plan.place == Place::Namespaces && !plan.network) else {
        return Ok(());
    };
    let open = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, WAY_OUT_PORT))?;
        send_descriptors(&way_out, &[listener.as_fd()])
    };
    open().map_err(refused(PROCESS, "open the way out"))
}
