use farthing_core::request::mcp_message::{Content, Limits, Message, split_message};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

/// What a message may hold beside its picture or file.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct MessageLimits {
    pub bytes: u32,
    pub values: u32,
}

/// An MCP message taken apart: the JSON without its picture or file, in whose places are empty strings.
#[napi(object)]
#[derive(Default)]
pub struct SplitMessage {
    /// Absent when the body is no JSON object, or one of the next two.
    pub json: Option<String>,
    pub batch: bool,
    pub too_large: bool,
    /// `image_b64`, as the JSON string that was sent.
    pub picture: Option<Buffer>,
    /// `text`, in UTF-8.
    pub text: Option<Buffer>,
    /// `content_b64`, decoded.
    pub content: Option<Buffer>,
    /// `content_b64` was a string, but no base64.
    pub content_unreadable: bool,
}

fn convert(body: &[u8], MessageLimits { bytes, values }: MessageLimits) -> SplitMessage {
    let parts = match split_message(body, Limits { bytes: bytes as usize, values: values as usize }) {
        Message::Malformed => return SplitMessage::default(),
        Message::Batch => return SplitMessage { batch: true, ..Default::default() },
        Message::TooLarge => return SplitMessage { too_large: true, ..Default::default() },
        Message::Split(parts) => parts,
    };
    let content_unreadable = parts.content == Content::Unreadable;
    let content = match parts.content {
        Content::Present(bytes) => Some(bytes.into()),
        Content::Absent | Content::Unreadable => None,
    };
    SplitMessage {
        json: Some(parts.json),
        picture: parts.picture.map(Buffer::from),
        text: parts.text.map(Buffer::from),
        content,
        content_unreadable,
        ..Default::default()
    }
}

/// Takes a small message apart on the calling thread.
#[napi(catch_unwind)]
pub fn split_mcp_message_now(body: Buffer, limits: MessageLimits) -> SplitMessage {
    convert(&body, limits)
}

pub struct SplitMessageTask(Buffer, MessageLimits);

impl Task for SplitMessageTask {
    type Output = SplitMessage;
    type JsValue = SplitMessage;

    fn compute(&mut self) -> Result<SplitMessage> {
        Ok(convert(&self.0, self.1))
    }

    fn resolve(&mut self, _env: Env, output: SplitMessage) -> Result<SplitMessage> {
        Ok(output)
    }
}

/// Takes a large message apart on a thread of the pool.
#[napi(catch_unwind, ts_return_type = "Promise<SplitMessage>")]
pub fn split_mcp_message_off_thread(body: Buffer, limits: MessageLimits) -> AsyncTask<SplitMessageTask> {
    AsyncTask::new(SplitMessageTask(body, limits))
}
