//! The fetcher against real listeners. In these tests only 127.0.0.2 stands for the public internet.

mod bounds;
mod redirects;
mod refusals;
mod searches;
mod stage;
