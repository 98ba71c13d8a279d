//! nDCG@10 of the words index on SciFact, whole abstracts with their titles:
//! `cargo run --release -p farthing-core --example scifact -- FOLDER` (corpus.jsonl, queries.jsonl, qrels.tsv).

use std::collections::HashMap;
use std::error::Error;
use std::fs::read_to_string;
use std::path::Path;
use std::time::Instant;

use farthing_core::shard::open_shard::Shard;
use farthing_core::write::input::{ItemRecord, SegmentInput};
use farthing_core::write::write_op::WriteOp;
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn lines(path: &Path) -> Outcome<Vec<Value>> {
    Ok(read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn field(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn id(value: &Value) -> String {
    field(value, if value["_id"].is_null() { "id" } else { "_id" })
}

/// Query → document → relevance.
fn judgements(path: &Path) -> Outcome<HashMap<String, HashMap<String, f64>>> {
    let mut all: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in read_to_string(path)?.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let Some(Ok(relevance)) = columns.last().map(|last| last.parse::<f64>()) else { continue };
        let document = columns[columns.len() - 2];
        all.entry(columns[0].to_owned()).or_default().insert(document.to_owned(), relevance);
    }
    Ok(all)
}

fn gain(relevances: impl Iterator<Item = f64>) -> f64 {
    relevances.take(10).enumerate().map(|(rank, relevance)| relevance / (rank as f64 + 2.0).log2()).sum()
}

fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).ok_or("the folder of SciFact is missing")?;
    let folder = Path::new(&folder);
    let shard_folder = tempfile::tempdir()?;
    let shard = Shard::open(shard_folder.path(), vec![])?;
    let corpus = lines(&folder.join("corpus.jsonl"))?;
    let started = Instant::now();
    let segment = |document: &Value| SegmentInput {
        record: "{}".into(),
        words: Some(format!("{}\n{}", field(document, "title"), field(document, "text"))),
        ..SegmentInput::default()
    };
    let item = ItemRecord::parse(&format!(
        r#"{{"id":"scifact","sha256":"{}","state":"searchable","bytes":1}}"#,
        "0".repeat(64)
    ))?;
    shard.write(WriteOp::Append { item, segments: corpus.iter().map(segment).collect() })?;
    println!("{} abstracts indexed in {:?}", corpus.len(), started.elapsed());
    let judgements = judgements(&folder.join("qrels.tsv"))?;
    let (mut sum, mut count, mut times) = (0.0, 0, vec![]);
    for query in lines(&folder.join("queries.jsonl"))? {
        let Some(relevant) = judgements.get(&id(&query)) else { continue };
        let started = Instant::now();
        let hits = shard.snapshot()?.search_words(&field(&query, "text"), 10)?.hits;
        times.push(started.elapsed());
        let found = hits.iter().map(|hit| relevant.get(&id(&corpus[hit.segment as usize])).copied().unwrap_or(0.0));
        let mut ideal: Vec<f64> = relevant.values().copied().collect();
        ideal.sort_by(|left, right| right.total_cmp(left));
        sum += gain(found) / gain(ideal.into_iter());
        count += 1;
    }
    times.sort();
    println!("nDCG@10 {:.4} over {count} queries, p50 {:?}", sum / f64::from(count), times[times.len() / 2]);
    Ok(())
}
