//! How likely one candidate is to answer, by the lists of one kind.

/// Contribution of a list to a candidate's log-odds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    pub list: usize,
    pub log_odds: f64,
}

/// Log-odds that a candidate answers, from what the lists of one kind say of it.
#[derive(Debug, Clone)]
pub struct Likelihood {
    pub candidate: usize,
    pub log_odds: f64,
    /// The part that every place of the kind has alike; with the parts it sums to the log-odds.
    pub base: f64,
    pub parts: Vec<Part>,
    /// The list that contributed most, and the Segment that it found.
    pub list: usize,
    pub segment: u32,
}
