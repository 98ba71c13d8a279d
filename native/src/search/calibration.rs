//! What a fit of the curves is made from: the evidence of real queries, and the order and the features that it leads to.

use super::evidence::Evidence;
use super::features::Features;
use super::order::{Ordered, order_passages};
use super::plan::Plan;
use crate::error::{Result, ShardError};

impl Evidence {
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| ShardError::internal(error.to_string()))
    }

    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| ShardError::internal(error.to_string()))
    }
}

/// Passages in their order, each a place, and the features of the first. None if there are none.
pub fn judged(plan: &Plan, evidence: &Evidence) -> Option<(Features, Vec<Ordered>)> {
    let all: Vec<usize> = (0..evidence.candidates.len()).collect();
    let ordered = order_passages(plan, evidence, &all);
    let features = (!ordered.is_empty()).then(|| Features::of(plan, evidence, &ordered))?;
    Some((features, ordered))
}
