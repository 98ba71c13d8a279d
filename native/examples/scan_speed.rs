//! Speed of the proved scan, and of the method that is used otherwise: rows in random clusters (not real embeddings),
//! 384 dimensions, k 30, one thread. `cargo run --release -p farthing-core --example scan_speed -- ROWS…`;
//! `FARTHING_KERNEL` forces a kernel.

use std::error::Error;
use std::time::Instant;

use farthing_core::kernels::detection;
use farthing_core::ranking::options::SearchOptions;
use farthing_core::ranking::top_k::Method;
use farthing_core::shard::open_shard::Shard;
use farthing_core::shard::query::Query;
use farthing_core::store::spaces::SpaceSpec;
use farthing_core::write::input::{ItemRecord, SegmentInput};
use farthing_core::write::write_op::WriteOp;

const DIMENSIONS: usize = 384;
const QUERIES: usize = 200;
const ROUNDS: usize = 5;

/// xorshift64*: the same rows in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u64 << 24) as f32
    }

    /// About normal: the sum of some uniform numbers.
    fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.next()).sum::<f32>() - 3.0
    }

    fn near(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
        let mut row: Vec<f32> = centre.iter().map(|value| value + spread * self.normal()).collect();
        let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        row.iter_mut().for_each(|value| *value /= norm);
        row
    }
}

fn measure(rows: usize) -> Result<(), Box<dyn Error>> {
    let mut random = Random(88_172_645_463_325_252);
    let centres: Vec<Vec<f32>> = (0..rows.div_ceil(50)).map(|_| random.near(&[0.0; DIMENSIONS], 1.0)).collect();
    let folder = tempfile::tempdir()?;
    let space = SpaceSpec { name: "meaning".into(), dimensions: DIMENSIONS, model: [1; 32] };
    let shard = Shard::open(folder.path(), vec![space])?;
    let started = Instant::now();
    for (number, from) in (0..rows).step_by(8192).enumerate() {
        let segment = |row: usize, random: &mut Random| SegmentInput {
            record: "{}".into(),
            vectors: vec![(0, random.near(&centres[row % centres.len()], 0.04))],
            ..SegmentInput::default()
        };
        let segments = (from..rows.min(from + 8192)).map(|row| segment(row, &mut random)).collect();
        let item = ItemRecord::parse(&format!(
            r#"{{"id":"i{number}","sha256":"{}","state":"searchable","bytes":1}}"#,
            "0".repeat(64)
        ))?;
        shard.write(WriteOp::Append { item, segments, replaces: vec![] })?;
    }
    println!("{rows} rows: {:?} to append", started.elapsed());
    shard.when_idle()?;
    let queries: Vec<Vec<f32>> =
        (0..QUERIES).map(|number| random.near(&centres[number * 7 % centres.len()], 0.04)).collect();
    for exact in [true, false] {
        report(&shard, &queries, exact)?;
    }
    Ok(())
}

/// Prints times of all rounds but the first, which reads the pages in.
fn report(shard: &Shard, queries: &[Vec<f32>], exact: bool) -> Result<(), Box<dyn Error>> {
    let (mut times, mut rescored, mut method) = (vec![], vec![], Method::default());
    for round in 0..=ROUNDS {
        for query in queries {
            let started = Instant::now();
            let query = Query::Vector { space: "meaning".into(), vector: query.clone() };
            let ranking = shard.snapshot()?.answer(&query, &SearchOptions { exact, ..SearchOptions::best(30) })?;
            if round > 0 {
                times.push(started.elapsed());
                rescored.push(ranking.rescored);
                method = ranking.method;
            }
        }
    }
    times.sort();
    rescored.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    println!(
        "  {method:?}: p50 {:?}, p99 {:?}; rescored p50 {}, at most {:?}",
        at(50),
        at(99),
        rescored[rescored.len() / 2],
        rescored.last()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("kernel {}", detection::chosen()?.name);
    for rows in std::env::args().skip(1) {
        measure(rows.parse()?)?;
    }
    Ok(())
}
