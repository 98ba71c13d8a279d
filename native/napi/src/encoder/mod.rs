mod call;
mod listener;
mod off_thread;
pub mod passages;
mod query_queue;
pub mod text_encoder;
