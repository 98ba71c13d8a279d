use napi_derive::napi;

/// Version of the native core.
#[napi]
pub fn core_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
