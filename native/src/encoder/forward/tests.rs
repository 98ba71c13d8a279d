use std::sync::OnceLock;

use super::network::encode;
use super::packed::Packed;
use super::scratch::Scratch;
use crate::encoder::bert::matched::{DescribedPooling, Description, matched};
use crate::encoder::bert::pattern::Inputs;
use crate::encoder::lanes::kernel::{Kernel, available, by_name};

const MINILM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/all-MiniLM-L6-v2/model_int8.onnx");

fn shipped() -> &'static Packed {
    static SHIPPED: OnceLock<Packed> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let inputs = Inputs { ids: "input_ids".into(), mask: Some("attention_mask".into()), types: None };
        let output = "sentence_embedding".into();
        let file = std::fs::read(MINILM).expect("the shipped model is in the tree");
        Packed::new(matched(&file, &Description { inputs, output, pooling: DescribedPooling::InGraph }).unwrap())
    })
}

/// Ids of a text of that many tokens, between the special tokens.
fn text(tokens: usize, seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut ids: Vec<u32> = (0..tokens)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            1000 + (state >> 8) % 28_000
        })
        .collect();
    ids[0] = 101;
    ids[tokens - 1] = 102;
    ids
}

fn vectors(kernel: Kernel, texts: &[&[u32]], scratch: &mut Scratch) -> Vec<f32> {
    let mut out = vec![f32::NAN; texts.len() * shipped().hidden];
    encode(kernel, shipped(), texts, scratch, &mut out);
    out
}

#[test]
fn speed() {
    let mut scratch = Scratch::default();
    for name in ["avx512vnni", "avx512vl", "avx2"] {
        let kernel = by_name(Some(name)).unwrap();
        for tokens in [8, 10, 16, 32, 64, 128, 256] {
            let ids = text(tokens, 7);
            let mut best = f64::INFINITY;
            for _ in 0..60 {
                let started = std::time::Instant::now();
                vectors(kernel, &[&ids], &mut scratch);
                best = best.min(started.elapsed().as_secs_f64());
            }
            println!("{name} {tokens}: {:.3} ms", best * 1000.0);
        }
    }
}

#[test]
fn hello() {
    let mut scratch = Scratch::default();
    let v = vectors(available()[0], &[&[101, 1037, 21628, 3762, 4937, 102]], &mut scratch);
    println!("{:?}", &v[..8]);
}
