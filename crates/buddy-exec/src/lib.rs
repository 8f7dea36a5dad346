//! Execution targets: running commands and reaching files on a host.
