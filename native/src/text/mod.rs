pub mod characters;
pub mod language;
pub mod passages;
pub mod pieces;
pub mod snippet;
pub mod tokenize;
