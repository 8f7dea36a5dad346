//! buddy's own agent: the turn machine, its driver and the tools.
