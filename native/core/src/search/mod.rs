//! A search of one snapshot, from ranked lists to the JSON of its hits: what each list says of each place, how likely each is to
//! answer, and what is shown. Which lists there are and how they count is the caller's plan.

pub mod calibration;
pub mod curve;
pub mod evidence;
pub mod features;
pub mod fusion;
mod heads;
mod json_number;
pub mod likelihood;
mod members;
mod moments;
pub mod order;
mod other_passages;
mod passages;
pub mod pictures;
pub mod plan;
pub mod query;
mod segment_map;
pub mod task;
#[cfg(test)]
mod tests;
