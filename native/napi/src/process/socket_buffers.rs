use farthing_core::process::receive_buffers;
use napi::{Error, Result};
use napi_derive::napi;

/// Limits the receive buffer of every connection that this process accepts on a port from now on, to about twice
/// `bytes`. Returns the number of listening sockets; 0 without /proc.
#[napi(catch_unwind)]
pub fn limit_receive_buffers(port: u16, bytes: i32) -> Result<u32> {
    receive_buffers::limit_receive_buffers(port, bytes)
        .map(|limited| limited as u32)
        .map_err(|error| Error::from_reason(format!("cannot limit the receive buffers of port {port}: {error}")))
}
