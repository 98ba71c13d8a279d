pub mod passages;
pub mod tokenize;
