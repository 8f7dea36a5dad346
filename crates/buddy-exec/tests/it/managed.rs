//! Managed processes: they outlive the process that started them, are found again, and end as a
//! whole.

mod deaths;
mod house;
mod output;
mod restarts;
mod stops;
