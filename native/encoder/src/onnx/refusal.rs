//! Why the native encoder does not run a model.

use std::fmt;

/// A reason for the operator, as a sentence without its full stop. ONNX Runtime runs the model in that case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

pub type Matched<T> = Result<T, Refusal>;

impl Refusal {
    pub fn because<T>(reason: impl Into<String>) -> Matched<T> {
        Err(Self(reason.into()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Refuses with the reason unless the condition holds.
pub fn require(holds: bool, reason: impl FnOnce() -> String) -> Matched<()> {
    if holds { Ok(()) } else { Err(Refusal(reason())) }
}
