//! The kernels and their property suite alone, which compile quickly for another processor: `make neon`.

#[path = "../../src/kernels/mod.rs"]
pub mod kernels;
