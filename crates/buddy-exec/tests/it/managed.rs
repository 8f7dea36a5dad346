//! Managed processes: they outlive who started them, are found again, and end as a whole.

mod deaths;
mod house;
mod output;
mod restarts;
mod stops;
