//! Vectors of an index as they are stored.

use std::sync::Arc;

use farthing_core::ranking::options::Stop;
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

use super::snapshot::{NativeSnapshot, Shared};

/// The vectors of some Segments in one space.
#[napi(object)]
pub struct StoredRows {
    /// Little-endian f32, one row after the other.
    pub bytes: Buffer,
    /// Whether each Segment has a row.
    pub present: Vec<bool>,
}

pub struct RowsTask {
    shared: Arc<Shared>,
    space: String,
    segments: Vec<u32>,
}

impl Task for RowsTask {
    type Output = (Vec<u8>, Vec<bool>);
    type JsValue = StoredRows;

    fn compute(&mut self) -> Result<Self::Output> {
        self.shared.search(&Stop::default(), |snapshot| {
            let rows = snapshot.vectors(&self.space, &self.segments)?;
            Ok((
                rows.iter().copied().flatten().flatten().copied().collect(),
                rows.iter().map(Option::is_some).collect(),
            ))
        })
    }

    fn resolve(&mut self, _env: Env, (bytes, present): Self::Output) -> Result<StoredRows> {
        Ok(StoredRows { bytes: bytes.into(), present })
    }
}

/// The vectors of Segments, which ascend, in a space; off the event loop, since the first read of a block compares its checksum.
/// Until then the snapshot may be closed, but not used.
#[napi(catch_unwind, ts_return_type = "Promise<StoredRows>")]
pub fn stored_rows(snapshot: &NativeSnapshot, space: String, segments: Vec<u32>) -> AsyncTask<RowsTask> {
    AsyncTask::new(RowsTask { shared: snapshot.shared(), space, segments })
}
