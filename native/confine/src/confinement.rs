//! Takes away what a reader of strangers' files does not need: other files, the network, other programs, other
//! processes.
//!
//! It is called once in a child process, after its libraries are loaded and before the first file, and holds for every
//! thread. The kernel synchronises seccomp. Landlock restricts only the calling thread (until Linux 7.0), so a signal
//! makes each other thread restrict itself, as glibc does for setuid (nptl(7)).

use super::protection::{Protection, last_error};
use super::{calls, files};

/// Outcome of [`confine`], protection by protection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    pub no_new_privileges: Protection,
    pub landlock: Protection,
    pub seccomp: Protection,
    pub memory_limit: Protection,
}

/// RLIMIT_DATA does not count page tables; memory that is only read needs a page of them for each 2 MiB: 128 MiB at most
/// with this limit. WebAssembly reserves 10 GiB for each of its memories, a reader 12 in all.
const ADDRESS_SPACE_BYTES: u64 = 64 << 30;

/// Confines the process permanently. `readable`: folders whose files may still be opened, for reading only.
/// `memory_bytes` limits its writable memory.
///
/// # Errors
/// Fails if io_uring is already in use; nothing is changed then. What is submitted to a ring bypasses the filter of system
/// calls, and a program that loses its ring aborts, as Node's event loop does. Execute such a program after
/// [`forbid_rings`].
pub fn confine(readable: &[String], memory_bytes: u64) -> Result<Confinement, String> {
    if has_ring() {
        return Err("This process has an io_uring, which no filter of system calls can see into. Forbid rings, and \
                    execute the program anew, before it is confined."
            .into());
    }
    let no_new_privileges = to_protection(set_no_new_privileges());
    let memory_limit = to_protection(
        limit(libc::RLIMIT_DATA, memory_bytes)
            .and_then(|()| limit(libc::RLIMIT_AS, ADDRESS_SPACE_BYTES))
            .and_then(|()| limit(libc::RLIMIT_CORE, 0))
            .and_then(|()| limit(libc::RLIMIT_FSIZE, 0)),
    );
    let landlock = files::restrict(readable);
    let seccomp = to_protection(calls::filter());
    Ok(Confinement { no_new_privileges, landlock, seccomp, memory_limit })
}

/// Whether the process has an io_uring. False if its descriptors cannot be listed.
fn has_ring() -> bool {
    let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return false };
    let mut targets = descriptors.flatten().filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    targets.any(|target| target.as_os_str() == "anon_inode:[io_uring]")
}

/// Forbids io_uring to the calling thread and to the program that it executes next, for which `pipe` is kept open.
///
/// Node's event loop makes a ring at its very start, and aborts if the ring stops working. So the ring must never be
/// made: call this first, then execute the program proper.
pub fn forbid_rings(pipe: i32) -> Result<(), String> {
    // SAFETY: fcntl on a descriptor touches no memory.
    if unsafe { libc::fcntl(pipe, libc::F_SETFD, 0) } != 0 {
        return Err(last_error("fcntl"));
    }
    set_no_new_privileges()?;
    calls::make_rings_absent()
}

fn to_protection(outcome: Result<(), String>) -> Protection {
    outcome.map_or_else(Protection::Unavailable, |()| Protection::Enforced)
}

fn set_no_new_privileges() -> Result<(), String> {
    // SAFETY: prctl with these constants touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(last_error("prctl")),
    }
}

fn limit(resource: libc::__rlimit_resource_t, most: u64) -> Result<(), String> {
    let both = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the struct outlives the call.
    match unsafe { libc::setrlimit(resource, &both) } {
        0 => Ok(()),
        _ => Err(last_error("setrlimit")),
    }
}
