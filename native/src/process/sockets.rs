//! The sockets of this process, by their descriptors: the HTTP library does not reveal them.

/// All descriptors. None without /proc.
pub fn descriptors() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// An int option of a socket. `None` if the descriptor is not a socket.
pub fn option(fd: i32, name: i32) -> Option<i32> {
    let mut value = 0_i32;
    let mut length = size_of::<i32>() as u32;
    // SAFETY: both places live through the call, and the kernel writes at most `length` bytes.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length) };
    (result == 0).then_some(value)
}

pub fn local_port(fd: i32) -> Option<u16> {
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
