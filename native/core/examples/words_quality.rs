//! Quality of the words index beside a plain BM25 with the stems of the set's own language, in one run:
//! `cargo run --release -p farthing-core --example words_quality -- FOLDER=LANGUAGE…`, for instance
//! `text/scifact=eng text/squad-it=ita`. Each folder has `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or
//! `qrels/test.tsv`. Every document is one Item of one Segment.
//!
//! A plain BM25 knows no phrases, so quotation marks are taken out of queries, for both.
//!
//! The plain BM25 splits at what is no letter or digit, lowers case, drops NLTK's stop words and takes Snowball's stems;
//! k1 1.2, b .75. `with a slip`: each query has one letter of one of its words of five letters or more left out,
//! doubled, replaced, or swapped with the next.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::read_to_string;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use farthing_core::shard::open_shard::Shard;
use farthing_core::terms::language::Language;
use farthing_core::write::input::{ItemRecord, SegmentInput};
use farthing_core::write::write_op::WriteOp;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Hits that are judged.
const DEPTH: usize = 10;
/// Writes that wait at once.
const WRITES: usize = 500;

struct Set {
    /// Title and text of each document.
    documents: Vec<String>,
    /// Each judged query, with the relevance of documents by their index.
    queries: Vec<(String, HashMap<usize, f64>)>,
}

fn lines(path: &Path) -> Outcome<Vec<Value>> {
    Ok(read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn field(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn read(folder: &Path) -> Outcome<Set> {
    let corpus = lines(&folder.join("corpus.jsonl"))?;
    let numbers: HashMap<String, usize> = corpus.iter().enumerate().map(|(at, one)| (field(one, "_id"), at)).collect();
    let judged = [folder.join("qrels.tsv"), folder.join("qrels/test.tsv")];
    let judged = judged.iter().find(|path| path.exists()).ok_or("no judgements")?;
    let mut relevance: HashMap<String, HashMap<usize, f64>> = HashMap::new();
    for line in read_to_string(judged)?.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [query, .., document, grade] = &columns[..] else { continue };
        let (Some(document), Ok(grade)) = (numbers.get(*document), grade.parse::<f64>()) else { continue };
        relevance.entry((*query).to_owned()).or_default().insert(*document, grade);
    }
    let document = |one: &Value| format!("{}\n{}", field(one, "title"), field(one, "text")).trim().to_owned();
    let queries = lines(&folder.join("queries.jsonl"))?;
    let unquoted = |one: &Value| field(one, "text").replace(['"', '“', '”', '„', '«', '»'], " ");
    let judged = queries.iter().filter_map(|one| Some((unquoted(one), relevance.remove(&field(one, "_id"))?)));
    Ok(Set { documents: corpus.iter().map(document).collect(), queries: judged.collect() })
}

fn index(shard: &Shard, documents: &[String]) -> Outcome<()> {
    for (chunk, texts) in documents.chunks(WRITES).enumerate() {
        let (send, receive) = mpsc::channel();
        for (at, text) in texts.iter().enumerate() {
            let id = format!("d{}", chunk * WRITES + at);
            let item = json!({"id": id, "sha256": "0".repeat(64), "state": "searchable", "bytes": 1});
            let record = json!({"item": id, "text": text}).to_string();
            let segment = SegmentInput { record, words: Some(text.clone()), ..SegmentInput::default() };
            let op = WriteOp::Append {
                item: ItemRecord::parse(&item.to_string())?,
                segments: vec![segment],
                replaces: vec![],
            };
            let send = send.clone();
            shard.submit(op, Box::new(move |result| drop(send.send(result))));
        }
        drop(send);
        for result in receive {
            result?;
        }
    }
    Ok(shard.when_idle()?)
}

/// The plain reference.
struct Plain {
    language: Language,
    /// Postings of each stem: (document, count).
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
}

impl Plain {
    fn of(documents: &[String], language: Language) -> Self {
        let mut plain = Self { language, postings: HashMap::new(), lengths: vec![] };
        for (document, text) in documents.iter().enumerate() {
            let stems = plain.stems(text);
            plain.lengths.push(stems.len() as f64);
            let mut counts: HashMap<String, f64> = HashMap::new();
            stems.into_iter().for_each(|stem| *counts.entry(stem).or_default() += 1.0);
            for (stem, count) in counts {
                plain.postings.entry(stem).or_default().push((document, count));
            }
        }
        plain
    }

    fn stems(&self, text: &str) -> Vec<String> {
        let stemmer = self.language.stemmer();
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric());
        let kept = words.filter(|word| !word.is_empty() && !self.language.is_stop_word(word));
        kept.map(|word| stemmer.as_ref().map_or_else(|| word.to_owned(), |stemmer| stemmer.stem(word).into_owned()))
            .collect()
    }

    fn search(&self, query: &str) -> Vec<usize> {
        let count = self.lengths.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / count;
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for stem in self.stems(query) {
            let postings = self.postings.get(&stem).map_or(&[][..], Vec::as_slice);
            let with = postings.len() as f64;
            let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
            for (document, times) in postings {
                let length = self.lengths[*document] / mean;
                *scores.entry(*document).or_default() += idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length));
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranked.into_iter().take(DEPTH).map(|hit| hit.0).collect()
    }
}

fn gain(relevances: impl Iterator<Item = f64>) -> f64 {
    relevances.take(DEPTH).enumerate().map(|(rank, relevance)| relevance / (rank as f64 + 2.0).log2()).sum()
}

/// Sums over queries.
#[derive(Default)]
struct Figures {
    ndcg: f64,
    first: f64,
    recall: f64,
    queries: f64,
}

impl Figures {
    fn add(&mut self, found: &[usize], relevant: &HashMap<usize, f64>) {
        let right = |document: &usize| relevant.get(document).copied().unwrap_or(0.0);
        let mut ideal: Vec<f64> = relevant.values().copied().collect();
        ideal.sort_by(|left, right| right.total_cmp(left));
        self.ndcg += gain(found.iter().map(right)) / gain(ideal.into_iter());
        self.first += f64::from(found.first().is_some_and(|document| right(document) > 0.0));
        let wanted: HashSet<&usize> = relevant.iter().filter(|one| *one.1 > 0.0).map(|one| one.0).collect();
        let reached = found.iter().filter(|document| wanted.contains(document)).count();
        self.recall += reached as f64 / wanted.len().clamp(1, DEPTH) as f64;
        self.queries += 1.0;
    }

    fn print(&self, name: &str) {
        let mean = |sum: f64| sum / self.queries;
        let (ndcg, first, recall) = (mean(self.ndcg), mean(self.first), mean(self.recall));
        println!("  {name:12} nDCG@10 {ndcg:.4}  first right {first:.4}  recall@10 {recall:.4}");
    }
}

/// A random number that follows from another (SplitMix64: Steele et al. 2014).
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The query with one slip in one of its words. None if no word is long enough.
fn with_slip(query: &str, language: Language, seed: u64) -> Option<String> {
    let mut words: Vec<String> = query.split(' ').map(str::to_owned).collect();
    let is_long = |word: &str| {
        word.chars().count() >= 5
            && word.chars().all(char::is_alphabetic)
            && !language.is_stop_word(&word.to_lowercase())
    };
    let long: Vec<usize> = (0..words.len()).filter(|at| is_long(&words[*at])).collect();
    let at = *long.get(mixed(seed) as usize % long.len().max(1))?;
    let mut letters: Vec<char> = words[at].chars().collect();
    let place = mixed(seed + 1) as usize % (letters.len() - 1);
    match mixed(seed + 2) % 4 {
        0 => drop(letters.remove(place)),
        1 => letters.insert(place, letters[place]),
        2 => letters.swap(place, place + 1),
        _ => letters[place] = char::from(b'a' + (mixed(seed + 3) % 26) as u8),
    }
    words[at] = letters.into_iter().collect();
    Some(words.join(" "))
}

fn judge(folder: &Path, language: Language) -> Outcome<()> {
    let set = read(folder)?;
    let temporary = tempfile::tempdir()?;
    let shard = Shard::open(temporary.path(), vec![])?;
    let started = Instant::now();
    index(&shard, &set.documents)?;
    println!("{}: {} documents in {:.1?}", folder.display(), set.documents.len(), started.elapsed());
    let plain = Plain::of(&set.documents, language);
    let [mut ours, mut reference, mut without, mut slipped] = [(); 4].map(|()| Figures::default());
    let snapshot = shard.snapshot()?;
    let (mut times, mut slipped_times) = (vec![], vec![]);
    let search = |query: &str, times: &mut Vec<Duration>| -> Outcome<Vec<usize>> {
        let started = Instant::now();
        let hits = snapshot.search_words(query, DEPTH)?.hits;
        times.push(started.elapsed());
        Ok(hits.iter().map(|hit| hit.segment as usize).collect())
    };
    for (number, (query, relevant)) in set.queries.iter().enumerate() {
        let found = search(query, &mut times)?;
        ours.add(&found, relevant);
        reference.add(&plain.search(query), relevant);
        if let Some(slip) = with_slip(query, language, (number as u64) << 8) {
            without.add(&found, relevant);
            slipped.add(&search(&slip, &mut slipped_times)?, relevant);
        }
        if std::env::var_os("WORSE").is_some() {
            print_worse(query, &found, &plain.search(query), relevant);
        }
    }
    times.sort();
    slipped_times.sort();
    ours.print("raw");
    reference.print("plain BM25");
    println!("  difference {:+.4}", (ours.ndcg - reference.ndcg) / ours.queries);
    without.print("without slip");
    slipped.print("with a slip");
    println!("  recall kept {:.4}", slipped.recall / without.recall);
    println!("  p50 {:?}, with a slip {:?}", times[times.len() / 2], slipped_times[slipped_times.len() / 2]);
    Ok(())
}

/// `WORSE=1`: the queries whose gain is below the reference's.
fn print_worse(query: &str, ours: &[usize], plain: &[usize], relevant: &HashMap<usize, f64>) {
    let of = |found: &[usize]| gain(found.iter().map(|document| relevant.get(document).copied().unwrap_or(0.0)));
    if of(ours) < of(plain) {
        println!("  {:.2} {:.2} {query}", of(ours), of(plain));
    }
}

fn main() -> Outcome<()> {
    for argument in std::env::args().skip(1) {
        let (folder, code) = argument.split_once('=').ok_or("FOLDER=LANGUAGE")?;
        judge(Path::new(folder), Language::by_code(code).ok_or("no such language")?)?;
    }
    Ok(())
}
