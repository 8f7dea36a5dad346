//! The way out against real listeners. In these tests 127.0.0.2 stands for the public internet, and nothing else does.

mod bounds;
mod redirects;
mod refusals;
mod searches;
mod stage;
