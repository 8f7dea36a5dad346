//! Where operations work, and for whom.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_calls::Hosts;
use buddy_protocol::operations::ConfigurationView;
use buddy_protocol::{Principal, Sessions};

use crate::config::ConfigRequest;
use crate::environment::Environment;
use crate::hosts::NoHosts;

/// Where operations work.
pub(crate) struct OperationPlace {
    /// The user whose operations these are.
    pub(crate) owner: Principal,
    pub(crate) environment: Environment,
    /// The configuration to read.
    pub(crate) request: ConfigRequest,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// The model that the user named.
    pub(crate) model: Option<String>,
    /// The parts that belong to the conversation that they are called from; none on the command line.
    pub(crate) conversation: Option<OperationConversation>,
}

/// The parts that a running conversation has already.
pub(crate) struct OperationConversation {
    pub(crate) hosts: Arc<dyn Hosts>,
    pub(crate) sessions: Arc<dyn Sessions>,
    pub(crate) who: Principal,
    /// The configuration that it runs with, which may not be what the files say by now.
    pub(crate) configuration: ConfigurationView,
}

impl OperationPlace {
    pub(super) fn hosts(&self) -> Arc<dyn Hosts> {
        self.conversation
            .as_ref()
            .map_or_else(|| Arc::new(NoHosts) as Arc<dyn Hosts>, |own| own.hosts.clone())
    }

    /// A path that a request names.
    pub(super) fn path(&self, named: &str) -> PathBuf {
        self.cwd.join(Path::new(named))
    }
}
