//! Speed of the encoder's forward pass alone, one thread: the shipped text model, texts of so many tokens, and products a
//! second. `cargo run --release -p farthing-core --example encoder_speed -- TOKENS…` (16x10: sixteen texts of ten tokens in
//! one run). COLD=1: other memory is read before each pass, so that no weight is in the caches. `FARTHING_ENCODER_KERNEL`
//! forces a kernel.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use farthing_core::encoder::bert::matched::{DescribedPooling, Description};
use farthing_core::encoder::bert::pattern::Inputs;
use farthing_core::encoder::encoding::model::Model;
use farthing_core::encoder::forward::network::encode;
use farthing_core::encoder::forward::packed::Packed;
use farthing_core::encoder::forward::scratch::Scratch;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/all-MiniLM-L6-v2/model_int8.onnx");
/// More than the caches hold.
const OTHER_BYTES: usize = 1 << 27;
const SECONDS: f64 = 1.0;
const DEFAULT: [&str; 9] = ["8", "10", "16", "32", "64", "128", "256", "16x10", "8x256"];

fn main() -> Result<(), Box<dyn Error>> {
    let inputs = Inputs { ids: "input_ids".into(), mask: Some("attention_mask".into()), types: None };
    let pooling = DescribedPooling::InGraph;
    let description = Description { inputs, output: "sentence_embedding".into(), pooling };
    let model = Model::open(Path::new(MODEL), &description).map_err(|refusal| refusal.to_string())?;
    let given: Vec<String> = std::env::args().skip(1).collect();
    let loads = if given.is_empty() { DEFAULT.map(str::to_owned).to_vec() } else { given };
    let are_cold = std::env::var_os("COLD").is_some();
    println!("{}{}", model.kernel.name, if are_cold { ", weights out of the caches" } else { "" });
    let other = vec![1u8; if are_cold { OTHER_BYTES } else { 0 }];
    for load in loads {
        let (texts, tokens) = load.split_once('x').unwrap_or(("1", &load));
        let (texts, tokens): (usize, usize) = (texts.parse()?, tokens.parse()?);
        let text: Vec<u32> = (0..tokens as u32).map(|token| 1000 + 37 * token).collect();
        let texts = vec![text.as_slice(); texts];
        let mut out = vec![0.0; texts.len() * model.packed.hidden];
        let mut scratch = Scratch::default();
        let mut times = Vec::new();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs_f64(SECONDS) {
            black_box(other.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>());
            let start = Instant::now();
            encode(model.kernel, &model.packed, &texts, &mut scratch, &mut out);
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let (least, median) = (times[0], times[times.len() / 2]);
        let speed = products(&model.packed, tokens) * texts.len() as f64 / median / 1e9;
        println!(
            "{load:>6} tokens: least {:.3} ms, median {:.3} ms, {speed:.0} G products a second",
            1e3 * least,
            1e3 * median
        );
    }
    Ok(())
}

/// Products of bytes of one text, those of attention over whole blocks of keys left out.
fn products(model: &Packed, tokens: usize) -> f64 {
    let layer = 4 * model.hidden * model.hidden + 2 * model.hidden * model.inner();
    (model.layers.len() * tokens * (layer + 2 * tokens * model.hidden)) as f64
}
