//! Receive buffers of listening sockets. The HTTP library does not reveal their descriptors, so they are searched for.

use std::io;

/// Limits the receive buffers of this process's TCP sockets that listen on `port`, and of the connections that they
/// accept from now on: on Linux these inherit `SO_RCVBUF`, which the kernel doubles for its own accounting (socket(7)).
/// Returns the number of listeners; 0 without /proc.
#[cfg(target_os = "linux")]
pub fn limit_receive_buffers(port: u16, bytes: i32) -> io::Result<usize> {
    let mut limited = 0;
    let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return Ok(0) };
    for entry in descriptors {
        let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if option(fd, libc::SO_ACCEPTCONN) != Some(1) || local_port(fd) != Some(port) {
            continue;
        }
        // SAFETY: the value is an int that lives through the call, as SO_RCVBUF takes it.
        let result = unsafe {
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, (&raw const bytes).cast(), size_of::<i32>() as u32)
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        limited += 1;
    }
    Ok(limited)
}

#[cfg(not(target_os = "linux"))]
pub fn limit_receive_buffers(_port: u16, _bytes: i32) -> io::Result<usize> {
    Ok(0)
}

/// An int option of a socket. `None` if the descriptor is not a socket.
#[cfg(target_os = "linux")]
fn option(fd: i32, name: i32) -> Option<i32> {
    let mut value = 0_i32;
    let mut length = size_of::<i32>() as u32;
    // SAFETY: both places live through the call, and the kernel writes at most `length` bytes.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length) };
    (result == 0).then_some(value)
}

#[cfg(target_os = "linux")]
fn local_port(fd: i32) -> Option<u16> {
    // SAFETY: all zeros are a valid sockaddr_in6, which is large enough for IPv4, too.
    let mut address: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_in6>() as u32;
    // SAFETY: the kernel writes at most `length` bytes to a place that lives through the call.
    let result = unsafe { libc::getsockname(fd, (&raw mut address).cast(), &raw mut length) };
    let family = i32::from(address.sin6_family);
    // The port is at the same place in both families.
    let is_ip = family == libc::AF_INET || family == libc::AF_INET6;
    (result == 0 && is_ip).then(|| u16::from_be(address.sin6_port))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    const BYTES: i32 = 64 * 1024;

    #[test]
    fn the_listener_of_a_port_and_its_connections_are_limited() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let other = TcpListener::bind("127.0.0.1:0").unwrap();
            let before = option(other.as_raw_fd(), libc::SO_RCVBUF);
            let port = listener.local_addr().unwrap().port();
            assert_eq!(limit_receive_buffers(port, BYTES).unwrap(), 1);
            let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            assert_eq!(option(accepted.as_raw_fd(), libc::SO_RCVBUF), Some(2 * BYTES));
            assert_eq!(option(other.as_raw_fd(), libc::SO_RCVBUF), before);
        }
    }

    #[test]
    fn a_port_without_a_listener_is_not_an_error() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(limit_receive_buffers(free, BYTES).unwrap(), 0);
    }
}
