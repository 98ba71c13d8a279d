//! The kernels and their property suite alone, so that they are soon compiled for another processor: `make neon`.

#[path = "../../src/kernels/mod.rs"]
pub mod kernels;
