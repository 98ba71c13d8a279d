use napi::Result;
use napi_derive::napi;

use crate::error::internal;

/// Name of the kernel that this process scans vectors with.
#[napi(catch_unwind)]
pub fn kernel_name() -> Result<String> {
    farthing_core::kernels::detection::chosen().map(|kernel| kernel.name.to_owned()).map_err(internal)
}
