pub mod options;
pub mod top_k;
