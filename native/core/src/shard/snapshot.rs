//! A reader's view: one LMDB read transaction. It never changes and never waits for a writer.

use std::iter;
use std::sync::Arc;

use heed::types::Bytes;
use heed::{Database, RoTxn, WithoutTls};
use serde::Deserialize;

use super::places::{distinct, place_of, reach_places};
use super::query::{Conditional, Query};
use crate::blocks::block::Header;
use crate::blocks::pictures::{DIGEST_BYTES, PicturesView};
use crate::error::{Result, ShardError};
use crate::filter::expression::Filter;
use crate::filter::order::{ItemOrder, Order};
use crate::kernels::detection;
use crate::kernels::prefetch::prefetch;
use crate::ranking::hit_group::HitGroup;
use crate::ranking::options::SearchOptions;
use crate::ranking::rating::Rating;
use crate::ranking::segment_filter::SegmentFilter;
use crate::ranking::top_k::{Ranking, Scored, TopK};
use crate::scan::rating;
use crate::scan::row_blocks::stored_rows;
use crate::scan::vector_search::{self, Enough};
use crate::store::records::{BlockKey, Family, ItemEntry, KEY_BYTES, Totals, key_of, unsealed};
use crate::store::spaces::{SpaceSpec, position};
use crate::store::titles::Titles;
use crate::terms::analysis::Terms;
use crate::terms::language::Language;
use crate::terms::spelt_right::SpeltRight;
use crate::terms::surface_forms::{Word, words};
use crate::words::block::WordsBlock;
use crate::words::exact_match::Runs;
use crate::words::occurrences::some_segments;
use crate::words::phrases::{WithPhrases, segments_with_all};
use crate::words::postings::PostingsView;
use crate::words::query::{language_of, may_have_phrases};
use crate::words::query_word::Variant;
use crate::words::rank::{self, ResolvedQuery};
use crate::words::rating as words_rating;
use crate::write::write_queue::WriteQueue;

/// Bytes of a stored Segment before its record: a checksum, and its place.
const RECORD_FROM: usize = 8;
/// Most Items in one page of [`Snapshot::items`].
pub const ITEMS_MAX: usize = 10_000;

/// The fields that are read of a Segment's record for the spelling of a word.
#[derive(Deserialize)]
struct Shown {
    text: Option<String>,
}

pub struct Snapshot {
    // The transaction must end before the environment, which the queue keeps open: fields are dropped in this order.
    pub(super) txn: RoTxn<'static, WithoutTls>,
    pub(super) queue: Arc<WriteQueue>,
}

impl Snapshot {
    pub(super) fn open(queue: Arc<WriteQueue>) -> Result<Self> {
        let txn = queue.store().env.clone().static_read_txn()?;
        Ok(Self { txn, queue })
    }

    /// The answer to a query: best first, equal scores in order of insertion.
    pub fn answer(&self, query: &Query, options: &SearchOptions) -> Result<Ranking> {
        let places_reached = |hits: &[Scored]| self.places_of(hits).map(|places| distinct(&places) >= options.k);
        let enough = options.places.then_some(&places_reached as Enough<'_>);
        let best = |k| {
            let options = SearchOptions { k, ..options.clone() };
            match query {
                Query::Vector { space, vector } => self.vector_list(space, vector, &options, enough),
                Query::Words(words) => self.words_list(&words.resolved(self.state()), &options),
                Query::Picture { fingerprint, digest } => self.picture_list(fingerprint, digest, &options),
            }
        };
        if options.places { reach_places(options.k, best, |hits| self.places_of(hits)) } else { best(options.k) }
    }

    /// Rates given Segments, ascending, for a query. Pictures are rated by their list alone: nothing here. `sampled`: with
    /// a sample of a space's scores. `within`: the Segments that may be found besides; None: all.
    pub fn rate(
        &self,
        query: &Query,
        segments: &[u32],
        sampled: bool,
        within: Option<&SegmentFilter>,
    ) -> Result<Rating> {
        match query {
            Query::Vector { space, vector } => {
                let kernel = detection::chosen().map_err(ShardError::internal)?;
                rating::rate(self.queue.store(), &self.txn, kernel, self.space(space)?, vector, (segments, sampled))
            }
            Query::Words(words) => {
                let mut titles = Titles::default();
                let text_of = |segment, runs: &Runs| {
                    let Some(record) = self.record(segment)? else { return Ok(None) };
                    titles.with_text(
                        segment,
                        record,
                        |lines| runs.may_be_in(lines),
                        |item| {
                            let Some(entry) = self.entry(item)? else { return Ok(None) };
                            Ok(self.record_of(entry.sequence)?.map(|record| (record, entry.first)))
                        },
                    )
                };
                let (blocks, query) = (self.words_blocks()?, words.resolved(self.state()));
                words_rating::rate(&blocks, &query, (segments, within), text_of, &|term| self.spelt(&blocks, term))
            }
            Query::Picture { .. } => Ok(Rating::default()),
        }
    }

    /// As [`Self::answer`], of those Segments alone that have every phrase quoted in a text.
    pub fn answer_if(
        &self,
        Conditional { query, phrases_of }: &Conditional,
        options: &SearchOptions,
    ) -> Result<Ranking> {
        let quotes = phrases_of.as_deref().filter(|text| may_have_phrases(text));
        let Some(text) = quotes else { return self.answer(query, options) };
        let WithPhrases { segments, relaxed } = segments_with_all(&self.words_blocks()?, text, &options.stop)?;
        let ranking = match segments.map(SegmentFilter::of_segments) {
            None => self.answer(query, options),
            Some(having) => {
                let within = options.within.as_ref().map_or(having.clone(), |within| within.and(&having));
                // Few, so each is looked at and the answer proved.
                self.answer(query, &SearchOptions { within: Some(Arc::new(within)), exact: true, ..options.clone() })
            }
        };
        Ok(Ranking { relaxed, ..ranking? })
    }

    /// The Segments of the Items that meet a filter. Removed ones may be among them.
    pub fn within(&self, filter: &Filter) -> Result<Arc<SegmentFilter>> {
        self.queue.store().known_items.within(filter, self)
    }

    /// The Items in an order. `within`: the Segments that may be found; None: all.
    pub fn ordered(&self, order: &Order, within: Option<&SegmentFilter>) -> Result<ItemOrder> {
        self.queue.store().known_items.ordered(order, within, self)
    }

    /// Whether the first filter on this index would hold up the calling thread.
    pub fn filters_late(&self) -> Result<bool> {
        Ok(self.queue.store().known_items.loads_many(self.totals()?.items))
    }

    /// Whether it has any of some Segments.
    pub fn has_any(&self, within: &SegmentFilter) -> Result<bool> {
        let segments = &self.queue.store().databases.segments;
        for (first, last) in within.ranges() {
            if segments.range(&self.txn, &(*first..=*last))?.next().transpose()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The proved best k rows of a space.
    pub fn search_vector(&self, space: &str, query: &[f32], k: usize) -> Result<Ranking> {
        self.vector_list(space, query, &SearchOptions { exact: true, ..SearchOptions::best(k) }, None)
    }

    /// The best k Segments for a query's words.
    pub fn search_words(&self, query: &str, k: usize) -> Result<Ranking> {
        self.words_list(&ResolvedQuery::new(query, None, SpeltRight::default()), &SearchOptions::best(k))
    }

    fn space(&self, name: &str) -> Result<&SpaceSpec> {
        let spaces = &self.queue.store().spaces;
        Ok(&spaces[position(spaces, name)?])
    }

    fn vector_list(
        &self,
        space: &str,
        vector: &[f32],
        options: &SearchOptions,
        enough: Option<Enough<'_>>,
    ) -> Result<Ranking> {
        let store = self.queue.store();
        let spec = self.space(space)?;
        let kernel = detection::chosen().map_err(ShardError::internal)?;
        vector_search::search(store, &self.txn, kernel, spec, vector, options, enough)
    }

    /// Measures the recall of the unproved search for one query: hits that it should have found, and hits that it
    /// found. Takes as long as a proof.
    pub fn probe_vector(&self, space: &str, vector: &[f32], options: &SearchOptions) -> Result<(u64, u64)> {
        vector_search::probe(self.queue.store(), &self.txn, self.space(space)?, vector, options)
    }

    fn words_list(&self, query: &ResolvedQuery, options: &SearchOptions) -> Result<Ranking> {
        let blocks = self.words_blocks()?;
        rank::search_telling(&blocks, query, options, &|term| self.spelt(&blocks, term))
    }

    /// Number of the last commit that it sees: snapshots of an index with the same number see the same.
    pub fn state(&self) -> usize {
        self.txn.id()
    }

    /// How a term is written in the text of a Segment that has it.
    fn spelt(&self, blocks: &[WordsBlock<'_>], meant: &Variant) -> Result<Option<String>> {
        let terms: Vec<Terms> = Language::of_bits(meant.matched).map(Terms::of).collect();
        for segment in some_segments(blocks, meant)? {
            let Some(record) = self.record(segment)? else { continue };
            let Ok(Shown { text: Some(text) }) = serde_json::from_str::<Shown>(record) else { continue };
            let is_meant = |word: &Word| terms.iter().any(|terms| terms.term(word) == meant.term);
            if let Some(word) = words(&text).into_iter().find(is_meant) {
                return Ok(Some(word.text));
            }
        }
        Ok(None)
    }

    fn words_blocks(&self) -> Result<Vec<WordsBlock<'_>>> {
        let store = self.queue.store();
        let mut blocks = vec![];
        for entry in store.blocks_of(&self.txn, Family::WORDS)? {
            let (key, value) = entry?;
            let view = PostingsView::read(value)?;
            store.checked(key, &view.header, value)?;
            blocks.push(WordsBlock { view, dead: store.dead(&self.txn, key)? });
        }
        Ok(blocks)
    }

    /// The language of a query of this index.
    pub fn language_of(&self, query: &str) -> Result<Language> {
        let mut languages = 0;
        for entry in self.queue.store().blocks_of(&self.txn, Family::WORDS)? {
            languages |= Header::read(entry?.1, Family::WORDS.kind())?.languages;
        }
        Ok(language_of(query, None, &Language::of_bits(languages).collect::<Vec<_>>()))
    }

    /// Pictures from the same file first, then near copies; no others.
    pub fn search_picture(&self, fingerprint: &[u8], digest: &[u8; DIGEST_BYTES], k: usize) -> Result<Ranking> {
        self.picture_list(fingerprint, digest, &SearchOptions::best(k))
    }

    fn picture_list(
        &self,
        fingerprint: &[u8],
        digest: &[u8; DIGEST_BYTES],
        options: &SearchOptions,
    ) -> Result<Ranking> {
        let store = self.queue.store();
        let mut ranking = Ranking { exact: true, ..Ranking::default() };
        let mut top_k = TopK::new(options.k);
        for entry in store.blocks_of(&self.txn, Family::PICTURES)? {
            let (key, value) = entry?;
            let view = PicturesView::read(value)?;
            store.checked(key, &view.header, value)?;
            let dead = store.dead(&self.txn, key)?;
            ranking.scanned += view.search((digest, fingerprint), dead, options.within.as_deref(), &mut top_k)?;
        }
        ranking.hits = top_k.into_sorted();
        Ok(ranking)
    }

    /// The record of a Segment, as JSON.
    pub fn record(&self, segment: u32) -> Result<Option<&str>> {
        self.segment(segment)?.map(|(_, record)| text(record)).transpose()
    }

    /// Where Segments belong.
    pub fn places(&self, segments: &[u32]) -> Result<Vec<HitGroup>> {
        self.places_of(&segments.iter().map(|segment| Scored { score: 0.0, segment: *segment }).collect::<Vec<_>>())
    }

    fn places_of(&self, hits: &[Scored]) -> Result<Vec<HitGroup>> {
        let known = &self.queue.store().known_places;
        hits.iter().map(|hit| known.of(hit.segment, || self.place_of(hit.segment))).collect()
    }

    fn place_of(&self, segment: u32) -> Result<HitGroup> {
        let missing = || ShardError::corrupt("A segment that is indexed has no record.");
        let (stored, record) = self.segment(segment)?.ok_or_else(missing)?;
        place_of(stored, text(record)?, |item| {
            let entry = self.queue.store().entry(&self.txn, item)?.ok_or_else(missing)?;
            Ok((entry.first, entry.count))
        })
    }

    fn segment(&self, segment: u32) -> Result<Option<(u32, &[u8])>> {
        let stored = self.queue.store().databases.segments.get(&self.txn, &segment)?;
        stored.map(|value| placed(segment, value)).transpose()
    }

    /// The Segments from one to another, each with its record, ascending. Checksums are compared once while the index is open: to
    /// look for a word takes a third of that.
    pub(super) fn records(&self, first: u32, last: u32) -> Result<impl Iterator<Item = Result<(u32, &[u8])>>> {
        let store = self.queue.store();
        let checked = store.checked_records(self.totals()?.next_segment as usize);
        let mut stored = store.databases.segments.range(&self.txn, &(first..=last))?.peekable();
        let entries = iter::from_fn(move || {
            let entry = stored.next()?;
            if let Some(Ok((_, next))) = stored.peek() {
                prefetch(next);
            }
            Some(entry)
        });
        Ok(entries.map(move |entry| {
            let (segment, value) = entry?;
            checked.row(segment as usize, || placed(segment, value).map(drop))?;
            Ok((segment, value.get(RECORD_FROM..).unwrap_or_default()))
        }))
    }

    /// The vectors of Segments, ascending, in a space, as they are stored: little-endian f32. None for one that has none there.
    pub fn vectors(&self, space: &str, segments: &[u32]) -> Result<Vec<Option<&[u8]>>> {
        stored_rows(self.queue.store(), &self.txn, self.space(space)?, segments)
    }

    /// An Item's record, as JSON.
    pub fn item(&self, id: &str) -> Result<Option<&str>> {
        let Some(entry) = self.entry(id)? else { return Ok(None) };
        self.record_of(entry.sequence)
    }

    /// Number of an Item's first Segment, and how many it has: they follow each other.
    pub fn segments_of_item(&self, id: &str) -> Result<Option<(u32, u32)>> {
        Ok(self.entry(id)?.map(|entry| (entry.first, entry.count)))
    }

    fn entry(&self, id: &str) -> Result<Option<ItemEntry>> {
        // LMDB refuses an empty key or one that is too long. Neither is an Item's.
        if id.is_empty() || id.len() > 500 {
            return Ok(None);
        }
        self.queue.store().entry(&self.txn, id)
    }

    /// The Items, pending or searchable, whose file has this SHA-256, in order of insertion: one JSON array.
    pub fn items_by_digest(&self, sha256: &[u8; 32]) -> Result<String> {
        self.items_below(self.queue.store().databases.digests, sha256)
    }

    /// The Items, in any state, that were given a key, in order of insertion: one JSON array.
    pub fn items_by_key(&self, key: &str) -> Result<String> {
        self.items_below(self.queue.store().databases.keys, &key_of(key, 0)[..KEY_BYTES])
    }

    /// The Items whose sequence numbers follow a prefix.
    fn items_below(&self, database: Database<Bytes, Bytes>, prefix: &[u8]) -> Result<String> {
        let damaged = || ShardError::corrupt("The key of an item is damaged.");
        let mut json = String::from("[");
        for entry in database.prefix_iter(&self.txn, prefix)? {
            let sequence = u64::from_be_bytes(*entry?.0.last_chunk::<8>().ok_or_else(damaged)?);
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(self.record_of(sequence)?.ok_or_else(damaged)?);
        }
        json.push(']');
        Ok(json)
    }

    pub(super) fn record_of(&self, sequence: u64) -> Result<Option<&str>> {
        let value = self.queue.store().databases.items.get(&self.txn, &sequence)?;
        value.map(|value| text(unsealed(&sequence.to_be_bytes(), value)?)).transpose()
    }

    /// Items after the one with this id, or from the first, in order of insertion: one JSON array.
    pub fn items(&self, after: Option<&str>, limit: usize) -> Result<String> {
        let entry = after.map_or(Ok(None), |id| self.entry(id))?;
        Ok(self.items_from(entry.map_or(0, |entry| entry.sequence + 1), limit)?.0)
    }

    /// Items from a sequence number on, as one JSON array, and the number after the last: it stays true when they are removed.
    pub fn items_from(&self, from: u64, limit: usize) -> Result<(String, u64)> {
        let (mut json, mut next) = (String::from("["), from);
        let items = self.queue.store().databases.items.range(&self.txn, &(from..))?;
        for (at, entry) in items.take(limit.min(ITEMS_MAX)).enumerate() {
            if at > 0 {
                json.push(',');
            }
            let (sequence, value) = entry?;
            json.push_str(text(unsealed(&sequence.to_be_bytes(), value)?)?);
            next = sequence + 1;
        }
        json.push(']');
        Ok((json, next))
    }

    pub fn totals(&self) -> Result<Totals> {
        self.queue.store().totals(&self.txn)
    }

    /// Whether it has pictures, or had some whose rows are not gone yet.
    pub fn has_pictures(&self) -> Result<bool> {
        let first = self.queue.store().blocks_of(&self.txn, Family::PICTURES)?.next();
        Ok(first.transpose()?.is_some())
    }

    /// Family and number of rows of each block, in the order of their keys.
    pub fn blocks(&self) -> Result<Vec<(u8, u32)>> {
        let blocks = self.queue.store().databases.blocks.iter(&self.txn)?;
        let rows = blocks.map(|entry| {
            let (key, value) = entry?;
            let family = BlockKey::read(key)?.family;
            Ok((family.0, Header::read(value, family.kind())?.rows))
        });
        rows.collect()
    }
}

/// The first Segment of a stored Segment's place, and its record.
fn placed(segment: u32, value: &[u8]) -> Result<(u32, &[u8])> {
    let value = unsealed(&segment.to_be_bytes(), value)?;
    let (place, record) =
        value.split_first_chunk::<4>().ok_or_else(|| ShardError::corrupt("A segment's record is damaged."))?;
    Ok((u32::from_le_bytes(*place), record))
}

pub(super) fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| ShardError::corrupt("A record is not text."))
}
