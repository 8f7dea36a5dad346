//! Scenes that are played in a narrow, a usual and a wide window, and compared with stored screens.

mod approvals;
mod beginning;
mod elsewhere;
mod turns;
mod typing;
mod undoing;
