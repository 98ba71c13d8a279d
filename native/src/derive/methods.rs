//! What each search method needs derived: the one table. From which size on a method is used stands in
//! `store/methods.rs`.

use std::sync::Arc;

use super::bits;
use crate::error::Result;
use crate::graph::build;
use crate::write::write_queue::{Derive, WriteQueue};

const DERIVATIONS: [Derive; 2] = [bits::derive, build::derive];

/// Derives what is missing, until the index is closed.
pub fn derive(queue: &Arc<WriteQueue>) -> Result<()> {
    DERIVATIONS.iter().try_for_each(|derive| if queue.is_closing() { Ok(()) } else { derive(queue) })
}
