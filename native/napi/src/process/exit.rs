use farthing_core::process::exit;
use napi_derive::napi;

/// Ends the process at once with a status. It waits for no thread and runs no handler. For forced ends, when a worker
/// may be inside a model's run, which turns an ordinary exit into a signal.
#[napi(ts_return_type = "never")]
pub fn end_process(status: i32) {
    exit::end(status)
}
