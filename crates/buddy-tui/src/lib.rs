//! The terminal face: headless runs and the REPL.
