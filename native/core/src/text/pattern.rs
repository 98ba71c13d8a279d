//! A regular expression that lines are searched for, in time linear in the text.
//!
//! Texts are stored as JSON. Most of them without a match are told by the stored bytes: every match has some part that JSON writes as
//! it is.

use regex::bytes;
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use regex_syntax::{Error as SyntaxError, ParserBuilder};

use super::snippet::Snippet;
use super::units::Units;
use crate::error::{Result, ShardError};

/// UTF-16 units of a line that are shown; below, of those before the first match of a longer one.
const SHOWN_UNITS_MAX: usize = 500;
const LEAD_UNITS: usize = 100;
const HIGHLIGHTS_MAX: usize = 64;
/// Of the compiled expression: `\w{83}` has as many. It takes up to 20 ms to compile, and then up to 10 ms for a text of a thousand
/// characters.
const COMPILED_BYTES_MAX: usize = 4 << 20;
/// Memory of one search, beside it.
const SEARCH_BYTES_MAX: usize = 4 << 20;
const NESTED_MAX: u32 = 100;
/// A part that every match has is looked for if it has so many bytes.
const PART_BYTES_MIN: usize = 2;
/// Characters of a class, and branches, in such a part: a letter in both cases has up to four.
const CHOICES_MAX: usize = 16;

pub struct Pattern {
    regex: Regex,
    /// What the JSON of every text with a match has. None: nothing is known.
    part: Option<bytes::Regex>,
    /// A match in a line is one in the whole text.
    spans_lines: bool,
}

impl Pattern {
    /// Reads the syntax of Rust's crate `regex`. `^` and `$` stand for the ends of a line.
    ///
    /// # Errors
    /// `field_invalid` with what is wrong and at which character.
    pub fn read(pattern: &str, ignore_case: bool) -> Result<Self> {
        let hir = ParserBuilder::new()
            .case_insensitive(ignore_case)
            .multi_line(true)
            .crlf(true)
            .nest_limit(NESTED_MAX)
            .build()
            .parse(pattern)
            .map_err(|error| refused(pattern, &error))?;
        if has_line_break(&hir) {
            return Err(wrong("a match stands in one line: it has no line break"));
        }
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .multi_line(true)
            .crlf(true)
            .nest_limit(NESTED_MAX)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(SEARCH_BYTES_MAX)
            .build()
            .map_err(|_| wrong("it is too large: repeat less, or smaller parts"))?;
        let part = needed(&hir).filter(|part| length(part) >= PART_BYTES_MIN);
        let part = part.and_then(|part| bytes::Regex::new(&part.to_string()).ok());
        let ends_text = [Look::Start, Look::End, Look::StartLF, Look::EndLF];
        let looks = hir.properties().look_set();
        Ok(Self { regex, part, spans_lines: !ends_text.into_iter().any(|look| looks.contains(look)) })
    }

    /// Whether a text may have a match, by its JSON or one around it.
    pub fn may_be_in(&self, json: &[u8]) -> bool {
        self.part.as_ref().is_none_or(|part| part.is_match(json))
    }

    /// The lines of a text that match, each with its number from 1.
    pub fn lines<'t>(&self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        let may_match = !self.spans_lines || self.regex.is_match(text);
        let lines = may_match.then(|| text.lines().enumerate()).into_iter().flatten();
        lines.filter(|(_, line)| self.regex.is_match(line)).map(|(at, line)| (at + 1, line))
    }

    /// A line that matches, with its matches as highlights. Of a long one the part around the first.
    pub fn shown(&self, line: &str) -> Snippet {
        let mut found = self.regex.find_iter(line).map(|found| (found.start(), found.end())).peekable();
        let first = found.peek().map_or(0, |(start, _)| *start);
        let units = Units::of(line);
        let is_long = units.at(line.len()) > SHOWN_UNITS_MAX;
        let start = if is_long { units.byte(units.at(first).saturating_sub(LEAD_UNITS)) } else { 0 };
        let end = if is_long { units.byte(units.at(start) + SHOWN_UNITS_MAX) } else { line.len() };
        let lead = if start > 0 { "…" } else { "" };
        let shift = |byte: usize| (units.at(byte.min(end)) - units.at(start) + lead.chars().count()) as u32;
        let highlights = found.take_while(|(from, _)| *from <= end).take(HIGHLIGHTS_MAX);
        Snippet {
            row: None,
            highlights: highlights.map(|(from, to)| (shift(from), shift(to))).collect(),
            text: format!("{lead}{}{}", &line[start..end], if end < line.len() { "…" } else { "" }),
        }
    }
}

fn wrong(what: &str) -> ShardError {
    ShardError::new("field_invalid", format!("pattern: {what}."))
}

fn refused(pattern: &str, error: &SyntaxError) -> ShardError {
    let (what, span) = match error {
        SyntaxError::Parse(error) => (error.kind().to_string(), error.span()),
        SyntaxError::Translate(error) => (error.kind().to_string(), error.span()),
        other => return wrong(&other.to_string()),
    };
    let before = pattern.get(..span.start.offset).unwrap_or(pattern).chars().count();
    wrong(&format!("{what} (at character {})", before + 1))
}

fn has_line_break(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Capture(capture) => has_line_break(&capture.sub),
        HirKind::Repetition(repetition) => has_line_break(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_line_break),
        _ => false,
    }
}

fn length(hir: &Hir) -> usize {
    hir.properties().minimum_len().unwrap_or(0)
}

/// The longest part that every match has and that is [`plain`].
fn needed(hir: &Hir) -> Option<Hir> {
    match hir.kind() {
        HirKind::Capture(capture) => needed(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => needed(&repetition.sub),
        HirKind::Concat(parts) => longest_run(parts),
        HirKind::Literal(_) => longest_run(std::slice::from_ref(hir)),
        HirKind::Alternation(branches) if branches.len() <= CHOICES_MAX => {
            branches.iter().map(needed).collect::<Option<Vec<Hir>>>().map(Hir::alternation)
        }
        _ => plain(hir),
    }
}

/// Of parts that follow each other.
fn longest_run(parts: &[Hir]) -> Option<Hir> {
    let (mut runs, mut run): (Vec<Hir>, Vec<Hir>) = (vec![], vec![]);
    for part in parts {
        if let Some(part) = plain(part) {
            run.push(part);
            continue;
        }
        if let HirKind::Literal(literal) = part.kind() {
            for (at, piece) in literal.0.split(|byte| !is_plain(*byte)).enumerate() {
                if at > 0 {
                    runs.push(Hir::concat(std::mem::take(&mut run)));
                }
                run.push(Hir::literal(piece));
            }
            continue;
        }
        runs.push(Hir::concat(std::mem::take(&mut run)));
        runs.extend(needed(part));
    }
    runs.push(Hir::concat(run));
    runs.into_iter().rev().max_by_key(length)
}

/// What matches few texts, all of characters that JSON writes as they are.
fn plain(hir: &Hir) -> Option<Hir> {
    let all = |parts: &[Hir]| parts.iter().map(plain).collect::<Option<Vec<Hir>>>();
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.iter().all(|byte| is_plain(*byte)).then(|| hir.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut letters = class.iter().flat_map(|range| range.start()..=range.end());
            let are_plain =
                letters.by_ref().take(CHOICES_MAX).all(|letter| !letter.is_ascii() || is_plain(letter as u8));
            (are_plain && letters.next().is_none()).then(|| hir.clone())
        }
        HirKind::Capture(capture) => plain(&capture.sub),
        HirKind::Concat(parts) => all(parts).map(Hir::concat),
        HirKind::Alternation(branches) if branches.len() <= CHOICES_MAX => all(branches).map(Hir::alternation),
        _ => None,
    }
}

/// Whether JSON writes a byte of a string as it is.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(pattern: &str) -> String {
        Pattern::read(pattern, false).err().unwrap().detail
    }

    fn part(pattern: &str, ignore_case: bool) -> Option<String> {
        let part = Pattern::read(pattern, ignore_case).unwrap().part?;
        Some(part.as_str().replace("(?:", "").replace(')', ""))
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_where() {
        assert_eq!(refusal("é(b"), "pattern: unclosed group (at character 2).");
        assert_eq!(
            refusal("a**b{2,1}"),
            "pattern: invalid repetition count range, the start must be <= the end (at character 5)."
        );
        assert!(refusal(r"(\w{100}){100}").starts_with("pattern: it is too large"));
        assert!(refusal(r"foo\nbar").contains("line break"));
        assert!(refusal(&"(".repeat(1000)).starts_with("pattern: "));
    }

    #[test]
    fn the_part_that_every_match_has_is_the_longest_that_json_writes_as_it_is() {
        let cases = [
            (r"\bfn \w+\(", "fn "),
            (r#"say "hi" (twice)+"#, "twice"),
            (r"(get|set)Item", "get|setItem"),
            (r"\d+\.\d+", ""),
            (r"a*bc*", ""),
            (r"(foo|\d)x", ""),
            (r"colou?r", "colo"),
            (r"\\path\\to", "path"),
        ];
        for (pattern, expected) in cases {
            assert_eq!(part(pattern, false).unwrap_or_default(), expected, "{pattern}");
        }
        assert!(part("function", true).is_some_and(|part| part.contains("[Ff]")));
        assert_eq!(part("", false), None);
    }
}
