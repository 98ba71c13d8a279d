use std::path::{Path, PathBuf};
use std::sync::Arc;

use farthing_core::blocks::vectors::VectorRows;
use farthing_core::error::Result as CoreResult;
use farthing_core::shard::open_shard::Shard;
use farthing_core::store::methods::Methods;
use farthing_core::store::spaces::SpaceSpec;
use farthing_core::write::input::{ItemRecord, digest_of_hex};
use farthing_core::write::write_op::WriteOp;
use napi::bindgen_prelude::{AsyncTask, Float32Array, Object, Uint32Array};
use napi::{Env, JsDeferred, Result, Task};
use napi_derive::napi;

use super::batch::SegmentBatch;
use super::snapshot::NativeSnapshot;
use crate::error::{internal, js_error};

/// A vector space. All its vectors are made by the model with this SHA-256 (hexadecimal).
#[napi(object)]
pub struct ShardSpace {
    pub name: String,
    pub dimensions: u32,
    pub model_sha256: String,
}

/// From how many vectors on a search method is used. What is left out is as measured.
#[napi(object)]
#[derive(Default)]
pub struct SearchSizes {
    pub bits_rows_min: Option<u32>,
    pub graph_rows_min: Option<u32>,
}

impl SearchSizes {
    fn methods(&self) -> Methods {
        let size = |asked: Option<u32>, measured| asked.map_or(measured, |rows| rows as usize);
        Methods {
            bits_rows_min: size(self.bits_rows_min, Methods::MEASURED.bits_rows_min),
            graph_rows_min: size(self.graph_rows_min, Methods::MEASURED.graph_rows_min),
            ..Methods::MEASURED
        }
    }
}

fn spec(space: ShardSpace) -> Result<SpaceSpec> {
    let model =
        digest_of_hex(&space.model_sha256).ok_or_else(|| internal("A model's SHA-256 has 64 hexadecimal digits."))?;
    let dimensions = space.dimensions as usize;
    if dimensions == 0 || dimensions > farthing_core::kernels::kernel::DIMENSIONS_MAX {
        return Err(internal("A space has no dimensions, or too many."));
    }
    Ok(SpaceSpec { name: space.name, dimensions, model })
}

pub struct OpenTask {
    folder: PathBuf,
    spaces: Vec<SpaceSpec>,
    methods: Methods,
}

impl Task for OpenTask {
    type Output = Shard;
    type JsValue = NativeShard;

    fn compute(&mut self) -> Result<Shard> {
        Shard::open_with(&self.folder, std::mem::take(&mut self.spaces), self.methods).map_err(js_error)
    }

    fn resolve(&mut self, _env: Env, shard: Shard) -> Result<NativeShard> {
        Ok(NativeShard { inner: Arc::new(shard) })
    }
}

/// Opens the index of an existing folder, which nothing else may have open; off the event loop.
#[napi(catch_unwind, ts_return_type = "Promise<NativeShard>")]
pub fn open_shard(folder: String, spaces: Vec<ShardSpace>, sizes: Option<SearchSizes>) -> Result<AsyncTask<OpenTask>> {
    let spaces = spaces.into_iter().map(spec).collect::<Result<_>>()?;
    let methods = sizes.unwrap_or_default().methods();
    Ok(AsyncTask::new(OpenTask { folder: folder.into(), spaces, methods }))
}

type ShardWork = Box<dyn Fn(&Shard) -> CoreResult<()> + Send>;

/// Work on an index without a result, off the event loop.
pub struct ShardTask {
    shard: Arc<Shard>,
    work: ShardWork,
}

impl ShardTask {
    fn start(shard: &NativeShard, work: impl Fn(&Shard) -> CoreResult<()> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self { shard: shard.inner.clone(), work: Box::new(work) })
    }
}

impl Task for ShardTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        (self.work)(&self.shard).map_err(js_error)
    }

    fn resolve(&mut self, _env: Env, output: ()) -> Result<()> {
        Ok(output)
    }
}

/// Copies an open index, as its last commit left it, into an empty folder; off the event loop. Not synced.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn copy_shard(shard: &NativeShard, folder: String) -> AsyncTask<ShardTask> {
    ShardTask::start(shard, move |shard| shard.copy_to(Path::new(&folder)))
}

/// An open index. Its writes run on other threads.
#[napi]
pub struct NativeShard {
    pub(crate) inner: Arc<Shard>,
}

#[napi]
impl NativeShard {
    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> Result<NativeSnapshot> {
        Ok(NativeSnapshot::new(self.inner.snapshot().map_err(js_error)?))
    }

    /// An empty batch for [`Self::append`].
    #[napi(catch_unwind)]
    pub fn batch(&self) -> Result<SegmentBatch> {
        Ok(SegmentBatch { spaces: self.inner.spaces().map_err(js_error)?, segments: vec![] })
    }

    /// Puts an Item (JSON) with the Segments of a batch, in one durable commit. Empties the batch. Items with the ids in
    /// `replaces` are no longer found from that commit on.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn append<'env>(
        &self,
        env: &'env Env,
        item: String,
        batch: &mut SegmentBatch,
        replaces: Vec<String>,
    ) -> Result<Object<'env>> {
        let segments = std::mem::take(&mut batch.segments);
        let item = ItemRecord::parse(&item).map_err(js_error)?;
        self.write(env, WriteOp::Append { item, segments, replaces })
    }

    /// Puts an Item's record (JSON) alone, durably.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn put_item<'env>(&self, env: &'env Env, item: String) -> Result<Object<'env>> {
        let item = ItemRecord::parse(&item).map_err(js_error)?;
        self.write(env, WriteOp::PutItem { item })
    }

    /// Adds a name by which an Item is found, durably. False if there is no such Item, or it has too many names.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn add_alias<'env>(&self, env: &'env Env, id: String, name: String) -> Result<Object<'env>> {
        self.write(env, WriteOp::AddAlias { id, name })
    }

    /// Removes an Item with all that belongs to it, durably. False if there is none.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn remove_item<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        if id.is_empty() || id.len() > 500 {
            return Err(internal("No item has such an id."));
        }
        self.write(env, WriteOp::RemoveItem { id })
    }

    /// Puts vectors of another model in the place of those that a space has, in one durable commit. Rows of Segments that are gone are
    /// left out. False if the space has a Segment without a row: then nothing is changed. Close the index after it: it goes on with
    /// the model that it was opened with.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn change_model<'env>(
        &self,
        env: &'env Env,
        space: ShardSpace,
        segments: Uint32Array,
        rows: Float32Array,
    ) -> Result<Object<'env>> {
        let rows = VectorRows { segments: segments.to_vec(), values: rows.to_vec() };
        self.write(env, WriteOp::ChangeModel { space: spec(space)?, rows })
    }

    /// Why merging or deriving rests for the time being; reported once.
    #[napi(catch_unwind)]
    pub fn take_merge_failure(&self) -> Option<String> {
        self.inner.take_merge_failure().map(|error| error.to_string())
    }

    /// Waits until no write is outstanding, and nothing that is derived from writes: for tests and benches.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn when_idle(&self) -> AsyncTask<ShardTask> {
        ShardTask::start(self, Shard::when_idle)
    }

    /// Closes the index, after accepted writes and open snapshots have ended. Idempotent.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close(&self) -> AsyncTask<ShardTask> {
        ShardTask::start(self, Shard::close)
    }

    pub(crate) fn write<'env>(&self, env: &'env Env, op: WriteOp) -> Result<Object<'env>> {
        type Resolve = Box<dyn FnOnce(Env) -> Result<bool> + Send>;
        let (deferred, promise): (JsDeferred<bool, Resolve>, _) = env.create_deferred()?;
        self.inner.submit(
            op,
            Box::new(move |result| match result {
                Ok(outcome) => deferred.resolve(Box::new(move |_| Ok(outcome))),
                Err(error) => deferred.reject(js_error(error)),
            }),
        );
        Ok(promise)
    }
}
