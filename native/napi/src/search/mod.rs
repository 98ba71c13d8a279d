pub mod calibration;
pub mod plan;
pub mod search;
