//! The spaces of an index, and changing its model: see `farthing_core::store::spaces`.

use std::sync::Arc;

use farthing_core::error::Result as CoreResult;
use farthing_core::shard::open_shard::Shard;
use farthing_core::shard::snapshot::Snapshot;
use farthing_core::store::spaces::{position, role};
use farthing_core::write::spaces::SpaceRows;
use farthing_core::write::write_op::WriteOp;
use napi::bindgen_prelude::{AsyncTask, Object, Uint32Array};
use napi::{Env, Result, Task};
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
}

/// The spaces that the index was opened with, in that order, then those of other models that it holds.
#[napi(catch_unwind)]
pub fn open_spaces(shard: &NativeShard) -> Result<Vec<OpenSpace>> {
    let spaces = shard.inner.spaces().map_err(js_error)?.into_iter();
    Ok(spaces
        .map(|space| OpenSpace {
            role: role(&space.name).to_owned(),
            dimensions: space.dimensions as u32,
            model_sha256: space.model.iter().map(|byte| format!("{byte:02x}")).collect(),
            name: space.name,
        })
        .collect())
}

/// Name of the space that serves a role in a snapshot. Null if nothing was stored for it.
#[napi(catch_unwind)]
pub fn serving_space(snapshot: &NativeSnapshot, role: String) -> Result<Option<String>> {
    snapshot.read(|snapshot| snapshot.serving(&role))
}

/// What a search must know of an index before its query is encoded.
#[napi(object)]
pub struct ShardState {
    pub segments: f64,
    /// Of each role, the name of the space that serves it.
    pub serving: Vec<Option<String>>,
}

/// The state of an index now.
#[napi(catch_unwind)]
pub fn shard_state(shard: &NativeShard, roles: Vec<String>) -> Result<ShardState> {
    let state = |snapshot: Snapshot| {
        let serving = roles.iter().map(|role| snapshot.serving(role)).collect::<CoreResult<_>>()?;
        Ok(ShardState { segments: snapshot.totals()?.segments as f64, serving })
    };
    shard.inner.snapshot().and_then(state).map_err(js_error)
}

/// The record of each Segment as it was stored (JSON). Null for those that do not exist.
#[napi(catch_unwind)]
pub fn stored_segments(snapshot: &NativeSnapshot, segments: &[u32]) -> Result<Vec<Option<String>>> {
    let record = |snapshot: &Snapshot, segment: &u32| snapshot.record(*segment).map(|json| json.map(str::to_owned));
    snapshot.read(|snapshot| segments.iter().map(|segment| record(snapshot, segment)).collect())
}

pub struct LackingTask {
    shard: Arc<Shard>,
    from: String,
    to: String,
    given_up: Vec<u32>,
    limit: usize,
}

impl Task for LackingTask {
    type Output = Vec<u32>;
    type JsValue = Uint32Array;

    fn compute(&mut self) -> Result<Vec<u32>> {
        let snapshot = self.shard.snapshot().map_err(js_error)?;
        snapshot.lacking(&self.from, &self.to, &self.given_up, self.limit).map_err(js_error)
    }

    fn resolve(&mut self, _env: Env, segments: Vec<u32>) -> Result<Uint32Array> {
        Ok(segments.into())
    }
}

/// Living Segments of one space that another lacks, except those given up, ascending; off the event loop.
#[napi(catch_unwind, ts_return_type = "Promise<Uint32Array>")]
pub fn lacking_segments(
    shard: &NativeShard,
    from: String,
    to: String,
    given_up: &[u32],
    limit: u32,
) -> AsyncTask<LackingTask> {
    let (shard, given_up) = (shard.inner.clone(), given_up.to_vec());
    AsyncTask::new(LackingTask { shard, from, to, given_up, limit: limit as usize })
}

fn index(shard: &NativeShard, name: &str) -> Result<usize> {
    shard.inner.spaces().and_then(|spaces| position(&spaces, name)).map_err(js_error)
}

/// Adds rows, durably. Segments that were removed, or have a row there, are left out.
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn put_rows<'env>(
    env: &'env Env,
    shard: &NativeShard,
    space: String,
    segments: &[u32],
    values: &[f32],
) -> Result<Object<'env>> {
    let rows = SpaceRows { space: index(shard, &space)?, segments: segments.to_vec(), values: values.to_vec() };
    rows.check(&shard.inner.spaces().map_err(js_error)?).map_err(js_error)?;
    shard.write(env, WriteOp::PutRows(rows))
}

/// Lets a space serve in place of another, which is removed, durably. False while a Segment that is not given up lacks
/// a row.
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn switch_space<'env>(
    env: &'env Env,
    shard: &NativeShard,
    from: String,
    to: String,
    given_up: &[u32],
) -> Result<Object<'env>> {
    let (from, to) = (index(shard, &from)?, index(shard, &to)?);
    shard.write(env, WriteOp::SwitchSpace { from, to, given_up: given_up.to_vec() })
}

/// Removes a space that does not serve, durably. False if it does.
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn remove_space<'env>(env: &'env Env, shard: &NativeShard, space: String) -> Result<Object<'env>> {
    let space = index(shard, &space)?;
    shard.write(env, WriteOp::RemoveSpace { space })
}
