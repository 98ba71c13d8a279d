pub mod fingerprint;
pub mod pixels;
