//! The end of the process.

/// Ends the process at once, with a status and nothing else: no thread is waited for, no destructor and no exit handler runs.
///
/// An ordinary exit ends worker threads first. One that is inside ONNX Runtime then takes the process down by a signal, and
/// the status is lost. What is on the disk stays consistent, as after a kill.
pub fn end(status: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(status) }
}
