//! Cutting a text into pieces that fit a passage: sentences, and parts of sentences that are too long.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::tokenize::TextTokenizer;

/// How the length of a passage is counted.
pub enum Measure {
    /// In tokens of a model. Its special tokens and the passage prefix count towards its limit.
    Model { tokenizer: TextTokenizer, prefix: String },
    /// In words, if no text model is installed.
    Words { limit: usize },
}

impl Measure {
    /// Tokens that a passage may have, without special tokens and prefix.
    pub fn capacity(&self) -> usize {
        match self {
            Self::Model { tokenizer, prefix } => {
                let taken = tokenizer.added() + tokenizer.ends(prefix).len();
                tokenizer.limit().saturating_sub(taken).max(1)
            }
            Self::Words { limit } => (*limit).max(1),
        }
    }

    /// Byte offsets at which the tokens of a text end.
    pub fn ends(&self, text: &str) -> Vec<usize> {
        match self {
            Self::Model { tokenizer, .. } => tokenizer.ends(text),
            Self::Words { .. } => text
                .split_word_bound_indices()
                .filter(|(_, word)| !word.trim().is_empty())
                .map(|(at, word)| at + word.len())
                .collect(),
        }
    }

    /// Number of tokens of a text, without special tokens and prefix.
    pub fn tokens(&self, text: &str) -> usize {
        self.ends(text).len()
    }

    /// Whether the text is within the limit.
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Self::Model { tokenizer, prefix } if prefix.is_empty() => tokenizer.count(text) <= tokenizer.limit(),
            Self::Model { tokenizer, prefix } => tokenizer.count(&format!("{prefix}{text}")) <= tokenizer.limit(),
            Self::Words { limit } => self.tokens(text) <= *limit,
        }
    }
}

/// A part of a text that is not cut further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub start: usize,
    pub end: usize,
    pub tokens: usize,
    pub ends_paragraph: bool,
}

/// A token is rarely longer than this. Runs of characters without a word are cut here, so that every passage is
/// bounded.
const TOKEN_BYTES_MAX: usize = 16;

/// Pieces of at most `capacity` tokens that cover the whole text, in order.
pub fn pieces(measure: &Measure, text: &str, capacity: usize) -> Vec<Piece> {
    let mut found = Vec::new();
    for (start, end) in paragraphs(text) {
        let paragraph = joined_lines(&text[start..end]);
        for (at, sentence) in paragraph.split_sentence_bound_indices() {
            for (from, to) in bounded(sentence, capacity * TOKEN_BYTES_MAX) {
                cut_to_capacity(measure, &sentence[from..to], start + at + from, capacity, &mut found);
            }
        }
        if let Some(last) = found.last_mut() {
            last.ends_paragraph = true;
        }
    }
    found
}

/// Byte ranges of paragraphs, each with the blank lines that follow it.
fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut start, mut at, mut blank) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        let empty = line.trim().is_empty();
        if blank && !empty {
            found.push((start, at));
            start = at;
        }
        blank = empty && at > 0;
        at += line.len();
    }
    if start < text.len() {
        found.push((start, text.len()));
    }
    found
}

/// The paragraph with its line breaks replaced by spaces, byte for byte: a wrapped line does not end a sentence. A
/// break before an entry of a list, a quotation or a row of a table stays.
fn joined_lines(paragraph: &str) -> String {
    let mut joined = String::with_capacity(paragraph.len());
    let mut lines = paragraph.split('\n').peekable();
    while let Some(line) = lines.next() {
        joined.push_str(&line.replace('\r', " "));
        if let Some(next) = lines.peek() {
            joined.push(if begins_entry(next) { '\n' } else { ' ' });
        }
    }
    joined
}

fn begins_entry(line: &str) -> bool {
    let line = line.trim_start();
    let mark = line.trim_start_matches(|character: char| character.is_ascii_digit());
    if mark.len() < line.len() {
        return mark.starts_with(". ") || mark.starts_with(") ");
    }
    line.starts_with(['#', '|', '>', '•']) || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Parts of at most `most` bytes, cut after white space in their second half, or between characters if there is none.
fn bounded(sentence: &str, most: usize) -> Vec<(usize, usize)> {
    let (mut found, mut start) = (Vec::new(), 0);
    while sentence.len() - start > most {
        let mut end = start + most;
        while !sentence.is_char_boundary(end) {
            end -= 1;
        }
        if end == start {
            end = start + sentence[start..].chars().next().map_or(1, char::len_utf8);
        }
        let middle = start + (end - start) / 2;
        let space = sentence[start..end].rfind(char::is_whitespace).map(|at| start + at).filter(|&at| at > middle);
        let after = space.map(|at| at + sentence[at..].chars().next().map_or(1, char::len_utf8));
        found.push((start, after.unwrap_or(end)));
        start = after.unwrap_or(end);
    }
    found.push((start, sentence.len()));
    found
}

/// Adds the sentence as one piece, or as parts of at most `capacity` tokens, cut between words if a part has more than
/// one.
fn cut_to_capacity(measure: &Measure, sentence: &str, base: usize, capacity: usize, found: &mut Vec<Piece>) {
    let mut start = 0;
    while start < sentence.len() {
        let rest = &sentence[start..];
        let ends = measure.ends(rest);
        let (length, tokens) = if ends.len() <= capacity {
            (rest.len(), ends.len())
        } else {
            let length = word_cut(rest, ends[capacity - 1]);
            (length, ends.iter().take_while(|&&end| end <= length).count())
        };
        // A run of characters may be a single unknown token: its bytes count then.
        let tokens = tokens.max(length / TOKEN_BYTES_MAX);
        found.push(Piece { start: base + start, end: base + start + length, tokens, ends_paragraph: false });
        start += length;
    }
}

/// The start of the last word at or before `reached`, or `reached` if there is only one word.
fn word_cut(text: &str, reached: usize) -> usize {
    let bound = text.split_word_bound_indices().map(|(at, _)| at).take_while(|&at| at <= reached).last().unwrap_or(0);
    let cut = if bound == 0 { reached } else { bound };
    // Always at least one character.
    cut.max(text.chars().next().map_or(1, char::len_utf8))
}
