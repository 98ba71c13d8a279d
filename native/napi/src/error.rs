//! Errors on their way to JavaScript: `FARTHING:<code>:<detail>`, which `src/native` takes apart.

use std::fmt::Display;

use farthing_core::error::ShardError;
use napi::{Error, Status};

pub fn crossing(error: ShardError) -> Error {
    Error::new(Status::GenericFailure, format!("FARTHING:{}:{}", error.code, error.detail))
}

pub fn internal(detail: impl Display) -> Error {
    crossing(ShardError::internal(detail.to_string()))
}
