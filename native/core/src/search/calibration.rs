//! Input of a fit of the curves: the evidence of real queries, and the order and the features that it leads to.

use super::curve::Features;
use super::evidence::Evidence;
use super::features::features_of;
use super::order::order_passages;
use super::passages::{JudgedAs, judged_as};
use super::plan::Plan;
use super::query::QueryFacts;
use crate::error::{Result, ShardError};
use serde::Serialize;

impl Evidence {
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| ShardError::internal(error.to_string()))
    }

    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| ShardError::internal(error.to_string()))
    }
}

/// Passages in their order, each a place, and the features of the first.
#[derive(Debug, Serialize)]
pub struct Judged {
    pub features: Features,
    pub judged_as: JudgedAs,
    /// By their numbers in the evidence.
    pub candidates: Vec<usize>,
    pub orders: Vec<f64>,
}

impl Judged {
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| ShardError::internal(error.to_string()))
    }
}

/// None if there are no passages.
pub fn judge(plan: &Plan, evidence: &Evidence, query: &QueryFacts) -> Option<Judged> {
    let all: Vec<usize> = (0..evidence.candidates.len()).collect();
    let ordered = order_passages(plan, evidence, &all);
    (!ordered.is_empty()).then(|| Judged {
        features: features_of(plan, evidence, &ordered, query.segments),
        judged_as: judged_as(plan, evidence, &ordered, query),
        candidates: ordered.iter().map(|passage| passage.candidate).collect(),
        orders: ordered.iter().map(|passage| passage.order).collect(),
    })
}
