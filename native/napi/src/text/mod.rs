pub mod charset;
pub mod language;
pub mod passages;
pub mod tokenize;
