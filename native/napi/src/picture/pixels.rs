use farthing_core::picture::pixels::{self, Layout};
use napi::Result;
use napi::bindgen_prelude::Float32ArraySlice;
use napi_derive::napi;

use crate::error::internal;

/// Writes `(x / 255 − mean) / std` of 8-bit RGB pixels into `out`: channel by channel (`nchw`) or pixel by pixel
/// (`nhwc`).
#[napi(catch_unwind)]
pub fn normalise_pixels(
    rgb: &[u8],
    mean: Vec<f64>,
    std: Vec<f64>,
    layout: String,
    mut out: Float32ArraySlice,
) -> Result<()> {
    let layout = match layout.as_str() {
        "nchw" => Layout::Nchw,
        "nhwc" => Layout::Nhwc,
        other => return Err(internal(format!("{other} is no layout"))),
    };
    // Safety: the array belongs to the calling thread, which runs nothing else until this returns.
    let out = unsafe { out.as_mut() };
    pixels::normalise(rgb, three(&mean)?, three(&std)?, layout, out).map_err(internal)
}

fn three(values: &[f64]) -> Result<[f32; 3]> {
    match values {
        [red, green, blue] => Ok([*red as f32, *green as f32, *blue as f32]),
        _ => Err(internal("three channels are needed")),
    }
}
