use std::path::PathBuf;
use std::sync::Arc;

use farthing_core::shard::open_shard::Shard;
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::shard::open_shard::{NativeShard, crossing};

pub struct CopyTask {
    shard: Arc<Shard>,
    folder: PathBuf,
}

impl Task for CopyTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        self.shard.copy_to(&self.folder).map_err(crossing)
    }

    fn resolve(&mut self, _env: Env, output: ()) -> Result<()> {
        Ok(output)
    }
}

/// Copies an open index, as its last commit left it, into an empty folder; off the event loop. Not synced.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn copy_shard(shard: &NativeShard, folder: String) -> AsyncTask<CopyTask> {
    AsyncTask::new(CopyTask { shard: shard.inner.clone(), folder: folder.into() })
}
