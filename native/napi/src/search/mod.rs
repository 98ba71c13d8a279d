pub mod calibration;
pub mod native_search;
pub mod planned_index;
pub mod plan;
