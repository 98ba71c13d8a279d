//! The kernels of index and encoder and their tests alone, which compile quickly for another processor: `make neon`.

#[path = "../../src/kernels/mod.rs"]
pub mod kernels;

/// On this machine's processor they run in their own package.
#[cfg(target_arch = "aarch64")]
#[path = "../../src/encoder"]
pub mod encoder {
    pub mod bert;
    pub mod forward;
    pub mod lanes;
    pub mod onnx;
}
