mod call;
mod listener;
mod off_thread;
pub mod passages;
pub mod text_encoder;
