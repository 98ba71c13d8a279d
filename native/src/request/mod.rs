//! What a request carries: a search body, a signed payment.

pub mod mcp_message;
pub mod payment_signature;
pub mod search_body;
