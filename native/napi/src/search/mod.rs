pub mod calibration;
pub mod native_search;
pub mod plan;
