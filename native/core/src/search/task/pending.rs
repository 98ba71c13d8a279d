//! A search that waits for the vector of its text, and runs where that is made.

use std::sync::Arc;
use std::time::Instant;

use super::inputs::SearchInputs;
use super::run::{Answer, Search};
use crate::error::Result;
use crate::ranking::options::Stop;
use crate::shard::open_shard::Shard;
use crate::shard::snapshot::Snapshot;

/// A list of a plan that the vector answers, and its space of the index.
#[derive(Debug, Clone)]
pub struct VectorList {
    pub list: usize,
    pub space: String,
}

/// A search of an open index, complete but for the vector of its text.
pub struct PendingSearch {
    pub shard: Arc<Shard>,
    pub inputs: SearchInputs,
    pub lists: Arc<[VectorList]>,
    pub stop: Stop,
    pub made: Instant,
}

/// The outcome.
pub struct PendingAnswer {
    /// None where the search would keep the thread that encodes for too long, or the index was closed.
    pub answer: Option<Answer>,
    /// Milliseconds from when the search was made until its text was encoded.
    pub encoded_ms: f64,
}

impl PendingSearch {
    /// Whether there is anything to search. None: the index was closed.
    ///
    /// # Errors
    /// `interrupted` once it was cancelled.
    pub fn has_content(&self) -> Result<Option<bool>> {
        self.stop.check()?;
        match self.shard.snapshot() {
            Ok(snapshot) => Ok(Some(snapshot.totals()?.segments > 0)),
            Err(error) if error.is_closed() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Searches a snapshot of now, which is closed when it returns: what was committed while the text was encoded is found.
    ///
    /// # Errors
    /// `interrupted` once it was cancelled.
    pub fn answer(&self, vector: &[f32]) -> Result<PendingAnswer> {
        let encoded_ms = self.made.elapsed().as_secs_f64() * 1e3;
        self.stop.check()?;
        let answer = match self.shard.snapshot() {
            Ok(snapshot) => self.answer_from(&snapshot, vector)?,
            Err(error) if error.is_closed() => None,
            Err(error) => return Err(error),
        };
        Ok(PendingAnswer { answer, encoded_ms })
    }

    fn answer_from(&self, snapshot: &Snapshot, vector: &[f32]) -> Result<Option<Answer>> {
        let search = self.complete(vector)?;
        if search.is_long(snapshot)? { Ok(None) } else { search.run(snapshot, &self.stop).map(Some) }
    }

    fn complete(&self, vector: &[f32]) -> Result<Search> {
        let mut inputs = self.inputs.clone();
        for VectorList { list, space } in self.lists.iter() {
            inputs.ask_vector(*list, space.clone(), vector.to_vec())?;
        }
        inputs.complete()
    }
}
