//! The lists of a search and how they count, as the models' manifest has it.

use serde::Deserialize;

use super::curve::Curve;
use crate::error::{Result, ShardError};

/// Kind of segments that is ranked: lists of one kind are summed, kinds are compared by probability. The earlier here wins a tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Passages,
    Pictures,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Passages, Self::Pictures];

    pub fn name(self) -> &'static str {
        match self {
            Self::Passages => "passages",
            Self::Pictures => "pictures",
        }
    }
}

/// Criterion that a list ranks by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scans {
    Vectors,
    Words,
    Fingerprints,
}

/// The lists that answer one combination of query, families and models.
#[derive(Debug, Clone, Deserialize)]
pub struct Plan {
    pub lists: Vec<PlannedList>,
    /// Share of its evidence that a list keeps where its model does not know the query's language.
    pub unknown_language_share: f64,
    #[serde(default)]
    pub likely: LikelyRule,
}

/// Which hits are worth reading at once. By default all.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct LikelyRule {
    /// Confidence that the best hit has at least, or none is likely.
    pub answered_min: f64,
    /// Share of the best hit's confidence.
    pub share_of_best: f64,
    /// Likeness from which a picture is shown for another, however sure it is that they are not the same.
    pub likeness_min: f64,
}

/// The best confidences of an answer: as they are, and by their weights.
#[derive(Debug, Clone, Copy, Default)]
pub struct BestHit {
    pub confidence: f64,
    pub weighed: f64,
}

impl LikelyRule {
    /// Whether a hit of such confidence is one. `best`: of the best hit; both count by their weights. `likeness`: of a picture to the
    /// query's.
    pub fn holds(&self, confidence: f64, best: &BestHit, likeness: Option<f64>) -> bool {
        let answers = best.confidence >= self.answered_min && confidence >= self.share_of_best * best.weighed;
        answers || likeness.is_some_and(|likeness| likeness >= self.likeness_min)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct PlannedList {
    pub name: String,
    pub family: String,
    pub kind: Kind,
    pub scans: Scans,
    /// A match outranks every likeness, and no match says nothing.
    #[serde(default)]
    pub near_identical: bool,
    /// It is asked with words: of pictures, with a description.
    #[serde(default)]
    pub described: bool,
    /// ISO 639-3 codes that its model knows. None: every language.
    pub languages: Option<Vec<String>>,
    /// For passages: weight of the best BM25 score, or of one deviation of cosine, in the order.
    pub weight: f64,
    /// For passages by meaning: cosines of unrelated texts. None: an index's own scores for the query tell.
    pub scale: Option<CosineScale>,
    /// For passages by meaning: the share that words beside it count which stand in texts of another language by coincidence. None: 1.
    pub other_language_words: Option<f64>,
    /// For passages: the log-odds of the list alone, of meaning together with words, and of both for a sentence.
    pub curve: Option<Curve>,
    pub with_words: Option<Curve>,
    pub sentences: Option<Curve>,
    /// For pictures.
    pub calibration: Option<Calibration>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct CosineScale {
    pub mean: f64,
    pub deviation: f64,
}

/// Log-odds of a picture: a · score + b + lead · (its distance to the best of the others).
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Calibration {
    pub a: f64,
    pub b: f64,
    #[serde(default)]
    pub lead: f64,
}

impl Plan {
    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| ShardError::internal(format!("The plan of a search: {error}.")))
    }

    /// The list of passages that ranks by this, if the search has one.
    pub fn passages_by(&self, scans: Scans) -> Option<usize> {
        self.lists.iter().position(|list| list.kind == Kind::Passages && list.scans == scans)
    }
}
