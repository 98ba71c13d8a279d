//! What can be written to an index.

use crate::error::Result;
use crate::store::records::BlockKey;
use crate::store::spaces::SpaceRows;
use crate::write::input::{ItemRecord, PreparedSegment, SegmentInput, prepare};
use crate::write::transaction::{Unchanged, Writing};

/// One write.
pub enum Write {
    Append {
        item: ItemRecord,
        segments: Vec<SegmentInput>,
    },
    PutItem {
        item: ItemRecord,
    },
    RemoveItem {
        id: String,
    },
    /// Bits that were derived from a block.
    PutBits {
        key: BlockKey,
        bits: Vec<u8>,
    },
    /// A record about something that was derived.
    PutDerived {
        key: String,
        json: Vec<u8>,
        only_while: Unchanged,
    },
    /// Rows of a space for Segments that are there.
    PutRows(SpaceRows),
    /// Spaces by their index among the Shard's; see `Writing::switch_space`.
    SwitchSpace {
        from: usize,
        to: usize,
        given_up: Vec<u32>,
    },
    RemoveSpace {
        space: usize,
    },
}

impl Write {
    /// Segments that it writes.
    pub fn segments(&self) -> usize {
        match self {
            Self::Append { segments, .. } => segments.len(),
            Self::PutRows(SpaceRows { segments, .. }) => segments.len(),
            _ => 0,
        }
    }
}

/// A write whose Segments are made ready for their blocks.
pub struct Prepared {
    write: Write,
    segments: Vec<PreparedSegment>,
}

impl Prepared {
    pub fn new(mut write: Write) -> Self {
        let segments = match &mut write {
            Write::Append { segments, .. } => prepare(std::mem::take(segments)),
            _ => vec![],
        };
        Self { write, segments }
    }

    /// Does the write; whether there was something to remove, or a space could be changed (true for other writes).
    pub fn apply<'s: 't, 't>(&self, writing: &mut Writing<'s, 't>) -> Result<bool> {
        match &self.write {
            Write::Append { item, .. } => writing.append(item, &self.segments).map(|()| true),
            Write::PutItem { item } => writing.put_item(item).map(|()| true),
            Write::RemoveItem { id } => writing.remove_item(id),
            Write::PutBits { key, bits } => writing.put_bits(*key, bits),
            Write::PutDerived { key, json, only_while } => writing.put_derived(key, json, only_while),
            Write::PutRows(rows) => writing.put_rows(rows).map(|()| true),
            Write::SwitchSpace { from, to, given_up } => writing.switch_space(*from, *to, given_up),
            Write::RemoveSpace { space } => writing.remove_space(*space),
        }
    }
}
