//! The model that the environment names.
