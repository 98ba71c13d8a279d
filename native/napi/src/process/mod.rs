pub mod allocator;
pub mod exit;
pub mod folder_lock;
pub mod pipelining;
pub mod socket_buffers;
