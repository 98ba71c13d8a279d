//! The priority of background threads.

/// Niceness of a thread for work that no client waits for.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// Lowers the priority of the calling thread permanently.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    // Safety: a plain system call; on Linux process 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}
