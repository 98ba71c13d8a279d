pub mod scan_pool;
pub mod thread_pool;
pub mod write_pool;
