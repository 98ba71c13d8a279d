pub mod charset;
pub mod language;
pub mod tokenize;
pub mod vocabulary;
