//! The spaces of an index, and its Segments as they are stored.

use farthing_core::shard::snapshot::Snapshot;
use napi::Result;
use napi_derive::napi;

use super::open_shard::NativeShard;
use super::snapshot::NativeSnapshot;
use crate::error::js_error;

/// A space of an open index.
#[napi(object)]
pub struct OpenSpace {
    pub name: String,
    /// The list that its vectors serve.
    pub role: String,
    pub dimensions: u32,
    /// SHA-256 of the model, hexadecimal.
    pub model_sha256: String,
    /// Whether the index held it when it was opened.
    pub stored: bool,
}

/// The spaces of an index, one for each role.
#[napi(catch_unwind)]
pub fn open_spaces(shard: &NativeShard) -> Result<Vec<OpenSpace>> {
    let spaces = shard.inner.spaces().map_err(js_error)?.into_iter();
    let stored = shard.inner.stored_spaces().map_err(js_error)?;
    Ok(spaces
        .zip(stored)
        .map(|(space, stored)| OpenSpace {
            stored,
            role: space.name.clone(),
            dimensions: space.dimensions as u32,
            model_sha256: space.model.iter().map(|byte| format!("{byte:02x}")).collect(),
            name: space.name,
        })
        .collect())
}

/// Contents of an index.
#[napi(object)]
pub struct IndexContent {
    /// Number of its Segments.
    pub segments: f64,
    /// Some of them are pictures.
    pub pictures: bool,
}

#[napi(catch_unwind)]
pub fn index_content(shard: &NativeShard) -> Result<IndexContent> {
    let content = |snapshot: Snapshot| Ok((snapshot.totals()?.segments, snapshot.has_pictures()?));
    let (segments, pictures) = shard.inner.snapshot().and_then(content).map_err(js_error)?;
    Ok(IndexContent { segments: segments as f64, pictures })
}

/// The record of each Segment as it was stored (JSON). Null for those that do not exist.
#[napi(catch_unwind)]
pub fn stored_segments(snapshot: &NativeSnapshot, segments: &[u32]) -> Result<Vec<Option<String>>> {
    let record = |snapshot: &Snapshot, segment: &u32| snapshot.record(*segment).map(|json| json.map(str::to_owned));
    snapshot.read(|snapshot| segments.iter().map(|segment| record(snapshot, segment)).collect())
}
