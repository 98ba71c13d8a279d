use farthing_core::request::search_body::{Image, Split, split_search_body};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

/// A search body, split: the JSON without its picture, and the picture's decoded bytes.
#[napi(object)]
#[derive(Default)]
pub struct SplitBody {
    /// More JSON beside the picture than was allowed; nothing else is present then.
    pub too_large: bool,
    /// Absent if the body is not a JSON object.
    pub json: Option<String>,
    pub image: Option<Buffer>,
    /// SHA-256 of the picture's bytes.
    pub image_sha256: Option<Buffer>,
    /// `image_b64` was a string, but not base64.
    pub image_unreadable: bool,
}

fn convert(body: &[u8], json_bytes_max: u32) -> SplitBody {
    let split = match split_search_body(body, json_bytes_max as usize) {
        Split::Malformed => return SplitBody::default(),
        Split::TooLarge => return SplitBody { too_large: true, ..Default::default() },
        Split::Body(split) => split,
    };
    let image_unreadable = split.image == Image::Unreadable;
    let (image, image_sha256) = match split.image {
        Image::Present { bytes, sha256 } => (Some(bytes.into()), Some(sha256.to_vec().into())),
        Image::Absent | Image::Unreadable => (None, None),
    };
    SplitBody { too_large: false, json: Some(split.json), image, image_sha256, image_unreadable }
}

/// Splits a small search body on the calling thread.
#[napi(catch_unwind)]
pub fn split_search_body_now(body: Buffer, json_bytes_max: u32) -> SplitBody {
    convert(&body, json_bytes_max)
}

pub struct SplitTask(Buffer, u32);

impl Task for SplitTask {
    type Output = SplitBody;
    type JsValue = SplitBody;

    fn compute(&mut self) -> Result<SplitBody> {
        Ok(convert(&self.0, self.1))
    }

    fn resolve(&mut self, _env: Env, output: SplitBody) -> Result<SplitBody> {
        Ok(output)
    }
}

/// Splits a large search body on a thread of the pool.
#[napi(catch_unwind, ts_return_type = "Promise<SplitBody>")]
pub fn split_search_body_off_thread(body: Buffer, json_bytes_max: u32) -> AsyncTask<SplitTask> {
    AsyncTask::new(SplitTask(body, json_bytes_max))
}
