//! Contents of a request: a search body, a signed payment.

mod members;
pub mod payment_signature;
pub mod split_body;
