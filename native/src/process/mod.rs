//! The process and what the operating system keeps for it: its end, its memory, its sockets, the lock of its data
//! folder.

pub mod allocator;
pub mod exit;
pub mod folder_lock;
pub mod receive_buffers;
pub mod slow_senders;
#[cfg(target_os = "linux")]
mod sockets;
