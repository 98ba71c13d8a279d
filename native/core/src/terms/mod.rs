//! How text becomes terms: words as they are written, languages, stems.

pub mod analysis;
pub mod judgement;
pub mod language;
pub mod named;
pub mod spelt_right;
pub mod surface_forms;
