use farthing_core::text::charset;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

/// The likeliest character set of bytes that name none and are not UTF-8, by its name in the Encoding Standard of the web.
/// Every byte is looked at: about a millisecond for 100 KB. `isWhole` is false for the start of a longer text.
#[napi(catch_unwind)]
pub fn guess_charset(bytes: Uint8Array, is_whole: bool) -> String {
    charset::guess(&bytes, is_whole).to_owned()
}
