//! Scores of given segments for a query, however these were found.

/// The scores of some segments for one query, and what the scores can be compared with. It depends on the query, the
/// segments and the index alone: not on how many hits were wanted, or how they were scanned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rating {
    /// In the order of the segments. NaN: the segment has no row in what was asked.
    pub scores: Vec<f32>,
    /// For words: the share of the query's information (inverse document frequencies) that each segment has, without parts of
    /// what it lacks.
    pub held: Vec<f32>,
    /// For words: the share of the query's information that is in codes, numbers and names which each segment lacks.
    pub lacks: Vec<f32>,
    /// For words: the share of each score that is of words which stand in texts of another language by coincidence.
    pub coincidental: Vec<f32>,
    /// For words: the segments, ascending, that hold every word of the query as it is written, not by its stem; none if they
    /// are many. They need not be among the rated.
    pub written: Vec<u32>,
    /// For words: the query's information, the sum of its words' inverse document frequencies.
    pub information: f32,
    /// For words: their number in the query. Stop words do not count.
    pub words: usize,
    /// For vectors: the scores of a fixed sample of the space's rows.
    pub sample: Sample,
}

/// Number, mean and standard deviation of a sample's scores.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    pub count: u32,
    pub mean: f32,
    pub deviation: f32,
}

impl Sample {
    pub fn of(scores: &[f32]) -> Self {
        if scores.is_empty() {
            return Self::default();
        }
        let count = scores.len() as f64;
        let mean = scores.iter().map(|score| f64::from(*score)).sum::<f64>() / count;
        let squares: f64 = scores.iter().map(|score| (f64::from(*score) - mean).powi(2)).sum();
        Self { count: scores.len() as u32, mean: mean as f32, deviation: (squares / count).sqrt() as f32 }
    }
}
