use super::calls;
use super::confinement::confine;
use super::protection::Protection;

/// Confinement is permanent, so it is tested in a child. Returns 0 if every claim holds, else the number of the first
/// that does not.
pub fn in_a_child(claims: impl Fn() -> i32) -> i32 {
    // SAFETY: the child only makes system calls and ends with _exit.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(claims());
        }
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 100 + libc::WTERMSIG(status) }
    }
}

#[test]
fn a_confined_process_reads_one_folder_and_has_no_network_and_no_programs() {
    let inside = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(inside.path().join("file"), "inside").unwrap();
    std::fs::write(outside.path().join("file"), "outside").unwrap();
    let readable = vec![inside.path().to_str().unwrap().to_string()];
    let outcome = in_a_child(|| {
        let done = confine(&readable, 1 << 30).unwrap();
        if done.landlock != Protection::Enforced || done.seccomp != Protection::Enforced {
            return 77;
        }
        let claims = [
            std::fs::read(inside.path().join("file")).is_ok(),
            std::fs::write(inside.path().join("file"), "changed").is_err(),
            std::fs::read(outside.path().join("file")).is_err(),
            std::net::TcpStream::connect("127.0.0.1:1").unwrap_err().raw_os_error() == Some(libc::ENOSYS),
            std::process::Command::new("/bin/true").status().is_err(),
            std::thread::spawn(|| std::fs::read("/etc/passwd").is_err()).join().unwrap(),
        ];
        claims.iter().position(|held| !held).map_or(0, |index| index as i32 + 1)
    });
    if outcome == 77 {
        eprintln!("this kernel lacks Landlock or seccomp: nothing to prove");
        return;
    }
    assert_eq!(outcome, 0);
}

#[test]
fn the_filter_of_calls_alone_prevents_truncation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "words").unwrap();
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let outcome = in_a_child(|| {
        if calls::filter().is_err() {
            return 77;
        }
        // SAFETY: the name outlives the call.
        let refused = unsafe { libc::truncate(name.as_ptr(), 0) } != 0;
        i32::from(!(refused && file.set_len(0).is_err()))
    });
    assert!(outcome == 0 || outcome == 77, "claim {outcome} does not hold");
    assert!(outcome == 77 || std::fs::read(&path).unwrap() == b"words");
}

#[test]
fn threads_that_ran_before_are_confined_too() {
    let outcome = in_a_child(|| {
        let (ask, asked) = std::sync::mpsc::channel::<()>();
        let earlier = std::thread::spawn(move || {
            asked.recv().ok();
            std::fs::read("/etc/passwd").is_err() && std::net::UdpSocket::bind("127.0.0.1:0").is_err()
        });
        let done = confine(&[], 1 << 30).unwrap();
        if done.landlock != Protection::Enforced || done.seccomp != Protection::Enforced {
            return 77;
        }
        ask.send(()).ok();
        i32::from(!earlier.join().unwrap())
    });
    assert!(outcome == 0 || outcome == 77, "claim {outcome} does not hold");
}

#[test]
fn confining_a_process_with_an_io_uring_is_an_error() {
    let outcome = in_a_child(|| {
        let mut parameters = [0u8; 120];
        // SAFETY: the kernel writes at most the 120 bytes of struct io_uring_params.
        let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
        if ring < 0 {
            return 77;
        }
        let refused = confine(&[], 1 << 30).is_err_and(|reason| reason.contains("io_uring"));
        i32::from(!(refused && std::fs::read("/proc/self/status").is_ok()))
    });
    if outcome == 77 {
        eprintln!("this kernel gives no io_uring: nothing to prove");
        return;
    }
    assert_eq!(outcome, 0);
}
