//! Keys of the records in `meta`.

pub const FORMAT: &str = "format";
pub const TOTALS: &str = "totals";
/// Prefix of the keys of all spaces.
pub const SPACES: &str = "space/";

/// The number of a space.
pub fn number(space: &str) -> String {
    format!("{SPACES}{space}")
}

/// Prefix of the keys of all graphs.
pub const GRAPHS: &str = "graph/";

/// The record of a space's graph.
pub fn graph(space: &str) -> String {
    format!("{GRAPHS}{space}")
}
