use std::path::PathBuf;
use std::sync::Arc;

use farthing_core::error::ShardError;
use farthing_core::shard::open_shard::Shard;
use farthing_core::store::methods::Methods;
use farthing_core::store::open_store::SpaceSpec;
use farthing_core::write::input::{ItemRecord, PictureInput, SegmentInput, digest_of_hex};
use farthing_core::write::write_op::Write;
use napi::bindgen_prelude::{AsyncTask, Float32Array, Object, Uint8Array};
use napi::{Env, Error, JsDeferred, Result, Status, Task};
use napi_derive::napi;

use crate::shard::snapshot::NativeSnapshot;

pub(crate) fn crossing(error: ShardError) -> Error {
    Error::new(Status::GenericFailure, format!("FARTHING:{}:{}", error.code, error.detail))
}

pub fn internal(detail: &str) -> Error {
    crossing(ShardError::internal(detail))
}

/// A vector space: all its vectors were made by the model with this SHA-256 (hexadecimal).
#[napi(object)]
pub struct ShardSpace {
    pub name: String,
    pub dimensions: u32,
    pub model_sha256: String,
}

/// From which number of vectors on a way of searching serves; what is left out is as measured.
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
        Shard::open_with(&self.folder, std::mem::take(&mut self.spaces), self.methods).map_err(crossing)
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

pub struct SettleTask(Arc<Shard>);

impl Task for SettleTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        self.0.settle().map_err(crossing)
    }

    fn resolve(&mut self, _env: Env, output: ()) -> Result<()> {
        Ok(output)
    }
}

pub struct CloseTask(Arc<Shard>);

impl Task for CloseTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        self.0.close().map_err(crossing)
    }

    fn resolve(&mut self, _env: Env, output: ()) -> Result<()> {
        Ok(output)
    }
}

/// An open index. Its writes run on threads of their own.
#[napi]
pub struct NativeShard {
    pub(crate) inner: Arc<Shard>,
}

#[napi]
impl NativeShard {
    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> Result<NativeSnapshot> {
        Ok(NativeSnapshot::new(self.inner.snapshot().map_err(crossing)?))
    }

    /// An empty batch for [`Self::append`].
    #[napi(catch_unwind)]
    pub fn batch(&self) -> Result<SegmentBatch> {
        Ok(SegmentBatch { spaces: self.inner.spaces().map_err(crossing)?, segments: vec![] })
    }

    /// Puts an Item (JSON) with the Segments of a batch, which is empty afterwards: one durable commit.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn append<'env>(&self, env: &'env Env, item: String, batch: &mut SegmentBatch) -> Result<Object<'env>> {
        let segments = std::mem::take(&mut batch.segments);
        let item = ItemRecord::parse(&item).map_err(crossing)?;
        self.write(env, Write::Append { item, segments })
    }

    /// Puts an Item's record (JSON) alone: durable.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn put_item<'env>(&self, env: &'env Env, item: String) -> Result<Object<'env>> {
        let item = ItemRecord::parse(&item).map_err(crossing)?;
        self.write(env, Write::PutItem { item })
    }

    /// Removes an Item with all that belongs to it; false when there is none.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn remove_item<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        if id.is_empty() || id.len() > 500 {
            return Err(internal("No item has such an id."));
        }
        self.write(env, Write::RemoveItem { id })
    }

    /// Why small blocks are not merged, or nothing is derived, for the time being; told once.
    #[napi(catch_unwind)]
    pub fn take_merge_failure(&self) -> Option<String> {
        self.inner.take_merge_failure().map(|error| error.to_string())
    }

    /// Waits until all that is derived in the background from what was written is there: for tests and benches.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn settle(&self) -> AsyncTask<SettleTask> {
        AsyncTask::new(SettleTask(self.inner.clone()))
    }

    /// Waits for accepted writes and open snapshots, then closes. Idempotent.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close(&self) -> AsyncTask<CloseTask> {
        AsyncTask::new(CloseTask(self.inner.clone()))
    }

    pub(crate) fn write<'env>(&self, env: &'env Env, write: Write) -> Result<Object<'env>> {
        type Resolve = Box<dyn FnOnce(Env) -> Result<bool> + Send>;
        let (deferred, promise): (JsDeferred<bool, Resolve>, _) = env.create_deferred()?;
        self.inner.submit(
            write,
            Box::new(move |result| match result {
                Ok(outcome) => deferred.resolve(Box::new(move |_| Ok(outcome))),
                Err(error) => deferred.reject(crossing(error)),
            }),
        );
        Ok(promise)
    }
}

/// Segments of one Item on their way into the index; filled one by one, so that a large Item need not hold the event loop.
#[napi]
pub struct SegmentBatch {
    spaces: Vec<SpaceSpec>,
    segments: Vec<SegmentInput>,
}

#[napi]
impl SegmentBatch {
    /// Copies one Segment: its record (JSON), its place, words, fingerprint and digest (both or neither), and one vector
    /// for each named space.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn add(
        &mut self,
        record: String,
        place: u32,
        words: Option<String>,
        fingerprint: Option<Uint8Array>,
        digest: Option<Uint8Array>,
        spaces: Vec<String>,
        vectors: Vec<Float32Array>,
    ) -> Result<()> {
        let picture = match (fingerprint, digest) {
            (None, None) => None,
            (fingerprint, digest) => Some(PictureInput {
                digest: digest
                    .as_deref()
                    .unwrap_or_default()
                    .try_into()
                    .map_err(|_| internal("A digest has 32 bytes."))?,
                fingerprint: fingerprint.map(|bytes| bytes.to_vec()).unwrap_or_default(),
            }),
        };
        let number = |name: &String| {
            let at = self.spaces.iter().position(|space| space.name == *name);
            at.ok_or_else(|| internal(&format!("{name} is no space of the index.")))
        };
        let vectors = spaces
            .iter()
            .zip(vectors)
            .map(|(name, vector)| Ok((number(name)?, vector.to_vec())))
            .collect::<Result<_>>()?;
        let segment = SegmentInput { record, place, words, picture, vectors };
        segment.check(&self.spaces).map_err(crossing)?;
        self.segments.push(segment);
        Ok(())
    }
}
