//! The processor time of a thread: unlike the time on the wall, it leaves out what else runs on the machine.

/// Milliseconds that the calling thread has run. None where the system does not tell.
pub fn thread_milliseconds() -> Option<f64> {
    #[cfg(target_os = "linux")]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // Safety: a plain system call that fills the structure.
        let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        (failed == 0).then_some(time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6)
    }
    #[cfg(not(target_os = "linux"))]
    None
}
