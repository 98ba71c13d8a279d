pub mod bits;
pub mod block;
pub mod pictures;
pub mod rotation;
pub mod vectors;
