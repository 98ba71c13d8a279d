use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::activation::{GELU_LEAST, gelu, power_of_two};
use super::aligned::Aligned;
use super::linear::{AddTo, multiply};
use super::network::encode;
use super::packed::Packed;
use super::quantised::Quantised;
use super::reference::{self, Sizes, random};
use super::scratch::Scratch;
use crate::bert::matched::matched;
use crate::bert::tests as model_file;
use crate::bert::weights::{Bert, Pooling};
use crate::lanes::isa::{Isa, LANES, Line, Pass};
use crate::lanes::kernel::{Kernel, available, by_name};
use crate::lanes::tile::Tiling;

fn shipped() -> &'static (Bert, Packed) {
    static SHIPPED: OnceLock<(Bert, Packed)> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let bert = matched(&model_file::shipped().into(), &model_file::description()).unwrap();
        (bert.clone(), Packed::new(bert))
    })
}

/// Ids of a text of that many tokens.
fn text(tokens: usize, seed: u32, words: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    (0..tokens)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % words
        })
        .collect()
}

fn vectors(kernel: Kernel, model: &Packed, texts: &[&[u32]], scratch: &mut Scratch) -> Vec<f32> {
    let mut out = vec![f32::NAN; texts.len() * model.hidden];
    encode(kernel, model, texts, scratch, &mut out);
    out
}

fn bits(vector: &[f32]) -> Vec<u32> {
    vector.iter().map(|value| value.to_bits()).collect()
}

fn cosine(a: &[f32], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * b).sum()
}

const MULTILINGUAL: &str = "models/multilingual-e5-small/model_q4.onnx";
const BLOCKS_VECTORS: &str = "native/encoder/fixtures/blocks/vectors.json";

const BGE_SMALL: Sizes =
    Sizes { hidden: 384, heads: 12, inner: 1536, layers: 12, words: 500, positions: 64, pooling: Pooling::First };
const WIDE_HEADS: Sizes =
    Sizes { hidden: 256, heads: 4, inner: 1024, layers: 2, words: 300, positions: 80, pooling: Pooling::Mean };
const SMALL: Sizes =
    Sizes { hidden: 64, heads: 2, inner: 96, layers: 3, words: 100, positions: 80, pooling: Pooling::Last };

#[test]
fn vectors_are_near_those_of_plain_arithmetic_for_every_shape() {
    let mut scratch = Scratch::default();
    for sizes in [SMALL, WIDE_HEADS, BGE_SMALL] {
        let bert = random(sizes);
        let packed = Packed::new(bert.clone());
        for tokens in [1, 13, 33] {
            let ids = text(tokens, tokens as u32, sizes.words as u32);
            let vector = vectors(available()[0], &packed, &[&ids], &mut scratch);
            let likeness = cosine(&vector, &reference::vector(&bert, &ids));
            assert!(likeness > 0.999, "{} wide, {tokens} tokens: {likeness}", sizes.hidden);
        }
    }
}

#[test]
fn the_shipped_model_is_near_plain_arithmetic() {
    let (bert, packed) = shipped();
    for tokens in [3, 12] {
        let ids = text(tokens, 5, 30_000);
        let vector = vectors(available()[0], packed, &[&ids], &mut Scratch::default());
        let likeness = cosine(&vector, &reference::vector(bert, &ids));
        assert!(likeness > 0.998, "{tokens} tokens: {likeness}");
    }
}

/// ONNX Runtime's vectors of a small model of random weights, which are coarser than trained ones.
#[test]
fn a_model_of_blocks_is_near_onnx_runtime() {
    #[derive(serde::Deserialize)]
    struct Case {
        ids: Vec<u32>,
        vector: Vec<f64>,
    }
    let cases: Vec<Case> = serde_json::from_slice(&model_file::in_tree(BLOCKS_VECTORS).unwrap()).unwrap();
    let bert = matched(&model_file::blocks().into(), &model_file::description()).unwrap();
    let packed = Packed::new(bert.clone());
    assert_eq!(cases.len(), 3);
    for Case { ids, vector } in cases {
        let found = vectors(available()[0], &packed, &[&ids], &mut Scratch::default());
        let (likeness, exact) = (cosine(&found, &vector), reference::vector(&bert, &ids));
        let plain: f64 = exact.iter().zip(&vector).map(|(a, b)| a * b).sum();
        assert!(likeness > 0.999 && plain > 0.9998, "{} tokens: {likeness}, {plain}", ids.len());
    }
}

#[test]
fn every_kernel_gives_the_same_bits_for_every_shape() {
    for sizes in [SMALL, WIDE_HEADS] {
        let packed = Packed::new(random(sizes));
        for tokens in 1..=sizes.positions.min(40) {
            let ids = text(tokens, 3 + tokens as u32, sizes.words as u32);
            let of = |kernel: Kernel| bits(&vectors(kernel, &packed, &[&ids], &mut Scratch::default()));
            let expected = of(by_name(Some("scalar")).unwrap());
            for kernel in available() {
                assert!(of(*kernel) == expected, "{}: {} wide, {tokens} tokens", kernel.name, sizes.hidden);
            }
        }
    }
}

/// Products of a layer whose weights are all extreme, with tokens of every kind side by side: their bytes near one value but for a
/// few, spread evenly, at the two ends alone, or all equal.
struct Extremes<'a>(&'a Packed);

impl Pass for Extremes<'_> {
    /// The outputs, and for each token whether it has a near form.
    type Output = (Vec<u32>, Vec<bool>);

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        const TOKENS: usize = 53;
        let (model, linear) = (self.0, &self.0.layers[0].up);
        let lines = model.hidden / LANES;
        let mut values = Aligned::default();
        values.resize(TOKENS * lines);
        for (at, value) in values.as_flattened_mut().iter_mut().enumerate() {
            let noise = (at as u32).wrapping_mul(2_654_435_761) >> 8;
            let even = noise as f32 / (1 << 24) as f32 - 0.5;
            *value = match at / model.hidden % 7 {
                0..4 => {
                    if noise.is_multiple_of(61) {
                        even
                    } else {
                        even / 16.0
                    }
                }
                4 => even,
                5 => {
                    if noise.is_multiple_of(2) {
                        1.0
                    } else {
                        -1.0
                    }
                }
                _ => 0.25,
            };
        }
        let mut activations = Quantised::default();
        activations.resize::<I>(TOKENS, model.hidden);
        activations.write_all(isa, 0..TOKENS, &values);
        let mut vectors = vec![[0.0; LANES]; TOKENS * linear.outputs / LANES];
        let mut add = AddTo { vectors: &mut vectors, lines: linear.outputs / LANES };
        multiply(isa, 0..TOKENS, &activations, &model.panels, linear, &mut add);
        let near = (0..TOKENS).map(|token| I::Tiling::NEAR && activations.near.are_near(token, 1)).collect();
        (bits(vectors.as_flattened()), near)
    }
}

#[test]
fn extreme_weights_and_tokens_have_the_same_bits_on_every_kernel_in_both_forms() {
    let mut bert = random(WIDE_HEADS);
    for (at, weight) in bert.layers[0].up.weights.iter_mut().enumerate() {
        *weight = if (at as u32).wrapping_mul(2_654_435_761) >> 31 == 0 { 127 } else { 0x81 };
    }
    let packed = Packed::new(bert);
    let (expected, _) = by_name(Some("scalar")).unwrap().run(Extremes(&packed));
    for kernel in available() {
        let (found, near) = kernel.run(Extremes(&packed));
        assert!(found == expected, "{}", kernel.name);
        assert!(kernel.name != "avx2" || near.contains(&true) && near.contains(&false), "{near:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_text_has_the_same_bits_alone_and_in_any_batch_on_any_kernel(
        lengths in prop::collection::vec(1usize..80, 1..9),
        seed in any::<u32>(),
        kernel in prop::sample::select(available()),
    ) {
        static MODEL: OnceLock<Packed> = OnceLock::new();
        let model = MODEL.get_or_init(|| Packed::new(random(WIDE_HEADS)));
        let texts: Vec<Vec<u32>> =
            lengths.iter().enumerate().map(|(at, length)| text(*length, seed ^ at as u32, 300)).collect();
        let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        let mut scratch = Scratch::default();
        let together = vectors(kernel, model, &texts, &mut scratch);
        for (text, vector) in texts.iter().zip(together.chunks_exact(model.hidden)) {
            // On the best kernel, in memory that another run has used.
            let alone = vectors(available()[0], model, &[text], &mut scratch);
            prop_assert!(bits(&alone) == bits(vector), "{} tokens on {}", text.len(), kernel.name);
        }
    }
}

/// The shipped model's bits. They are part of the identity of the spaces that it fills: if they change on purpose, so must
/// the arithmetic's name.
#[test]
fn the_shipped_models_vectors_have_their_golden_bits() {
    let (_, packed) = shipped();
    let golden = "cee6681744d28146bead188bf7a884440c416e9d042a10e1cf6b65b5efce713b";
    assert_golden(packed, &[3, 8, 10, 16, 32, 64, 128, 256], golden);
}

/// The bits of the model that one command puts in its place, where its weights are in the tree.
#[test]
fn the_multilingual_models_vectors_have_their_golden_bits() {
    let Some(file) = model_file::in_tree(MULTILINGUAL) else { return eprintln!("not run: {MULTILINGUAL} is not here") };
    let bert = matched(&file.into(), &model_file::description()).unwrap();
    assert_eq!((bert.hidden, bert.layers.len(), bert.embedding.words.rows), (384, 12, 250_037));
    let ids = text(3, 5, 250_037);
    let plain = reference::vector(&bert, &ids);
    let packed = Packed::new(bert);
    let likeness = cosine(&vectors(available()[0], &packed, &[&ids], &mut Scratch::default()), &plain);
    assert!(likeness > 0.998, "{likeness}");
    assert_golden(
        &packed,
        &[3, 8, 16, 32, 64, 256],
        "0486137d55302647a6942395b2d0b51dc26dee1ba91f6a96be7c498f4c499368",
    );
}

/// The same of weights in blocks of 4 bits, which become bytes when they are read.
#[test]
fn a_model_of_blocks_has_its_golden_bits() {
    let packed = Packed::new(matched(&model_file::blocks().into(), &model_file::description()).unwrap());
    assert_golden(&packed, &[1, 3, 8, 24], "74a7520f5decfd253e12cb15e840fa558f84487d643b54547c883dface544378");
}

/// Compares the vectors of texts of so many tokens, on every kernel that is quick enough.
fn assert_golden(model: &Packed, lengths: &[usize], golden: &str) {
    let texts: Vec<Vec<u32>> =
        lengths.iter().map(|tokens| text(*tokens, *tokens as u32, model.words() as u32)).collect();
    for kernel in available().iter().filter(|kernel| kernel.name != "scalar") {
        let mut hash = Sha256::new();
        for text in &texts {
            for bits in bits(&vectors(*kernel, model, &[text], &mut Scratch::default())) {
                hash.update(bits.to_le_bytes());
            }
        }
        let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, golden, "{}", kernel.name);
    }
}

#[test]
fn vectors_have_unit_length() {
    let packed = Packed::new(random(SMALL));
    let vector = vectors(available()[0], &packed, &[&text(9, 1, 100)], &mut Scratch::default());
    let length: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
    assert!((length - 1.0).abs() < 1e-6, "{length}");
}

#[test]
fn texts_that_the_model_cannot_take_are_refused_at_the_entry() {
    let packed = Packed::new(random(SMALL));
    let refused = |ids: &[u32], out: usize| {
        let mut out = vec![0.0; out];
        let work = || encode(available()[0], &packed, &[ids], &mut Scratch::default(), &mut out);
        catch_unwind(AssertUnwindSafe(work)).is_err()
    };
    assert!(refused(&[], 64), "no token");
    assert!(refused(&[100], 64), "an id beyond the words");
    assert!(refused(&[1; 81], 64), "more tokens than positions");
    assert!(refused(&[1], 63), "memory of another size");
    assert!(!refused(&[99; 80], 64));
}

struct Functions(Line);

impl Pass for Functions {
    type Output = [Line; 2];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [Line; 2] {
        let x = isa.load(&self.0);
        let mut found = [Line::default(); 2];
        isa.store(power_of_two(isa, x), &mut found[0]);
        isa.store(gelu(isa, x), &mut found[1]);
        found
    }
}

#[test]
fn powers_and_gelu_are_within_their_errors() {
    for step in 0..400 {
        let x = -20.0 + step as f32 * 0.1;
        let [power, gelu] = available()[0].run(Functions([x; 16]));
        if x <= 0.0 {
            assert!((power[0] / x.exp2() - 1.0).abs() < 8e-5, "2^{x} = {}", power[0]);
        }
        let error = f64::from(gelu[0]) - reference::gelu(f64::from(x));
        assert!(error.abs() < 4e-5 + 5e-5 * f64::from(x.abs()), "gelu({x}) = {}", gelu[0]);
        assert!(gelu[0] > GELU_LEAST);
    }
    let [power, _] = available()[0].run(Functions([-1e30; 16]));
    assert!(power[0] < 1e-35 && power[0] > 0.0);
}
