use std::sync::Arc;
use std::time::Instant;

use farthing_core::search::task::pending::{PendingAnswer, PendingSearch, VectorList};
use napi::Result;
use napi_derive::napi;

use super::native_search::{NativeSearch, SearchedHits, searched};
use crate::error::internal;
use crate::shard::open_shard::NativeShard;
use crate::shard::snapshot::SearchStop;

/// A search that waits for the vector of its text: see `farthing_core::search::task::pending`.
#[napi]
pub struct NativePendingSearch {
    pub(crate) inner: Arc<PendingSearch>,
}

#[napi]
impl NativePendingSearch {
    /// `lists`: those of the plan that the vector answers. `spaces`: of each, its space of the index.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        shard: &NativeShard,
        search: &NativeSearch,
        lists: Vec<u32>,
        spaces: Vec<String>,
        stop: &SearchStop,
    ) -> Result<Self> {
        if lists.len() != spaces.len() {
            return Err(internal("A list of vectors has no space."));
        }
        let lists = lists.into_iter().zip(spaces);
        Ok(Self {
            inner: Arc::new(PendingSearch {
                shard: shard.inner.clone(),
                inputs: search.inputs.clone(),
                lists: lists.map(|(list, space)| VectorList { list: list as usize, space }).collect(),
                stop: stop.inner.clone(),
                made: Instant::now(),
            }),
        })
    }
}

/// Outcome of a search that waited.
#[napi(object)]
pub struct SearchedText {
    /// Null if it would take long, if the index was closed, or if another model serves one of the lists.
    pub answer: Option<SearchedHits>,
    /// Milliseconds from when the search was made until its text was encoded.
    pub encoded_ms: f64,
}

impl From<PendingAnswer> for SearchedText {
    fn from(PendingAnswer { answer, encoded_ms }: PendingAnswer) -> Self {
        Self { answer: answer.map(searched), encoded_ms }
    }
}
