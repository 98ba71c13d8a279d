//! The forward pass: token ids to vectors of unit length.
//!
//! Activations are bytes with a scale and a lowest value for each token, so that no token's numbers depend on its
//! neighbours: texts stand back to back without padding, and a vector has the same bits in any batch.

pub mod activation;
pub mod aligned;
pub mod attention;
pub mod embedding;
pub mod feed_forward;
pub mod large_pages;
pub mod linear;
pub mod network;
pub mod norm;
pub mod packed;
pub mod places;
pub mod pooling;
pub mod projection;
pub mod quantised;
#[cfg(test)]
mod reference;
pub mod scratch;
#[cfg(test)]
mod tests;
