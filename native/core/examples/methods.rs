//! Compares the search methods on the same rows: processor time of a search and, for each k, recall against the proved answer. `cargo run
//! --release -p farthing-core --example methods -- SENTENCES.f32 QUERIES.f32 ROWS…`: rows of 384 dimensions, with
//! perturbed copies of them if there are too few. `DEVIATIONS=3.1`; `FARTHING_KERNEL` forces a kernel.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use farthing_core::kernels::detection;
use farthing_core::ranking::options::SearchOptions;
use farthing_core::ranking::top_k::Ranking;
use farthing_core::shard::open_shard::Shard;
use farthing_core::shard::query::Query;
use farthing_core::store::methods::Methods;
use farthing_core::store::spaces::SpaceSpec;
use farthing_core::write::input::{ItemRecord, SegmentInput};
use farthing_core::write::write_op::WriteOp;

const DIMENSIONS: usize = 384;
const QUERIES: usize = 100;
const ITEM_ROWS: usize = 4096;
/// Length of the noise of a perturbed copy, as in bench/index/vectors.ts.
const NOISE: f32 = 0.4;

fn floats(path: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = std::fs::read(Path::new(path))?;
    Ok(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

/// Row `number`: a real one, or a perturbed copy of one, of unit length; the same in every run.
fn row(real: &[f32], number: usize) -> Vec<f32> {
    let count = real.len() / DIMENSIONS;
    let from = number % count;
    let mut values = real[from * DIMENSIONS..(from + 1) * DIMENSIONS].to_vec();
    if number < count {
        return values;
    }
    let mut state = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    for value in &mut values {
        let normal = (0..6).map(|_| uniform()).sum::<f32>() - 3.0;
        *value += NOISE / (DIMENSIONS as f32).sqrt() * normal * std::f32::consts::SQRT_2;
    }
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter_mut().for_each(|value| *value /= norm);
    values
}

fn fill(shard: &Shard, real: &[f32], rows: usize) -> Result<(), Box<dyn Error>> {
    for from in (0..rows).step_by(ITEM_ROWS) {
        let segments = (from..rows.min(from + ITEM_ROWS)).map(|number| SegmentInput {
            record: "{}".into(),
            vectors: vec![(0, row(real, number))],
            ..SegmentInput::default()
        });
        let json = format!(r#"{{"id":"i{from}","sha256":"{}","state":"searchable","bytes":1}}"#, "0".repeat(64));
        shard.write(WriteOp::Append {
            item: ItemRecord::parse(&json)?,
            segments: segments.collect(),
            replaces: vec![],
        })?;
    }
    Ok(())
}

/// Of the calling thread, which a search stays on.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Safety: a plain system call that fills the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn ask(shard: &Shard, query: &[f32], k: usize, exact: bool) -> Result<(Ranking, Duration), Box<dyn Error>> {
    let query = Query::Vector { space: "meaning".into(), vector: query.to_vec() };
    let started = processor_time();
    let ranking = shard.snapshot()?.answer(&query, &SearchOptions { k, exact, ..SearchOptions::default() })?;
    Ok((ranking, processor_time() - started))
}

/// First by bits, then by a graph.
fn measure(real: &[f32], queries: &[f32], rows: usize, methods: Methods) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for graph_rows_min in [usize::MAX, 1] {
        let space = SpaceSpec { name: "meaning".into(), dimensions: DIMENSIONS, model: [1; 32] };
        let started = Instant::now();
        let shard = Shard::open_with(folder.path(), vec![space], Methods { graph_rows_min, ..methods })?;
        if graph_rows_min == usize::MAX {
            fill(&shard, real, rows)?;
        }
        let filled = started.elapsed();
        shard.when_idle()?;
        println!("{rows} rows: appended in {filled:.1?}, derived after {:.1?}", started.elapsed());
        compare(&shard, queries)?;
        shard.close()?;
    }
    Ok(())
}

fn compare(shard: &Shard, queries: &[f32]) -> Result<(), Box<dyn Error>> {
    for k in [1, 10, 30, 100, 200, 1000] {
        let (mut proved_times, mut quick_times, mut rescored) = (vec![], vec![], vec![]);
        let (mut good, mut all, mut worst, mut method, mut said) = (0, 0, 1f64, None, 1f64);
        for query in queries.chunks_exact(DIMENSIONS).take(QUERIES) {
            let (proved, _) = ask(shard, query, k, true)?;
            proved_times.push(ask(shard, query, k, true)?.1);
            let (quick, _) = ask(shard, query, k, false)?;
            quick_times.push(ask(shard, query, k, false)?.1);
            let least = proved.hits.last().map_or(0.0, |hit| hit.score);
            let found = quick.hits.iter().filter(|hit| hit.score >= least).count().min(proved.hits.len());
            (good, all) = (good + found, all + proved.hits.len());
            worst = worst.min(found as f64 / proved.hits.len().max(1) as f64);
            rescored.push(quick.rescored);
            (method, said) = (Some(quick.method), quick.recall);
        }
        for times in [&mut proved_times, &mut quick_times] {
            times.sort();
        }
        rescored.sort_unstable();
        println!(
            "  k {k:4}: proved p50 {:.3?} p99 {:.3?}   {:?} p50 {:.3?} p99 {:.3?}   recall {:.5} (said {:.4}) worst {worst:.3}   rescored {}",
            proved_times[QUERIES / 2],
            proved_times[QUERIES * 99 / 100],
            method.unwrap_or_default(),
            quick_times[QUERIES / 2],
            quick_times[QUERIES * 99 / 100],
            good as f64 / all as f64,
            said,
            rescored[QUERIES / 2],
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("kernel {}", detection::chosen()?.name);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [real, queries, sizes @ ..] = arguments.as_slice() else {
        return Err("SENTENCES.f32 QUERIES.f32 ROWS…".into());
    };
    let deviations =
        std::env::var("DEVIATIONS").ok().map_or(Ok(Methods::MEASURED.bits_deviations), |text| text.parse())?;
    let methods = Methods { bits_rows_min: 1, bits_rows_per_hit: 1, bits_deviations: deviations, ..Methods::MEASURED };
    for rows in sizes {
        measure(&floats(real)?, &floats(queries)?, rows.parse()?, methods)?;
    }
    Ok(())
}
