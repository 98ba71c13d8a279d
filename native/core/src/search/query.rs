//! Facts about a query that the likelihoods depend on.

#[derive(Debug, Clone, Copy, Default)]
pub struct QueryFacts {
    /// Segments of the index.
    pub segments: u64,
    /// It asks something.
    pub asks: bool,
    /// It describes no picture: it quotes a phrase, or asks something.
    pub describes_none: bool,
    /// It asks for what no picture shows.
    pub asks_of_facts: bool,
}

/// Words by which a question begins that no picture answers. `what` and `which` may ask for a picture.
const OF_FACTS: [&str; 6] = ["who", "whom", "whose", "when", "why", "how"];

/// Whether a question, in English, the language of pictures' labels, asks for what no picture shows: `how heavy is the cat`.
pub fn asks_of_facts(question: &str) -> bool {
    let first = question.split_whitespace().next().unwrap_or_default();
    OF_FACTS.iter().any(|word| first.eq_ignore_ascii_case(word))
}
