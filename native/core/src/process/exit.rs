//! Ending the process.

/// Ends the process at once, with a status. It waits for no thread and runs no destructor or exit handler.
///
/// An ordinary exit ends worker threads first. If one is inside ONNX Runtime, a signal then ends the process, and the
/// status is lost. Data on the disk stays consistent, as after a kill.
pub fn end(status: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(status) }
}
