pub mod language;
pub mod passages;
pub mod phrases;
pub mod tokenize;
