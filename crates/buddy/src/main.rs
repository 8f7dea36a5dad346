//! The buddy binary: command line, configuration and wiring.

fn main() {}
