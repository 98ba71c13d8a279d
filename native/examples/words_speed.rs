//! Search by words over recombined sentences of a corpus, in memory and on one thread. It measures processor time, so
//! that other work on the machine counts little. `cargo run --release -p farthing-core --example words_speed -- FOLDER
//! ROWS K CACHE`: FOLDER has corpus.jsonl and queries.jsonl of SciFact; the blocks, which take long to make, are kept
//! in the folder CACHE.

use std::collections::HashMap;
use std::error::Error;
use std::fs::read_to_string;
use std::path::Path;

use farthing_core::blocks::dead::Dead;
use farthing_core::ranking::options::SearchOptions;
use farthing_core::terms::language::DEFAULT;
use farthing_core::words::block::WordsBlock;
use farthing_core::words::build::{analyse, encode};
use farthing_core::words::postings::PostingsView;
use farthing_core::words::rank::search;

const BLOCK_ROWS: usize = 32_768;
const SENTENCES: usize = 6;

fn processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Safety: the struct outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn texts(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let lines = read_to_string(path)?;
    let text = |line: &str| -> Result<String, Box<dyn Error>> {
        let value: serde_json::Value = serde_json::from_str(line)?;
        Ok(value["text"].as_str().unwrap_or_default().to_owned())
    };
    lines.lines().map(text).collect()
}

/// Blocks of passages, each of randomly picked sentences.
fn recombined(corpus: &[String], rows: usize) -> Vec<Vec<u8>> {
    let sentences: Vec<&str> = corpus.iter().flat_map(|text| text.split(". ")).collect();
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut terms_of = HashMap::new();
    let mut block = |first: usize| {
        let analysed: Vec<_> = (first..rows.min(first + BLOCK_ROWS))
            .map(|row| {
                let text: Vec<&str> = (0..SENTENCES).map(|_| sentences[random() % sentences.len()]).collect();
                (row as u32, analyse(&text.join(". "), DEFAULT, &mut terms_of))
            })
            .collect();
        encode(&analysed)
    };
    (0..rows).step_by(BLOCK_ROWS).map(&mut block).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, rows, k, cache] = &arguments[..] else { return Err("FOLDER ROWS K CACHE".into()) };
    let (folder, rows, k): (&Path, usize, usize) = (folder.as_ref(), rows.parse()?, k.parse()?);
    let kept = |at: usize| Path::new(cache).join(format!("{rows}-{at}.words"));
    if !kept(0).exists() {
        std::fs::create_dir_all(cache)?;
        for (at, block) in recombined(&texts(&folder.join("corpus.jsonl"))?, rows).iter().enumerate() {
            std::fs::write(kept(at), block)?;
        }
    }
    let blocks = (0..rows.div_ceil(BLOCK_ROWS)).map(|at| std::fs::read(kept(at))).collect::<Result<Vec<_>, _>>()?;
    let queries = texts(&folder.join("queries.jsonl"))?;
    let views: Vec<WordsBlock<'_>> = blocks
        .iter()
        .map(|value| Ok(WordsBlock { view: PostingsView::read(value)?, dead: Dead::default() }))
        .collect::<Result<_, Box<dyn Error>>>()?;
    let (mut times, mut scanned) = (vec![], 0);
    for round in 0..4 {
        for query in &queries {
            let before = processor_ns();
            let ranking = search(&views, query, None, &SearchOptions::best(k))?;
            if round > 0 {
                times.push(processor_ns() - before);
                scanned += ranking.scanned;
            }
        }
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1e6;
    let bytes: usize = blocks.iter().map(Vec::len).sum();
    println!(
        "{rows} passages of {} bytes, k {k}: p50 {:.3} ms, p90 {:.3}, p99 {:.3} of processor time; {} postings scored a query",
        bytes / rows,
        at(0.5),
        at(0.9),
        at(0.99),
        scanned / times.len() as u64,
    );
    Ok(())
}
