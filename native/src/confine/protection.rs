//! How one protection fared.

/// What became of one protection: a kernel without it is reported, never fatal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    Enforced,
    /// Holds with a gap.
    Partial(String),
    Unavailable(String),
}

pub(super) fn last_error(call: &str) -> String {
    format!("{call}: {}", std::io::Error::last_os_error())
}
