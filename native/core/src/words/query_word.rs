//! The words of a query, as an index is asked for them.

/// A term, and the languages in which a word of the query has it, as sets of [`Language::bit`]s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    pub term: String,
    pub languages: u64,
    /// Those of them in whose segments it is looked up: not where it is a stop word. All count for its frequency.
    pub matched: u64,
}

/// One word of the query. A segment is matched by the variant of its own language.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWord {
    pub variants: Vec<Variant>,
    /// Factor of its weight: how often it occurs in the query, each time as [`weight_of`] says.
    pub count: f32,
    /// The word in lower case, not stemmed.
    pub written: String,
    pub may_slip: bool,
    /// Part of a whole that the query has too.
    pub is_part: bool,
}
