//! The share of each step in the encoder's forward pass: `cargo run --release -p farthing-encoder --example steps -- TOKENS…`.
//! KERNELS as for `speed`. Microseconds of processor time: the median of many passes.

use std::error::Error;
use std::time::Instant;

use farthing_encoder::encoding::clock::thread_milliseconds;
use farthing_encoder::forward::attention::{KEYS_TOGETHER, Tile};
use farthing_encoder::forward::embedding::embed;
use farthing_encoder::forward::feed_forward::{CHUNK, Inner, Keep, activate};
use farthing_encoder::forward::linear::{AddTo, multiply};
use farthing_encoder::forward::norm::normalise;
use farthing_encoder::forward::packed::Packed;
use farthing_encoder::forward::projection::Project;
use farthing_encoder::forward::scratch::Scratch;
use farthing_encoder::lanes::isa::{Isa, LANES, Pass};
use farthing_encoder::lanes::kernel::{Kernel, by_name, chosen};
use farthing_encoder::lanes::tile::{Tiling, tiles};

#[path = "shared/shipped.rs"]
mod shipped;

const SECONDS: f64 = 0.5;
const STEPS: [&str; 10] = [
    "embedding",
    "queries, keys, values",
    "scores",
    "softmax",
    "mixing",
    "attention's bytes",
    "attention's output",
    "up",
    "GELU",
    "down",
];
const NORMS: &str = "norms";

struct Steps<'a> {
    model: &'a Packed,
    scratch: &'a mut Scratch,
}

/// Milliseconds of this thread's processor time.
fn milliseconds() -> f64 {
    thread_milliseconds().expect("the system tells a thread's processor time")
}

/// Times of the steps, in their order, and of the norms.
struct Clock {
    times: [f64; STEPS.len() + 1],
    last: f64,
}

impl Clock {
    fn ends(&mut self, step: usize) {
        let now = milliseconds();
        self.times[step] += now - self.last;
        self.last = now;
    }
}

impl Pass for Steps<'_> {
    type Output = [f64; STEPS.len() + 1];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Self { model, scratch } = self;
        let mut clock = Clock { times: [0.0; STEPS.len() + 1], last: milliseconds() };
        scratch.resize::<I>(model);
        let Scratch { places, ids, vectors, activations, heads, shares, inner, .. } = scratch;
        let (tokens, lines) = (places.tokens(), model.hidden / LANES);
        embed(isa, model, ids, places, vectors, activations);
        clock.ends(0);
        for layer in &model.layers {
            let mut project = Project { heads: model.heads, scale: layer.scale, places, into: heads };
            multiply(isa, 0..tokens, activations, &model.panels, &layer.projections, &mut project);
            clock.ends(1);
            for text in &places.texts {
                let together = (KEYS_TOGETHER / text.padded()).clamp(1, model.heads);
                shares.resize::<I>(text, together, model.hidden);
                for (start, count) in tiles(text.tokens, I::Tiling::ROWS, I::Tiling::GRAIN) {
                    for first in (0..model.heads).step_by(together) {
                        let some = first..model.heads.min(first + together);
                        let tile = |head: usize| Tile {
                            model,
                            text,
                            heads,
                            head,
                            slot: head - first,
                            first: text.start + start,
                            count,
                        };
                        for head in some.clone() {
                            tile(head).score(isa, shares);
                        }
                        clock.ends(2);
                        for head in some.clone() {
                            tile(head).share(isa, shares);
                        }
                        clock.ends(3);
                        for head in some {
                            tile(head).mix(isa, shares);
                        }
                        clock.ends(4);
                    }
                    let rows = text.start + start..text.start + start + count;
                    activations.write_all(isa, rows, &shares.context);
                    clock.ends(5);
                }
            }
            multiply(
                isa,
                0..tokens,
                activations,
                &model.panels,
                &layer.attention_output,
                &mut AddTo { vectors, lines },
            );
            clock.ends(6);
            normalise(isa, &layer.attention_norm, 0..tokens, vectors, activations);
            clock.ends(STEPS.len());
            for first in (0..tokens).step_by(CHUNK) {
                let chunk = first..tokens.min(first + CHUNK);
                let Inner { values, largest, .. } = &mut *inner;
                let mut keep = Keep { chunk: chunk.clone(), values, largest };
                multiply(isa, chunk.clone(), activations, &model.panels, &layer.up, &mut keep);
                clock.ends(7);
                activate(isa, chunk.len(), inner);
                clock.ends(8);
                let mut to = AddTo { vectors: &mut vectors[first * lines..], lines };
                multiply(isa, 0..chunk.len(), &inner.bytes, &model.panels, &layer.down, &mut to);
                clock.ends(9);
            }
            normalise(isa, &layer.output_norm, 0..tokens, vectors, activations);
            clock.ends(STEPS.len());
        }
        clock.times
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = shipped::open()?;
    let kernels: Vec<Kernel> = match std::env::var("KERNELS") {
        Ok(names) => names.split(',').map(|name| by_name(Some(name))).collect::<Result<_, _>>()?,
        Err(_) => vec![chosen()?],
    };
    for load in std::env::args().skip(1) {
        let (texts, tokens) = shipped::load(&load)?;
        let text: Vec<u32> = (0..tokens as u32).map(|token| 1000 + 37 * token).collect();
        let texts = vec![text.as_slice(); texts];
        let mut columns = Vec::new();
        for kernel in &kernels {
            let mut scratch = Scratch::default();
            let mut passes: Vec<[f64; STEPS.len() + 1]> = Vec::new();
            let began = Instant::now();
            while began.elapsed().as_secs_f64() < SECONDS {
                scratch.prepare(&texts);
                passes.push(kernel.run(Steps { model: &model, scratch: &mut scratch }));
            }
            let median = |step: usize| {
                let mut times: Vec<f64> = passes.iter().map(|pass| pass[step]).collect();
                times.sort_by(f64::total_cmp);
                1e3 * times[times.len() / 2]
            };
            columns.push((0..=STEPS.len()).map(median).collect::<Vec<f64>>());
        }
        println!("{load} tokens: {kernels:?}");
        for (step, name) in STEPS.iter().chain([&NORMS]).enumerate() {
            let times: Vec<String> = columns.iter().map(|column| format!("{:9.1}", column[step])).collect();
            println!("{name:>24} {}", times.join(" "));
        }
        let sums: Vec<String> = columns.iter().map(|column| format!("{:9.1}", column.iter().sum::<f64>())).collect();
        println!("{:>24} {}", "sum", sums.join(" "));
    }
    Ok(())
}
