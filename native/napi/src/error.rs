//! Errors as JavaScript gets them: `FARTHING:<code>:<detail>`, which `src/native` parses.

use std::fmt::Display;

use farthing_core::error::ShardError;
use napi::{Error, Status};

pub fn js_error(error: ShardError) -> Error {
    Error::new(Status::GenericFailure, format!("FARTHING:{}:{}", error.code, error.detail))
}

pub fn internal(detail: impl Display) -> Error {
    js_error(ShardError::internal(detail.to_string()))
}
