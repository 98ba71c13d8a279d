//! Connections that only drip: their requests never become whole, or what they send was answered long ago. The HTTP
//! library keeps them open as long as one byte comes every ten seconds.

/// What a connection had received and sent when it was last looked at.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy)]
struct Seen {
    received: u64,
    acknowledged: u64,
    drips: u8,
}

/// Looks on end after which a connection that drips is shut down.
#[cfg(target_os = "linux")]
const DRIPS_MAX: u8 = 2;

/// To be called at even intervals. Shuts down each connection of `port` that in each of the last two intervals received
/// something, but less than `bytes_min`, and was sent nothing. Its owner sees an end of the connection. Returns how many; 0
/// where the kernel does not tell (before Linux 4.12, or without /proc). Takes about a microsecond for a connection.
#[cfg(target_os = "linux")]
pub fn end_slow_senders(port: u16, bytes_min: u64) -> usize {
    use std::collections::HashMap;
    use std::sync::{Mutex, PoisonError};

    use super::sockets::{descriptors, local_port};

    /// By port and the kernel's cookie of the socket.
    static BEFORE: Mutex<Option<HashMap<(u16, u64), Seen>>> = Mutex::new(None);

    let mut guard = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = guard.get_or_insert_default();
    let mut now: HashMap<(u16, u64), Seen> =
        before.iter().filter(|((other, _), _)| *other != port).map(|(key, seen)| (*key, *seen)).collect();
    let mut ended = 0;
    for fd in descriptors() {
        if local_port(fd) != Some(port) {
            continue;
        }
        let (Some(cookie), Some((received, acknowledged))) = (cookie(fd), traffic(fd)) else { continue };
        let key = (port, cookie);
        let drips = before.get(&key).map_or(0, |seen| {
            let came = received - seen.received;
            let is_drip = came > 0 && came < bytes_min && acknowledged == seen.acknowledged;
            if is_drip { seen.drips + 1 } else { 0 }
        });
        if drips >= DRIPS_MAX {
            // SAFETY: no memory. The descriptor is this connection's: its owner closes it on the thread that calls this.
            ended += usize::from(unsafe { libc::shutdown(fd, libc::SHUT_RDWR) } == 0);
        }
        now.insert(key, Seen { received, acknowledged, drips });
    }
    *before = now;
    ended
}

#[cfg(not(target_os = "linux"))]
pub fn end_slow_senders(_port: u16, _bytes_min: u64) -> usize {
    0
}

/// A number that no other socket ever has.
#[cfg(target_os = "linux")]
fn cookie(fd: i32) -> Option<u64> {
    let mut value = 0_u64;
    let mut length = size_of::<u64>() as u32;
    // SAFETY: both places live through the call, and the kernel writes at most `length` bytes.
    let result =
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_COOKIE, (&raw mut value).cast(), &raw mut length) };
    (result == 0).then_some(value)
}

/// Bytes that came, and bytes sent that the other side has acknowledged.
#[cfg(target_os = "linux")]
fn traffic(fd: i32) -> Option<(u64, u64)> {
    /// Places in `struct tcp_info` (linux/tcp.h) of fields that libc's lacks.
    const ACKNOWLEDGED: usize = 120;
    const RECEIVED: usize = 128;
    let mut info = [0_u8; 136];
    let mut length = info.len() as u32;
    // SAFETY: both places live through the call, and the kernel writes at most `length` bytes.
    let result =
        unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length) };
    if result != 0 || (length as usize) < info.len() {
        return None;
    }
    let at = |place: usize| u64::from_ne_bytes(info[place..place + 8].try_into().unwrap_or_default());
    Some((at(RECEIVED), at(ACKNOWLEDGED)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    const BYTES_MIN: u64 = 100;

    /// The sides of one connection: whoever connected, whoever accepted.
    fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn a_connection_that_drips_is_ended_and_no_other() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (mut dripping, mut drips) = connection(&listener);
        let (mut fast, _fast) = connection(&listener);
        let (mut answered, mut answers) = connection(&listener);
        let (idle, _idle) = connection(&listener);
        let mut ended = vec![end_slow_senders(port, BYTES_MIN)];
        for _ in 0..3 {
            dripping.write_all(b"x").unwrap();
            fast.write_all(&[0; 200]).unwrap();
            answered.write_all(b"x").unwrap();
            answers.write_all(b"y").unwrap();
            answered.read_exact(&mut [0]).unwrap();
            // What was read has arrived and is counted; the last answer's acknowledgement has too.
            drips.read_exact(&mut [0]).unwrap();
            while traffic(std::os::fd::AsRawFd::as_raw_fd(&answers)).unwrap().1 < ended.len() as u64 {}
            ended.push(end_slow_senders(port, BYTES_MIN));
            if ended.last() == Some(&1) {
                break;
            }
        }
        assert_eq!(ended, [0, 0, 1]);
        assert_eq!(dripping.read(&mut [0]).unwrap(), 0);
        drop(idle);
    }

    #[test]
    fn a_port_without_connections_is_no_error() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(end_slow_senders(free, BYTES_MIN), 0);
    }
}
