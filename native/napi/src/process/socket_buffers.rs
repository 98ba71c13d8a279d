use farthing_core::process::socket_buffers;
use napi::{Error, Result};
use napi_derive::napi;

/// Limits what the kernel keeps of every connection that this process accepts on a port from now on: of what came, to about
/// twice `receive_bytes`; of what is to be sent, to `unsent_bytes` and one piece, beside what is on its way. Returns the number
/// of listening sockets; 0 without /proc.
#[napi(catch_unwind)]
pub fn limit_socket_buffers(port: u16, receive_bytes: i32, unsent_bytes: i32) -> Result<u32> {
    socket_buffers::limit_socket_buffers(port, receive_bytes, unsent_bytes)
        .map(|limited| limited as u32)
        .map_err(|error| Error::from_reason(format!("cannot limit the buffers of port {port}: {error}")))
}
