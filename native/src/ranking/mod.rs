pub mod query;
pub mod top_k;
