//! Landlock for every thread: a signal makes each restrict itself.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::protection::last_error;

/// The ruleset for [`on_request`], or −1.
static REQUESTED: AtomicI32 = AtomicI32::new(-1);
/// Ids of the threads that answered, in the first `ANSWERED` slots. Negative if the kernel refused.
static ANSWERS: [AtomicI32; 256] = [const { AtomicI32::new(0) }; 256];
static ANSWERED: AtomicUsize = AtomicUsize::new(0);
/// One confinement at a time: the slots above are shared.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const ANSWER_DEADLINE: Duration = Duration::from_secs(2);

/// Returns 0, or −1 with `errno`. Only system calls: safe in a signal handler.
pub fn restrict_this_thread(ruleset: i32) -> i64 {
    // SAFETY: both calls take integers only.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0)
    }
}

/// Signal handler: system calls and atomics only.
extern "C" fn on_request(_signal: libc::c_int) {
    let ruleset = REQUESTED.load(Ordering::Acquire);
    if ruleset < 0 {
        return;
    }
    // SAFETY: gettid has no arguments; errno belongs to the interrupted thread and is put back.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let thread = libc::gettid();
        let outcome = restrict_this_thread(ruleset);
        let slot = ANSWERED.fetch_add(1, Ordering::AcqRel);
        if let Some(answer) = ANSWERS.get(slot) {
            answer.store(if outcome == 0 { thread } else { -thread }, Ordering::Release);
        }
        *errno = before;
    }
}

/// Signals every other thread to restrict itself, and waits for their answers. Threads that appear in the meantime are
/// signalled in the next round. Those that a restricted thread starts are restricted from birth.
pub fn restrict_other_threads(ruleset: &OwnedFd) -> Result<(), String> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let signal = libc::SIGRTMIN() + 7;
    // SAFETY: the action is fully initialised and its handler is safe in any thread.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_request as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        if libc::sigaction(signal, &action, std::ptr::null_mut()) != 0 {
            return Err(last_error("sigaction"));
        }
    }
    ANSWERED.store(0, Ordering::Release);
    ANSWERS.iter().for_each(|answer| answer.store(0, Ordering::Release));
    REQUESTED.store(ruleset.as_raw_fd(), Ordering::Release);
    let outcome = ask_until_all_answered(signal);
    REQUESTED.store(-1, Ordering::Release);
    outcome
}

fn ask_until_all_answered(signal: i32) -> Result<(), String> {
    // SAFETY: no arguments.
    let (process, this_thread) = unsafe { (libc::getpid(), libc::gettid()) };
    let deadline = Instant::now() + ANSWER_DEADLINE;
    let mut signalled: Vec<i32> = vec![this_thread];
    loop {
        let alive = threads()?;
        for &thread in &alive {
            if !signalled.contains(&thread) {
                signalled.push(thread);
                // SAFETY: a thread that has ended is an error that needs no handling.
                unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
            }
        }
        let answers: Vec<i32> = ANSWERS.iter().map(|answer| answer.load(Ordering::Acquire)).collect();
        if let Some(refused) = answers.iter().find(|&&answer| answer < 0) {
            return Err(format!("thread {} could not be restricted", -refused));
        }
        let open = alive.iter().filter(|&&thread| thread != this_thread && !answers.contains(&thread)).count();
        if open == 0 {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("{open} of {} threads did not answer", alive.len()));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn threads() -> Result<Vec<i32>, String> {
    let entries = std::fs::read_dir("/proc/self/task").map_err(|error| format!("/proc/self/task: {error}"))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
