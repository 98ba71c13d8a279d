//! Kernel buffers of listening sockets. The HTTP library does not reveal their descriptors, so they are searched for.

use std::io;

/// Limits the buffers of this process's TCP sockets that listen on `port`, and of the connections that they accept from now on:
/// on Linux these inherit `SO_RCVBUF`, which the kernel doubles for its own accounting (socket(7)), and `TCP_NOTSENT_LOWAT`,
/// over which it takes nothing more to send (tcp(7)). Returns the number of listeners; 0 without /proc.
#[cfg(target_os = "linux")]
pub fn limit_socket_buffers(port: u16, receive_bytes: i32, unsent_bytes: i32) -> io::Result<usize> {
    let mut limited = 0;
    let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return Ok(0) };
    for entry in descriptors {
        let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if option(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN) != Some(1) || local_port(fd) != Some(port) {
            continue;
        }
        set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, receive_bytes)?;
        set_option(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, unsent_bytes)?;
        limited += 1;
    }
    Ok(limited)
}

#[cfg(not(target_os = "linux"))]
pub fn limit_socket_buffers(_port: u16, _receive_bytes: i32, _unsent_bytes: i32) -> io::Result<usize> {
    Ok(0)
}

#[cfg(target_os = "linux")]
fn set_option(fd: i32, level: i32, name: i32, value: i32) -> io::Result<()> {
    // SAFETY: the value is an int that lives through the call, as both options take it.
    let result = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size_of::<i32>() as u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// An int option of a socket. `None` if the descriptor is not a socket.
#[cfg(target_os = "linux")]
fn option(fd: i32, level: i32, name: i32) -> Option<i32> {
    let mut value = 0_i32;
    let mut length = size_of::<i32>() as u32;
    // SAFETY: both places live through the call, and the kernel writes at most `length` bytes.
    let result = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &raw mut length) };
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
    const UNSENT: i32 = 16 * 1024;

    fn receive_buffer(fd: i32) -> Option<i32> {
        option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF)
    }

    #[test]
    fn the_listener_of_a_port_and_its_connections_are_limited() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let other = TcpListener::bind("127.0.0.1:0").unwrap();
            let before = receive_buffer(other.as_raw_fd());
            let port = listener.local_addr().unwrap().port();
            assert_eq!(limit_socket_buffers(port, BYTES, UNSENT).unwrap(), 1);
            let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            assert_eq!(receive_buffer(accepted.as_raw_fd()), Some(2 * BYTES));
            assert_eq!(option(accepted.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT), Some(UNSENT));
            assert_eq!(receive_buffer(other.as_raw_fd()), before);
        }
    }

    #[test]
    fn a_port_without_a_listener_is_not_an_error() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(limit_socket_buffers(free, BYTES, UNSENT).unwrap(), 0);
    }
}
