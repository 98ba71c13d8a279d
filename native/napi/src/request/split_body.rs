use farthing_core::request::split_body::{Limits, Part, Shape, Split, split_body};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

/// Most bytes of a body beside its picture or file.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct BodyLimits {
    pub bytes: u32,
    pub values: u32,
    /// The body is an MCP message, not a search.
    pub is_tool_call: bool,
}

/// A search or an MCP message taken apart: the JSON without its picture or file, in whose places are empty strings.
#[napi(object)]
#[derive(Default)]
pub struct SplitBody {
    /// Absent when the body is no JSON object, or too large.
    pub json: Option<String>,
    pub too_large: bool,
    /// `image_b64`: of a search decoded, of an MCP message the JSON string that was sent.
    pub picture: Option<Buffer>,
    /// SHA-256 of the picture of a search.
    pub picture_sha256: Option<Buffer>,
    /// `text`, in UTF-8.
    pub text: Option<Buffer>,
    /// `content_b64`, decoded.
    pub content: Option<Buffer>,
    /// `image_b64` or `content_b64` was a string, but no base64.
    pub is_unreadable: bool,
}

fn convert(body: &[u8], BodyLimits { bytes, values, is_tool_call }: BodyLimits) -> SplitBody {
    let shape = if is_tool_call { Shape::ToolCall } else { Shape::Search };
    let parts = match split_body(body, Limits { bytes: bytes as usize, values: values as usize }, shape) {
        Split::Malformed => return SplitBody::default(),
        Split::TooLarge => return SplitBody { too_large: true, ..Default::default() },
        Split::Parts(parts) => parts,
    };
    SplitBody {
        json: Some(parts.json),
        is_unreadable: parts.picture == Part::Unreadable || parts.content == Part::Unreadable,
        picture: buffer_of(parts.picture),
        picture_sha256: parts.picture_sha256.map(|digest| digest.to_vec().into()),
        text: buffer_of(parts.text),
        content: buffer_of(parts.content),
        ..Default::default()
    }
}

fn buffer_of(part: Part) -> Option<Buffer> {
    match part {
        Part::Present(bytes) => Some(bytes.into()),
        Part::Absent | Part::Unreadable => None,
    }
}

/// Takes a small body apart on the calling thread.
#[napi(catch_unwind)]
pub fn split_body_now(body: Buffer, limits: BodyLimits) -> SplitBody {
    convert(&body, limits)
}

pub struct SplitBodyTask(Buffer, BodyLimits);

impl Task for SplitBodyTask {
    type Output = SplitBody;
    type JsValue = SplitBody;

    fn compute(&mut self) -> Result<SplitBody> {
        Ok(convert(&self.0, self.1))
    }

    fn resolve(&mut self, _env: Env, output: SplitBody) -> Result<SplitBody> {
        Ok(output)
    }
}

/// Takes a large body apart on a thread of the pool.
#[napi(catch_unwind, ts_return_type = "Promise<SplitBody>")]
pub fn split_body_off_thread(body: Buffer, limits: BodyLimits) -> AsyncTask<SplitBodyTask> {
    AsyncTask::new(SplitBodyTask(body, limits))
}
