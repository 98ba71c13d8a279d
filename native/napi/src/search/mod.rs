pub mod calibration;
pub mod native_search;
pub mod pending;
pub mod plan;
