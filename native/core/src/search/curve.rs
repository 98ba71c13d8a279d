//! How likely a passage is to answer: one formula for every hit.

use serde::{Deserialize, Serialize};

/// Features of a hit, or their weights. `CURVE_FEATURES` in `src/engine/encode/models/manifest.ts` names the same. Only
/// the lead differs between the hits of a query, so the likelihood has the order of the passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    /// How far it leads the best of the other places in the order, or is behind it.
    pub lead: f64,
    /// For the first place: ln(1 + nats of the query's information that it holds).
    pub held: f64,
    /// The share of the query's information that it misses: all of it where what is named is nowhere and hardly more is asked.
    pub missing: f64,
    /// Whether it is one of few with every word as it is written.
    pub written: f64,
    /// How much it counts in the order by its meaning, less the share of the query's information that is in names which it lacks.
    pub meaning: f64,
    /// How small the index is: 1 of an empty one, a half of 100 Segments. And that times `meaning`.
    pub small: f64,
    pub small_meaning: f64,
    /// Its cosine, and how far the next ten are below it in the mean.
    pub cosine: f64,
    pub cosine_lead: f64,
}

impl Features {
    fn values(&self) -> [f64; 9] {
        let Self { lead, held, missing, written, meaning, small, small_meaning, cosine, cosine_lead } = *self;
        [lead, held, missing, written, meaning, small, small_meaning, cosine, cosine_lead]
    }
}

/// Log-odds: a bias, and for each feature how much it counts.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Curve {
    pub bias: f64,
    #[serde(flatten)]
    pub weights: Features,
}

impl Curve {
    pub fn log_odds(&self, features: &Features) -> f64 {
        let pairs = self.weights.values().into_iter().zip(features.values());
        pairs.fold(self.bias, |sum, (weight, value)| sum + weight * value)
    }
}
