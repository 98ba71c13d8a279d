//! The texts of hits: each with the passages around it, as much as a budget allows.
//!
//! The best hit comes first: its own passage, then those around it. Passages that follow each other become one text, which
//! belongs to the best of their hits. Of the first text that has no room the sentences with the query's words are shown, as many
//! as fit, and it ends the answer.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::snapshot::Snapshot;
use crate::error::{Result, ShardError};
use crate::text::sentences::{whole_sentences, whole_words};
use crate::text::snippet::QueryWords;

/// How much text hits show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extent {
    /// Passages on each side of a hit's own.
    pub around: u32,
    /// UTF-16 units of all texts together. None: any number.
    pub units_max: Option<usize>,
}

/// The text of a hit.
#[derive(Debug, PartialEq, Eq)]
pub struct HitText {
    pub text: String,
    /// Its first passage, by its number in the Item, and the one behind its last.
    pub from: u32,
    pub next: u32,
}

/// The text that a hit shows.
#[derive(Debug, PartialEq, Eq)]
pub enum Shown {
    /// It has no text: a picture.
    Bare,
    Text(HitText),
    /// It is left out: its passage is part of a better hit's text, or there was no room.
    Not,
}

#[derive(Debug, Default)]
pub struct Extents {
    /// One for each hit.
    pub shown: Vec<Shown>,
    /// Something had no room.
    pub truncated: bool,
    held: HashSet<u32>,
}

impl Extents {
    /// Whether a Segment's text is part of what is shown.
    pub fn holds(&self, segment: u32) -> bool {
        self.held.contains(&segment)
    }
}

/// The fields that are read of a Segment's record.
#[derive(Deserialize)]
struct Record {
    item: String,
    text: Option<String>,
    text_source: Option<String>,
}

/// Passages of one Item that follow each other.
struct Piece {
    hit: usize,
    from: u32,
    to: u32,
    /// First Segment of the Item.
    first: u32,
    /// The text, where it was cut.
    cut: Option<String>,
    absorbed: bool,
}

/// The texts of hits, best first, given by their Segments. `words`: of the query.
pub fn extents(snapshot: &Snapshot, segments: &[u32], wanted: Extent, words: &QueryWords) -> Result<Extents> {
    let mut gathered = Gathered::new(snapshot, words, wanted.units_max.map_or(usize::MAX, |units| units + 1));
    let mut bare = vec![false; segments.len()];
    for (hit, segment) in segments.iter().enumerate() {
        bare[hit] = !gathered.add_hit(hit, *segment, wanted.around)?;
    }
    let Gathered { pieces, truncated, .. } = &gathered;
    let mut shown: Vec<Shown> = bare.iter().map(|bare| if *bare { Shown::Bare } else { Shown::Not }).collect();
    for piece in pieces.iter().filter(|piece| !piece.absorbed) {
        let text = match &piece.cut {
            Some(text) => text.clone(),
            None => gathered.joined(piece)?,
        };
        let (from, next) = (piece.from - piece.first, piece.to + 1 - piece.first);
        shown[piece.hit] = Shown::Text(HitText { text, from, next });
    }
    let held = gathered.piece_of.keys().copied().collect();
    Ok(Extents { shown, truncated: *truncated, held })
}

struct Gathered<'a> {
    snapshot: &'a Snapshot,
    words: &'a QueryWords,
    pieces: Vec<Piece>,
    /// The piece of each passage that is in one.
    piece_of: HashMap<u32, usize>,
    left: usize,
    truncated: bool,
}

/// A Segment's text.
struct Passage {
    text: String,
    /// Segments of its Item: the first, and the one behind the last.
    range: (u32, u32),
    /// It is about the file and not in it.
    is_note: bool,
}

impl<'a> Gathered<'a> {
    fn new(snapshot: &'a Snapshot, words: &'a QueryWords, left: usize) -> Self {
        Self { snapshot, words, pieces: vec![], piece_of: HashMap::new(), left, truncated: false }
    }

    /// False for a hit without text.
    fn add_hit(&mut self, hit: usize, segment: u32, around: u32) -> Result<bool> {
        let Some(passage) = self.passage(segment)? else { return Ok(false) };
        if self.truncated {
            return Ok(true);
        }
        if !self.piece_of.contains_key(&segment) {
            let units = cost_of(&passage.text);
            if units > self.left {
                self.add_cut(hit, segment, &passage);
                return Ok(true);
            }
            self.take(hit, segment, &passage, units);
        }
        if passage.is_note {
            return Ok(true);
        }
        let (mut above, mut below) = (true, true);
        for distance in 1..=around {
            below = below && self.add_beside(hit, segment.checked_add(distance), passage.range)?;
            above = above && self.add_beside(hit, segment.checked_sub(distance), passage.range)?;
        }
        Ok(true)
    }

    /// Adds a passage around a hit's own. False where the text ends, or the room.
    fn add_beside(&mut self, hit: usize, segment: Option<u32>, (first, end): (u32, u32)) -> Result<bool> {
        let Some(segment) = segment.filter(|segment| (first..end).contains(segment) && !self.truncated) else {
            return Ok(false);
        };
        if self.piece_of.contains_key(&segment) {
            return Ok(true);
        }
        let Some(passage) = self.passage(segment)?.filter(|passage| !passage.is_note) else { return Ok(false) };
        let units = cost_of(&passage.text);
        if units > self.left {
            self.truncated = true;
            return Ok(false);
        }
        self.take(hit, segment, &passage, units);
        Ok(true)
    }

    /// Makes a passage a piece, and one with those that it touches.
    fn take(&mut self, hit: usize, segment: u32, passage: &Passage, units: usize) {
        self.left = self.left.saturating_sub(units);
        let piece = self.pieces.len();
        let first = passage.range.0;
        self.pieces.push(Piece { hit, from: segment, to: segment, first, cut: None, absorbed: false });
        self.piece_of.insert(segment, piece);
        if passage.is_note {
            return;
        }
        let mut own = piece;
        for beside in [segment.checked_sub(1), segment.checked_add(1)].into_iter().flatten() {
            let Some(other) = self.piece_of.get(&beside).copied() else { continue };
            let may_join = |at: usize| self.pieces[at].first == first && self.pieces[at].cut.is_none();
            if (passage.range.0..passage.range.1).contains(&beside) && may_join(other) && other != own {
                own = self.join(own, other);
            }
        }
    }

    /// The better hit's piece takes the other's passages. They touch.
    fn join(&mut self, one: usize, other: usize) -> usize {
        let (better, worse) = if self.pieces[one].hit < self.pieces[other].hit
            || (self.pieces[one].hit == self.pieces[other].hit && one < other)
        {
            (one, other)
        } else {
            (other, one)
        };
        let (from, to) = (self.pieces[worse].from, self.pieces[worse].to);
        self.piece_of.extend((from..=to).map(|segment| (segment, better)));
        self.pieces[worse].absorbed = true;
        let piece = &mut self.pieces[better];
        (piece.from, piece.to) = (piece.from.min(from), piece.to.max(to));
        better
    }

    fn add_cut(&mut self, hit: usize, segment: u32, passage: &Passage) {
        self.truncated = true;
        let units_max = self.left.saturating_sub(1);
        let sentences = whole_sentences(&passage.text, units_max, self.words.place_in(&passage.text));
        // The best hit is shown in any case.
        let is_first = self.pieces.is_empty();
        let text = if sentences.is_empty() && is_first { whole_words(&passage.text, units_max) } else { sentences };
        if text.is_empty() {
            return;
        }
        let (first, cut) = (passage.range.0, Some(text.to_owned()));
        self.piece_of.insert(segment, self.pieces.len());
        self.pieces.push(Piece { hit, from: segment, to: segment, first, cut, absorbed: false });
    }

    fn joined(&self, piece: &Piece) -> Result<String> {
        let mut text = String::new();
        for segment in piece.from..=piece.to {
            let Some(passage) = self.passage(segment)? else { continue };
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&passage.text);
        }
        Ok(text)
    }

    fn passage(&self, segment: u32) -> Result<Option<Passage>> {
        let damaged = || ShardError::corrupt("A segment's record is damaged.");
        let Some(json) = self.snapshot.record(segment)? else { return Ok(None) };
        let Record { item, text, text_source } = serde_json::from_str(json).map_err(|_| damaged())?;
        let Some(text) = text else { return Ok(None) };
        let (first, count) = self.snapshot.segments_of_item(&item)?.unwrap_or((segment, 1));
        let is_note = text_source.as_deref() == Some("metadata");
        Ok(Some(Passage { text, range: (first, first + count), is_note }))
    }
}

/// With a newline before the next passage.
fn cost_of(text: &str) -> usize {
    text.encode_utf16().count() + 1
}
