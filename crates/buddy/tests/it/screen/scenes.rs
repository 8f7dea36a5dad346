//! Scenes that are played in a narrow, a usual, a roomy and a wide window, and compared with stored screens.

mod approvals;
mod beginning;
mod elsewhere;
mod moments;
mod trouble;
mod turns;
mod typing;
mod undoing;
