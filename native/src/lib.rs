//! The native core of Farthing: everything here is plain Rust; `napi/` converts and checks at the boundary.
