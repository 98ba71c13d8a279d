//! Texts that are encoded together.

use std::time::Instant;

use farthing_core::error::{Result, ShardError, catch_panic};
use farthing_encoder::encoding::text_encoder::{Encoded, TextEncoder};
use farthing_encoder::forward::scratch::Scratch;
use napi::bindgen_prelude::{Float32Array, FnArgs};
use napi_derive::napi;

use super::listener::{Listener, News};
use crate::error::js_error;

#[napi(object)]
pub struct EncodedTexts {
    /// One vector of unit length for each text, one after the other.
    pub vectors: Float32Array,
    pub runs: u32,
    pub tokens: u32,
    /// Milliseconds of the thread that encoded them; 0 where the system does not tell.
    pub thread_ms: f64,
    /// Milliseconds since they were encoded.
    pub since_ms: f64,
}

pub struct Call {
    pub call: u32,
    pub texts: Vec<String>,
    pub prefix: String,
    pub listener: Listener<Outcome>,
}

/// A call has ended.
pub struct Outcome {
    call: u32,
    encoded: Result<Encoded>,
    at: Instant,
}

/// The call's number, and the outcome of its texts or an error's message.
pub type Arguments = FnArgs<(u32, Option<EncodedTexts>, Option<String>)>;

impl Call {
    pub fn perform(self, encoder: &TextEncoder, scratch: &mut Scratch) {
        let Self { call, texts, prefix, listener } = self;
        let encoded = catch_panic(|| encoder.encode(&texts, &prefix, scratch).map_err(ShardError::internal));
        listener.tell(Outcome { call, encoded, at: Instant::now() });
    }
}

impl News for Outcome {
    type Arguments = Arguments;

    fn arguments(self) -> Arguments {
        let since_ms = self.at.elapsed().as_secs_f64() * 1e3;
        let shown = |Encoded { vectors, runs, tokens, milliseconds }| EncodedTexts {
            vectors: Float32Array::from(vectors),
            runs,
            tokens,
            thread_ms: milliseconds,
            since_ms,
        };
        match self.encoded {
            Ok(encoded) => FnArgs::from((self.call, Some(shown(encoded)), None)),
            Err(error) => FnArgs::from((self.call, None, Some(js_error(error).reason.to_string()))),
        }
    }
}
