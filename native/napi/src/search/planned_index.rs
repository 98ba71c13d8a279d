use std::sync::Arc;

use farthing_core::search::plan::Plan;
use farthing_core::search::task::pending::VectorList;
use farthing_core::shard::open_shard::Shard;
use napi::Result;
use napi_derive::napi;

use super::plan::SearchPlan;
use crate::error::internal;
use crate::shard::open_shard::NativeShard;

/// An open index with a plan: made once for all searches that share both.
#[napi]
pub struct PlannedIndex {
    pub(crate) shard: Arc<Shard>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) lists: Arc<[VectorList]>,
}

#[napi]
impl PlannedIndex {
    /// `lists`: those of the plan that the vector of the words answers. `spaces`: of each, its space of the index.
    #[napi(constructor, catch_unwind)]
    pub fn new(shard: &NativeShard, plan: &SearchPlan, lists: Vec<u32>, spaces: Vec<String>) -> Result<Self> {
        if lists.len() != spaces.len() {
            return Err(internal("A list of vectors has no space."));
        }
        let lists = lists.into_iter().zip(spaces);
        Ok(Self {
            shard: shard.inner.clone(),
            plan: plan.inner.clone(),
            lists: lists.map(|(list, space)| VectorList { list: list as usize, space }).collect(),
        })
    }
}
