//! The table of the Items of an open index, for all its readers.
//!
//! It is loaded at the first filtered search. From then on each commit adds its Items before readers can see them, so
//! no search waits for a commit. The load alone waits for the commit that is under way.

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::expression::Filter;
use super::facts::ItemFacts;
use super::order::{ItemOrder, Order};
use super::table::Table;
use crate::error::Result;
use crate::ranking::segment_filter::SegmentFilter;

/// Rows of removed Items that stay at least, before the table is made anew.
const REMOVED_MAX: usize = 1024;
/// Items that are loaded on the caller's thread: about a millisecond.
pub const LOADED_AT_ONCE_MAX: u64 = 256;

/// An Item as it was written: its Segments (the first, and how many), and its record.
pub type WrittenItem = ((u32, u32), Vec<u8>);

/// Takes an Item's first Segment and number of Segments, and its record.
pub type ItemVisitor<'a> = dyn FnMut((u32, u32), &[u8]) -> Result<()> + 'a;

/// A reader of the index.
pub trait ReadsItems: Sized {
    /// Number of the last commit that it sees.
    fn state(&self) -> usize;
    /// A reader that sees all that is committed now.
    fn newest(&self) -> Result<Self>;
    /// First Segment of an Item, and how many it has.
    fn segments_of(&self, id: &str) -> Result<Option<(u32, u32)>>;
    /// Visits the Segments and the record of every Item. `known`: one whose record is not needed, by its first Segment.
    fn each_item(&self, known: &dyn Fn(u32) -> bool, visit: &mut ItemVisitor) -> Result<()>;
}

#[derive(Default)]
pub struct KnownItems {
    state: RwLock<State>,
    /// Held by a commit from before its Items are noted until readers see them.
    committing: RwLock<()>,
    loading: Mutex<()>,
}

#[derive(Default)]
struct State {
    table: Option<Table>,
    /// The last commit that the load has seen. Items that were removed before may be missing.
    loaded: usize,
    /// Items that were written while the table is being loaded.
    recorded: Option<Vec<WrittenItem>>,
    /// Items removed since the load.
    removed: usize,
}

impl KnownItems {
    /// Runs a commit that adds Items and removes some.
    pub fn during_commit(
        &self,
        added: Vec<WrittenItem>,
        removed: usize,
        commit: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _committing = self.committing.read().unwrap_or_else(PoisonError::into_inner);
        if !added.is_empty() {
            self.note(added);
        }
        let outcome = commit();
        let mut state = self.write();
        state.removed += removed;
        let is_old = state.table.as_ref().is_some_and(|table| state.removed > REMOVED_MAX.max(table.items() / 2));
        // The numbers of Segments that were not committed are given to others.
        if outcome.is_err() || is_old {
            *state = State::default();
        }
        outcome
    }

    fn note(&self, added: Vec<WrittenItem>) {
        let mut state = self.write();
        if let Some(table) = &mut state.table {
            if added.into_iter().try_for_each(|item| add(table, item)).is_err() {
                *state = State::default();
            }
        } else if let Some(recorded) = &mut state.recorded {
            recorded.extend(added);
        }
    }

    /// Whether a filter would have to load a table of this many Items, which may take a while.
    pub fn loads_many(&self, items: u64) -> bool {
        items > LOADED_AT_ONCE_MAX && self.read().table.is_none()
    }

    /// The Segments that a filter lets a reader find.
    pub fn within(&self, filter: &Filter, reader: &impl ReadsItems) -> Result<Arc<SegmentFilter>> {
        self.using(reader, |table| table.within(filter, &|id: &str| reader.segments_of(id)))
    }

    /// The Items that a reader may find, in an order. `within`: the Segments that it may find; None: all.
    pub fn ordered(
        &self,
        order: &Order,
        within: Option<&SegmentFilter>,
        reader: &impl ReadsItems,
    ) -> Result<ItemOrder> {
        self.using(reader, |table| Ok(table.ordered(order, within)))
    }

    /// Asks a table that has every Item that a reader sees.
    fn using<T>(&self, reader: &impl ReadsItems, ask: impl Fn(&Table) -> Result<T>) -> Result<T> {
        let state = self.read();
        if let Some(table) = state.table.as_ref().filter(|_| reader.state() >= state.loaded) {
            return ask(table);
        }
        drop(state);
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read().table.is_none() {
            self.load(reader)?;
        }
        let mut state = self.write();
        let is_earlier = reader.state() < state.loaded;
        match &mut state.table {
            Some(table) => {
                if is_earlier {
                    add_missing(table, reader)?;
                }
                ask(table)
            }
            // A commit has failed since.
            None => {
                let mut table = Table::default();
                add_missing(&mut table, reader)?;
                ask(&table)
            }
        }
    }

    fn load(&self, reader: &impl ReadsItems) -> Result<()> {
        {
            let _none_committing = self.committing.write().unwrap_or_else(PoisonError::into_inner);
            *self.write() = State { recorded: Some(vec![]), ..State::default() };
        }
        let loaded = reader.newest().and_then(|newest| {
            let mut table = Table::default();
            add_missing(&mut table, &newest)?;
            Ok((table, newest.state()))
        });
        let mut state = self.write();
        let recorded = state.recorded.take();
        let (mut table, at) = loaded?;
        if let Some(recorded) = recorded {
            recorded.into_iter().try_for_each(|item| add(&mut table, item))?;
            *state = State { table: Some(table), loaded: at, ..State::default() };
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(table: &mut Table, (segments, record): WrittenItem) -> Result<()> {
    table.add(segments, ItemFacts::parse(&record)?);
    Ok(())
}

/// Adds what a reader sees and the table does not have.
fn add_missing(table: &mut Table, reader: &impl ReadsItems) -> Result<()> {
    let mut missing = vec![];
    reader.each_item(&|first| table.has(first), &mut |segments, record| {
        missing.push((segments, ItemFacts::parse(record)?));
        Ok(())
    })?;
    missing.into_iter().for_each(|(segments, facts)| table.add(segments, facts));
    Ok(())
}
