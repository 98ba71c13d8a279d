//! How likely a place with some features is to answer.

use serde::{Deserialize, Serialize};

/// What is known of the first place, or how much each of it counts. `CURVE_FEATURES` in `src/encode/models/manifest.ts` names the same.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    /// Its distance to the second and to the sixth in units of the order.
    pub gap: f64,
    pub gap_sixth: f64,
    /// ln(1 + nats of the query's information that it holds).
    pub held: f64,
    /// The root of the share that is in codes, numbers and names which it lacks.
    pub lacks: f64,
    /// Whether it is one of few with every word as it is written.
    pub written: f64,
    /// The product of its shares of the lists' best evidence.
    pub agreement: f64,
    pub cosine: f64,
    /// How far the next ten are below its cosine in the mean.
    pub lead: f64,
}

impl Features {
    fn values(&self) -> [f64; 8] {
        let Self { gap, gap_sixth, held, lacks, written, agreement, cosine, lead } = *self;
        [gap, gap_sixth, held, lacks, written, agreement, cosine, lead]
    }
}

/// The log-odds of a first place: a bias, and for each feature how much it counts.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Curve {
    pub bias: f64,
    /// Log-odds for each unit by which a place is ordered behind the first.
    pub slope: f64,
    #[serde(flatten)]
    pub weights: Features,
}

impl Curve {
    pub fn log_odds(&self, features: &Features) -> f64 {
        let pairs = self.weights.values().into_iter().zip(features.values());
        pairs.fold(self.bias, |sum, (weight, value)| sum + weight * value)
    }
}
