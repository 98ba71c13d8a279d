//! System calls: a seccomp filter for all threads.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

/// Calls that no decoder needs. They could talk to the network, run programs, touch other processes, change modes,
/// owners and times of files (which Landlock does not cover), truncate them (which it covers from Linux 6.2), enter
/// namespaces, or reach rarely used kernel code.
fn forbidden_calls() -> Vec<i64> {
    let mut calls = vec![
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_kcmp,
        libc::SYS_process_madvise,
        libc::SYS_setpriority,
        libc::SYS_migrate_pages,
        libc::SYS_move_pages,
        libc::SYS_truncate,
        libc::SYS_ftruncate,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_fsopen,
        libc::SYS_fsmount,
        libc::SYS_fsconfig,
        libc::SYS_fspick,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_mount_setattr,
        libc::SYS_quotactl,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        libc::SYS_acct,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_reboot,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
        libc::SYS_inotify_add_watch,
        libc::SYS_fanotify_init,
        libc::SYS_shmget,
        libc::SYS_shmat,
        libc::SYS_shmctl,
        libc::SYS_msgget,
        libc::SYS_msgsnd,
        libc::SYS_msgrcv,
        libc::SYS_msgctl,
        libc::SYS_semget,
        libc::SYS_semop,
        libc::SYS_semctl,
        libc::SYS_mq_open,
        libc::SYS_mq_unlink,
        libc::SYS_memfd_create,
    ];
    // fchmodat2, for which not every libc has a constant. Its number is the same on all architectures.
    calls.push(452);
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_iopl,
        libc::SYS_ioperm,
        libc::SYS_modify_ldt,
    ]);
    calls
}

/// Calls that the C library can do without if it is told that they do not exist. The arguments of clone3 are in memory,
/// where a filter cannot see whether a thread or a process is wanted.
const ABSENT_CALLS: [i64; 4] =
    [libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|&call| (call, vec![])).collect()
}

/// Makes io_uring absent for the calling thread and what it executes.
pub fn make_rings_absent() -> Result<(), String> {
    install(always(&ABSENT_CALLS[1..]), libc::ENOSYS)
}

pub fn filter() -> Result<(), String> {
    let mut forbidden = always(&forbidden_calls());
    // SAFETY: no arguments.
    let process = unsafe { libc::getpid() } as u64;
    let when = |argument, comparison, value| -> Result<Vec<SeccompRule>, String> {
        SeccompCondition::new(argument, SeccompCmpArgLen::Qword, comparison, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
            .map(|rule| vec![rule])
            .map_err(|error| error.to_string())
    };
    // Threads may be made, processes not. Signals and limits are for this process alone.
    forbidden.insert(libc::SYS_clone, when(0, SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64), 0)?);
    forbidden.insert(libc::SYS_tgkill, when(0, SeccompCmpOp::Ne, process)?);
    forbidden.insert(libc::SYS_prlimit64, when(0, SeccompCmpOp::Ne, 0)?);
    install(forbidden, libc::EPERM)?;
    install(always(&ABSENT_CALLS), libc::ENOSYS)
}

fn install(rules: Rules, errno: i32) -> Result<(), String> {
    let architecture = std::env::consts::ARCH.try_into().map_err(|_| "unknown architecture".to_string())?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), architecture)
        .map_err(|error| error.to_string())?;
    let program: BpfProgram = filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    seccompiler::apply_filter_all_threads(&without_x32(program)).map_err(|error| error.to_string())
}

/// Makes the x32 calls absent. They reach the same kernel code as those of x86-64 under other numbers (bit 30).
fn without_x32(program: BpfProgram) -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, of seccomp_data.nr at offset 0
    const JUMP_IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    const RETURN_ERRNO: u32 = 0x0005_0000; // SECCOMP_RET_ERRNO
    let prologue = [
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: 0x4000_0000 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: RETURN_ERRNO | libc::ENOSYS as u32 },
    ];
    prologue.into_iter().chain(program).collect()
}
