//! Scripted peers and helpers for tests.
#![expect(clippy::expect_used, reason = "this crate runs in tests only: a broken setup ends the test")]

pub mod container_host;
pub mod home;
pub mod log_events;
pub mod model;
pub mod oauth;
pub mod processes;
pub mod program;
pub mod ssh_host;
pub mod store_suite;

/// The folder of the package under test. Cargo sets it at every run, because another clone may reuse a build.
#[expect(clippy::disallowed_methods, reason = "it is the environment of the tests that is meant")]
pub fn package() -> std::path::PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests").into()
}
