//! The outcome of one protection.

/// Whether a protection holds. A kernel that lacks it is reported; it is not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    Enforced,
    /// Holds, with a gap.
    Partial(String),
    Unavailable(String),
}

pub(super) fn last_error(call: &str) -> String {
    format!("{call}: {}", std::io::Error::last_os_error())
}
