//! Wire protocols to models: prompt in, deltas out.
