//! Dot products of a query with many rows, one implementation for each instruction set. `detection.rs` chooses one at
//! start.
//!
//! **Invariant: every kernel gives the same bits.** Integer sums are exact. The f32 dot product is defined as 32 lanes
//! of fused multiply-adds (element `i` goes to lane `i mod 32`) and one fixed tree of additions, which each kernel
//! follows. So scores, and with them the order of hits, do not depend on the machine.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "x86_64")]
pub mod avx512_bits;
pub mod bits;
pub mod detection;
pub mod kernel;
pub mod lanes;
pub mod prefetch;
pub mod scalar;
#[cfg(test)]
mod tests;
