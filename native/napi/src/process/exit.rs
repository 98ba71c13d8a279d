use farthing_core::process::exit;
use napi_derive::napi;

/// Ends the process at once with a status: no thread is waited for, no handler runs. For ends that are forced, when a worker
/// may be inside a model's run, which an ordinary exit turns into a signal.
#[napi(ts_return_type = "never")]
pub fn end_process(status: i32) {
    exit::end(status)
}
