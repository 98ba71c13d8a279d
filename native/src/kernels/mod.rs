#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "x86_64")]
pub mod avx512_bits;
pub mod bits;
pub mod kernel;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod scalar;
#[cfg(test)]
mod tests;
