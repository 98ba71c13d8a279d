//! Pixels of pictures.

pub mod fingerprint;
pub mod pixels;
