//! Held against the real shell.
