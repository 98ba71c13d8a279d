//! The process and what the operating system keeps for it: its end, its memory, its sockets, the lock of its data
//! folder.

pub mod allocator;
pub mod exit;
pub mod folder_lock;
pub mod lock_file;
pub mod socket_buffers;
