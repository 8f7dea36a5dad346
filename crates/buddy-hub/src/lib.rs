//! Live sessions: authorize, stamp, append, publish, ask.
