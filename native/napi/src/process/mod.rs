pub mod allocator;
pub mod exit;
pub mod folder_lock;
pub mod receive_buffers;
