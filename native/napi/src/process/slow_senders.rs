use farthing_core::process::slow_senders;
use napi_derive::napi;

/// To be called at even intervals, on the thread that closes the connections. Ends each connection of the port that in each
/// of the last two received something, but less than `bytesMin`, and was sent nothing. Returns how many.
#[napi(catch_unwind)]
pub fn end_slow_senders(port: u16, bytes_min: u32) -> u32 {
    slow_senders::end_slow_senders(port, u64::from(bytes_min)) as u32
}
