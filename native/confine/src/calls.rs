//! System calls: a seccomp filter for all threads. Calls that are not listed return ENOSYS, so that libraries
//! take another way; arguments that lead outside the process, or around its memory limit, are refused (EPERM).

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use super::allowed::allowed;

const RING_CALLS: [i64; 3] = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Commands of fcntl: neither owners and signals of descriptors, nor leases, seals and sizes of pipes.
const FCNTL_COMMANDS: [i32; 6] =
    [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC, libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL];
/// Requests of ioctl: what libuv and isatty ask of descriptors.
const IOCTL_REQUESTS: [u64; 5] = [libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX, libc::TCGETS];
/// Options of prctl: names of threads and of memory, and what a filter is installed with.
const PRCTL_OPTIONS: [i32; 4] = [libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA, libc::PR_SET_NO_NEW_PRIVS];
/// Flags of clone beside a thread's: namespaces, and what concerns the parent or a tracer.
const CLONE_FLAGS: [i32; 10] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_PTRACE,
    libc::CLONE_PARENT,
    libc::CLONE_PIDFD,
];
const WRITING_FLAGS: [i32; 4] = [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC];
/// From this advice on, madvise breaks pages of memory for the whole machine (a superuser's).
const MADV_HWPOISON: u64 = 100;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Conditions = Vec<SeccompCondition>;

fn always(calls: impl IntoIterator<Item = i64>) -> Rules {
    calls.into_iter().map(|call| (call, vec![])).collect()
}

/// Makes io_uring absent for the calling thread and what it executes.
pub fn make_rings_absent() -> Result<(), String> {
    install(always(RING_CALLS), SeccompAction::Allow, errno(libc::ENOSYS))
}

pub fn filter() -> Result<(), String> {
    install(forbidden_arguments()?, SeccompAction::Allow, errno(libc::EPERM))?;
    // clone3 is absent, too: its arguments are in memory, where no filter sees whether a thread or a process is wanted.
    install(always(allowed().map(|(_, call)| call)), errno(libc::ENOSYS), SeccompAction::Allow)
}

fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number as u32)
}

/// Allowed calls that are refused for their arguments: a call for which all conditions of one of its rules hold.
fn forbidden_arguments() -> Result<Rules, String> {
    // SAFETY: no arguments.
    let process = unsafe { libc::getpid() } as u64;
    let mut rules = Rules::new();
    let mut forbid = |call: i64, alternatives: Vec<Conditions>| -> Result<(), String> {
        let alternatives = alternatives.into_iter().map(SeccompRule::new).collect::<Result<_, _>>();
        rules.insert(call, alternatives.map_err(|error| error.to_string())?);
        Ok(())
    };
    forbid(libc::SYS_fcntl, vec![none_of(1, FCNTL_COMMANDS.map(|command| command as u64))?])?;
    forbid(libc::SYS_ioctl, vec![none_of(1, IOCTL_REQUESTS)?])?;
    forbid(libc::SYS_prctl, vec![none_of(0, PRCTL_OPTIONS.map(|option| option as u64))?])?;
    // Files are opened for reading alone. Landlock says so too, where the kernel has it.
    forbid(libc::SYS_openat, each(2, WRITING_FLAGS)?)?;
    #[cfg(target_arch = "x86_64")]
    forbid(libc::SYS_open, each(1, WRITING_FLAGS)?)?;
    // Threads may be made, processes not.
    let mut clones = each(0, CLONE_FLAGS)?;
    clones.push(vec![when(0, SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64), 0)?]);
    forbid(libc::SYS_clone, clones)?;
    // RLIMIT_DATA counts neither shared memory nor what grows like a stack.
    let shared = |with: i32, argument| -> Result<Conditions, String> {
        Ok(vec![bits(3, libc::MAP_SHARED)?, bits(argument, with)?])
    };
    forbid(
        libc::SYS_mmap,
        vec![shared(libc::MAP_ANONYMOUS, 3)?, shared(libc::PROT_WRITE, 2)?, vec![bits(3, libc::MAP_GROWSDOWN)?]],
    )?;
    forbid(libc::SYS_madvise, vec![vec![when(2, SeccompCmpOp::Ge, MADV_HWPOISON)?]])?;
    // Signals are for this process. Its limits are read: with a superuser's rights they could be raised.
    forbid(libc::SYS_tgkill, vec![vec![when(0, SeccompCmpOp::Ne, process)?]])?;
    let limits_are_set = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    forbid(
        libc::SYS_prlimit64,
        vec![
            vec![limits_are_set.map_err(|error| error.to_string())?],
            vec![when(0, SeccompCmpOp::Ne, 0)?, when(0, SeccompCmpOp::Ne, process)?],
        ],
    )?;
    Ok(rules)
}

/// A condition on the lower 32 bits of an argument: the kernel looks at no others where this is used.
fn when(argument: u8, comparison: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value).map_err(|error| error.to_string())
}

/// All of the bits are set.
fn bits(argument: u8, bits: i32) -> Result<SeccompCondition, String> {
    let bits = u64::from(bits as u32);
    when(argument, SeccompCmpOp::MaskedEq(bits), bits)
}

/// One alternative for each flag.
fn each<const N: usize>(argument: u8, flags: [i32; N]) -> Result<Vec<Conditions>, String> {
    flags.iter().map(|&flag| Ok(vec![bits(argument, flag)?])).collect()
}

fn none_of<const N: usize>(argument: u8, values: [u64; N]) -> Result<Conditions, String> {
    values.iter().map(|&value| when(argument, SeccompCmpOp::Ne, value)).collect()
}

fn install(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Result<(), String> {
    let architecture = std::env::consts::ARCH.try_into().map_err(|_| "unknown architecture".to_string())?;
    let filter = SeccompFilter::new(rules, otherwise, matched, architecture).map_err(|error| error.to_string())?;
    let program: BpfProgram = filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    seccompiler::apply_filter_all_threads(&without_other_tables(program)).map_err(|error| error.to_string())
}

/// Makes the calls of other tables absent, which reach the same kernel code under other numbers: those of 32-bit programs,
/// for which seccompiler would kill the process, and x32 (bit 30).
fn without_other_tables(program: BpfProgram) -> BpfProgram {
    const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, of seccomp_data: nr at 0, arch at 4
    const JUMP_IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
    const JUMP_IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    const RETURN_ERRNO: u32 = 0x0005_0000; // SECCOMP_RET_ERRNO
    const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 }; // AUDIT_ARCH_*
    let absent = sock_filter { code: RETURN, jt: 0, jf: 0, k: RETURN_ERRNO | libc::ENOSYS as u32 };
    let prologue = [
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 4 },
        sock_filter { code: JUMP_IF_EQUAL, jt: 0, jf: 2, k: ARCHITECTURE },
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: 0x4000_0000 },
        absent,
    ];
    prologue.into_iter().chain(program).collect()
}
