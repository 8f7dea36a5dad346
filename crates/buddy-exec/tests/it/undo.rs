//! Undo.
