//! The thin binding: it converts and checks, and holds no arithmetic.

pub mod version;
