pub mod text_encoder;
