use farthing_core::picture::fingerprint;
use napi::Result;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::error::internal;

/// Perceptual fingerprint (16 bytes) of a grey picture of `width * height` bytes; both sides at least 16 pixels.
#[napi(catch_unwind, ts_return_type = "Uint8Array")]
pub fn picture_fingerprint(grey: &[u8], width: u32, height: u32) -> Result<Buffer> {
    let bytes = fingerprint::picture_fingerprint(grey, width as usize, height as usize).map_err(internal)?;
    Ok(bytes.to_vec().into())
}
