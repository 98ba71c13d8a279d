pub mod mcp_message;
pub mod payment_signature;
pub mod search_body;
