//! The words as others see them.

mod schema;
