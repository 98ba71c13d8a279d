//! The instruction sets that the encoder runs on: sixteen f32 lanes, and products of bytes.
//!
//! **Invariant: every instruction set gives the same bits.** Integer sums are exact. The f32 operations are those of IEEE
//! 754 (`add`, `mul`, `fma`, `div`, `sqrt`, rounding to even), written once over sixteen lanes, with one tree of additions
//! at the end of each sum. Approximations such as `rsqrt` are never used.
//!
//! `unsafe` is in the files of the instruction sets alone. A token of an [`isa::Isa`] exists only where its instructions
//! were detected, so that its methods are safe; the tiles, which read by pointer, check their bounds at the entry.

#[cfg(target_arch = "x86_64")]
pub mod amx;
#[cfg(all(test, target_arch = "x86_64"))]
pub mod amx_emulated;
#[cfg(target_arch = "x86_64")]
pub mod amx_unit;
#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx2_dots;
#[cfg(target_arch = "x86_64")]
pub mod avx2_near;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod isa;
pub mod kernel;
pub mod near;
pub mod scalar;
#[cfg(test)]
mod tests;
pub mod tile;
