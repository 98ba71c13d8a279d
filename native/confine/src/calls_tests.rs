use super::allowed::{ALLOWED, ALLOWED_HERE, allowed};
use super::calls;
use super::confinement::confine;
use super::tests::in_a_child;

const LACKING: i32 = 77;
/// `uretprobe` and `uprobe` of x86-64. The kernel lets them pass every filter; they end a caller that no tracer prepared.
const UNFILTERED: [i64; 2] = [335, 336];

fn call(number: i64, arguments: [u64; 6]) -> i32 {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the filter refuses the call; nothing is written where a claim fails and it goes through.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        -1 => std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
        _ => 0,
    }
}

/// The index of the first that is not so, from 1; 0 if all are. `LACKING` if this kernel has no seccomp.
fn after_filtering(claims: impl Fn() -> Vec<bool>) -> i32 {
    in_a_child(|| {
        if calls::filter().is_err() {
            return LACKING;
        }
        claims().iter().position(|held| !held).map_or(0, |index| index as i32 + 1)
    })
}

fn assert_held(outcome: i32) {
    assert!(outcome == 0 || outcome == LACKING, "claim {outcome} does not hold");
}

#[test]
fn every_call_that_is_not_on_the_list_is_absent() {
    let outcome = in_a_child(|| {
        if calls::filter().is_err() {
            return LACKING;
        }
        // The highest number of Linux 6.18 is 470; more for what is to come, and those of x32 behind bit 30.
        let numbers = (0..1000).chain((0..600).map(|number| number | 1 << 30));
        let open = numbers
            .filter(|number| !UNFILTERED.contains(number) && allowed().all(|(_, call)| call != *number))
            .filter(|&number| call(number, [u64::MAX; 6]) != libc::ENOSYS)
            .count();
        i32::from(open > 0)
    });
    assert_held(outcome);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_of_32_bit_programs_are_absent_and_kill_nobody() {
    let outcome = in_a_child(|| {
        if calls::filter().is_err() {
            return LACKING;
        }
        let getpid = 20i64;
        let result: i64;
        // SAFETY: the call has no arguments; the kernel may use r8 to r11.
        unsafe {
            std::arch::asm!("int 0x80", inlateout("rax") getpid => result,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _);
        }
        i32::from(result as i32 != -libc::ENOSYS)
    });
    assert_held(outcome);
}

#[test]
fn arguments_that_lead_outside_are_refused() {
    // SAFETY: no arguments.
    let parent = unsafe { libc::getpid() } as u64;
    assert_held(after_filtering(|| {
        let refused = |number: i64, arguments: [u64; 6]| call(number, arguments) == libc::EPERM;
        let mapped = |protection: i32, flags: i32| {
            refused(libc::SYS_mmap, [0, 4096, protection as u64, flags as u64, u64::MAX, 0])
        };
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        let path = c"/tmp/never-made".as_ptr() as u64;
        let opened = |flags: i32| refused(libc::SYS_openat, [libc::AT_FDCWD as u64, path, flags as u64, 0o600, 0, 0]);
        let owner =
            [libc::F_SETOWN, 15 /* F_SETOWN_EX */, 10 /* F_SETSIG */, libc::F_SETLEASE, libc::F_NOTIFY];
        let mut claims: Vec<bool> =
            owner.map(|command| refused(libc::SYS_fcntl, [2, command as u64, parent, 0, 0, 0])).to_vec();
        claims.extend([
            refused(libc::SYS_fcntl, [2, libc::F_SETPIPE_SZ as u64, 1 << 20, 0, 0, 0]),
            // Bits that the kernel does not look at change nothing.
            refused(libc::SYS_fcntl, [2, 1 << 32 | libc::F_SETOWN as u64, parent, 0, 0, 0]),
            refused(libc::SYS_ioctl, [2, 0x8901 /* FIOSETOWN */, 0, 0, 0, 0]),
            refused(libc::SYS_ioctl, [2, 0x8902 /* SIOCSPGRP */, 0, 0, 0, 0]),
            refused(libc::SYS_ioctl, [2, libc::TIOCSTI, 0, 0, 0, 0]),
            mapped(writable, libc::MAP_SHARED | libc::MAP_ANONYMOUS),
            mapped(libc::PROT_READ, libc::MAP_SHARED | libc::MAP_ANONYMOUS),
            mapped(writable, libc::MAP_SHARED),
            mapped(writable, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_GROWSDOWN),
            refused(libc::SYS_madvise, [0, 4096, 101 /* MADV_SOFT_OFFLINE */, 0, 0, 0]),
            opened(libc::O_WRONLY),
            opened(libc::O_RDWR),
            opened(libc::O_CREAT),
            opened(libc::O_TRUNC),
            refused(libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0, 0, 0, 0]),
            refused(libc::SYS_clone, [(libc::CLONE_THREAD | libc::CLONE_NEWUSER) as u64, 0, 0, 0, 0, 0]),
            refused(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as u64, 9, 0, 0, 0, 0]),
            refused(libc::SYS_prctl, [libc::PR_SET_SECCOMP as u64, 0, 0, 0, 0, 0]),
            refused(libc::SYS_tgkill, [parent, parent, 0, 0, 0, 0]),
            refused(libc::SYS_prlimit64, [parent, libc::RLIMIT_DATA as u64, 0, 0, 0, 0]),
        ]);
        claims
    }));
}

#[test]
fn a_limit_is_not_raised_again_and_memory_beyond_it_is_not_given() {
    let outcome = in_a_child(|| {
        if confine(&[], 1 << 28).is_err() {
            return LACKING;
        }
        let more = libc::rlimit { rlim_cur: 1 << 40, rlim_max: 1 << 40 };
        let raised = call(libc::SYS_prlimit64, [0, libc::RLIMIT_DATA as u64, &raw const more as u64, 0, 0, 0]);
        let map = |bytes: u64, flags: i32| {
            let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
            call(libc::SYS_mmap, [0, bytes, protection, (libc::MAP_ANONYMOUS | flags) as u64, u64::MAX, 0])
        };
        let space = call(
            libc::SYS_mmap,
            [
                0,
                1 << 40,
                libc::PROT_READ as u64,
                (libc::MAP_ANONYMOUS | libc::MAP_PRIVATE | libc::MAP_NORESERVE) as u64,
                u64::MAX,
                0,
            ],
        );
        let claims = [
            raised == libc::EPERM,
            map(1 << 20, libc::MAP_PRIVATE) == 0,
            map(1 << 30, libc::MAP_PRIVATE) == libc::ENOMEM,
            map(1 << 30, libc::MAP_PRIVATE | libc::MAP_GROWSDOWN) != 0,
            space == libc::ENOMEM,
        ];
        claims.iter().position(|held| !held).map_or(0, |index| index as i32 + 1)
    });
    assert_held(outcome);
}

#[test]
fn what_readers_need_still_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "words").unwrap();
    assert_held(after_filtering(|| {
        vec![
            std::fs::read(&path).is_ok_and(|bytes| bytes == b"words"),
            std::thread::spawn(|| 7).join().is_ok_and(|seven| seven == 7),
            std::fs::metadata(&path).is_ok(),
        ]
    }));
}

/// The rows of SECURITY.md's table name each allowed call once.
#[test]
fn the_table_in_the_documents_is_the_list() {
    let document = include_str!("../../../SECURITY.md");
    let section = document.split("## What a reader may ask of the kernel").nth(1).unwrap();
    let table = section.split("\n\n").find(|paragraph| paragraph.starts_with("| for |")).unwrap();
    let mut named: Vec<&str> =
        table.lines().skip(2).flat_map(|row| row.split('|').nth(2).unwrap().split('`').skip(1).step_by(2)).collect();
    let groups = ALLOWED.iter().chain(ALLOWED_HERE);
    let mut listed: Vec<&str> =
        groups.flat_map(|(_, calls)| calls.iter().map(|(name, _)| name.trim_start_matches("SYS_"))).collect();
    named.sort_unstable();
    listed.sort_unstable();
    // Other architectures have no older numbers beside the new ones.
    if cfg!(target_arch = "x86_64") {
        assert_eq!(named, listed);
    }
    let purposes = ALLOWED.iter().map(|(purpose, _)| format!("| {purpose} |"));
    purposes.for_each(|purpose| assert!(table.contains(&purpose), "{purpose}"));
}
