//! Speed of the encoder's forward pass alone, in one thread's processor time: the shipped text model, texts of so many tokens,
//! and products a second. `cargo run --release -p farthing-encoder --example speed -- TOKENS…` (16x10: sixteen texts of ten tokens in
//! one run). KERNELS=amx-int8,avx512vnni: several kernels in turns, pass by pass; without it the one that the process chooses.
//! COLD=1: other memory is read before each pass, so that no weight is in the caches. SECONDS=2 for each kernel and load.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use farthing_encoder::encoding::clock::thread_milliseconds;
use farthing_encoder::forward::network::encode;
use farthing_encoder::forward::packed::Packed;
use farthing_encoder::forward::scratch::Scratch;
use farthing_encoder::lanes::kernel::{Kernel, by_name, chosen, refused_tiles};

#[path = "shared/shipped.rs"]
mod shipped;

/// More than the caches hold.
const OTHER_BYTES: usize = 1 << 27;
const DEFAULT: [&str; 9] = ["8", "10", "16", "32", "64", "128", "256", "16x10", "8x256"];

fn main() -> Result<(), Box<dyn Error>> {
    let model = shipped::open()?;
    let given: Vec<String> = std::env::args().skip(1).collect();
    let loads = if given.is_empty() { DEFAULT.map(str::to_owned).to_vec() } else { given };
    let are_cold = std::env::var_os("COLD").is_some();
    let seconds: f64 = std::env::var("SECONDS").map_or(Ok(1.0), |seconds| seconds.parse())?;
    let kernels: Vec<Kernel> = match std::env::var("KERNELS") {
        Ok(names) => names.split(',').map(|name| by_name(Some(name))).collect::<Result<_, _>>()?,
        Err(_) => vec![chosen()?],
    };
    if let Some(reason) = refused_tiles() {
        println!("tiles are refused: {reason}");
    }
    if are_cold {
        println!("weights out of the caches");
    }
    let other = vec![1u8; if are_cold { OTHER_BYTES } else { 0 }];
    for load in loads {
        let (texts, tokens) = shipped::load(&load)?;
        let text: Vec<u32> = (0..tokens as u32).map(|token| 1000 + 37 * token).collect();
        let texts = vec![text.as_slice(); texts];
        let mut out = vec![0.0; texts.len() * model.hidden];
        let mut scratches: Vec<Scratch> = kernels.iter().map(|_| Scratch::default()).collect();
        let mut times = vec![Vec::new(); kernels.len()];
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs_f64(seconds * kernels.len() as f64) {
            for ((kernel, scratch), times) in kernels.iter().zip(&mut scratches).zip(&mut times) {
                black_box(other.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>());
                let start = processor_seconds();
                encode(*kernel, &model, &texts, scratch, &mut out);
                times.push(processor_seconds() - start);
            }
        }
        for (kernel, mut times) in kernels.iter().zip(times) {
            times.sort_by(f64::total_cmp);
            let (least, median) = (times[0], times[times.len() / 2]);
            let speed = products(&model, tokens) * texts.len() as f64 / median / 1e9;
            println!(
                "{load:>6} tokens, {kernel:?}: least {:.3} ms, median {:.3} ms, {speed:.0} G products a second",
                1e3 * least,
                1e3 * median
            );
        }
    }
    Ok(())
}

/// Seconds of this thread's processor time, which other work on the machine does not stretch.
fn processor_seconds() -> f64 {
    thread_milliseconds().expect("the system tells a thread's processor time") / 1e3
}

/// Products of bytes of one text, those of attention over whole blocks of keys left out.
fn products(model: &Packed, tokens: usize) -> f64 {
    let layer = 4 * model.hidden * model.hidden + 2 * model.hidden * model.inner();
    (model.layers.len() * tokens * (layer + 2 * tokens * model.hidden)) as f64
}
