pub mod payment_signature;
pub mod split_body;
