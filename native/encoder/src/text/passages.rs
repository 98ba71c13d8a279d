//! Cutting a document into passages that fit a text model.
//!
//! Passages end at paragraphs and sentences (UAX #29), never span pages or headings, and have nearly equal lengths
//! within their block. A sentence over the limit is cut between words, a word over the limit between tokens. Every
//! character belongs to exactly one passage, except white space at the cuts.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::pieces::{Measure, Piece, pieces};

/// A part of a document under one heading and on one page.
#[derive(Debug, Clone)]
pub struct Block {
    pub text: String,
    /// UTF-16 units before the block in the text of its page, or of a document without pages. That text is its blocks,
    /// joined by [`JOINT`].
    pub start: u32,
    pub page: Option<u32>,
    pub heading: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub text: String,
    /// The text that is encoded and indexed: the document's title, a line break, and the passage.
    pub words: String,
    pub page: Option<u32>,
    pub heading: Option<String>,
    /// In UTF-16 units, like [`Block::start`].
    pub char_start: u32,
    pub char_end: u32,
}

/// Separates two blocks of one page.
pub const JOINT: &str = "\n\n";
/// A title takes at most this fraction of a passage, as its denominator.
const TITLE_SHARE: usize = 4;

/// Cuts a document into passages of at most the measure's limit, which includes the title line and special tokens.
pub fn cut(measure: &Measure, title: Option<&str>, blocks: &[Block]) -> Vec<Passage> {
    let title = match title.map(str::trim).filter(|title| !title.is_empty()) {
        Some(title) => shortened(measure, title, measure.capacity() / TITLE_SHARE),
        None => String::new(),
    };
    let head = if title.is_empty() { String::new() } else { format!("{title}\n") };
    let mut passages = Vec::new();
    for run in blocks.chunk_by(|a, b| a.page == b.page && a.heading == b.heading) {
        let Some(first) = run.first() else { continue };
        let start = first.start;
        let text = run.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join(JOINT);
        for (from, to, before) in spans(measure, &head, &text) {
            let part = &text[from..to];
            passages.push(Passage {
                text: part.to_owned(),
                words: format!("{head}{part}"),
                page: first.page,
                heading: first.heading.clone(),
                char_start: start + before,
                char_end: start + before + utf16(part),
            });
        }
    }
    passages
}

/// Byte ranges of a text's passages, without white space at their ends, and the UTF-16 units before each.
fn spans(measure: &Measure, head: &str, text: &str) -> Vec<(usize, usize, u32)> {
    let capacity = measure.capacity().saturating_sub(measure.tokens(head)).max(1);
    let pieces = pieces(measure, text, capacity);
    let total: usize = pieces.iter().map(|piece| piece.tokens).sum();
    // Nearly equal lengths: a last passage of a few words would mean little on its own.
    let target = total.div_ceil(total.div_ceil(capacity).max(1));
    let mut found = Vec::new();
    let (mut reached, mut units) = (0, 0);
    let mut next = 0;
    while next < pieces.len() {
        let mut end = next + packed(&pieces[next..], capacity, target);
        // The tokens of the parts may not add up to those of the whole, so the whole is counted.
        while end > next + 1
            && !measure.fits(&format!("{head}{}", text[pieces[next].start..pieces[end - 1].end].trim()))
        {
            end -= 1;
        }
        let (from, to) = trimmed(text, pieces[next].start, pieces[end - 1].end);
        if from < to {
            units += utf16(&text[reached..from]);
            found.push((from, to, units));
            units += utf16(&text[from..to]);
            reached = to;
        }
        next = end;
    }
    found
}

/// Number of pieces in the next passage: as many as fit, up to the target. It ends at the last paragraph's end if that
/// leaves more than half of the target.
fn packed(pieces: &[Piece], capacity: usize, target: usize) -> usize {
    let (mut taken, mut tokens) = (0, 0);
    let mut paragraph = (0, 0);
    for piece in pieces {
        let over = tokens + piece.tokens;
        if taken > 0 && (over > capacity || tokens >= target) {
            break;
        }
        (taken, tokens) = (taken + 1, over);
        if piece.ends_paragraph {
            paragraph = (taken, tokens);
        }
    }
    if taken < pieces.len() && paragraph.0 > 0 && paragraph.1 * 2 > target { paragraph.0 } else { taken }
}

fn trimmed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let part = &text[start..end];
    let from = start + (part.len() - part.trim_start().len());
    (from, from.max(start + part.trim_end().len()))
}

/// The longest start of a title, in whole words, of at most `most` tokens.
fn shortened(measure: &Measure, title: &str, most: usize) -> String {
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(most.saturating_mul(16)).collect();
    let ends = measure.ends(&line);
    if ends.len() <= most {
        return line;
    }
    let reached = most.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0);
    let whole = line.split_word_bound_indices().map(|(at, _)| at).take_while(|&at| at <= reached).last().unwrap_or(0);
    line[..if whole == 0 { reached } else { whole }].trim_end().to_owned()
}

fn utf16(text: &str) -> u32 {
    text.chars().map(|character| character.len_utf16() as u32).sum()
}

#[cfg(test)]
#[path = "passages_tests.rs"]
mod tests;
