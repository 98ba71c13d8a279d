//! Patterns of names: `*` stands for any characters, `?` for one. Case does not matter.

/// A pattern in lower case, split at its stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    parts: Vec<String>,
    has_question_mark: bool,
}

impl Glob {
    pub fn new(pattern: &str) -> Self {
        let parts = pattern.to_lowercase().split('*').map(str::to_owned).collect();
        Self { parts, has_question_mark: pattern.contains('?') }
    }

    /// Whether it stands for all of a name that is in lower case.
    pub fn matches(&self, name: &str) -> bool {
        if !self.has_question_mark {
            return matches(&self.parts, name.as_bytes(), |part| part.as_bytes(), |wanted, byte| wanted == byte);
        }
        let (parts, name): (Vec<Vec<char>>, Vec<char>) =
            (self.parts.iter().map(|part| part.chars().collect()).collect(), name.chars().collect());
        matches(&parts, &name, |part| part, |wanted, letter| *wanted == '?' || wanted == letter)
    }
}

fn matches<P, L>(parts: &[P], name: &[L], letters: impl Fn(&P) -> &[L], is: impl Fn(&L, &L) -> bool) -> bool {
    let is_at = |part: &[L], name: &[L], at: usize| {
        let place = name.get(at..at + part.len());
        place.is_some_and(|place| part.iter().zip(place).all(|(wanted, letter)| is(wanted, letter)))
    };
    let (Some(first), Some(last)) = (parts.first().map(&letters), parts.last().map(&letters)) else { return false };
    if parts.len() == 1 {
        return name.len() == first.len() && is_at(first, name, 0);
    }
    if name.len() < first.len() + last.len() || !is_at(first, name, 0) {
        return false;
    }
    let end = name.len() - last.len();
    if !is_at(last, name, end) {
        return false;
    }
    // The earliest place of each part leaves the most room for those behind it.
    let mut at = first.len();
    for part in parts[1..parts.len() - 1].iter().map(&letters) {
        let Some(found) = (at..(end + 1).saturating_sub(part.len())).find(|at| is_at(part, &name[..end], *at)) else {
            return false;
        };
        at = found + part.len();
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By trying every length for every star.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| naive(rest, &name[at..])),
            Some((letter, rest)) => {
                name.split_first().is_some_and(|(first, left)| (*letter == '?' || letter == first) && naive(rest, left))
            }
        }
    }

    #[test]
    fn stars_and_question_marks_stand_for_characters() {
        for (pattern, name, expected) in [
            ("*.PDF", "report.pdf", true),
            ("*.pdf", "report.pdf.txt", false),
            ("docs/*", "docs/a/b.md", true),
            ("rep?rt.*", "repört.", true),
            ("?", "", false),
            ("", "", true),
            ("*", "", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_the_naive_reference_matches(pattern in "[ab*?]{0,8}", name in "[abc]{0,10}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Glob::new(&pattern).matches(&name), naive(&letters(&pattern), &letters(&name)));
        }
    }
}
