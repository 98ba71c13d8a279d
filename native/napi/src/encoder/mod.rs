mod call;
mod listener;
pub mod text_encoder;
