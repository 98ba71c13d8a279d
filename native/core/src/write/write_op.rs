//! The writes to an index.

use super::input::{ItemRecord, PreparedSegment, SegmentInput, prepare};
use super::transaction::Transaction;
use crate::blocks::vectors::VectorRows;
use crate::error::Result;
use crate::store::records::BlockKey;
use crate::store::spaces::SpaceSpec;
use crate::terms::judgement::Prior;

/// One write.
pub enum WriteOp {
    /// An Item with its Segments. The Items with the ids in `replaces` are no longer found from the same commit on.
    Append {
        item: ItemRecord,
        segments: Vec<SegmentInput>,
        replaces: Vec<String>,
    },
    PutItem {
        item: ItemRecord,
    },
    /// A further name of an Item.
    AddAlias {
        id: String,
        name: String,
    },
    RemoveItem {
        id: String,
    },
    /// Vectors of another model for all that a space has. The index is closed after it: it is open with the model of before.
    ChangeModel {
        space: SpaceSpec,
        rows: VectorRows,
    },
    /// Bits that were derived from a block.
    PutBits {
        key: BlockKey,
        bits: Vec<u8>,
    },
    /// The record of a space's graph; None: there is none.
    PutGraph {
        space: SpaceSpec,
        record: Option<Vec<u8>>,
    },
}

impl WriteOp {
    /// Number of Segments that it writes.
    pub fn segments(&self) -> usize {
        match self {
            Self::Append { segments, .. } => segments.len(),
            _ => 0,
        }
    }
}

/// A write whose texts are analysed.
pub struct Prepared {
    op: WriteOp,
    segments: Vec<PreparedSegment>,
}

impl Prepared {
    /// `languages`: those of the index, to which the write's are added.
    pub fn new(mut op: WriteOp, languages: &mut Prior) -> Self {
        let segments = match &mut op {
            WriteOp::Append { segments, .. } => prepare(std::mem::take(segments), languages),
            _ => vec![],
        };
        Self { op, segments }
    }

    /// Applies the write. Returns whether there was something to remove, a name is the Item's, or all vectors are changed; true for
    /// other writes.
    pub fn apply<'s: 't, 't>(&self, transaction: &mut Transaction<'s, 't>) -> Result<bool> {
        match &self.op {
            WriteOp::Append { item, replaces, .. } => {
                replaces.iter().filter(|id| **id != item.id).try_for_each(|id| transaction.retire(id))?;
                transaction.append(item, &self.segments).map(|()| true)
            }
            WriteOp::PutItem { item } => transaction.put_item(item).map(|()| true),
            WriteOp::AddAlias { id, name } => transaction.add_alias(id, name),
            WriteOp::RemoveItem { id } => transaction.remove_item(id),
            WriteOp::ChangeModel { space, rows } => transaction.change_model(space, rows),
            WriteOp::PutBits { key, bits } => transaction.put_bits(*key, bits),
            WriteOp::PutGraph { space, record } => transaction.put_graph(space, record.as_deref()),
        }
    }
}
