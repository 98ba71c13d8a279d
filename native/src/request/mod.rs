//! What a request carries: a search body, a signed payment.

pub mod mcp_message;
mod members;
pub mod payment_signature;
pub mod search_body;
