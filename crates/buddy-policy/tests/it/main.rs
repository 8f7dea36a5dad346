//! What is decided about whole commands and files, seen from outside.

mod bash;
mod hostile;
mod modes;
mod offers;
mod reading;
mod rules;
mod stage;
