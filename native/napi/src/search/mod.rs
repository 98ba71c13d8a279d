pub mod calibration;
pub mod native_search;
pub mod plan;
pub mod planned_index;
