use farthing_core::request::search_body::{Image, split_search_body};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

/// A search body, split: the JSON without its picture, and the picture's decoded bytes.
#[napi(object)]
pub struct SplitBody {
    /// Absent if the body is not a JSON object.
    pub json: Option<String>,
    pub image: Option<Buffer>,
    /// SHA-256 of the picture's bytes.
    pub image_sha256: Option<Buffer>,
    /// `image_b64` was a string, but not base64.
    pub image_unreadable: bool,
}

fn convert(body: &[u8]) -> SplitBody {
    let Some(split) = split_search_body(body) else {
        return SplitBody { json: None, image: None, image_sha256: None, image_unreadable: false };
    };
    let image_unreadable = split.image == Image::Unreadable;
    let (image, image_sha256) = match split.image {
        Image::Present { bytes, sha256 } => (Some(bytes.into()), Some(sha256.to_vec().into())),
        Image::Absent | Image::Unreadable => (None, None),
    };
    SplitBody { json: Some(split.json), image, image_sha256, image_unreadable }
}

/// Splits a small search body on the calling thread.
#[napi(catch_unwind)]
pub fn split_search_body_now(body: Buffer) -> SplitBody {
    convert(&body)
}

pub struct SplitTask(Buffer);

impl Task for SplitTask {
    type Output = SplitBody;
    type JsValue = SplitBody;

    fn compute(&mut self) -> Result<SplitBody> {
        Ok(convert(&self.0))
    }

    fn resolve(&mut self, _env: Env, output: SplitBody) -> Result<SplitBody> {
        Ok(output)
    }
}

/// Splits a large search body on a thread of the pool.
#[napi(catch_unwind, ts_return_type = "Promise<SplitBody>")]
pub fn split_search_body_off_thread(body: Buffer) -> AsyncTask<SplitTask> {
    AsyncTask::new(SplitTask(body))
}
