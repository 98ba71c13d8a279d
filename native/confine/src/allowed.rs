//! The system calls that a reader may make, by what they are for. SECURITY.md has the same table; a test compares them.

use libc::*;

/// A purpose, and the calls that serve it, each by its name in libc and its number.
pub type Group = (&'static str, &'static [(&'static str, i64)]);

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), $name)),*] };
}

/// On all architectures.
pub const ALLOWED: &[Group] = &[
    ("the pipe to the server, standard error", calls![SYS_read SYS_write SYS_readv SYS_writev SYS_close]),
    (
        "the file that is read",
        calls![
            SYS_openat SYS_pread64 SYS_preadv SYS_lseek SYS_fstat SYS_newfstatat SYS_statx SYS_fadvise64 SYS_fstatfs
            SYS_faccessat SYS_faccessat2 SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_fcntl SYS_ioctl SYS_dup SYS_dup3
        ],
    ),
    (
        "memory",
        calls![
            SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_brk SYS_membarrier SYS_pkey_alloc SYS_pkey_free
            SYS_pkey_mprotect
        ],
    ),
    (
        "threads",
        calls![
            SYS_clone SYS_futex SYS_set_robust_list SYS_set_tid_address SYS_rseq SYS_exit SYS_exit_group SYS_gettid
            SYS_sched_yield SYS_sched_getaffinity SYS_sched_getparam SYS_sched_getscheduler SYS_sched_get_priority_max
            SYS_sched_get_priority_min SYS_getcpu SYS_prctl
        ],
    ),
    (
        "the event loop",
        calls![
            SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_pipe2 SYS_ppoll SYS_pselect6
        ],
    ),
    (
        "signals to itself",
        calls![
            SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sigaltstack SYS_tgkill SYS_restart_syscall
        ],
    ),
    (
        "time and chance",
        calls![
            SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_getrandom
        ],
    ),
    (
        "what it is, and what it used",
        calls![
            SYS_getpid SYS_getppid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_uname SYS_sysinfo SYS_getrusage SYS_times
            SYS_getrlimit SYS_prlimit64
        ],
    ),
];

/// The same under the older numbers that x86-64 has beside them.
#[cfg(target_arch = "x86_64")]
pub const ALLOWED_HERE: &[Group] = &[
    ("the file that is read", calls![SYS_open SYS_stat SYS_lstat SYS_access SYS_readlink SYS_dup2]),
    ("the event loop", calls![SYS_epoll_wait SYS_poll SYS_select SYS_pipe]),
    ("time and chance", calls![SYS_time]),
];
#[cfg(not(target_arch = "x86_64"))]
pub const ALLOWED_HERE: &[Group] = &[];

pub fn allowed() -> impl Iterator<Item = (&'static str, i64)> {
    ALLOWED.iter().chain(ALLOWED_HERE).flat_map(|(_, calls)| calls.iter().copied())
}
