//! Numbers in the ways in which they are written: with marks between thousands, and telephone numbers.
//!
//! `€1,299.00`, `1.299,00` and `1 299.00` are 1299 and 1299.00. A telephone number is its national number without the zeros
//! before it (ITU-T E.164): `+44 20 7946 0018`, `0044 (0)20 7946-0018`, `020.7946.0018` and `02079460018` are 2079460018.

use super::letters::digit;

/// Groups of digits, and digits of one number: longer rows are those of a table.
const GROUPS_MAX: usize = 8;
const DIGITS_MAX: usize = 19;
/// Digits of a national number, and of one with its country (E.164).
const NATIONAL_MIN: usize = 7;
const INTERNATIONAL_MAX: usize = 15;
/// National numbers from which on a row of groups is one for certain.
const CERTAIN_MIN: usize = 8;

/// A number that is written in several groups of digits, or may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    /// Its bytes in the text, from its first digit to the end of its last one.
    pub start: usize,
    pub end: usize,
    /// It in digits alone, or with a decimal point; the likeliest first.
    pub forms: Vec<String>,
    /// It is one number whatever is around it: its groups are no words.
    pub is_certain: bool,
}

impl Number {
    /// Whether it begins in what begins at a byte.
    pub fn is_from(&self, at: usize) -> bool {
        self.start == at
    }
}

/// Digits in a row.
struct Group {
    start: usize,
    end: usize,
    digits: String,
}

/// Groups that may be one number, and what stands between them: `gaps[at]` is behind `groups[at]`.
struct Row {
    groups: Vec<Group>,
    gaps: Vec<Gap>,
    /// The text before the first group, as far as it tells something.
    opening: Opening,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Space,
    Point,
    Comma,
    Apostrophe,
    Hyphen,
    Slash,
    /// `(`, with or without a space before it.
    Opens,
    /// `)`, with or without a space or a hyphen behind it.
    Closes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    None,
    Plus,
    Bracket,
}

/// The numbers of a text, in order, none within another.
pub fn numbers(text: &str) -> Vec<Number> {
    let mut all = vec![];
    let mut from = 0;
    while let Some(row) = next_row(text, &mut from) {
        all.extend(row.numbers());
    }
    all
}

/// Reads the next row of groups from a byte on, and moves that behind it.
fn next_row(text: &str, from: &mut usize) -> Option<Row> {
    loop {
        let start = *from + text[*from..].find(|letter| digit(letter).is_some())?;
        let mut row = Row { groups: vec![], gaps: vec![], opening: opening(&text[..start]) };
        let is_within = is_within(&text[..start]);
        let (mut at, mut count) = (start, 0);
        loop {
            let group = group_at(text, at);
            at = group.end;
            count += group.digits.len();
            row.groups.push(group);
            match gap_at(&text[at..]) {
                Some((gap, bytes)) => {
                    row.gaps.push(gap);
                    at += bytes;
                }
                None => break,
            }
        }
        *from = at;
        let is_before_word = text[at..].chars().next().is_some_and(is_of_word);
        if is_before_word {
            // `3rd`, `12 345x`: what is joined to letters is no group.
            count -= row.groups.pop().map_or(0, |group| group.digits.len());
            row.gaps.pop();
        }
        if !is_within && !row.groups.is_empty() && row.groups.len() <= GROUPS_MAX && count <= DIGITS_MAX {
            return Some(row);
        }
    }
}

/// Whether digits behind this go on with something: `x1`, `XK-300`.
fn is_within(before: &str) -> bool {
    let mut letters = before.chars().rev();
    match letters.next() {
        Some('-' | '.' | '/' | ':' | ',' | '\'') => letters.next().is_some_and(is_of_word),
        letter => letter.is_some_and(is_of_word),
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn opening(before: &str) -> Opening {
    match before.chars().next_back() {
        Some('+') => Opening::Plus,
        Some('(') => Opening::Bracket,
        _ => Opening::None,
    }
}

/// The digits from a byte on, of which there is at least one.
fn group_at(text: &str, start: usize) -> Group {
    let mut digits = String::new();
    for (at, letter) in text[start..].char_indices() {
        match digit(letter) {
            Some(value) => digits.push((b'0' + value as u8) as char),
            None => return Group { start, end: start + at, digits },
        }
    }
    Group { start, end: text.len(), digits }
}

/// The mark between two groups of digits, with its length in bytes. None: something else.
fn gap_at(text: &str) -> Option<(Gap, usize)> {
    let mut letters = text.char_indices();
    let mut next = || letters.next().map_or((text.len(), '\0'), |(at, letter)| (at, letter));
    let (first, second, third) = (next(), next(), next());
    let is_digit = |letter: char| digit(letter).is_some();
    let kind = match first.1 {
        '.' | '٫' => Gap::Point,
        ',' | '٬' => Gap::Comma,
        '\'' | '\u{2019}' => Gap::Apostrophe,
        '-' | '\u{2010}' | '\u{2011}' | '\u{2013}' => Gap::Hyphen,
        '/' => Gap::Slash,
        '(' => Gap::Opens,
        ')' => Gap::Closes,
        letter if is_space(letter) => Gap::Space,
        _ => return None,
    };
    match (kind, second.1) {
        (_, letter) if is_digit(letter) => Some((kind, second.0)),
        (Gap::Space, '(') if is_digit(third.1) => Some((Gap::Opens, third.0)),
        (Gap::Closes, '-') if is_digit(third.1) => Some((Gap::Closes, third.0)),
        (Gap::Closes, letter) if is_space(letter) && is_digit(third.1) => Some((Gap::Closes, third.0)),
        _ => None,
    }
}

/// Spaces that stand within numbers; a tab is the end of a cell.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}')
}

impl Row {
    fn numbers(&self) -> Vec<Number> {
        let mut all = vec![];
        let mut at = 0;
        while at < self.groups.len() {
            let found = if self.is_date(at) { None } else { self.telephone(at).or_else(|| self.quantity(at)) };
            at = match found {
                Some((number, next)) => {
                    all.push(number);
                    next
                }
                // The middle of `12-345 678` begins no number.
                None => (at + 1..self.groups.len()).find(|at| self.gaps[at - 1] == Gap::Space).unwrap_or(usize::MAX),
            };
        }
        all
    }

    fn digits(&self, at: usize) -> &str {
        &self.groups[at].digits
    }

    fn gap(&self, at: usize) -> Option<Gap> {
        self.gaps.get(at).copied()
    }

    fn number(&self, from: usize, to: usize, forms: Vec<String>, is_certain: bool) -> (Number, usize) {
        let (start, end) = (self.groups[from].start, self.groups[to].end);
        (Number { start, end, forms, is_certain }, to + 1)
    }

    /// `2024-05-17`, `17.05.2024`, `1/2/2024`.
    fn is_date(&self, at: usize) -> bool {
        let (Some(first), Some(second)) = (self.gap(at), self.gap(at + 1)) else { return false };
        first == second
            && matches!(first, Gap::Hyphen | Gap::Point | Gap::Slash)
            && matches!([0, 1, 2].map(|next| self.digits(at + next).len()), [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4])
    }

    /// A number with marks between its thousands, with decimals, or both; `12,34,567` as in India.
    fn quantity(&self, from: usize) -> Option<(Number, usize)> {
        let mark = self.gap(from)?;
        let is_grouped = |count: usize| {
            let last = from + count;
            let same = self.gaps.get(from..last).is_some_and(|gaps| gaps.iter().all(|gap| *gap == mark));
            let lengths = |range: std::ops::Range<usize>, length: usize| {
                range.into_iter().all(|at| self.digits(at).len() == length)
            };
            let thousands = self.digits(from).len() <= 3 && same && lengths(from + 1..last + 1, 3);
            let lakhs = mark == Gap::Comma && self.digits(from).len() <= 2 && same && lengths(from + 1..last, 2);
            thousands || (lakhs && self.digits(last).len() == 3)
        };
        let marks = matches!(mark, Gap::Space | Gap::Point | Gap::Comma | Gap::Apostrophe);
        let begins = marks && !self.digits(from).starts_with('0');
        let count = (1..self.groups.len() - from).rev().find(|count| begins && is_grouped(*count)).unwrap_or(0);
        let last = from + count;
        let decimals = match self.gap(last) {
            Some(gap @ (Gap::Point | Gap::Comma)) if count == 0 || gap != mark => {
                // `1,2,3` is a list, and `1.2.3` a version.
                let ends = !matches!(self.gap(last + 1), Some(next) if next == gap);
                ends.then(|| self.digits(last + 1))
            }
            _ => None,
        };
        let whole: String = (from..=last).map(|at| self.digits(at)).collect();
        let next = self.gap(last);
        if count > 0 && decimals.is_none() && matches!(next, Some(gap) if gap == mark && gap != Gap::Space) {
            return None;
        }
        match decimals {
            Some(decimals) if count > 0 => {
                Some(self.number(from, last + 1, vec![whole.clone(), format!("{whole}.{decimals}")], count > 1))
            }
            Some(decimals) if next == Some(Gap::Comma) => {
                Some(self.number(from, last + 1, vec![format!("{whole}.{decimals}")], false))
            }
            None if count > 0 => Some(self.number(from, last, vec![whole], count > 1)),
            _ => None,
        }
    }

    /// A telephone number, with each of the ends that it may have before a space; or one of a card.
    fn telephone(&self, from: usize) -> Option<(Number, usize)> {
        let opening = if from == 0 { self.opening } else { Opening::None };
        let first = self.digits(from);
        let is_bracketed = opening == Opening::Bracket && self.gap(from) == Some(Gap::Closes);
        let is_marked = opening == Opening::Plus || is_bracketed || (first.len() > 1 && first.starts_with('0'));
        let (mut forms, mut last) = (vec![], from);
        for to in from..self.groups.len() {
            if matches!(self.gap(to), None | Some(Gap::Space))
                && (is_marked || self.is_of_north_america(from, to))
                && let Some(national) = self.national(from, to, opening == Opening::Plus)
            {
                forms.insert(0, national);
                last = to;
            }
            if self.gap(to) == Some(Gap::Comma) {
                break;
            }
        }
        let is_certain = last > from && forms.first().is_some_and(|form| form.len() >= CERTAIN_MIN);
        if forms.is_empty() && self.is_card(from) {
            forms.push((from..from + 4).map(|at| self.digits(at)).collect());
            return Some(self.number(from, from + 3, forms, true));
        }
        (!forms.is_empty()).then(|| self.number(from, last, forms, is_certain))
    }

    /// The national number of groups, without the zeros before it. None: too short or too long.
    fn national(&self, from: usize, to: usize, has_plus: bool) -> Option<String> {
        // The zero of `+44 (0)20` is dialled within the country alone.
        let is_trunk = |at: usize| {
            at > from && self.digits(at) == "0" && self.gaps[at - 1] == Gap::Opens && self.gap(at) == Some(Gap::Closes)
        };
        let digits: String = (from..=to).filter(|at| !is_trunk(*at)).map(|at| self.digits(at)).collect();
        let international = if has_plus { Some(&digits[..]) } else { digits.strip_prefix("00") };
        let national = match international {
            Some(digits) => digits.get(country_digits(digits)..)?,
            None if digits.len() == 11 && self.digits(from) == "1" => &digits[1..],
            None => &digits,
        };
        let national = national.trim_start_matches('0');
        (digits.len() <= INTERNATIONAL_MAX + 2 && (NATIONAL_MIN..=INTERNATIONAL_MAX).contains(&national.len()))
            .then(|| national.to_owned())
    }

    /// `212-555-0123`, with or without the `1` before it.
    fn is_of_north_america(&self, from: usize, to: usize) -> bool {
        let lengths: Vec<usize> = (from..=to).map(|at| self.digits(at).len()).collect();
        lengths == [3, 3, 4] || (lengths == [1, 3, 3, 4] && self.digits(from) == "1")
    }

    fn is_card(&self, from: usize) -> bool {
        let gap = self.gap(from);
        from + 4 <= self.groups.len()
            && matches!(gap, Some(Gap::Space | Gap::Hyphen))
            && (from..from + 4).all(|at| self.digits(at).len() == 4)
            && (from..from + 3).all(|at| self.gap(at) == gap)
    }
}

/// Digits of the country's code that a number begins with (ITU-T E.164, list of 2016).
fn country_digits(number: &str) -> usize {
    match number.get(..2) {
        Some(start) if start.starts_with(['1', '7']) => 1,
        Some(
            "20" | "27" | "30" | "31" | "32" | "33" | "34" | "36" | "39" | "40" | "41" | "43" | "44" | "45" | "46"
            | "47" | "48" | "49" | "51" | "52" | "53" | "54" | "55" | "56" | "57" | "58" | "60" | "61" | "62" | "63"
            | "64" | "65" | "66" | "81" | "82" | "84" | "86" | "90" | "91" | "92" | "93" | "94" | "95" | "98",
        ) => 2,
        _ => 3,
    }
}

#[cfg(test)]
#[path = "numbers_tests.rs"]
mod tests;
