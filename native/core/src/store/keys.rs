//! Keys of the records in `meta`.

pub const FORMAT: &str = "format";
pub const TOTALS: &str = "totals";
/// What the keys of all spaces begin with.
pub const SPACES: &str = "space/";

/// The number of a space.
pub fn number(space: &str) -> String {
    format!("{SPACES}{space}")
}

/// The name of the space that serves a role, where an earlier Farthing changed its model.
pub fn serving(role: &str) -> String {
    format!("serves/{role}")
}
