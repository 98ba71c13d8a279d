//! The priority of background threads.

/// Niceness of a thread for work that no client waits for.
const NICENESS: i32 = 5;

/// Lowers the priority of the calling thread permanently.
pub fn lower_priority() {
    lower_priority_to(NICENESS);
}

/// As [`lower_priority`], to a niceness of 0 to 19.
pub fn lower_priority_to(niceness: i32) {
    #[cfg(target_os = "linux")]
    // Safety: a plain system call; on Linux process 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, niceness);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}
